"""Memory and events of other processes, and marks for profilers, through the faces.

The cpu device's memory is private to its process: there every call says so by name. On a GPU a
second process opens what the first exports.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import trilane.cupy as cp
import trilane.pycuda.driver as drv
from trilane import _core
from trilane.cupy.cuda import runtime
from trilane.numba import cuda
from trilane.numba.cuda.cudadrv.error import CudaAPIError

on_cpu = _core.current_context().properties.type == "cpu"
private = pytest.mark.skipif(not on_cpu, reason="only the cpu device refuses")
shared = pytest.mark.skipif(on_cpu, reason="the cpu device's memory is private to its process")

READER = """
import sys
import numpy as np
import trilane.cupy as cp
import trilane.pycuda.driver as drv
from trilane.cupy.cuda import runtime
memory, event = (bytes.fromhex(text) for text in sys.argv[1:3])
waited = runtime.ipcOpenEventHandle(event)
runtime.eventSynchronize(waited)
runtime.eventDestroy(waited)
address = runtime.ipcOpenMemHandle(memory)
host = np.empty(16, np.int32)
runtime.memcpy(host.ctypes.data, address, host.nbytes, runtime.memcpyDeviceToHost)
assert (host == np.arange(16)).all(), host
runtime.ipcCloseMemHandle(address)
drv.Device(0).retain_primary_context().push()
opened = drv.IPCMemoryHandle(bytearray(memory))
drv.memcpy_htod(int(opened) + 4, np.full(3, 7, np.int32))
opened.close()
"""


@shared
@pytest.mark.parametrize("inside", [False, True])
def test_another_process_reads_and_writes(inside):
    pool = cp.zeros(1 << 20, np.uint8)
    del pool  # is cut below
    small = cp.zeros(4, np.int32) if inside else None
    a = cp.arange(16, dtype=np.int32)
    event = cp.cuda.Event(disable_timing=True, interprocess=True)
    event.record()
    handles = [runtime.ipcGetMemHandle(a.data.ptr), runtime.ipcGetEventHandle(event.ptr)]
    assert len(handles[0]) in (64, 72) and len(handles[1]) == 64
    subprocess.run(
        [sys.executable, "-c", READER, *(h.hex() for h in handles)],
        check=True, timeout=300, env=dict(os.environ),
    )  # fmt: skip
    np.testing.assert_array_equal(a.get(), [0, 7, 7, 7, *range(4, 16)])
    assert small is None or not small.any()


@private
def test_the_cpu_device_refuses_by_name():
    a = cp.arange(4)
    with pytest.raises(NotImplementedError, match="memory for other processes"):
        runtime.ipcGetMemHandle(a.data.ptr)
    with pytest.raises(NotImplementedError, match="memory of other processes"):
        runtime.ipcOpenMemHandle(b"x" * 64)
    with pytest.raises(NotImplementedError, match="events for other processes"):
        cp.cuda.Event(disable_timing=True, interprocess=True)
    with pytest.raises(NotImplementedError, match="events of other processes"):
        runtime.ipcOpenEventHandle(b"x" * 64)
    with pytest.raises(NotImplementedError, match="memory for other processes"):
        drv.mem_get_ipc_handle(drv.mem_alloc(16))
    with pytest.raises(NotImplementedError, match="memory of other processes"):
        drv.IPCMemoryHandle(bytearray(64))
    with pytest.raises(NotImplementedError, match="events of other processes"):
        drv.Event.from_ipc_handle(bytearray(64))


@private
def test_numba_on_the_cpu_device_refuses_by_name():
    with pytest.raises(NotImplementedError, match="memory for other processes"):
        cuda.to_device(np.arange(4)).get_ipc_handle()
    with (
        pytest.raises(NotImplementedError, match="memory of other processes"),
        cuda.open_ipc_array(bytes(64), 4, np.int32),
    ):
        pass


NUMBA_READER = """
import pickle, sys
import numpy as np
from trilane.numba import cuda
from trilane.numba.cuda.cudadrv.error import CudaAPIError
handle = pickle.loads(bytes.fromhex(sys.argv[1]))
with handle as a:
    np.testing.assert_array_equal(a.copy_to_host(), np.arange(20).reshape(4, 5)[1:, ::2])
    a[0, 0] = 99
raw = handle._ipc_handle
with cuda.open_ipc_array(raw.handle, 2, np.int64, offset=raw.offset) as b:
    assert b.copy_to_host()[0] == 99
