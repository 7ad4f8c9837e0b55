"""Vector addition with Numba: a Python function compiled for the GPU."""

import numpy as np
from numba import cuda


@cuda.jit
def add_vectors(a, b, c):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < a.size:
        c[i] = a[i] + b[i]


n = 400
a = np.random.randn(n).astype(np.float32)
b = np.random.randn(n).astype(np.float32)
c = np.zeros_like(a)

block = 256
grid = (n + block - 1) // block
add_vectors[grid, block](a, b, c)

assert np.array_equal(c, a + b), "wrong sum"
name = cuda.get_current_device().name
name = name.decode() if isinstance(name, bytes) else name
print(f"Numba style on {name}: {n} sums checked against NumPy")
