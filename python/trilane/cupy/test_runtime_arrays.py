"""Textures, surfaces and copies by the calls of the runtime, and in kernels of one element."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import trilane.cupy as cp
from trilane.cupy.cuda import _structures, runtime
from trilane.cupy.cuda.texture import (
    ChannelFormatDescriptor,
    CUDAarray,
    ResourceDescriptor,
    SurfaceObject,
    TextureDescriptor,
    TextureObject,
)

WRAP, CLAMP, MIRROR, BORDER = range(4)


def descriptor() -> ChannelFormatDescriptor:
    return ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)


def cuda_array(data: np.ndarray, flags: int = 0) -> CUDAarray:
    array = CUDAarray(descriptor(), *reversed(data.shape), flags=flags)
    array.copy_from(data)
    return array


def texture(array: CUDAarray, modes) -> TextureObject:
    return TextureObject(
        ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array), TextureDescriptor(modes)
    )


def test_textures_are_arguments_of_elementwise_kernels():
    values = np.arange(30, dtype=np.float32).reshape(5, 6)
    t = texture(cuda_array(values), (CLAMP, CLAMP))
    kernel = cp.ElementwiseKernel("T x, T y, U tex", "T z", "z = tex2D<T>(tex, x, y) + 1", "sample")
    y, x = cp.asarray(np.mgrid[0:5, 0:6].astype(np.float32))
    np.testing.assert_array_equal(kernel(x, y, t).get(), values + 1)
    array = cuda_array(np.zeros_like(values), flags=runtime.cudaArraySurfaceLoadStore)
    surface = SurfaceObject(ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array))
    store = cp.ElementwiseKernel(
        "int32 x, int32 y, U tex, V surf",
        "",
        "surf2Dwrite(tex2D<float>(tex, x, y), surf, x * 4, y)",
    )
    store(x.astype(cp.int32), y.astype(cp.int32), t, surface)
    out = np.zeros_like(values)
    array.copy_to(out)
    np.testing.assert_array_equal(out, values)
    wrong = cp.ElementwiseKernel("float32 x, uint64 tex", "float32 z", "z = x", "wrong")
    with pytest.raises(TypeError, match="tex: got .*cudaTextureObject_t"):
        wrong(x, t)
    with pytest.raises(TypeError, match="output must be an ndarray"):
        kernel(x, y, t, t)


def sampled(handle, count=6):
    code = r"""extern "C" __global__ void f(float* out, cudaTextureObject_t t) {
        out[threadIdx.x] = tex2D<float>(t, threadIdx.x, threadIdx.y); }"""
    out = cp.zeros(count, dtype=cp.float32)
    cp.RawKernel(code, "f")((1,), (count,), (out, np.uint64(handle)))
    return out.get()


def test_textures_by_the_calls_of_the_runtime():
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    ch = descriptor()
    ptr = runtime.mallocArray(ch.ptr, 6, 4)
    runtime.memcpy2DToArray(ptr, 0, 0, values.ctypes.data, 24, 24, 4, runtime.memcpyHostToDevice)
    resource = _structures.ResourceDesc(resType=runtime.cudaResourceTypeArray)
    resource.res.array.array = ptr
    reading = TextureDescriptor((CLAMP, CLAMP), borderColors=(1, 2, 3, 4))
    handle = runtime.createTextureObject(ctypes.addressof(resource), reading.ptr)
    np.testing.assert_array_equal(sampled(handle), values[0])
    runtime.freeArray(ptr)  # the texture keeps its memory
    np.testing.assert_array_equal(sampled(handle), values[0])
    runtime.destroyTextureObject(handle)
    for call, given in (
        (runtime.destroyTextureObject, handle),
        (runtime.freeArray, ptr),
        (runtime.destroySurfaceObject, 64),
    ):
        with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidValue") as caught:
            call(given)
        assert caught.value.status == 1
    with pytest.raises(runtime.CUDARuntimeError, match="is no array"):
        runtime.createTextureObject(ctypes.addressof(resource), reading.ptr)
    with pytest.raises(runtime.CUDARuntimeError, match="null"):
        runtime.createTextureObject(0, reading.ptr)
    resource.resType = runtime.cudaResourceTypeMipmappedArray
    with pytest.raises(NotImplementedError, match="MipmappedArray"):
        runtime.createTextureObject(ctypes.addressof(resource), reading.ptr)


def test_descriptors_have_addresses_of_cudas_structures():
    data = cp.arange(256, dtype=cp.float32).reshape(8, 32)
    ch = descriptor()
    rows = ResourceDescriptor(
        runtime.cudaResourceTypePitch2D, arr=data, chDesc=ch, width=32, height=8, pitchInBytes=128
    )
    line = ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=data, chDesc=ch, sizeInBytes=1024)
    reading = TextureDescriptor((CLAMP, BORDER), 1, 0, borderColors=(0.5,), normalizedCoords=1)
    words = np.ctypeslib.as_array((ctypes.c_int32 * 18).from_address(reading.ptr))
    assert words[[0, 1, 2, 3, 4, 5, 10, 11]].tolist() == [1, 3, 0, 1, 0, 0, 1, 0]
    assert words[6:10].view(np.float32).tolist() == [0.5, 0, 0, 0]
    words = np.ctypeslib.as_array((ctypes.c_uint64 * 8).from_address(rows.ptr))
    assert words[[0, 1, 5, 6, 7]].tolist() == [3, data.data.ptr, 32, 8, 128]
    plain = TextureDescriptor((CLAMP, CLAMP))
    handle = runtime.createTextureObject(rows.ptr, plain.ptr)
    np.testing.assert_array_equal(sampled(handle, 32), np.arange(32))
    runtime.destroyTextureObject(handle)
    handle = runtime.createTextureObject(line.ptr, plain.ptr)
    code = r"""extern "C" __global__ void f(float* out, cudaTextureObject_t t) {
        out[threadIdx.x] = tex1Dfetch<float>(t, 255 - threadIdx.x); }"""
    out = cp.zeros(256, dtype=cp.float32)
    cp.RawKernel(code, "f")((1,), (256,), (out, np.uint64(handle)))
    np.testing.assert_array_equal(out.get(), np.arange(256)[::-1])
    runtime.destroyTextureObject(handle)
    with pytest.raises(runtime.CUDARuntimeError, match="needs a CUDA array"):
        runtime.createSurfaceObject(rows.ptr)


def test_surfaces_and_copies_by_the_calls_of_the_runtime():
    array = cuda_array(np.zeros((4, 6), np.float32), flags=runtime.cudaArraySurfaceLoadStore)
    resource = ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array)
    surface = runtime.createSurfaceObject(resource.ptr)
    code = r"""extern "C" __global__ void f(cudaSurfaceObject_t s) {
        surf2Dwrite(float(threadIdx.x + 10 * threadIdx.y), s, threadIdx.x * 4, threadIdx.y); }"""
    cp.RawKernel(code, "f")((1,), (6, 4), (np.uint64(surface),))
    runtime.destroySurfaceObject(surface)
    values = np.arange(6) + 10.0 * np.arange(4)[:, None]
    to_host, to_device = runtime.memcpyDeviceToHost, runtime.memcpyHostToDevice
    host = np.zeros((2, 5), np.float32)  # rows apart by 20 bytes
    runtime.memcpy2DFromArray(host.ctypes.data, 20, array.ptr, 8, 1, 12, 2, to_host)
    np.testing.assert_array_equal(host, np.pad(values[1:3, 2:5], ((0, 0), (0, 2))))
    device = cp.zeros((2, 8), cp.float32)
    stream = cp.cuda.Stream()
    args = (device.data.ptr, 32, array.ptr, 0, 2, 24, 2, runtime.memcpyDefault, stream.ptr)
    runtime.memcpy2DFromArrayAsync(*args)
    stream.synchronize()
    np.testing.assert_array_equal(device.get()[:, :6], values[2:])
    runtime.memcpy2D(host.ctypes.data, 20, device.data.ptr + 4, 32, 16, 2, to_host)
    np.testing.assert_array_equal(host[:, :4], values[2:, 1:5])
    host[:] = -1
    runtime.memcpy2DAsync(device.data.ptr, 32, host.ctypes.data, 20, 20, 2, to_device, stream.ptr)
    runtime.memcpy2DToArrayAsync(
        array.ptr, 4, 0, device.data.ptr, 32, 20, 2, runtime.memcpyDeviceToDevice, stream.ptr
    )
    stream.synchronize()
    out = np.zeros((4, 6), np.float32)
    array.copy_to(out)
    values[:2, 1:] = -1
    np.testing.assert_array_equal(out, values)
    with pytest.raises(runtime.CUDARuntimeError, match="leaves the array"):
        runtime.memcpy2DFromArray(host.ctypes.data, 20, array.ptr, 8, 3, 12, 2, to_host)
    with pytest.raises(runtime.CUDARuntimeError, match="memcpy kind 7"):
        runtime.memcpy2D(host.ctypes.data, 20, device.data.ptr, 32, 16, 2, 7)


def test_boxes_by_the_calls_of_the_runtime():
    values = np.arange(3 * 4 * 5, dtype=np.float32).reshape(3, 4, 5)
    ch = descriptor()
    ptr = runtime.malloc3DArray(ch.ptr, 5, 4, 3)
    parms = _structures.Memcpy3DParms(dstArray=ptr, kind=runtime.memcpyHostToDevice)
    parms.srcPtr = (values.ctypes.data, 20, 5, 4)
    parms.extent = (5, 4, 3)
    runtime.memcpy3D(ctypes.addressof(parms))
    device = cp.zeros((2, 3, 4), cp.float32)
    back = _structures.Memcpy3DParms(srcArray=ptr, kind=runtime.memcpyDeviceToDevice)
    back.srcPos = (1, 1, 1)
    back.dstPtr = (device.data.ptr, 16, 4, 3)
    back.extent = (3, 2, 2)
    stream = cp.cuda.Stream()
    runtime.memcpy3DAsync(ctypes.addressof(back), stream.ptr)
    stream.synchronize()
    expected = np.zeros((2, 3, 4), np.float32)
    expected[:, :2, :3] = values[1:, 1:3, 1:4]
    np.testing.assert_array_equal(device.get(), expected)
    host = np.zeros(6, np.float32)
    inner = _structures.Memcpy3DParms(kind=runtime.memcpyDeviceToHost)
    inner.srcPtr = (device.data.ptr, 16, 4, 3)
    inner.srcPos = (4, 1, 1)  # bytes, since no array takes part
    inner.dstPtr = (host.ctypes.data, 8, 2, 1)
    inner.extent = (8, 1, 1)
    runtime.memcpy3D(ctypes.addressof(inner))
    assert host.tolist() == [*expected[1, 1, 1:3], 0, 0, 0, 0]
    runtime.freeArray(ptr)
    with pytest.raises(runtime.CUDARuntimeError, match="is no array"):
        runtime.memcpy3D(ctypes.addressof(parms))
    inner.srcPtr.ptr = 0
    with pytest.raises(runtime.CUDARuntimeError, match="neither srcArray nor srcPtr"):
        runtime.memcpy3D(ctypes.addressof(inner))
