"""The driver face beyond PyCUDA's own tests: fills, peers, managed memory, threads, loads, times."""

from __future__ import annotations

import gc
import importlib
import threading
from pathlib import Path

import numpy as np
import pytest

import trilane.pycuda.autoinit  # noqa: F401
import trilane.pycuda.driver as cuda
import trilane.pycuda.gpuarray as gpuarray
from trilane.pycuda import compiler
from trilane.pycuda.compiler import SourceModule
from trilane.pycuda.tools import DeviceData, OccupancyRecord

ADD = "__global__ void add(int *a, int n) { a[threadIdx.x] += n; }"


@pytest.fixture(scope="module")
def add():
    return SourceModule(ADD).get_function("add")


@pytest.mark.parametrize(
    ("bits", "dtype", "value"), [(8, "u1", 0xAB), (16, "u2", 0xABCD), (32, "u4", 0xDEADBEEF)]
)
@pytest.mark.parametrize("on_stream", [False, True])
def test_the_family_of_fills(bits, dtype, value, on_stream):
    x = gpuarray.zeros((5, 8), dtype)
    suffix, stream = ("_async", [cuda.Stream()]) if on_stream else ("", [])
    getattr(cuda, f"memset_d{bits}{suffix}")(x.gpudata, value, 3, *stream)
    rest = int(x.gpudata) + 2 * x.strides[0]
    getattr(cuda, f"memset_d2d{bits}{suffix}")(rest, x.strides[0], value, 5, 2, *stream)
    cuda.Context.synchronize()
    expected = np.zeros((5, 8), dtype)
    expected[0, :3] = expected[2:4, :5] = value
    np.testing.assert_array_equal(x.get(), expected)
    with pytest.raises(OverflowError):
        getattr(cuda, f"memset_d{bits}")(x.gpudata, 1 << bits, 1)


def test_copies_between_devices_and_their_arrays():
    a = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    source, target = gpuarray.to_gpu(a), gpuarray.zeros_like(gpuarray.to_gpu(a))
    here = cuda.Context.get_current()
    cuda.memcpy_peer(target.gpudata, source.gpudata, 40)
    cuda.memcpy_peer(int(target.gpudata) + 40, int(source.gpudata) + 40, 40, here, here)
    np.testing.assert_array_equal(target.get().ravel()[:20], a.ravel()[:20])
    assert not target.get().ravel()[20:].any()
    copy = cuda.Memcpy3DPeer()
    copy.set_src_device(source.gpudata)
    copy.set_dst_device(target.gpudata)
    copy.set_src_context(here)
    copy.set_dst_context(here)
    copy.src_x_in_bytes = copy.dst_x_in_bytes = 4
    copy.src_pitch = copy.dst_pitch = 20
    copy.src_height = copy.dst_height = 4
    copy.width_in_bytes, copy.height, copy.depth = 16, 4, 3
    target.fill(0)
    copy()
    expected = a.copy()
    expected[:, :, 0] = 0
    np.testing.assert_array_equal(target.get(), expected)


