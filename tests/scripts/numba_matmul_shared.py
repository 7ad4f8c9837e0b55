"""Numba: matrix product with shared memory, against NumPy."""

import math

import numpy as np
from numba import cuda, float32

TPB = 16


@cuda.jit
def fast_matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    bpg = cuda.gridDim.x
    tmp = float32(0.0)
    for i in range(bpg):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


@cuda.jit
def matmul(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        tmp = 0.0
        for k in range(A.shape[1]):
            tmp += A[i, k] * B[k, j]
        C[i, j] = tmp


a = np.arange(23 * 31, dtype=np.float32).reshape(23, 31) % 7
b = np.arange(31 * 27, dtype=np.float32).reshape(31, 27) % 5
x_d, y_d = cuda.to_device(a), cuda.to_device(b)
z_d = cuda.device_array((23, 27), np.float32)
blocks = math.ceil(31 / TPB)
for kernel in (fast_matmul, matmul):
    kernel[(blocks, blocks), (TPB, TPB)](x_d, y_d, z_d)
    np.testing.assert_array_equal(z_d.copy_to_host(), a @ b)
print("ok on", cuda.get_current_device().name)
