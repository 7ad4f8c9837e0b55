"""Host functions of `numba.cuda`: memory, streams, events, devices."""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from trilane import _core
from trilane._exchange import ReachableArray
from trilane.numba.cuda.cudadrv import devices
from trilane.numba.cuda.cudadrv.devices import gpus
from trilane.numba.cuda.cudadrv.driver import Context, Device, Event, Stream
from trilane.numba.cuda.cudadrv.error import translated, why_no_device
from trilane.numba.cuda.devicearray import (
    DeviceNDArray,
    as_cuda_array,
    auto_device,
    from_interface,
    is_cuda_array,
    new_array,
)  # fmt: skip
from trilane.numba.genuine import numpy_dtype

__all__ = [
    "as_cuda_array", "close", "cuda_error", "current_context", "default_stream", "defer_cleanup",
    "detect", "device_array", "device_array_like", "event", "event_elapsed_time",
    "external_stream", "from_cuda_array_interface", "get_current_device", "get_supported_ccs",
    "gpus", "is_available", "is_bfloat16_supported", "is_cuda_array", "is_float16_supported",
    "is_supported_version", "legacy_default_stream", "list_devices", "managed_array", "mapped",
    "mapped_array", "mapped_array_like", "open_ipc_array", "per_thread_default_stream", "pinned",
    "pinned_array", "pinned_array_like", "profile_start", "profile_stop", "profiling",
    "select_device", "set_memory_manager", "stream", "synchronize", "to_device",
]  # fmt: skip


# --- arrays
def to_device(
    obj: Any, stream: Any = 0, copy: bool = True, to: DeviceNDArray | None = None
) -> DeviceNDArray:
    """Copy a NumPy array to the device.

    Parameters
    ----------
    obj : array_like
        Contiguous in either order. Device arrays are returned as they are.
    stream : Stream
        Work is put there; the copy is done when the call returns.
    copy : bool
        False: memory of the same shape, not initialised.
    to : DeviceNDArray
        Copy into this array instead of new memory.

    Returns
    -------
    DeviceNDArray
        Same shape, dtype and layout.
    """
    if to is None:
        return auto_device(obj, stream, copy, user_explicit=True)[0]
    if copy:
        to.copy_to_device(obj, stream=stream)
    return to


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """Device memory of `shape`, not initialised."""
    return new_array(shape, dtype, strides, order, stream)


def _like(ary: Any) -> dict[str, Any]:
    """Shape, dtype and order of `ary`, as `*_like` functions keep them."""
    c = getattr(ary, "c_contiguous", None)
    if c is None:
        c, f = ary.flags["C_CONTIGUOUS"], ary.flags["F_CONTIGUOUS"]
    else:
        f = ary.f_contiguous
    order = "F" if f and not c else "C"
    return {"shape": ary.shape, "dtype": ary.dtype, "order": order}


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """Device memory like `ary`, not initialised."""
    return new_array(**_like(ary), stream=stream)


class _HostView(np.ndarray):
    """A NumPy array whose memory the core owns."""

    __cuda_memory__ = True

    def __array_finalize__(self, source: Any) -> None:
        self._memory = getattr(source, "_memory", None)


class _MappedView(ReachableArray):
    """A NumPy array whose memory the core owns and the device reaches: passed with no copy."""

    __cuda_memory__ = True

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        shown = self.__trilane_array__()
        if shown is None:
            raise AttributeError("__cuda_array_interface__ (a copy in ordinary host memory)")
        return as_cuda_array(shown).__cuda_array_interface__


def _host_array(
    buffer: Any, address: int, shape: Any, dtype: Any, order: str, reach: Any = None
) -> Any:
    shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
    dtype = numpy_dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.empty(shape, dtype, order=order)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    made = np.frombuffer(memory, dtype, count).reshape(shape, order=order)
    if reach is not None:
        made = made.view(_MappedView)
        made._reach = (reach, address)
        return made
    made = made.view(_HostView)
    made._memory = buffer
    return made