def test_managed_memory_is_one_memory(add):
    shared = cuda.managed_zeros(8, np.int32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    shared[3] = 5
    add(shared, np.int32(2), block=(8, 1, 1))
    cuda.Context.synchronize()
    np.testing.assert_array_equal(shared, [2, 2, 2, 7, 2, 2, 2, 2])


def test_registered_memory_is_reached_by_kernels(add):
    host = cuda.aligned_zeros(1024, np.int32)
    registered = cuda.register_host_memory(host, cuda.mem_host_register_flags.DEVICEMAP)
    add(np.intp(registered.base.get_device_pointer()), np.int32(4), block=(8, 1, 1))
    cuda.Context.synchronize()
    assert host[:9].tolist() == [4] * 8 + [0]
    registered.base.unregister()


def test_events_tell_times_and_streams_keep_order(add):
    stream, x = cuda.Stream(), gpuarray.zeros(8, np.int32)
    start, end = cuda.Event(), cuda.Event()
    assert start.record(stream) is start
    for _ in range(10):
        add(x, np.int32(1), block=(8, 1, 1), stream=stream)
    end.record(stream)
    assert end.synchronize() is end and end.query() and stream.is_done()
    assert start.time_till(end) >= 0 and end.time_since(start) == start.time_till(end)
    other = cuda.Stream()
    other.wait_for_event(end)
    add(x, np.int32(-10), block=(8, 1, 1), stream=other)
    other.synchronize()
    assert not x.get().any()
    assert add(x, np.int32(1), block=(8, 1, 1), time_kernel=True) >= 0


def test_profiler_control_does_no_harm():
    cuda.start_profiler()
    cuda.stop_profiler()


def test_eight_threads_launch_ten_thousand_times(add):
    arrays, errors = [gpuarray.zeros(32, np.int32) for _ in range(8)], []

    def work(x):
        try:
            for _ in range(1250):
                add(x, np.int32(1), block=(32, 1, 1))
        except Exception as error:  # noqa: BLE001  any failure of any thread is one
            errors.append(error)

    threads = [threading.Thread(target=work, args=(x,)) for x in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert all((x.get() == 1250).all() for x in arrays)


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def test_a_thousand_module_loads_leave_nothing_behind():
    image = cuda.module_from_buffer  # loads; the compile is done once, before
    from trilane.pycuda.compiler import compile

    data = compile(ADD)

    def load(count):
        for _ in range(count):
            image(data).get_function("add")
        gc.collect()

    load(100)
    before = _resident_bytes()
    load(1000)
    assert _resident_bytes() - before < 8 << 20


def test_occupancy_agrees_with_the_limits():
    data = DeviceData()
    record = OccupancyRecord(data, 256)
    assert 0 < record.occupancy <= 1
    assert record.tb_per_mp * 256 // data.warp_size == record.warps_per_mp
    small = OccupancyRecord(data, 256, shared_mem=data.shared_memory)
    assert small.tb_per_mp == 1 and small.limited_by == "smem"
    with pytest.raises(ValueError, match="threads"):
        OccupancyRecord(data, data.max_threads + 1)


@pytest.mark.parametrize("name", ["gl", "gl.autoinit"])
def test_gl_cannot_be_imported(name):
    with pytest.raises(ImportError):
        importlib.import_module(f"trilane.pycuda.{name}")


def test_second_names_of_the_dtype_tools():
    from trilane.pycuda.compyte import dtypes

    assert dtypes.dtype_to_ctype(np.float32) == "float"


def test_error_classes_and_texts():
    for name in ("MemoryError", "LogicError", "LaunchError", "RuntimeError", "CompileError"):
        assert issubclass(getattr(cuda, name), cuda.Error)
    assert str(cuda.LogicError).endswith("LogicError'>")
    with pytest.raises(cuda.LogicError, match="^cuModuleGetFunction failed: "):
        SourceModule(ADD).get_function("absent")
    with pytest.raises(cuda.LogicError, match="^cuModuleGetGlobal failed: "):
        SourceModule(ADD).get_global("absent")
    with pytest.raises(cuda.MemoryError, match="^cuMemAlloc failed: out of memory"):
        cuda.mem_alloc(1 << 50)
    with pytest.raises(cuda.CompileError, match="kernel.cu failed") as caught:
        SourceModule("__global__ void f() { nothing; }")
    assert "nothing" in caught.value.stderr and caught.value.command_line[0] == "nvcc"


def test_the_allocation_around_an_address():
    block = cuda.mem_alloc(1000)
    other = cuda.mem_alloc(64)
    start = int(block)
    assert cuda.mem_get_address_range(block) == (start, 1000)
    assert cuda.mem_get_address_range(start + 999) == (start, 1000)
    assert cuda.mem_get_address_range(int(other)) == (int(other), 64)
    array = gpuarray.zeros(100, np.float32)
    assert cuda.mem_get_address_range(array.ptr + 8) == (array.ptr, 400)
    block.free()
    with pytest.raises(cuda.LogicError, match=r"cuMemGetAddressRange failed: .* in no allocation"):
        cuda.mem_get_address_range(8)


def test_what_has_no_way_here_says_why():
    with pytest.raises(NotImplementedError, match="NVRTC"):
        compiler.preprocess_source("", [], "nvcc")
    with pytest.raises(NotImplementedError, match="cuCtxAttach"):
        cuda.Context.get_current().attach()
