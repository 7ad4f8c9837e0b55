"""PyCUDA: gpuarray arithmetic, elementwise, reduction and scan kernels, random numbers, cumath."""

import numpy as np
import pycuda.autoinit
import pycuda.cumath as cumath
import pycuda.gpuarray as gpuarray
from pycuda.curandom import rand as curand
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

a_gpu = gpuarray.to_gpu(np.random.randn(4, 4).astype(np.float32))
np.testing.assert_allclose((2 * a_gpu).get(), 2 * a_gpu.get())

x = curand((50,))
y = curand((50,))
assert 0 <= x.get().min() and x.get().max() < 1.0 + 1e-7
linear = ElementwiseKernel(
    "float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]", "linear_combination"
)
z = gpuarray.empty_like(x)
linear(5, x, 6, y, z)
np.testing.assert_allclose(z.get(), 5 * x.get() + 6 * y.get(), rtol=1e-5)

u = gpuarray.arange(400, dtype=np.float32)
v = gpuarray.arange(400, dtype=np.float32)
dot = ReductionKernel(
    np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y"
)
expected = float((np.arange(400.0) ** 2).sum())
assert abs(float(dot(u, v).get()) - expected) < 1e-5 * expected
assert abs(float(gpuarray.dot(u, v).get()) - expected) < 1e-5 * expected
assert gpuarray.sum(u).get() == 400 * 399 / 2
assert gpuarray.max(u).get() == 399

data = gpuarray.to_gpu(np.arange(1000, dtype=np.int32))
InclusiveScanKernel(np.int32, "a+b")(data)
np.testing.assert_array_equal(data.get(), np.cumsum(np.arange(1000)))
data = gpuarray.to_gpu(np.arange(1000, dtype=np.int32))
ExclusiveScanKernel(np.int32, "a+b", 0)(data)
np.testing.assert_array_equal(data.get(), np.cumsum(np.arange(1000)) - np.arange(1000))

angle = gpuarray.to_gpu(np.linspace(0, 3, 100))
np.testing.assert_allclose(cumath.sin(angle).get(), np.sin(angle.get()), rtol=1e-12)
np.testing.assert_allclose(cumath.exp(angle).get(), np.exp(angle.get()), rtol=1e-12)
w = gpuarray.if_positive(angle > 1, angle, -angle).get()
np.testing.assert_array_equal(w, np.where(angle.get() > 1, angle.get(), -angle.get()))
complex_array = gpuarray.to_gpu(np.array([1 + 2j, 3 - 1j], np.complex64))
np.testing.assert_allclose((complex_array * complex_array.conj()).real.get(), [5, 10])
np.testing.assert_array_equal(a_gpu[1:3].get(), a_gpu.get()[1:3])
print("ok")
