"""PyCUDA: arrays behind pointers in structs, built with pointer arithmetic and memcpy_htod."""

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule("""
struct DoubleOperation {
    int datalen, __padding;   // so that 64-bit pointers are aligned
    float *ptr;
};

__global__ void double_array(DoubleOperation *a)
{
    a = a + blockIdx.x;
    for (int i = threadIdx.x; i < a->datalen; i += blockDim.x) a->ptr[i] *= 2;
}
""")


class Operation:
    nbytes = 8 + np.intp(0).nbytes

    def __init__(self, array, struct_ptr):
        self.data = cuda.to_device(array)
        self.shape, self.dtype = array.shape, array.dtype
        cuda.memcpy_htod(int(struct_ptr), np.int32(array.size))
        cuda.memcpy_htod(int(struct_ptr) + 8, np.uintp(int(self.data)))

    def get(self):
        return cuda.from_device(self.data, self.shape, self.dtype)


structs = cuda.mem_alloc(2 * Operation.nbytes)
second = int(structs) + Operation.nbytes
one = Operation(np.array([1, 2, 3], np.float32), structs)
two = Operation(np.array([0, 4], np.float32), second)
func = module.get_function("double_array")
func(structs, block=(32, 1, 1), grid=(2, 1))
np.testing.assert_array_equal(one.get(), [2, 4, 6])
np.testing.assert_array_equal(two.get(), [0, 8])
func(np.uintp(second), block=(32, 1, 1), grid=(1, 1))
np.testing.assert_array_equal(one.get(), [2, 4, 6])
np.testing.assert_array_equal(two.get(), [0, 16])
print("ok")
