"""Textures and surfaces against a NumPy model of the CUDA guide's formulas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import trilane.cupy as cp
from trilane.cupy.cuda import runtime
from trilane.cupy.cuda.texture import (
    ChannelFormatDescriptor,
    CUDAarray,
    ResourceDescriptor,
    SurfaceObject,
    TextureDescriptor,
    TextureObject,
)

WRAP, CLAMP, MIRROR, BORDER = range(4)
DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"]


def descriptor(dtype: np.dtype, channels: int) -> ChannelFormatDescriptor:
    bits = [np.dtype(dtype).itemsize * 8] * channels + [0] * (4 - channels)
    return ChannelFormatDescriptor(*bits, "iuf".index(np.dtype(dtype).kind))


def cuda_array(data: np.ndarray, channels: int = 1, flags: int = 0) -> CUDAarray:
    """Of data whose last axis holds the channels, if there is more than one."""
    shape = data.shape[:-1] if channels > 1 else data.shape
    array = CUDAarray(descriptor(data.dtype, channels), *reversed(shape), flags=flags)
    array.copy_from(data.reshape(*shape[:-1], -1))
    return array


def texture(array: CUDAarray, modes, filter=0, read=0, normalized=0, border=None, srgb=None):
    return TextureObject(
        ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array),
        TextureDescriptor(modes, filter, read, srgb, border, normalized),
    )


def index(i: np.ndarray, n: int, mode: int, normalized: bool) -> np.ndarray:
    """The element of an index; -1 for the border."""
    if mode == BORDER:
        return np.where((i < 0) | (i >= n), -1, i)
    if normalized and mode == WRAP:
        return i % n
    if normalized and mode == MIRROR:
        i = i % (2 * n)
        return np.where(i >= n, 2 * n - 1 - i, i)
    return np.clip(i, 0, n - 1)


def model(values: np.ndarray, places, modes, linear: bool, normalized: bool, border: float):
    """`values` by (z, y, x); `places` by (x, y, z). The guide's formulas in float64."""
    pairs = []
    for axis, place in enumerate(places):
        n = values.shape[-1 - axis]
        place = place.astype(np.float64) * (n if normalized else 1)
        if not linear:
            i = np.floor(place).astype(int)
            pairs.append([(index(i, n, modes[axis], normalized), 1.0)])
            continue
        left = np.floor(place - 0.5)
        weight = np.floor((place - 0.5 - left) * 256 + 0.5) / 256
        i = left.astype(int)
        pairs.append(
            [
                (index(i, n, modes[axis], normalized), 1 - weight),
                (index(i + 1, n, modes[axis], normalized), weight),
            ]
        )
    total = 0.0
    for corner in itertools.product(*pairs):
        where = tuple(i for i, _ in reversed(corner))
        texel = values[where]
        outside = np.logical_or.reduce([i < 0 for i in where])
        weight = np.prod([np.broadcast_to(w, where[0].shape) for _, w in corner], axis=0)
        total = total + weight * np.where(outside, border, texel)
    return total


