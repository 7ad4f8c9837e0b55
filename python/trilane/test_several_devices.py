"""Several devices in one process, through all three faces.

The tests want two devices at least. Where the process has fewer, one test runs them all in a
process of its own, with four virtual cpu devices.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import trilane.cupy as cp
import trilane.pycuda.driver as drv
from trilane import _core
from trilane.cupy._util import PerformanceWarning
from trilane.cupy.cuda import runtime
from trilane.numba import cuda

several = pytest.mark.skipif(
    _core.device_count() < 2, reason="run by test_all_of_this_with_four_cpu_devices"
)


@pytest.fixture(autouse=True)
def first_device():
    _core.set_current_device(0)
    yield
    _core.set_current_device(0)


@pytest.mark.cpu_only(reason="a build for a GPU alone has no cpu devices")
@pytest.mark.skipif(_core.device_count() >= 2, reason="the tests themselves run in this process")
def test_all_of_this_with_four_cpu_devices():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-o", "addopts=--import-mode=importlib", __file__],
        env={**os.environ, "TRILANE_DEVICE": "cpu:4"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed, 1 skipped" in done.stdout, done.stdout[-500:]


# --- CuPy's face


@several
def test_arrays_remember_their_device():
    a = cp.arange(5)
    with cp.cuda.Device(1) as device:
        b = cp.arange(5)
        assert device.id == runtime.getDevice() == 1
        with cp.cuda.Device(0):
            assert runtime.getDevice() == 0
        assert runtime.getDevice() == 1
    assert runtime.getDevice() == 0
    assert (a.device.id, b.device.id, b.data.device_id) == (0, 1, 1)
    np.testing.assert_array_equal(b.get(), np.arange(5))
    assert int(b[3]) == 3 and b.item(2) == 2
    assert str(b) == "[0 1 2 3 4]"
    b.set(np.full(5, 7))
    np.testing.assert_array_equal(b.get(), [7] * 5)


@several
def test_use_selects_the_device_of_the_calling_thread_alone():
    seen = []
    cp.cuda.Device(1).use()
    thread = threading.Thread(target=lambda: seen.append(runtime.getDevice()))
    thread.start()
    thread.join()
    assert seen == [0]
    assert cp.zeros(3).device.id == 1


@several
@pytest.mark.parametrize("order", ["C", "F", "K"])
def test_copies_go_to_the_current_device(order):
    host = np.arange(24.0).reshape(4, 6)
    a = cp.asarray(host)
    with cp.cuda.Device(1), warnings.catch_warnings():
        warnings.simplefilter("error")
        for source, expected in ((a, host), (a.T, host.T), (a[::2, 1:5], host[::2, 1:5])):
            copied = source.copy(order=order)
            assert copied.device.id == 1
            np.testing.assert_array_equal(copied.get(), expected)
        moved = cp.asarray(a)
        assert moved.device.id == 1 and a.device.id == 0
        assert cp.asarray(moved) is moved
        narrow = cp.asarray(a, dtype=np.float32)
        assert narrow.device.id == 1 and narrow.dtype == np.float32
        np.testing.assert_array_equal(cp.asnumpy(a), host)
        with pytest.raises(ValueError):
            cp.asarray(a, copy=False)


@several
def test_structured_and_empty_arrays_are_copied_too():
    host = np.zeros(3, [("x", "i4"), ("y", "f8")])
    host["x"] = [1, 2, 3]
    a, empty = cp.asarray(host), cp.zeros((0, 3))
    with cp.cuda.Device(1):
        np.testing.assert_array_equal(a.copy().get(), host)
        assert empty.copy().shape == (0, 3)


@several
def test_operations_reach_the_other_device_and_warn():
    a = cp.arange(6.0)
    with cp.cuda.Device(1):
        b = cp.ones(6)
        with pytest.warns(PerformanceWarning, match=r"resides \(0\) is different .* \(1\)"):
            c = a + b
        with pytest.warns(PerformanceWarning):
            total = a.sum()
        with pytest.warns(PerformanceWarning):
            b[...] = a.astype(np.float32)
        assert c.device.id == total.device.id == 1
        np.testing.assert_array_equal(c.get(), np.arange(6.0) + 1)
        np.testing.assert_array_equal(b.get(), np.arange(6.0))
        assert float(total) == 15


@several
def test_plain_assignment_and_copyto_are_peer_copies():
    a = cp.arange(6.0)
    with cp.cuda.Device(1):
        b = cp.zeros(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for current in (0, 1):
            with cp.cuda.Device(current):
                cp.copyto(b, a)
                np.testing.assert_array_equal(b.get(), np.arange(6.0))
                b[...] = 0.0 if current == 1 else b
        b.data.copy_from_device(a.data, a.nbytes)
    np.testing.assert_array_equal(b.get(), np.arange(6.0))


@several
def test_kernels_are_made_once_and_run_on_every_device():
    text = r'extern "C" __global__ void twice(float* a, int n)' + (
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= 2; }"
    )
    kernel = cp.RawKernel(text + f"// {os.urandom(8).hex()}", "twice")
    compiled = 0
    for device in range(_core.device_count()):
        with cp.cuda.Device(device):
            a = cp.arange(40, dtype=np.float32)
            before = _core.current_context().cache_statistics()["compiled"]
            kernel((1,), (64,), (a, np.int32(40)))
            compiled += _core.current_context().cache_statistics()["compiled"] - before
            np.testing.assert_array_equal(a.get(), 2 * np.arange(40))
    assert compiled == 1
    on_first = cp.ones(40, np.float32)
    with cp.cuda.Device(1):
        kernel((1,), (64,), (on_first, np.int32(40)))
    np.testing.assert_array_equal(on_first.get(), [2] * 40)


@several
def test_streams_belong_to_devices():
    with cp.cuda.Device(1):
        stream = cp.cuda.Stream()
        event = stream.record()
        other = cp.zeros(4)
    assert stream.device_id == 1 and stream != cp.cuda.Stream()
    with pytest.raises(RuntimeError, match="stream is of device 1, the current device is 0"):
        stream.use()
    with pytest.raises(ValueError, match="stream of another device: got a stream of device 1"):
        cp.ones(3).get(stream=stream)
    kernel = cp.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
    with pytest.raises(Exception, match="stream of another device: got device 1"):
        kernel((1,), (1,), (), stream=stream)
    mine = cp.cuda.Stream()
    mine.wait_event(event)  # events of other devices can be waited for
    mine.synchronize()
    np.testing.assert_array_equal(other.get(stream=stream), np.zeros(4))


@several
def test_runtime_calls_of_peers():
    assert runtime.deviceCanAccessPeer(0, 0) == 0
    assert runtime.deviceCanAccessPeer(0, 1) == 1
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorPeerAccessNotEnabled"):
        runtime.deviceDisablePeerAccess(1)
    runtime.deviceEnablePeerAccess(1)
    with pytest.raises(runtime.CUDARuntimeError, match="AlreadyEnabled") as caught:
        runtime.deviceEnablePeerAccess(1)
    assert caught.value.status == runtime.errorPeerAccessAlreadyEnabled
    runtime.deviceDisablePeerAccess(1)
    with pytest.raises(runtime.CUDARuntimeError, match="PeerAccessUnsupported"):
        runtime.deviceEnablePeerAccess(0)
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidDevice"):
        runtime.setDevice(99)


@several
def test_memcpy_peer_by_addresses():
    a = cp.arange(8, dtype=np.int32)
    with cp.cuda.Device(1):
        b = cp.zeros(8, np.int32)
        stream = runtime.streamCreate()
    runtime.memcpyPeer(b.data.ptr, 1, a.data.ptr, 0, a.nbytes)
    np.testing.assert_array_equal(b.get(), np.arange(8))
    b[...] = cp.full(8, 5, np.int32)
    runtime.memcpyPeerAsync(a.data.ptr + 4, 0, b.data.ptr, 1, 8, stream)
    runtime.streamSynchronize(stream)
    runtime.streamDestroy(stream)
    np.testing.assert_array_equal(a.get(), [0, 5, 5, 3, 4, 5, 6, 7])
    if _core.device_count() > 2:
        with cp.cuda.Device(2):
            third = runtime.streamCreate()
        with pytest.raises(runtime.CUDARuntimeError, match="stream of device 2"):
            runtime.memcpyPeerAsync(b.data.ptr, 1, a.data.ptr, 0, 4, third)
        runtime.streamDestroy(third)


@several
def test_pools_are_per_device():
    pool = cp.get_default_memory_pool()
    before = pool.used_bytes()
    with cp.cuda.Device(1):
        there = pool.used_bytes()
        a = cp.zeros(1 << 16, np.uint8)
        assert pool.used_bytes() == there + (1 << 16)
    assert pool.used_bytes() == before
    del a
    with cp.cuda.Device(1):
        assert pool.used_bytes() == there


# --- Numba's face


@cuda.jit
def _add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@several
def test_numba_selects_devices():
    assert len(cuda.gpus) == _core.device_count()
    assert cuda.select_device(1).id == 1
    assert cuda.get_current_device().id == cuda.gpus.current.id == 1
    d = cuda.to_device(np.arange(4.0))
    _add_one[1, 4](d)
    with cuda.gpus[0]:
        assert cuda.current_context().device.id == 0
        here = cuda.to_device(np.arange(4.0))
        _add_one[1, 4](here)
        _add_one[1, 4](d)  # memory of the other device
        np.testing.assert_array_equal(d.copy_to_host(), np.arange(4.0) + 2)
    assert cuda.get_current_device().id == 1
    np.testing.assert_array_equal(here.copy_to_host(), np.arange(4.0) + 1)
    d.copy_to_device(here)
    np.testing.assert_array_equal(d.copy_to_host(), np.arange(4.0) + 1)
    cuda.close()
    np.testing.assert_array_equal(d.copy_to_host(), np.arange(4.0) + 1)
    with pytest.raises(IndexError, match="no such device"):
        cuda.gpus[99]
    with pytest.raises(cuda.cudadrv.driver.CudaAPIError):
        cuda.select_device(99)


@several
def test_numba_contexts_know_their_peers():
    first, second = cuda.gpus[0].get_primary_context(), cuda.gpus[1].get_primary_context()
    assert first.can_access_peer(second) and not first.can_access_peer(first)
    second.enable_peer_access(first)
    with pytest.raises(cuda.cudadrv.driver.CudaAPIError, match="ALREADY_ENABLED"):
        second.enable_peer_access(first)
    _core.disable_peer_access(_core.context_of(1), _core.context_of(0))


# --- PyCUDA's face


@several
def test_pycuda_contexts_move_between_devices():
    first = drv.Device(0).make_context()
    second = drv.Device(1).make_context()
    assert drv.Context.get_device() == drv.Device(1)
    there = drv.to_device(np.arange(4, dtype=np.int32))
    assert there.context.index == 1
    drv.Context.pop()
    assert drv.Context.get_device() == drv.Device(0)
    primary = drv.Device(1).retain_primary_context()
    assert drv.Context.get_current() is first
    with primary:
        assert drv.Context.get_device() == drv.Device(1)
    second.push()
    second.detach()
    assert drv.Context.get_device() == drv.Device(0)
    first.detach()
    assert drv.Context.get_current() is None
    _core.set_current_device(1)
    drv.Device(0).make_context()
    drv.Context.pop()
    assert drv.Context.get_device() == drv.Device(1)


@several
def test_pycuda_peer_copies():
    first, second = (drv.Device(i).retain_primary_context() for i in (0, 1))
    source = np.arange(6, dtype=np.int32)
    with first:
        a = drv.to_device(source)
        stream = drv.Stream()
    with second:
        b = drv.mem_alloc(24)
        drv.memcpy_peer(b, a, 24)
        np.testing.assert_array_equal(drv.from_device(b, 6, np.int32), source)
        drv.memset_d32(b, 9, 6)
    with first:
        drv.memcpy_peer_async(int(b) + 4, int(a), 8, second, first, stream)
        stream.synchronize()
    with second:
        np.testing.assert_array_equal(drv.from_device(b, 6, np.int32), [9, 0, 1, 9, 9, 9])
    with pytest.raises(drv.LogicError, match="stream of another device"), second:
        drv.memcpy_htod_async(b, source, stream)


@several
def test_pycuda_peer_access():
    first, second = (drv.Device(i).retain_primary_context() for i in (0, 1))
    assert drv.Device(0).can_access_peer(drv.Device(1))
    assert not drv.Device(0).can_access_peer(drv.Device(0))
    with first:
        with pytest.raises(drv.LogicError, match="not been enabled"):
            drv.Context.disable_peer_access(second)
        drv.Context.enable_peer_access(second)
        with pytest.raises(drv.LogicError, match="already enabled"):
            drv.Context.enable_peer_access(second)
        drv.Context.disable_peer_access(second)
        with pytest.raises(drv.LogicError, match="not supported"):
            drv.Context.enable_peer_access(first)


@several
def test_pycuda_boxes_between_devices():
    first, second = (drv.Device(i).retain_primary_context() for i in (0, 1))
    source = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    with first:
        a = drv.to_device(source)
    with second:
        b = drv.mem_alloc(24)
        drv.memset_d8(b, 255, 24)
        copy = drv.Memcpy3DPeer()
        copy.set_src_device(a)
        copy.set_dst_device(b)
        copy.set_src_context(first)
        copy.set_dst_context(second)
        copy.src_pitch = copy.dst_pitch = 4
        copy.src_height = copy.dst_height = 3
        copy.width_in_bytes, copy.height, copy.depth = 2, 3, 2
        copy()
        expected = np.full((2, 3, 4), 255, np.uint8)
        expected[:, :, :2] = source[:, :, :2]
        np.testing.assert_array_equal(drv.from_device(b, (2, 3, 4), np.uint8), expected)