"""


@shared
def test_numba_another_process_opens_a_view():
    whole = cuda.to_device(np.arange(20).reshape(4, 5))
    handle = whole[1:, ::2].get_ipc_handle()
    cuda.synchronize()
    text = pickle.dumps(handle).hex()
    subprocess.run([sys.executable, "-c", NUMBA_READER, text], check=True, timeout=300)
    assert whole.copy_to_host()[1, 0] == 99


def test_what_is_wrong_is_said():
    with pytest.raises(runtime.CUDARuntimeError, match="wrong size: got 5 bytes"):
        runtime.ipcOpenMemHandle(b"short")
    with pytest.raises(drv.LogicError, match="wrong size: got 5 bytes"):
        drv.IPCMemoryHandle(b"short")
    with pytest.raises(runtime.CUDARuntimeError, match="is not open"):
        runtime.ipcCloseMemHandle(64)
    with pytest.raises(drv.LogicError, match="DISABLE_TIMING"):
        drv.Event(drv.event_flags.INTERPROCESS)
    with pytest.raises(runtime.CUDARuntimeError, match="eventDisableTiming"):
        runtime.eventCreateWithFlags(runtime.eventInterprocess)


def test_profilers_are_started_and_stopped(monkeypatch):
    calls = []
    start, stop = _core.start_profiler, _core.stop_profiler
    monkeypatch.setattr(_core, "start_profiler", lambda: (start(), calls.append("start")))
    monkeypatch.setattr(_core, "stop_profiler", lambda: (stop(), calls.append("stop")))
    with cp.cuda.profile():
        assert calls == ["start"]
    assert calls == ["start", "stop"]
    drv.start_profiler()
    drv.stop_profiler()
    with pytest.raises(ZeroDivisionError), cuda.profiling():
        1 / 0  # noqa: B018
    assert calls == ["start", "stop"] * 3


def test_numba_handles_open_views_and_close_once(monkeypatch):
    """Over a stand-in for the mapping of another process."""
    whole = cuda.to_device(np.arange(20).reshape(4, 5))
    closed = []

    class Mapped:
        def __init__(self, handle, context):
            assert handle == b"h" * 64
            self.address = whole.ptr

        def close(self):
            closed.append(self)

    monkeypatch.setattr(_core, "export_memory", lambda a: (b"h" * 64, a.ptr - whole.ptr))
    monkeypatch.setattr(_core, "IpcMemory", Mapped)
    handle = pickle.loads(pickle.dumps(whole[1:, ::2].get_ipc_handle()))
    assert handle._ipc_handle.base is None and handle._ipc_handle.offset == 40
    with handle as a:
        np.testing.assert_array_equal(a.copy_to_host(), np.arange(20).reshape(4, 5)[1:, ::2])
        a[0, 0] = 99
        with pytest.raises(ValueError, match="already opened"):
            handle.open()
    assert len(closed) == 1 and whole.copy_to_host()[1, 0] == 99
    with pytest.raises(ValueError, match="not opened"):
        handle.close()
    with cuda.open_ipc_array(tuple(b"h" * 64), (2, 2), np.int64, offset=8) as b:
        np.testing.assert_array_equal(b.copy_to_host(), [[1, 2], [3, 4]])
    strided = cuda.open_ipc_array(b"h" * 64, (4,), np.int64, strides=(40,), offset=8)
    with strided as c:
        np.testing.assert_array_equal(c.copy_to_host(), [1, 6, 11, 16])
    assert len(closed) == 3
    refused = pytest.raises(CudaAPIError, match="Unsupported dtype object")
    with refused, cuda.open_ipc_array(b"h" * 64, 4, object):
        pass
    assert len(closed) == 4  # what was opened for it does not stay


def test_numba_contexts_open_memory_and_stage_it(monkeypatch):
    """Over the same stand-in: directly, and as a copy where the devices do not reach each other."""
    whole = cuda.to_device(np.arange(20))
    context = cuda.current_context()
    closed = []

    class Mapped:
        def __init__(self, handle, core):
            assert handle == b"h" * 64
            self.address = whole.ptr

        def close(self):
            closed.append(self)

    monkeypatch.setattr(_core, "export_memory", lambda a, core: (b"h" * 64, a.ptr - whole.ptr))
    monkeypatch.setattr(_core, "IpcMemory", Mapped)

    def values(buffer):
        assert buffer.nbytes == 32
        host = np.empty(4, np.int64)
        _core.copy_to_host(host, buffer)
        return host.tolist()

    part = whole[3:7]
    handle = pickle.loads(pickle.dumps(context.get_ipc_handle(part)))
    assert (handle.size, handle.offset) == (32, 24)
    assert handle.source_info == (context.id, _core.current_context().properties.pci_bus_id)
    direct = handle.open_direct(context)
    assert direct.address == part.ptr and values(direct) == [3, 4, 5, 6]
    with pytest.raises(ValueError, match="already opened"):
        handle.open_staged(context)
    handle.close()
    staged = handle.open_staged(context)
    assert staged.address != part.ptr and values(staged) == [3, 4, 5, 6]
    handle.close()
    assert len(closed) == 2 and staged.freed
    handle.source_info = (0, "0000:ff:00.0")
    with pytest.raises(ValueError, match="no device of this process"):
        handle.open_staged(context)
    assert handle.open(context).address == part.ptr
    handle.close()
    raw = context.open_ipc_handle(tuple(b"h" * 64), 32)
    assert values(raw) == [0, 1, 2, 3]


@private
def test_numba_contexts_refuse_by_name():
    context = cuda.current_context()
    with pytest.raises(NotImplementedError, match="memory for other processes"):
        context.get_ipc_handle(cuda.to_device(np.arange(4)))
    with pytest.raises(NotImplementedError, match="memory of other processes"):
        context.open_ipc_handle(bytes(64), 32)


def test_calls_of_the_runtime_take_the_events_of_the_face():
    event, later = cp.cuda.Event(), cp.cuda.Event()
    runtime.eventRecord(event.ptr, 0)
    runtime.eventRecord(later.ptr, 0)
    runtime.streamWaitEvent(0, event.ptr)
    runtime.eventSynchronize(later.ptr)
    assert runtime.eventQuery(event.ptr) == 0
    assert runtime.eventElapsedTime(event.ptr, later.ptr) >= 0
    # The driver's refusal, or the device's: the event is known.
    refusals = (runtime.CUDARuntimeError, NotImplementedError)
    with pytest.raises(refusals, match="other processes|cuIpcGetEventHandle"):
        runtime.ipcGetEventHandle(event.ptr)
    ptr = event.ptr
    del event
    with pytest.raises(runtime.CUDARuntimeError, match=f"event {ptr}"):
        runtime.eventQuery(ptr)
