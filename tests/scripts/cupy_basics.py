"""CuPy: what its guide shows first: creation, arithmetic, indexing, reductions, transfers."""

import cupy as cp
import numpy as np

x_gpu = cp.array([1, 2, 3])
assert type(x_gpu) is cp.ndarray
l2 = cp.linalg.norm(x_gpu)
assert abs(float(l2) - np.sqrt(14)) < 1e-12
with cp.cuda.Device(0):
    x_on_0 = cp.array([1, 2, 3, 4, 5])
assert x_on_0.device == cp.cuda.Device(0)


def softplus(x):
    xp = cp.get_array_module(x)
    return xp.maximum(0, x) + xp.log1p(xp.exp(-abs(x)))


values = np.linspace(-3, 3, 50)
np.testing.assert_allclose(cp.asnumpy(softplus(cp.asarray(values))), softplus(values))

a = cp.arange(24, dtype=cp.float32).reshape(2, 3, 4)
h = a.get()
for index in [
    np.s_[1],
    np.s_[:, 1:, ::-1],
    np.s_[..., None, 2],
    np.s_[[1, 0], :, [2, 3]],
]:
    np.testing.assert_array_equal(a[index].get(), h[index])
np.testing.assert_array_equal(a[a > 5].get(), h[h > 5])
a[:, 0] = -1
h[:, 0] = -1
a[a > 20] *= 2
h[h > 20] *= 2
np.testing.assert_array_equal(a.get(), h)
for name in ("sum", "mean", "max", "min", "std", "var", "argmax", "prod", "cumsum"):
    for axis in (None, 0, -1):
        got = getattr(a, name)(axis=axis).get()
        np.testing.assert_allclose(got, getattr(h, name)(axis=axis), rtol=1e-4)
np.testing.assert_array_equal(a.T.copy().get(), h.T)
np.testing.assert_array_equal(cp.concatenate([a, a], axis=1).get(), np.concatenate([h, h], axis=1))
np.testing.assert_array_equal(cp.sort(-a.ravel()).get(), np.sort(-h.ravel()))
np.testing.assert_array_equal(cp.where(a > 3, a, 0).get(), np.where(h > 3, h, 0))
np.testing.assert_allclose((a[0] @ a[0].T).get(), h[0] @ h[0].T)
np.testing.assert_allclose(cp.einsum("ijk->ik", a).get(), np.einsum("ijk->ik", h))
assert cp.allclose(a, cp.asarray(h))
np.testing.assert_array_equal(cp.unique(cp.array([3, 1, 3, 2])).get(), [1, 2, 3])
assert (cp.float32(2) * cp.ones(3, cp.float16)).dtype == np.float32
assert (2.5 * cp.ones(3, cp.float32)).dtype == np.float32
assert int(cp.count_nonzero(a)) == np.count_nonzero(h)
print(a.dtype, a.shape, a[0, 1])
print("ok")
