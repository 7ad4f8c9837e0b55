"""`vectorize` and `guvectorize` against NumPy: types, shapes, places of the results, errors."""

from __future__ import annotations

import numpy as np
import pytest

from trilane import numba
from trilane.numba import cuda, float32, float64, int32, void
from trilane.numba.core.errors import TypingError

SIGNATURES = [int32(int32, int32), float32(float32, float32), float64(float64, float64)]


@cuda.vectorize(SIGNATURES)
def add(a, b):
    """Sum."""
    return a + b


@cuda.guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize(
    "shapes", [((1001,), (1001,)), ((3, 1, 5), (4, 1)), ((), (7,)), ((2, 0), ())]
)
def test_broadcasting(dtype, shapes):
    a, b = (np.arange(np.prod(s), dtype=dtype).reshape(s) for s in shapes)
    got = add(a, b)
    assert isinstance(got, np.ndarray) and got.dtype == dtype
    np.testing.assert_array_equal(got, a + b)
    device = add(cuda.to_device(a), b)
    assert isinstance(device, cuda.devicearray.DeviceNDArray)
    np.testing.assert_array_equal(device.copy_to_host(), a + b)


def test_scalars_give_a_scalar():
    assert add(1.5, 2.0) == 3.5
    assert isinstance(add(1, 2.0), np.float64)


def test_name_and_text():
    assert (add.__name__, add.__doc__, add.nin) == ("add", "Sum.", 2)


def test_strided_inputs_and_outputs():
    a = np.arange(24.0).reshape(4, 6)
    device = cuda.to_device(a)
    np.testing.assert_array_equal(add(device.T, a.T).copy_to_host(), a.T + a.T)
    out = cuda.to_device(np.zeros((6, 4)))
    assert add(device, device, out=out.T) is not None
    np.testing.assert_array_equal(out.copy_to_host(), (a + a).T)
    host = np.zeros((4, 6))
    assert add(a, device, out=host) is host
    np.testing.assert_array_equal(host, a + a)
    add(device, device, out=device)
    np.testing.assert_array_equal(device.copy_to_host(), a + a)


def test_types_are_converted_as_numpy_does():
    assert add(np.int8(3), np.int16(4)).dtype == np.int32
    with pytest.raises(TypeError, match="No matching version"):
        add(np.complex128(1), 2)


def test_without_signatures_types_come_from_the_call():
    @cuda.vectorize
    def ratio(a, b):
        return a / b

    got = ratio(np.arange(5, dtype=np.int16), np.int16(2))
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, np.arange(5) / 2)


def test_result_type_of_the_signature():
    @numba.vectorize(["float32(float32)"], target="cuda")
    def half(x):
        return x * 0.5

    assert half(np.ones(3, np.float32)).dtype == np.float32


def test_reduce():
    for n in (1, 8, 1025):
        x = np.arange(n, dtype=np.int32)
        got = add.reduce(x)
        assert got.dtype == np.int32 and got == x.sum()


def test_shape_of_the_output_is_checked():
    with pytest.raises(ValueError, match="output has shape"):
        add(np.zeros(3), np.zeros(3), out=np.zeros(4))


def test_options():
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        cuda.vectorize(["float64(float64)"], target="cuda", nopython=True)
    with pytest.raises(KeyError, match="Unrecognized options"):
        cuda.vectorize(["float64(float64)"], nonexistent=1)
    with pytest.raises(TypeError, match="nopython flag must be True"):
        cuda.guvectorize([void(float32[:], float32[:])], "(x)->(x)", nopython=False)
    with pytest.raises(TypeError, match="target options are not supported: 'what'"):
        cuda.guvectorize([void(float32[:], float32[:])], "(x)->(x)", what=1)


@pytest.mark.parametrize(
    "loops", [((), ()), ((7,), (7,)), ((3, 2), (3, 2)), ((5,), ()), ((4, 1), (3,))]
)
def test_matmul(loops):
    rng = np.random.default_rng(1)
    a, b = rng.random((*loops[0], 2, 4)), rng.random((*loops[1], 4, 3))
    np.testing.assert_allclose(matmul(a, b), a @ b)
    got = matmul(a, cuda.to_device(b))
    np.testing.assert_allclose(got.copy_to_host(), a @ b)
    out = np.zeros_like(a @ b)
    assert matmul(a, b, out=out) is out
    np.testing.assert_allclose(out, a @ b)


def test_scalars_and_several_outputs():
    @cuda.guvectorize(["void(int32, float32[:], float32[:], float64[:])"], "(),(t)->(t),()")
    def scaled(a, x, y, total):
        total[0] = 0
        for i in range(x.shape[0]):
            y[i] = a * x[i]
            total[0] += y[i]

    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    y, total = scaled(np.arange(4), x)
    np.testing.assert_array_equal(y, np.arange(4)[:, None] * x)
    np.testing.assert_array_equal(total, y.sum(1))
    assert (y.dtype, total.dtype) == (np.float32, np.float64)
    with pytest.raises(TypeError, match="astype"):
        scaled(cuda.to_device(np.arange(4)), x)


def test_wrong_calls():
    a = np.ones((2, 2))
    with pytest.raises(TypeError, match="accepts 2 positional arguments .* or 3 .* Got 1"):
        matmul(a)
    with pytest.raises(ValueError, match="both positional and keyword"):
        matmul(a, a, a, out=a)
    with pytest.raises(ValueError, match="dimension n is"):
        matmul(a, np.ones((3, 2)))
    with pytest.raises(TypeError, match="specifies int32 return type"):
        cuda.guvectorize([int32(int32[:], int32[:])], "(m)->(m)")(lambda x, y: None)
    with pytest.raises(ValueError, match="invalid layout"):
        cuda.guvectorize(["void(float64[:], float64[:])"], "(x->(x)")(lambda x, y: None)


def test_a_kernel_cannot_call_one():
    @cuda.jit
    def kernel(a):
        matmul(a, a, a)

    with pytest.raises(TypingError, match="Untyped global name 'matmul'"):
        kernel[1, 1](np.ones((2, 2)))
