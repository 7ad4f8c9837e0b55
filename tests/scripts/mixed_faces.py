"""All three in one program: one array made by CuPy, used by a Numba kernel and a PyCUDA one."""

import cupy as cp
import numpy as np
import pycuda.autoprimaryctx
import pycuda.driver as drv
from numba import cuda
from pycuda.compiler import SourceModule


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


twice = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }").get_function(
    "twice"
)
a = cp.arange(32, dtype=cp.float32)
add_one[1, 32](a)
twice(a, block=(32, 1, 1))
twice(np.intp(a.data.ptr), block=(32, 1, 1))
np.testing.assert_array_equal(a.get(), (np.arange(32) + 1) * 4)
d = cuda.to_device(np.ones(32, np.float32))
b = cp.asarray(d)
b *= 3
np.testing.assert_array_equal(d.copy_to_host(), np.full(32, 3))
print("ok")
