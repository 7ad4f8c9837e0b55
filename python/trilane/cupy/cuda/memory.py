"""Device memory: pointers, owners, and the pool's façade.

There is one pool per device, the core's; every `MemoryPool` object is a view of it.
"""

from __future__ import annotations

import contextlib
import threading

import numpy as np

from trilane import _core
from trilane._exchange import core_stream
from trilane.cupy.cuda._errors import OutOfMemoryError
from trilane.cupy.cuda.device import Device

__all__ = [
    "BaseMemory",
    "ManagedMemory",
    "Memory",
    "MemoryPointer",
    "MemoryPool",
    "OutOfMemoryError",
    "PooledMemory",
    "UnownedMemory",
]


class BaseMemory:
    """A piece of device memory with its owner.

    Attributes
    ----------
    ptr : int
        Address.
    size : int
        Bytes.
    device_id : int
    """

    def __init__(self, buffer: _core.Buffer, size: int) -> None:
        self.buffer = buffer
        self.size = size
        self.device_id = buffer.context.index

    @property
    def ptr(self) -> int:
        """Address of the first byte; the buffer counts as escaped from here on."""
        return int(self.buffer.__index__())

    @property
    def device(self) -> Device:
        """The device that the memory is on."""
        return Device(self.device_id)

    def __int__(self) -> int:
        return self.ptr


class Memory(BaseMemory):
    """Memory from the device's pool.

    Parameters
    ----------
    size : int
        Bytes.
    """

    def __init__(self, size: int) -> None:
        super().__init__(_core.Buffer.allocate(_checked_size(size)), int(size))


class PooledMemory(Memory):
    """Memory that `MemoryPool.malloc` gave."""

    def free(self) -> None:
        """Give the memory back now; later use raises."""
        self.buffer.free_now()


class ManagedMemory(BaseMemory):
    """Memory that host and device can address.

    Parameters
    ----------
    size : int
        Bytes.
    """

    def __init__(self, size: int) -> None:
        super().__init__(_core.Buffer.allocate_managed(_checked_size(size)), int(size))


class UnownedMemory(BaseMemory):
    """Memory of somebody else.

    Parameters
    ----------
    ptr : int
        Address.
    size : int
        Bytes.
    owner : object
        Kept alive as long as this object.
    device_id : int
        The device; the current one by default.
    """

    def __init__(self, ptr: int, size: int, owner, device_id: int = -1) -> None:
        context = None if device_id < 0 else _core.context_of(device_id)
        super().__init__(_core.Buffer.adopt(int(ptr), int(size), owner, context), int(size))
        self._owner = owner


class MemoryPointer:
    """A place in a piece of device memory.

    Parameters
    ----------
    mem : BaseMemory
    offset : int
        Bytes from its start.

    Attributes
    ----------
    mem : BaseMemory
    ptr : int
        Address.
    device_id : int
    """

    def __init__(self, mem: BaseMemory, offset: int) -> None:
        self.mem = mem
        self.offset = int(offset)

    @property
    def buffer(self) -> _core.Buffer:
        """The core's buffer."""
        return self.mem.buffer

    @property
    def ptr(self) -> int:
        """Address; the buffer counts as escaped from here on."""
        return self.mem.ptr + self.offset

    @property
    def device_id(self) -> int:
        """Number of the device."""
        return self.mem.device_id

    @property
    def device(self) -> Device:
        """The device that the memory is on."""
        return self.mem.device

    def __int__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<MemoryPointer {self.ptr:#x} device={self.device_id} mem={self.mem!r}>"

    def __trilane_buffer__(self):
        return self.mem.buffer, self.offset

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.offset + int(offset))

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.offset - int(offset))

    def copy_from_device(self, src: MemoryPointer, size: int) -> None:
        """Copy bytes from device memory, ordered on the current stream."""
        self.copy_from_device_async(src, size)

    def copy_from_device_async(self, src: MemoryPointer, size: int, stream=None) -> None:
        """Copy bytes from device memory, ordered on a stream."""
        _core.copy_on_device(self, src, int(size), stream=core_stream(stream))

    def copy_from_host(self, mem, size: int) -> None:
        """Copy bytes from host memory: an address (``ctypes.c_void_p``) or a buffer."""
        _core.copy_to_device(self, _host(mem, size), int(size))

    def copy_from_host_async(self, mem, size: int, stream=None) -> None:
        """As `copy_from_host`, ordered on a stream; the host memory must stay until it is done."""
        _core.copy_to_device(
            self, _host(mem, size), int(size), stream=core_stream(stream), wait=False
        )

    def copy_from(self, mem, size: int) -> None:
        """Copy bytes from device memory (a `MemoryPointer`) or host memory."""
        self.copy_from_async(mem, size)
        _core.current_stream().synchronize()

    def copy_from_async(self, mem, size: int, stream=None) -> None:
        """As `copy_from`, ordered on a stream."""
        if isinstance(mem, MemoryPointer):
            self.copy_from_device_async(mem, size, stream)
        else:
            self.copy_from_host_async(mem, size, stream)

    def copy_to_host(self, mem, size: int) -> None:
        """Copy bytes to host memory: an address (``ctypes.c_void_p``) or a writable buffer."""
        _core.copy_to_host(_host(mem, size), self, int(size))

    def copy_to_host_async(self, mem, size: int, stream=None) -> None:
        """As `copy_to_host`, ordered on a stream."""
        _core.copy_to_host(
            _host(mem, size), self, int(size), stream=core_stream(stream), wait=False
        )

    def memset(self, value: int, size: int) -> None:
        """Set bytes, ordered on the current stream."""
        self.memset_async(value, size)

    def memset_async(self, value: int, size: int, stream=None) -> None:
        """Set bytes, ordered on a stream."""
        _core.fill(self, int(value) & 0xFF, 1, int(size), stream=core_stream(stream))


