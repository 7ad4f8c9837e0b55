"""Arrays, structured copies to them, texture and surface objects of the PyCUDA face."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.pycuda.autoinit  # noqa: F401
import trilane.pycuda.driver as drv
from trilane.pycuda import gpuarray
from trilane.pycuda.compiler import SourceModule

READ = """
__global__ void read(float* out, cudaTextureObject_t t, int w) {
    out[threadIdx.y * w + threadIdx.x] = tex2D<float>(t, threadIdx.x, threadIdx.y);
}
__global__ void fill(cudaSurfaceObject_t s) {
    surf2Dwrite((float)(threadIdx.x + 10 * threadIdx.y), s, threadIdx.x * 4, threadIdx.y);
}
"""


def read_back(array, width, height):
    out = np.zeros((height, width), np.float32)
    kernel = SourceModule(READ).get_function("read")
    kernel(drv.Out(out), drv.TextureObject(array), np.int32(width), block=(width, height, 1))
    return out


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_becomes_an_array_that_a_kernel_reads(order):
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    array = drv.matrix_to_array(matrix, order)
    shape = array.get_descriptor()
    assert (shape.width, shape.height) == ((4, 3) if order == "C" else (3, 4))
    assert shape.format == drv.array_format.FLOAT
    expected = matrix if order == "C" else matrix.T
    np.testing.assert_array_equal(read_back(array, shape.width, shape.height), expected)


def test_arrays_of_device_arrays_and_of_more_axes():
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    array = drv.np_to_array(data, "C")
    assert array.get_descriptor_3d().depth == 2
    device = drv.gpuarray_to_array(gpuarray.to_gpu(data[0].copy()), "C")
    np.testing.assert_array_equal(read_back(device, 4, 3), data[0])
    channels = drv.make_multichannel_2d_array(np.zeros((3, 4, 2), np.float32), "C")
    assert channels.get_descriptor().num_channels == 2


def test_structured_copies_take_arrays():
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    array = drv.matrix_to_array(np.zeros((3, 4), np.float32), "C")
    copy = drv.Memcpy2D()
    copy.set_src_host(matrix)
    copy.set_dst_array(array)
    copy.src_pitch, copy.width_in_bytes, copy.height = 16, 8, 2
    copy.dst_x_in_bytes, copy.dst_y = 8, 1
    copy(aligned=True)
    expected = np.zeros((3, 4), np.float32)
    expected[1:, 2:] = matrix[:2, :2]
    np.testing.assert_array_equal(read_back(array, 4, 3), expected)
    back = np.zeros((2, 2), np.float32)
    copy = drv.Memcpy3D()
    copy.set_src_array(array)
    copy.set_dst_host(back)
    copy.width_in_bytes, copy.height, copy.depth = 8, 2, 1
    copy.src_x_in_bytes, copy.src_y, copy.dst_pitch = 8, 1, 8
    copy()
    np.testing.assert_array_equal(back, matrix[:2, :2])


def test_copies_of_arrays_of_one_axis():
    data = np.arange(16, dtype=np.uint8)
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.format = 16, drv.array_format.UNSIGNED_INT8
    a, b = drv.Array(descriptor), drv.Array(descriptor)
    drv.memcpy_htoa(a, 0, data)
    drv.memcpy_atoa(b, 4, a, 0, 12)
    memory = drv.mem_alloc(16)
    drv.memcpy_atod(memory, a, 0, 16)
    drv.memcpy_dtoa(b, 0, memory, 4)
    back = np.zeros(16, np.uint8)
    drv.memcpy_atoh(back, b, 0)
    assert back.tolist() == [0, 1, 2, 3, *range(12)]
    with pytest.raises(drv.LogicError, match="leaves the array"):
        drv.memcpy_htoa(a, 8, data)
    a.free()
    with pytest.raises(drv.LogicError, match="freed"):
        a.free()


def test_a_kernel_writes_a_surface():
    array = drv.matrix_to_array(np.zeros((3, 4), np.float32), "C", allowSurfaceBind=True)
    SourceModule(READ).get_function("fill")(drv.SurfaceObject(array), block=(4, 3, 1))
    expected = np.arange(4) + 10 * np.arange(3)[:, None]
    np.testing.assert_array_equal(read_back(array, 4, 3), expected)


def test_references_name_what_took_their_place():
    with pytest.raises(NotImplementedError, match="TextureObject"):
        drv.TextureReference()
    with pytest.raises(NotImplementedError, match="TextureObject"):
        SourceModule(READ).get_texref("t")
    with pytest.raises(drv.LogicError, match="linear filtering"):
        drv.TextureObject(
            drv.matrix_to_array(np.zeros((2, 2), np.int32), "C"),
            filter_mode=drv.filter_mode.LINEAR,
        )
