"""Vector addition with PyCUDA: explicit memory, CUDA C compiled at run time."""

import numpy as np
import pycuda.autoinit  # noqa: F401  makes a context
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void add_vectors(const float *a, const float *b, float *c, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
""")

n = 400
a = np.random.randn(n).astype(np.float32)
b = np.random.randn(n).astype(np.float32)
c = np.empty_like(a)

a_gpu = cuda.mem_alloc(a.nbytes)
b_gpu = cuda.mem_alloc(b.nbytes)
c_gpu = cuda.mem_alloc(c.nbytes)
cuda.memcpy_htod(a_gpu, a)
cuda.memcpy_htod(b_gpu, b)

add_vectors = module.get_function("add_vectors")
block = (256, 1, 1)
grid = ((n + block[0] - 1) // block[0], 1)
add_vectors(a_gpu, b_gpu, c_gpu, np.int32(n), block=block, grid=grid)
cuda.memcpy_dtoh(c, c_gpu)

assert np.array_equal(c, a + b), "wrong sum"
print(f"PyCUDA style on {pycuda.autoinit.device.name()}: {n} sums checked against NumPy")
