"""Memory and events of other processes, by the calls of the runtime."""

from __future__ import annotations

from trilane import _core
from trilane.cupy.cuda._errors import CUDARuntimeError

__all__ = [
    "cudaIpcMemLazyEnablePeerAccess",
    "ipcCloseMemHandle",
    "ipcGetEventHandle",
    "ipcGetMemHandle",
    "ipcOpenEventHandle",
    "ipcOpenMemHandle",
]

cudaIpcMemLazyEnablePeerAccess = 1

_of_others: dict[int, list[_core.IpcMemory]] = {}  # an address is opened several times


def ipcGetMemHandle(ptr: int) -> bytes:
    """What another process opens the allocation of an address by.

    The driver's 64 bytes, or 72 where the allocation lies inside of a larger piece of memory.
    """
    with _runtime()._runtime_call():
        return _core.export_memory(int(ptr))[0]


def ipcOpenMemHandle(handle: bytes, flags: int = cudaIpcMemLazyEnablePeerAccess) -> int:
    """Open memory of another process; the address where the allocation starts."""
    with _runtime()._runtime_call():
        memory = _core.IpcMemory(bytes(handle))
    _of_others.setdefault(memory.address, []).append(memory)
    return memory.address


def ipcCloseMemHandle(ptr: int) -> None:
    """Give back what `ipcOpenMemHandle` gave, after all work of the device."""
    opened = _of_others.get(int(ptr))
    if not opened:
        raise CUDARuntimeError("cudaErrorInvalidValue", f"ipcCloseMemHandle: {ptr:#x} is not open")
    memory = opened.pop()
    if not opened:
        del _of_others[int(ptr)]
    with _runtime()._runtime_call():
        memory.close()


def ipcGetEventHandle(event: int) -> bytes:
    """What another process opens an event by; it was made with ``eventInterprocess``."""
    runtime = _runtime()
    with runtime._runtime_call():
        return runtime._event(event).share()


def ipcOpenEventHandle(handle: bytes) -> int:
    """Open an event of another process; the handle. Give it back by `eventDestroy`."""
    runtime = _runtime()
    with runtime._runtime_call():
        event = _core.Event(handle=bytes(handle))
    runtime._events[event.handle] = event
    return event.handle


def _runtime():
    from trilane.cupy.cuda import runtime  # which shows the names above

    return runtime