KERNELS = r"""
extern "C" __global__ void one(float* out, cudaTextureObject_t t, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1D<float>(t, x[i]);
}
extern "C" __global__ void two(float* out, cudaTextureObject_t t, const float* x, const float* y,
                               int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(t, x[i], y[i]);
}
extern "C" __global__ void three(float* out, cudaTextureObject_t t, const float* x, const float* y,
                                 const float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex3D<float>(t, x[i], y[i], z[i]);
}
"""
NAMES = {1: "one", 2: "two", 3: "three"}


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_every_address_mode_and_filter(axes, linear, normalized):
    rng = np.random.default_rng(axes)
    values = rng.random((5, 6, 7)[3 - axes :], dtype=np.float32)
    array = cuda_array(values)
    n = 203
    # Away from where rounding of a coordinate decides between two elements or weights.
    places = [
        (np.round(rng.uniform(-1.4, 2.3, n) * size * 512) * 2 + 1)
        / 1024
        / (size if normalized else 1)
        for size in reversed(values.shape)
    ]
    places = [p.astype(np.float32) for p in places]
    kernel = cp.RawModule(code=KERNELS).get_function(NAMES[axes])
    modes = [CLAMP, BORDER, WRAP, MIRROR] if normalized else [CLAMP, BORDER]
    for mode in modes:
        t = texture(array, (mode,) * 3, int(linear), 0, int(normalized), (0.25, 0, 0, 0))
        out = cp.zeros(n, dtype=cp.float32)
        kernel((7,), (32,), (out, t, *[cp.asarray(p) for p in places], np.int32(n)))
        expected = model(values, places, (mode,) * 3, linear, normalized, 0.25)
        # A weight of 1/256 may fall to the other side of a tie.
        tolerance = axes * 1.01 / 256 if linear else 0
        np.testing.assert_allclose(out.get(), expected, rtol=0, atol=tolerance)
        if linear:
            assert np.mean(np.abs(out.get() - expected) < 1e-5) > 0.9


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_format(dtype, channels):
    rng = np.random.default_rng(3)
    dtype = np.dtype(dtype)
    shape = (5, 6, channels)
    if dtype.kind == "f":
        data = rng.standard_normal(shape).astype(dtype)
    else:
        info = np.iinfo(dtype)
        data = rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype)
    array = cuda_array(data if channels > 1 else data[..., 0], channels)
    back = np.zeros((5, 6 * channels), dtype)
    array.copy_to(back)
    np.testing.assert_array_equal(back.reshape(shape), data)
    base = "float" if dtype.kind == "f" else {"i": "int", "u": "uint"}[dtype.kind]
    scalar = {"uint": "unsigned int"}.get(base, base)
    vector = scalar if channels == 1 else f"{base}{channels}"
    code = f"""extern "C" __global__ void f({vector}* out, cudaTextureObject_t t) {{
        out[threadIdx.y * 6 + threadIdx.x] = tex2D<{vector}>(t, threadIdx.x, threadIdx.y); }}"""
    out = cp.zeros(shape, dtype={"int": "i4", "uint": "u4", "float": "f4"}[base])
    cp.RawKernel(code, "f")((1,), (6, 5), (out, texture(array, (CLAMP,) * 2)))
    np.testing.assert_array_equal(out.get(), data)
    if dtype.kind == "f" or dtype.itemsize == 4:
        return
    vector = "float" if channels == 1 else f"float{channels}"
    code = f"""extern "C" __global__ void f({vector}* out, cudaTextureObject_t t) {{
        out[threadIdx.y * 6 + threadIdx.x] = tex2D<{vector}>(t, threadIdx.x, threadIdx.y); }}"""
    out = cp.zeros(shape, dtype=cp.float32)
    cp.RawKernel(code, "f")((1,), (6, 5), (out, texture(array, (CLAMP,) * 2, read=1)))
    expected = np.maximum(data.astype(np.float64) / np.iinfo(dtype).max, -1)
    np.testing.assert_allclose(out.get(), expected, rtol=2e-7)


def test_linear_memory_and_rows_with_a_pitch():
    data = cp.arange(256, dtype=cp.float32).reshape(8, 32)
    ch = descriptor(np.float32, 1)
    code = r"""extern "C" __global__ void f(float* out, cudaTextureObject_t a, cudaTextureObject_t b) {
        int i = threadIdx.x;
        out[i] = tex1Dfetch<float>(a, i - 1) + 1000 * tex2D<float>(b, i % 32, i / 32); }"""
    res = ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=data, chDesc=ch, sizeInBytes=1024)
    rows = ResourceDescriptor(
        runtime.cudaResourceTypePitch2D, arr=data, chDesc=ch, width=32, height=8, pitchInBytes=128
    )
    out = cp.zeros(256, dtype=cp.float32)
    td = TextureDescriptor((CLAMP, CLAMP))
    cp.RawKernel(code, "f")((1,), (256,), (out, TextureObject(res, td), TextureObject(rows, td)))
    expected = np.r_[0, np.arange(255)] + 1000 * np.arange(256)
    np.testing.assert_array_equal(out.get(), expected)


def test_layers_gather_and_pointer_forms():
    data = np.arange(3 * 4 * 5, dtype=np.float32).reshape(3, 4, 5)
    layers = cuda_array(data, flags=runtime.cudaArrayLayered)
    flat = cuda_array(data[0], flags=runtime.cudaArrayTextureGather)
    code = r"""extern "C" __global__ void f(float* out, cudaTextureObject_t a, cudaTextureObject_t b) {
        out[0] = tex2DLayered<float>(a, 2.f, 3.f, 1);
        tex2DLayered(&out[1], a, 2.f, 3.f, 9);
        float4 g = tex2Dgather<float4>(b, 2.f, 2.f);
        out[2] = g.x; out[3] = g.y; out[4] = g.z; out[5] = g.w; }"""
    out = cp.zeros(6, dtype=cp.float32)
    args = (out, texture(layers, (CLAMP,) * 2), texture(flat, (CLAMP,) * 2))
    cp.RawKernel(code, "f")((1,), (1,), args)
    assert out.get().tolist() == [data[1, 3, 2], data[2, 3, 2], 11, 12, 7, 6]


