"""Numba's driver objects: devices, contexts, streams, events; thin views of the core's."""

from __future__ import annotations

import contextlib
import ctypes
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from trilane import _core
from trilane._exchange import core_stream
from trilane.numba.absent import absent_attributes
from trilane.numba.cuda.cudadrv.enums import DEVICE_ATTRIBUTES
from trilane.numba.cuda.cudadrv.error import (
    CudaAPIError,
    CudaDriverError,
    CudaSupportError,
    DriverError,
    LinkerError,
    require_device,
    translated,
)  # fmt: skip
from trilane.numba.cuda.cudadrv.ipc import IpcHandle

__all__ = [
    "Context", "CudaAPIError", "CudaDriverError", "CudaSupportError", "Device", "DriverError",
    "Event", "LinkerError", "MemoryInfo", "Stream", "core_stream", "driver",
]  # fmt: skip

MemoryInfo = namedtuple("MemoryInfo", "free,total")


class _Handle(ctypes.c_void_p):
    """An address that is also an integer."""

    def __int__(self) -> int:
        return self.value or 0

    __index__ = __int__


class Stream:
    """An ordered queue of work; `0` stands for the default one."""

    def __init__(self, core: _core.Stream, external: bool = False) -> None:
        self._core = core
        self.external = external

    @property
    def handle(self) -> ctypes.c_void_p:
        return _Handle(self._core.handle)

    def __int__(self) -> int:
        return self._core.handle

    @property
    def __trilane_stream__(self) -> _core.Stream:
        return self._core

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self._core.handle)

    def __repr__(self) -> str:
        if self._core.handle == 0:
            return f"<Default CUDA stream on {self._core.context.index}>"
        kind = "External CUDA" if self.external else "CUDA"
        return f"<{kind} stream {self._core.handle} on {self._core.context.index}>"

    def synchronize(self) -> None:
        """Wait for everything on the stream."""
        with translated():
            self._core.synchronize()

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Synchronise when the block ends."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[..., Any], arg: Any = None) -> None:
        """Call ``callback(stream, status, arg)`` when the stream gets there."""
        self._core.host_function(lambda: callback(self, 0, arg))

    def async_done(self, callback: Any = None) -> Any:
        """An awaitable that resolves when the stream gets there."""
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def resolve() -> None:
            if not future.done():
                future.set_result(self)

        self._core.host_function(lambda: loop.call_soon_threadsafe(resolve))
        return future


class Event:
    """A point in a stream."""

    def __init__(self, core: _core.Event) -> None:
        self._core = core

    @property
    def handle(self) -> int:
        return self._core.handle

    def query(self) -> bool:
        """Whether all work before it is done."""
        return self._core.done()

    def record(self, stream: Any = 0) -> None:
        """Put it behind everything that is on `stream` now."""
        self._core.record(core_stream(stream))

    def synchronize(self) -> None:
        """Wait for it."""
        with translated():
            self._core.synchronize()

    def wait(self, stream: Any = 0) -> None:
        """Work put on `stream` from now on waits for it."""
        target = core_stream(stream) or _core.current_stream()
        target.wait_for(self._core)

    def elapsed_time(self, evtend: Event) -> float:
        """Milliseconds from this event to `evtend`."""
        with translated():
            return evtend._core.elapsed_ms_since(self._core)


class Device:
    """A device; attributes of CUDA by name: ``device.MAX_THREADS_PER_BLOCK``."""

    def __init__(self, index: int) -> None:
        require_device()
        self.id = index

    @property
    def _properties(self) -> _core.DeviceProperties:
        return _core.context_of(self.id).properties

    @property
    def name(self) -> bytes:
        return self._properties.name.encode()

    @property
    def compute_capability(self) -> tuple[int, int]:
        return tuple(self._properties.compute_capability)

    @property
    def uuid(self) -> str:
        digits = bytes(self._properties.uuid).hex().ljust(32, "0")
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32])
        return "GPU-" + "-".join(parts)

    @property
    def supports_float16(self) -> bool:
        return self.compute_capability >= (5, 3)

    @property
    def supports_bfloat16(self) -> bool:
        return self.compute_capability >= (8, 0)

    def get_device_identity(self) -> dict[str, int]:
        domain, bus, rest = self._properties.pci_bus_id.split(":")
        return {
            "pci_domain_id": int(domain, 16),
            "pci_bus_id": int(bus, 16),
            "pci_device_id": int(rest.split(".")[0], 16),
        }

    def get_primary_context(self) -> Context:
        return Context(self)

    def release_primary_context(self) -> None:
        """The context lives as long as the process; kept for programs that call it."""

    def reset(self) -> None:
        """Give all memory back that nothing uses."""
        context = _core.context_of(self.id)
        context.synchronize()
        release_linked_code()
        context.pool.free_all_free_blocks()

    def __getattr__(self, name: str) -> Any:
        number = DEVICE_ATTRIBUTES.get(name)
        if number is None:
            raise AttributeError(name)
        value = self._properties.attributes.get(number)
        if value is None:
            raise AttributeError(f"{name}: the device does not tell")
        return value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} '{self.name!r}'>"


