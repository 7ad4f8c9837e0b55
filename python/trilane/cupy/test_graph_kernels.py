"""Kernels of all three faces in captures of streams."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import trilane.cupy as cp
import trilane.pycuda.driver as drv
from trilane.cupy.cuda import runtime
from trilane.cupy.cuda.runtime import CUDARuntimeError
from trilane.cupy.cuda.texture import (
    ChannelFormatDescriptor,
    ResourceDescriptor,
    TextureDescriptor,
    TextureObject,
)
from trilane.numba import cuda
from trilane.numba.cuda.cudadrv.driver import CudaAPIError
from trilane.pycuda.compiler import SourceModule

SCALE = """
extern "C" __global__ void scale(float* x, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
"""


@pytest.fixture
def stream():
    made = cp.cuda.Stream(non_blocking=True)
    yield made
    assert not made.is_capturing()
    made.synchronize()


def test_raw_and_elementwise_kernels(stream):
    raw = cp.RawKernel(SCALE, "scale")
    elementwise = cp.ElementwiseKernel("float32 a, float32 b", "float32 c", "c = a + b", "plus")
    total = cp.ReductionKernel("float32 a", "float32 s", "a", "a + b", "s = a", "0", "total")
    x = cp.ones(100, dtype=np.float32)
    raw((1,), (128,), (x, np.float32(1), np.int32(100)))
    with stream:
        stream.begin_capture()
        raw((1,), (128,), (x, np.float32(2), np.int32(100)))
        raw((1,), (128,), (x, np.float32(3), np.int32(100)), stream=stream)
        y = elementwise(x, x)
        s = total(y)
        with pytest.raises(cp.cuda.driver.CUDADriverError, match="empty grid"):
            raw((0,), (128,), (x, np.float32(2), np.int32(100)))
        graph = stream.end_capture()
    for step in (1, 2):
        graph.launch(stream)
        stream.synchronize()
        assert float(s) == 2 * 6**step * 100


def test_pycuda_functions(stream):
    module = SourceModule(SCALE, no_extern_c=True)
    plain, prepared = module.get_function("scale"), module.get_function("scale")
    prepared.prepare("PfI")
    x = cp.ones(64, dtype=np.float32)
    memory = drv.mem_alloc(256)
    drv.memset_d32(memory, 0x3F800000, 64)
    n = np.int32(64)
    stream.begin_capture()
    plain(x, np.float32(2), n, block=(64, 1, 1), grid=(1, 1), stream=stream)
    plain(memory, np.float32(5), n, block=(64, 1, 1), stream=stream)
    prepared.prepared_async_call((1, 1), (64, 1, 1), stream, x.data.ptr, 3.0, 64)
    back = drv.pagelocked_empty(64, np.float32)
    drv.memcpy_dtoh_async(back, memory, stream)
    with pytest.raises(drv.LogicError, match="capturing"):
        plain(drv.InOut(back), np.float32(2), n, block=(64, 1, 1), stream=stream)
    graph = stream.end_capture()
    memory.free()
    other = [drv.mem_alloc(256) for _ in range(4)]
    for step in (1, 2):
        graph.launch(stream)
        stream.synchronize()
        assert (x.get() == 6**step).all()
        assert (back == 5**step).all()
    assert len(other) == 4


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def test_numba_kernels(stream):
    device = cuda.to_device(np.zeros(100))
    x = cp.zeros(100)
    theirs = cuda.external_stream(stream.ptr)
    stream.begin_capture()
    add_one[1, 128, theirs](device)  # compiled meanwhile
    add_one[1, 128, stream](x)
    add_one.forall(100, stream=theirs)(x)
    graph = stream.end_capture()
    for _ in range(3):
        graph.launch(stream)
    stream.synchronize()
    assert (device.copy_to_host() == 3).all()
    assert (x.get() == 6).all()


def test_numba_refuses_host_arrays_and_kernels_that_raise(stream):
    host = np.zeros(100)

    @cuda.jit(debug=True, opt=False)
    def checked(x):
        if x[0] < 0:
            raise ValueError("negative")

    device = cuda.to_device(host)
    launcher = add_one[1, 128, stream]
    launcher(host)
    launcher(device)
    expected = (CudaAPIError, CUDARuntimeError)
    stream.begin_capture()
    for _ in range(2):
        with pytest.raises(expected, match="argument 1: got an array of the host"):
            launcher(host)
        with pytest.raises(expected, match="checked.*may raise"):
            checked[1, 1, stream](device)
    launcher(device)
    graph = stream.end_capture()
    assert (host == 1).all()
    graph.launch(stream)
    stream.synchronize()
    assert (device.copy_to_host() == 2).all()


def test_streams_of_other_faces_take_part(stream):
    x = cp.zeros(32)
    pycuda_stream, numba_stream = drv.Stream(), cuda.stream()
    fork, join = drv.Event(), cuda.event()
    last = cp.cuda.Event()
    stream.begin_capture()
    with stream:
        x += 1
    fork.record(stream)
    pycuda_stream.wait_for_event(fork)
    add_one[1, 32, pycuda_stream](x)
    join.record(cuda.external_stream(pycuda_stream.handle))
    join.wait(numba_stream)
    add_one[1, 32, numba_stream](x)
    last.record(cp.cuda.Stream.from_external(numba_stream))
    stream.wait_event(last)
    graph = stream.end_capture()
    graph.launch(stream)
    stream.synchronize()
    assert (x.get() == 3).all()


def test_textures_live_as_long_as_the_graph_and_may_go_during_a_capture(stream):
    kernel = cp.RawKernel(
        """
        extern "C" __global__ void read(cudaTextureObject_t t, float* out) {
            out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
        }
        """,
        "read",
    )
    out = cp.zeros(8, dtype=cp.float32)

    def texture(value: float):
        memory = cp.full(8, value, dtype=cp.float32)
        resource = ResourceDescriptor(
            runtime.cudaResourceTypeLinear,
            arr=memory,
            chDesc=ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat),
            sizeInBytes=32,
        )
        return TextureObject(resource, TextureDescriptor())

    used, unused = texture(3.0), texture(4.0)
    kernel((1,), (8,), (unused, out))
    with stream:
        stream.begin_capture(runtime.streamCaptureModeGlobal)
        kernel((1,), (8,), (used, out))
        del used, unused
        gc.collect()
        graph = stream.end_capture()
    del texture
    others = [cp.full(8, -1.0, dtype=cp.float32) for _ in range(50)]
    graph.launch(stream)
    stream.synchronize()
    assert (out.get() == 3).all()
    del graph, others


def test_arrays_of_the_captured_stream_live_as_long_as_the_graph(stream):
    with stream:
        arrays = [cp.full(5000, 1.0) for _ in range(4)]
        out = cp.zeros(5000)
        raw = cp.RawKernel(SCALE, "scale")
        raw((1,), (1,), (arrays[3], np.float32(1), np.int32(0)))
        add_one[1, 32, stream](arrays[2][:0])
        stream.synchronize()
        stream.begin_capture()
        out += arrays[0]
        cp.add(out, arrays[1].sum(), out=out)
        add_one[20, 256, stream](arrays[2])
        add_one.forall(5000, stream=stream)(cuda.as_cuda_array(arrays[2]))
        out += arrays[2]
        raw((1,), (1,), (arrays[3], np.float32(3), np.int32(0)))
        graph = stream.end_capture()
        del arrays
        others = [cp.full(5000, np.nan) for _ in range(10)]
        graph.launch()
        stream.synchronize()
    assert (out.get() == 1 + 5000 + 3).all()
    assert all(np.isnan(o.get()).all() for o in others)