def test_a_surface_is_written_and_read_with_boundary_modes():
    data = np.arange(4 * 6, dtype=np.float32).reshape(4, 6)
    array = cuda_array(data, flags=runtime.cudaArraySurfaceLoadStore)
    other = cuda_array(np.zeros_like(data), flags=runtime.cudaArraySurfaceLoadStore)
    source, target = (
        SurfaceObject(ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=a))
        for a in (array, other)
    )
    code = r"""extern "C" __global__ void f(cudaSurfaceObject_t s, cudaSurfaceObject_t t) {
        int x = threadIdx.x, y = threadIdx.y;
        float left = surf2Dread<float>(s, (x - 1) * 4, y, cudaBoundaryModeZero);
        float right;
        surf2Dread(&right, s, (x + 1) * 4, y, cudaBoundaryModeClamp);
        surf2Dwrite(left + 100 * right, t, x * 4, y);
        surf2Dwrite(7.0f, t, (x + 6) * 4, y, cudaBoundaryModeZero); }"""
    cp.RawKernel(code, "f")((1,), (6, 4), (source, target))
    out = np.zeros_like(data)
    other.copy_to(out)
    left = np.pad(data, ((0, 0), (1, 0)))[:, :-1]
    right = np.pad(data, ((0, 0), (0, 1)), mode="edge")[:, 1:]
    np.testing.assert_array_equal(out, left + 100 * right)


@pytest.mark.cpu_only(reason="a fault ends the context of a GPU")
def test_a_surface_access_outside_is_told_and_writes_nothing():
    array = cuda_array(np.zeros((4, 4), np.float32), flags=runtime.cudaArraySurfaceLoadStore)
    surface = SurfaceObject(ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array))
    code = """extern "C" __global__ void f(cudaSurfaceObject_t s) {
        surf2Dwrite(1.0f, s, threadIdx.x * 4, 0); }"""
    with pytest.raises(runtime.CUDARuntimeError, match="surf2Dwrite"):
        cp.RawKernel(code, "f")((1,), (5,), (surface,))


def test_an_image_is_rotated():
    """A common use: bilinear sampling of a rotated grid."""
    rng = np.random.default_rng(0)
    image = rng.random((48, 64), dtype=np.float32)
    t = texture(cuda_array(image), (WRAP, WRAP), 1, 0, 1)
    code = r"""extern "C" __global__ void rotate(float* out, cudaTextureObject_t t, int w, int h,
                                                float c, float s) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x >= w || y >= h) return;
        float u = (x + 0.5f) / w - 0.5f, v = (y + 0.5f) / h - 0.5f;
        out[y * w + x] = tex2D<float>(t, u * c - v * s + 0.5f, v * c + u * s + 0.5f); }"""
    out = cp.zeros((48, 64), dtype=cp.float32)
    c, s = np.float32(np.cos(0.5)), np.float32(np.sin(0.5))
    args = (out, t, np.int32(64), np.int32(48), c, s)
    cp.RawKernel(code, "rotate")((8, 6), (8, 8), args)
    y, x = np.mgrid[0:48, 0:64]
    u, v = (x + 0.5) / 64 - 0.5, (y + 0.5) / 48 - 0.5
    places = (u * c - v * s + 0.5, v * c + u * s + 0.5)
    expected = model(image, places, (WRAP, WRAP), True, True, 0)
    np.testing.assert_allclose(out.get(), expected, rtol=0, atol=2.5 / 256)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="width must be nonzero"):
        CUDAarray(descriptor(np.float32, 1), 0)
    with pytest.raises(runtime.CUDARuntimeError, match="channel"):
        CUDAarray(ChannelFormatDescriptor(8, 16, 0, 0, 1), 4)
    array = cuda_array(np.zeros((4, 4), np.uint8))
    with pytest.raises(runtime.CUDARuntimeError, match="linear filtering of integers"):
        texture(array, (CLAMP,), 1)
    with pytest.raises(ValueError, match="as many bytes"):
        array.copy_from(np.zeros((4, 5), np.uint8))
    with pytest.raises(runtime.CUDARuntimeError, match="not for surfaces"):
        SurfaceObject(ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array))
