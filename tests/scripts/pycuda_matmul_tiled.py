"""PyCUDA: a tiled matrix product with shared memory, template parameters by text substitution."""

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import compiler, gpuarray

TILE = 16
SOURCE = """
__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[%(TILE)s][%(TILE)s];
    __shared__ float bs[%(TILE)s][%(TILE)s];
    const uint tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * %(TILE)s + ty, col = blockIdx.x * %(TILE)s + tx;
    float sum = 0;
    for (int t = 0; t < (n + %(TILE)s - 1) / %(TILE)s; ++t) {
        as[ty][tx] = row < n && t * %(TILE)s + tx < n ? a[row * n + t * %(TILE)s + tx] : 0.f;
        bs[ty][tx] = col < n && t * %(TILE)s + ty < n ? b[(t * %(TILE)s + ty) * n + col] : 0.f;
        __syncthreads();
        for (int k = 0; k < %(TILE)s; ++k) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}
"""

n = 75
rng = np.random.default_rng(1)
a = rng.random((n, n), dtype=np.float32)
b = rng.random((n, n), dtype=np.float32)
a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
c_gpu = gpuarray.empty((n, n), np.float32)

module = compiler.SourceModule(SOURCE % {"TILE": TILE})
matmul = module.get_function("matmul")
blocks = -(-n // TILE)
start, stop = cuda.Event(), cuda.Event()
start.record()
matmul(a_gpu, b_gpu, c_gpu, np.int32(n), block=(TILE, TILE, 1), grid=(blocks, blocks))
stop.record()
stop.synchronize()
assert start.time_till(stop) >= 0
np.testing.assert_allclose(c_gpu.get(), a @ b, rtol=1e-4)
assert matmul.shared_size_bytes == 2 * 4 * TILE * TILE
assert matmul.num_regs >= 0
print("ok on", pycuda.autoinit.device.name())