def _nbytes(shape: Any, dtype: Any) -> int:
    return int(np.prod(shape, dtype=np.int64)) * numpy_dtype(dtype).itemsize


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C"
) -> np.ndarray:
    """Page-locked host memory as a NumPy array, not initialised."""
    _no_strides("pinned_array", strides)
    with translated():
        buffer = _core.HostBuffer.allocate(_nbytes(shape, dtype))
    return _host_array(buffer, buffer.address, shape, dtype, order)


def pinned_array_like(ary: Any) -> np.ndarray:
    """`pinned_array` with shape, dtype and order of `ary`."""
    return pinned_array(**_like(ary))


def mapped_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0,
    portable: bool = False, wc: bool = False,
) -> np.ndarray:  # fmt: skip
    """Page-locked host memory that the device reaches: a NumPy array, not initialised."""
    _no_strides("mapped_array", strides)
    with translated():
        nbytes = _nbytes(shape, dtype)
        buffer = _core.HostBuffer.allocate(nbytes, 2 | portable | wc << 2)
        reach = _core.Buffer.adopt(buffer.device_pointer, nbytes, buffer) if nbytes else None
    return _host_array(buffer, buffer.address, shape, dtype, order, reach)


def mapped_array_like(
    ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False
) -> np.ndarray:
    """`mapped_array` with shape, dtype and order of `ary`."""
    return mapped_array(**_like(ary), portable=portable, wc=wc)


def managed_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0,
    attach_global: bool = True,
) -> np.ndarray:  # fmt: skip
    """Memory that host and device share, as a NumPy array, not initialised."""
    _no_strides("managed_array", strides)
    with translated():
        buffer = _core.Buffer.allocate_managed(
            max(_nbytes(shape, dtype), 1), 1 if attach_global else 2
        )
    return _host_array(buffer, buffer.address, shape, dtype, order, buffer)


def _no_strides(name: str, strides: Any) -> None:
    if strides is not None:
        raise NotImplementedError(f"numba.cuda.{name}: strides are not supported, use order")


@contextlib.contextmanager
def pinned(*arylist: np.ndarray) -> Iterator[None]:
    """Page-lock the memory of NumPy arrays while the block runs."""
    with translated():
        held = [_core.register_host(a) for a in arylist]
    try:
        yield
    finally:
        for registration in held:
            registration.unregister()


@contextlib.contextmanager
def mapped(*arylist: np.ndarray, **kws: Any) -> Iterator[Any]:
    """Let the device reach the memory of NumPy arrays while the block runs."""
    with translated():
        held = [_core.register_host(a, 2) for a in arylist]
    views = []
    for array, registration in zip(arylist, held, strict=True):
        interface = {
            "shape": array.shape, "typestr": array.dtype.str, "strides": array.strides,
            "data": (registration.device_pointer, False), "version": 2,
        }  # fmt: skip
        views.append(from_interface(interface, owner=array))
    try:
        yield views[0] if len(views) == 1 else views
    finally:
        for registration in held:
            registration.unregister()


def from_cuda_array_interface(
    desc: dict[str, Any], owner: Any = None, sync: bool = True
) -> DeviceNDArray:
    """A DeviceNDArray of the memory that a CUDA array interface describes."""
    return from_interface(desc, owner, sync)


def _extent(shape: Any, dtype: Any, strides: Any) -> int:
    """Bytes from the lowest to the highest of an array's elements."""
    extents = np.atleast_1d(shape).tolist()
    if strides is None or 0 in extents:
        return math.prod(extents) * np.dtype(dtype).itemsize
    steps = np.atleast_1d(strides).tolist()
    last = sum((n - 1) * abs(step) for n, step in zip(extents, steps, strict=True))
    return last + np.dtype(dtype).itemsize


