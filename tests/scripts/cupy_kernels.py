"""CuPy: ElementwiseKernel, ReductionKernel, RawKernel, RawModule, fuse, as the guide has them."""

import cupy as cp
import numpy as np

squared_diff = cp.ElementwiseKernel(
    "float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "sd"
)
x = cp.arange(10, dtype=np.float32).reshape(2, 5)
y = cp.arange(5, dtype=np.float32)
np.testing.assert_array_equal(squared_diff(x, y).get(), (x.get() - y.get()) ** 2)
np.testing.assert_array_equal(squared_diff(x, 5).get(), (x.get() - 5) ** 2)
generic = cp.ElementwiseKernel("T x, T y", "T z", "if (x - y < 0) z = y - x; else z = x - y;", "ad")
np.testing.assert_array_equal(generic(x, y[::-1]).get(), abs(x.get() - y.get()[::-1]))
reverse = cp.ElementwiseKernel(
    "T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reverse"
)
np.testing.assert_array_equal(reverse(y, y).get(), y.get() + y.get()[::-1])
l2norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
np.testing.assert_allclose(l2norm(x, axis=1).get(), np.linalg.norm(x.get(), axis=1), rtol=1e-6)

add_kernel = cp.RawKernel(
    r"""
extern "C" __global__
void my_add(const float* x1, const float* x2, float* y) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    y[tid] = x1[tid] + x2[tid];
}
""",
    "my_add",
)
x1 = cp.arange(25, dtype=cp.float32).reshape(5, 5)
out = cp.zeros((5, 5), dtype=cp.float32)
add_kernel((5,), (5,), (x1, x1, out))
np.testing.assert_array_equal(out.get(), 2 * x1.get())

complex_kernel = cp.RawKernel(
    r"""
#include <cupy/complex.cuh>
extern "C" __global__
void my_func(const complex<float>* x1, const complex<float>* x2, complex<float>* y, float a) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    y[tid] = x1[tid] + a * x2[tid];
}
""",
    "my_func",
)
z1 = (x1 + 1j * x1).astype(cp.complex64)
zout = cp.zeros((5, 5), cp.complex64)
complex_kernel((5,), (5,), (z1, z1, zout, cp.float32(2.0)))
np.testing.assert_allclose(zout.get(), 3 * z1.get())

module = cp.RawModule(
    code=r"""
template<typename T>
__global__ void fx3(T* arr, int N) {
    unsigned int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < N) arr[tid] = arr[tid] * 3;
}
__constant__ double table[4];
extern "C" __global__ void look(double* out) { out[threadIdx.x] = table[threadIdx.x]; }
""",
    options=("-std=c++11",),
    name_expressions=["fx3<float>", "fx3<double>"],
)
for dtype, name in ((cp.float32, "fx3<float>"), (cp.float64, "fx3<double>")):
    a = cp.arange(100, dtype=dtype)
    module.get_function(name)((1,), (128,), (a, np.int32(100)))
    np.testing.assert_array_equal(a.get(), np.arange(100) * 3)
table = cp.ndarray(4, cp.float64, module.get_global("table"))
table[...] = cp.arange(4) * 1.5
result = cp.empty(4)
module.get_function("look")((1,), (4,), (result,))
np.testing.assert_array_equal(result.get(), np.arange(4) * 1.5)


@cp.fuse()
def fused(x, y):
    return (x - y) * (x - y)


np.testing.assert_array_equal(fused(x, y).get(), (x.get() - y.get()) ** 2)
stream = cp.cuda.Stream(non_blocking=True)
with stream:
    doubled = x * 2
stream.synchronize()
np.testing.assert_array_equal(doubled.get(), x.get() * 2)
pool = cp.get_default_memory_pool()
assert pool.used_bytes() > 0 and pool.total_bytes() >= pool.used_bytes()
pool.free_all_blocks()
print("ok")