_PEER_FAILURES = {
    "impossible": (217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"),
    "already": (704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"),
}


class Context:
    """The context of a device; there is one per device, shared by all threads."""

    def __init__(self, device: Device) -> None:
        self.device = device

    @property
    def _core(self) -> _core.Context:
        return _core.context_of(self.device.id)

    @property
    def id(self) -> int:
        return self.device.id

    @property
    def handle(self) -> int:
        return self.device.id

    def synchronize(self) -> None:
        with translated():
            self._core.synchronize()

    def get_memory_info(self) -> MemoryInfo:
        """Free and total bytes of the device."""
        return MemoryInfo(*self._core.memory_info())

    def get_default_stream(self) -> Stream:
        return Stream(self._core.default_stream)

    def create_stream(self) -> Stream:
        return Stream(_core.Stream(self._core))

    def create_external_stream(self, pointer: int) -> Stream:
        return Stream(_core.Stream.wrap(pointer, self._core), external=True)

    def create_event(self, timing: bool = True) -> Event:
        return Event(_core.Event(self._core, timing))

    def get_ipc_handle(self, memory: Any) -> IpcHandle:
        """What another process opens an allocation by; it is pickled.

        Raises
        ------
        NotImplementedError
            On the cpu device, whose memory is the process's own.
        """
        with translated():
            handle, offset = _core.export_memory(memory, self._core)
        size = getattr(memory, "alloc_size", None) or getattr(memory, "nbytes", 0)
        return IpcHandle(memory, handle, size, self._source_info, offset)

    @property
    def _source_info(self) -> tuple[int, str]:
        return self.device.id, self._core.properties.pci_bus_id

    def open_ipc_handle(self, handle: Any, size: int) -> _core.Buffer:
        """Memory of another process, until the last use of what is returned.

        Parameters
        ----------
        handle : bytes or sequence of int
            Of the allocation.
        size : int
            Bytes.
        """
        with translated():
            memory = _core.IpcMemory(bytes(handle), self._core)
            return _core.Buffer.adopt(memory.address, int(size), memory, self._core)

    def push(self) -> None:
        _core.set_current_device(self.device.id)

    def pop(self) -> None:
        """The primary context stays; kept for programs that call it."""

    def reset(self) -> None:
        release_linked_code()
        self._core.pool.free_all_free_blocks()

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Frees are never slow here: nothing needs deferring."""
        yield

    def can_access_peer(self, peer_context: Any) -> bool:
        """Whether kernels of this device may use memory of the other."""
        other = getattr(peer_context, "id", peer_context)
        return _core.can_access_peer(self._core, _core.context_of(other))

    def enable_peer_access(self, peer_context: Any, flags: int = 0) -> None:
        """Let kernels of this device use memory of the other."""
        other = _core.context_of(getattr(peer_context, "id", peer_context))
        with translated():
            change = _core.enable_peer_access(self._core, other)
        code, name = _PEER_FAILURES.get(change, (0, ""))
        if code:
            raise CudaAPIError(code, f"Call to cuCtxEnablePeerAccess results in {name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and other.device == self.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"<CUDA context of device {self.device.id}>"


class _Driver:
    """What programs ask ``numba.cuda.cudadrv.driver.driver``."""

    @property
    def is_available(self) -> bool:
        return _core.device_count() > 0

    def get_device_count(self) -> int:
        require_device()
        return _core.device_count()

    def get_device(self, devnum: int = 0) -> Device:
        return Device(devnum)

    def get_version(self) -> tuple[int, int]:
        return (13, 0)

    def get_active_context(self) -> Context:
        return Context(Device(_core.current_device_index()))


driver = _Driver()


def release_linked_code() -> None:
    """Call what linked code wants called before its modules are unloaded."""
    from trilane.numba.cuda import linking  # which needs the errors beside this module

    linking.release()


def host_memory_extents(obj: Any) -> tuple[int, int]:
    """Address of the first byte of host memory, and of the one behind the last."""
    import numpy as np

    host = np.asarray(obj)
    if not (host.flags.c_contiguous or host.flags.f_contiguous):
        raise ValueError("host_memory_extents: the array is not contiguous")
    return host.ctypes.data, host.ctypes.data + host.nbytes


def host_memory_size(obj: Any) -> int:
    """Bytes of a contiguous buffer of the host."""
    return memoryview(obj).nbytes


def _have_nvjitlink() -> bool:
    return False


__getattr__ = absent_attributes(
    __name__,
    "AutoFreePointer MemoryPointer _Linker _to_core_stream device_memory_size device_memset "
    "device_to_device device_to_host host_to_device "
    "is_device_memory launch_kernel require_device_memory",
)