class MemoryPool:
    """The pool of the current device.

    Parameters
    ----------
    allocator : callable, optional
        `malloc_managed` or None. The pool's memory comes from the device in either case.

    Notes
    -----
    All objects of this class show the same pool: the core's, one per device.
    """

    def __init__(self, allocator=None) -> None:
        if allocator is not None and not _is_own_allocator(allocator):
            raise NotImplementedError("MemoryPool(allocator=...): memory from a foreign allocator")
        self._allocator = allocator

    def malloc(self, size: int) -> MemoryPointer:
        """Take memory from the pool."""
        return MemoryPointer(PooledMemory(size), 0)

    def free_all_blocks(self, stream=None) -> None:
        """Give memory that is not in use back to the device."""
        _core.current_context().pool.free_all_free_blocks()

    def free_all_free(self) -> None:
        """Old name of `free_all_blocks`."""
        self.free_all_blocks()

    def n_free_blocks(self) -> int:
        """Number of blocks held and not in use."""
        return _core.current_context().pool.free_blocks

    def used_bytes(self) -> int:
        """Bytes in use."""
        return _core.current_context().pool.used_bytes

    def free_bytes(self) -> int:
        """Bytes held and not in use."""
        return _core.current_context().pool.free_bytes

    def total_bytes(self) -> int:
        """Bytes held."""
        return _core.current_context().pool.held_bytes

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Limit what the pool may hold of the current device: bytes, or a share of its memory.

        Raises
        ------
        ValueError
            Both are given, or one is out of its range.
        """
        context = _core.current_context()
        if fraction is not None:
            if size is not None:
                raise ValueError("size and fraction cannot be specified at one time")
            if not 0 <= fraction <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction}")
            size = int(fraction * context.memory_info()[1])
        size = 0 if size is None else int(size)
        if size < 0:
            raise ValueError(f"memory limit size out of range: {size}")
        context.pool.limit = size

    def get_limit(self) -> int:
        """The limit in bytes; 0 is none."""
        return _core.current_context().pool.limit


class MemoryAsyncPool(MemoryPool):
    """The same pool, under the name of CUDA's stream-ordered allocator; it is stream-ordered."""

    def __init__(self, pool_handles="current") -> None:
        super().__init__()


def _checked_size(size: int) -> int:
    size = int(size)
    if size < 0:
        raise ValueError(f"size must not be negative: got {size}")
    return size


def _host(mem, size: int):
    """A NumPy view of host memory that is an address, a ctypes pointer or a buffer."""
    if hasattr(mem, "value") or isinstance(mem, (int, np.integer)):
        import ctypes

        address = int(mem) if isinstance(mem, (int, np.integer)) else int(mem.value or 0)
        return np.ctypeslib.as_array((ctypes.c_uint8 * int(size)).from_address(address))
    if hasattr(mem, "ptr") and not isinstance(mem, MemoryPointer):
        return _host(int(mem.ptr), size)
    return mem


_default_pool = MemoryPool()
_thread = threading.local()
_allocator = _default_pool.malloc


def alloc(size: int) -> MemoryPointer:
    """Take memory by the current allocator."""
    return get_allocator()(size)


def malloc_managed(size: int) -> MemoryPointer:
    """Take managed memory."""
    return MemoryPointer(ManagedMemory(size), 0)


def malloc_async(size: int) -> MemoryPointer:
    """Take memory in the order of the current stream."""
    return MemoryPointer(Memory(size), 0)


def malloc_system(size: int) -> MemoryPointer:
    """Not supported."""
    raise NotImplementedError("cuda.malloc_system: arrays in the system's memory")


def _malloc(size: int) -> MemoryPointer:
    return MemoryPointer(Memory(size), 0)


def _is_own_allocator(allocator) -> bool:
    if allocator in (malloc_managed, malloc_async, _malloc, alloc):
        return True
    return isinstance(getattr(allocator, "__self__", None), MemoryPool)


def set_allocator(allocator=None) -> None:
    """Choose where memory of new arrays comes from.

    Parameters
    ----------
    allocator : callable or None
        ``MemoryPool().malloc``, `malloc_managed` or `malloc_async`: the device's pool.
        None: no pooling, every allocation goes to the device.

    Raises
    ------
    NotImplementedError
        Any other callable.
    ValueError
        Called inside `using_allocator`.
    """
    global _allocator
    if getattr(_thread, "allocators", None):
        raise ValueError("Can't change the allocator inside using_allocator")
    _allocator = _accept(allocator)
    _apply(_allocator)


def _accept(allocator):
    if allocator is None:
        return _malloc
    if not _is_own_allocator(allocator):
        raise NotImplementedError(f"set_allocator: a foreign allocator ({allocator!r})")
    return allocator


def _apply(allocator) -> None:
    if _core.live_contexts() or allocator is _malloc:
        _core.current_context().pool.set_enabled(allocator is not _malloc)


def get_allocator():
    """Return the calling thread's allocator."""
    stack = getattr(_thread, "allocators", None)
    return stack[-1] if stack else _allocator


@contextlib.contextmanager
def using_allocator(allocator=None):
    """Choose the allocator inside a ``with`` block, for the calling thread."""
    if not hasattr(_thread, "allocators"):
        _thread.allocators = []
    _thread.allocators.append(_accept(allocator))
    _apply(_thread.allocators[-1])
    try:
        yield
    finally:
        _thread.allocators.pop()
        _apply(get_allocator())


def get_default_memory_pool() -> MemoryPool:
    """Return the pool that new arrays come from."""
    return _default_pool