@contextlib.contextmanager
def open_ipc_array(
    handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0
) -> Iterator[Any]:
    """Memory of another process as a device array while the block runs.

    Parameters
    ----------
    handle : bytes or sequence of int
        Of the allocation, as `IpcHandle.handle` or another library gives it.
    strides : tuple of int
        C-contiguous by default.
    offset : int
        Of the array in the allocation, bytes.
    """
    from trilane.numba.cuda.cudadrv.ipc import IpcHandle

    opened = IpcHandle(None, handle, _extent(shape, dtype, strides), offset=offset)
    array = opened.open_array(current_context(), shape, dtype, strides)
    try:
        yield array
    finally:
        opened.close()


# --- streams and events
def stream() -> Stream:
    """A new stream."""
    with translated():
        return Stream(_core.Stream())


def default_stream() -> Stream:
    """The default stream of the current device."""
    return Stream(_core.current_context().default_stream)


def legacy_default_stream() -> Stream:
    """The default stream, which waits for all others."""
    return default_stream()


def per_thread_default_stream() -> Stream:
    """The thread's own default stream: here the thread's current stream."""
    return Stream(_core.current_stream())


def external_stream(ptr: int) -> Stream:
    """A stream of another library, by its handle; it stays that library's."""
    if not isinstance(ptr, int):
        raise TypeError("ptr for external stream must be an int")
    return Stream(_core.Stream.wrap(ptr), external=True)


def event(timing: bool = True) -> Event:
    """A new event."""
    with translated():
        return Event(_core.Event(None, timing))


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds between two events."""
    return evtstart.elapsed_time(evtend)


def synchronize() -> None:
    """Wait for all work of the current device."""
    with translated():
        _core.current_context().synchronize()


# --- devices
def current_context(devnum: int | None = None) -> Context:
    """The context of the current device, or of device `devnum`."""
    return devices.get_context(devnum)


def get_current_device() -> Device:
    """The current device of this thread."""
    return Device(_core.current_device_index())


def list_devices() -> Any:
    """All devices."""
    return gpus


def select_device(device_id: int) -> Device:
    """Make a device current for this thread."""
    with translated():
        _core.set_current_device(device_id)
    return Device(device_id)


def close() -> None:
    """Give back all memory that nothing uses; devices stay usable."""
    devices.reset()


def is_available() -> bool:
    """Whether there is a device: without a GPU the cpu device, unless TRILANE_DEVICE excludes it."""
    return _core.device_count() > 0


def cuda_error() -> str | None:
    """Why there is no device; None if there is one."""
    return why_no_device()


def is_supported_version() -> bool:
    """Whether the device's toolkit is supported."""
    return True


def is_float16_supported() -> bool:
    return get_current_device().supports_float16


def is_bfloat16_supported() -> bool:
    return get_current_device().supports_bfloat16


def get_supported_ccs() -> tuple[tuple[int, int], ...]:
    """Compute capabilities that kernels can be compiled for."""
    return (get_current_device().compute_capability,)


def detect() -> bool:
    """Print what devices there are; returns whether there is a usable one."""
    print(f"Found {len(gpus)} CUDA devices")
    for device in gpus:
        capability = ".".join(map(str, device.compute_capability))
        print(f"id {device.id}    {device.name!r:<40} [SUPPORTED]")
        print(f"{'Compute Capability':>40}: {capability}")
        print(f"{'UUID':>40}: {device.uuid}")
    print("Summary:")
    print(f"\t{len(gpus)}/{len(gpus)} devices are supported")
    return len(gpus) > 0


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Frees are cheap here: nothing needs deferring."""
    yield


def profile_start() -> None:
    """Let an outside profiler collect from now on."""
    with translated():
        _core.start_profiler()


def profile_stop() -> None:
    """End what `profile_start` began."""
    with translated():
        _core.stop_profiler()


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """What a profiler should see."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()


def set_memory_manager(mm_plugin: Any) -> None:
    """Use another library's allocator."""
    raise NotImplementedError(
        "numba.cuda.set_memory_manager: memory-manager plug-ins are not there yet; all faces "
        "share one pool"
    )
