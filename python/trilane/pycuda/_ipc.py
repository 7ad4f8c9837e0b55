"""Device memory of other processes."""

from __future__ import annotations

from typing import Any

from trilane import _core

from ._errors import TrilaneError, translate
from ._memory import PointerHolderBase


def mem_get_ipc_handle(devptr: Any) -> bytearray:
    """What another process opens an allocation by, with `IPCMemoryHandle`.

    Parameters
    ----------
    devptr : DeviceAllocation or int
        The allocation; an address inside of one stands for the whole.

    Returns
    -------
    bytearray
        The driver's 64 bytes, or 72 where the allocation lies inside of a larger piece of memory
        (only Trilane opens those).

    Raises
    ------
    LogicError
        The memory was freed, or is managed.
    NotImplementedError
        On the cpu device, whose memory is the process's own.

    Notes
    -----
    Keep the allocation alive as long as others have it open. Wait for the work that writes it
    before they read, or give them an event of flag ``INTERPROCESS``.
    """
    try:
        return bytearray(_core.export_memory(devptr)[0])
    except TrilaneError as error:
        raise translate("cuIpcGetMemHandle", error) from None


class IPCMemoryHandle(PointerHolderBase):
    """Memory of another process: accepted wherever a device pointer is, until `close`.

    Parameters
    ----------
    handle : bytes-like
        What `mem_get_ipc_handle` gave in the other process.
    flags : ipc_mem_flags
        ``LAZY_ENABLE_PEER_ACCESS``, the only one there is.
    """

    def __init__(self, handle: Any, flags: int = 1) -> None:
        try:
            self._memory = _core.IpcMemory(bytes(handle))
        except TrilaneError as error:
            raise translate("cuIpcOpenMemHandle", error) from None

    def get_pointer(self) -> int:
        """The address in this process."""
        return self._memory.address

    def close(self) -> None:
        """Give the memory up, after all work of the device."""
        try:
            self._memory.close()
        except TrilaneError as error:
            raise translate("cuIpcCloseMemHandle", error) from None


IPCMemoryHandle.__module__ = "pycuda._driver"
