"""Device memory of other processes: Numba's handles of it, which are pickled."""

from __future__ import annotations

from typing import Any

from trilane import _core
from trilane._core import array as _array
from trilane.numba.cuda.cudadrv.error import translated

__all__ = ["IpcArrayHandle", "IpcHandle"]


class IpcHandle:
    """Memory of one process, for others to open.

    Parameters
    ----------
    base : object
        What keeps the memory alive in the process that exported it; None elsewhere.
    handle : bytes
        Of the allocation.
    size : int
        Bytes.
    source_info : object
        The device's number and PCI address, for messages.
    offset : int
        Of the memory in the allocation, bytes.
    """

    def __init__(
        self, base: Any, handle: Any, size: int, source_info: Any = None, offset: int = 0
    ) -> None:
        self.base = base
        self.handle = bytes(handle)
        self.size = int(size)
        self.source_info = source_info
        self.offset = int(offset)
        self._opened: tuple[_core.IpcMemory, _core.Buffer] | None = None

    def _sentry(self) -> None:
        if self._opened is not None:
            raise ValueError("IpcHandle is already opened")

    def open(self, context: Any) -> _core.Buffer:
        """The memory, in a context of this process, until `close`.

        Where the context's device does not reach the memory's a copy, as of `open_staged`.

        Raises
        ------
        ValueError
            It is open.
        """
        self._sentry()
        source = self._source()
        if source is None or source.index == context.id:
            return self.open_direct(context)
        with translated():
            reached = _core.can_access_peer(context._core, source)
        return self.open_direct(context) if reached else self.open_staged(context)

    def open_direct(self, context: Any) -> _core.Buffer:
        """As `open`, always the memory itself."""
        self._sentry()
        with translated():
            memory = _core.IpcMemory(self.handle, context._core)
            address = memory.address + self.offset
            buffer = _core.Buffer.adopt(address, self.size, memory, context._core)
        self._opened = memory, buffer
        return buffer

    def open_staged(self, context: Any) -> _core.Buffer:
        """A copy of the memory on the context's device: what is written to it stays there.

        Raises
        ------
        ValueError
            It is open, or the device of the memory is not among this process's.
        """
        self._sentry()
        source = self._source()
        if source is None:
            raise ValueError(
                f"IpcHandle: no device of this process is the memory's: {self.source_info}"
            )
        with translated():
            memory = _core.IpcMemory(self.handle, source)
            buffer = _core.Buffer.allocate(self.size, context._core.default_stream)
            _core.copy_peer(
                buffer, context._core, memory.address + self.offset, source, self.size, wait=True
            )
        self._opened = memory, buffer
        return buffer

    def _source(self) -> _core.Context | None:
        """The device that has the memory, as this process counts its devices."""
        address = self.source_info[1] if self.source_info else None
        for index in range(_core.device_count()):
            context = _core.context_of(index)
            if context.properties.pci_bus_id == address:
                return context
        return None

    def open_array(self, context: Any, shape: Any, dtype: Any, strides: Any = None) -> Any:
        """As `open`, as a device array; without `strides` it is C-contiguous."""
        import numpy as np

        from trilane.numba.cuda.devicearray import from_core

        dtype = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        if strides is None:
            strides = tuple(
                dtype.itemsize * int(np.prod(shape[i + 1 :], dtype=np.int64))
                for i in range(len(shape))
            )
        elif isinstance(strides, (int, np.integer)):
            strides = (int(strides),)
        buffer = self.open(context)
        try:
            with translated():
                made = _array.from_buffer(buffer, 0, shape, dtype, tuple(strides))
        except BaseException:
            self.close()  # nobody has got it: nothing stays mapped
            raise
        return from_core(made)

    def close(self) -> None:
        """Give the memory up, after all work of the device; later use of it raises."""
        if self._opened is None:
            raise ValueError("IpcHandle not opened")
        memory, buffer = self._opened
        self._opened = None
        buffer.free_now()
        with translated():
            memory.close()

    def __reduce__(self) -> Any:
        return (IpcHandle, (None, self.handle, self.size, self.source_info, self.offset))


class IpcArrayHandle:
    """A device array of one process, for others: ``with handle as array``; it is pickled."""

    def __init__(self, ipc_handle: IpcHandle, array_desc: dict[str, Any]) -> None:
        self._ipc_handle = ipc_handle
        self._array_desc = array_desc

    def open(self) -> Any:
        """The array, on the current device of this process."""
        from trilane.numba.cuda.cudadrv import devices

        return self._ipc_handle.open_array(devices.get_context(), **self._array_desc)

    def close(self) -> None:
        """Give the memory up."""
        self._ipc_handle.close()

    def __enter__(self) -> Any:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()
