"""Pinned host memory and the façade of its pool."""

from __future__ import annotations

from trilane import _core


class PinnedMemoryPointer:
    """A place in pinned host memory; it has the buffer protocol (``numpy.frombuffer`` takes it).

    Parameters
    ----------
    mem : HostBuffer or PinnedMemory
    offset : int
        Bytes from its start.
    """

    def __init__(self, mem, offset: int = 0) -> None:
        self.mem = mem
        self._buffer = mem._buffer if isinstance(mem, PinnedMemory) else mem
        self._offset = int(offset)

    @property
    def ptr(self) -> int:
        """Host address."""
        return self._buffer.address + self._offset

    def size(self) -> int:
        """Bytes from here to the end."""
        return self._buffer.nbytes - self._offset

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> PinnedMemoryPointer:
        return PinnedMemoryPointer(self.mem, self._offset + int(offset))

    def __sub__(self, offset: int) -> PinnedMemoryPointer:
        return PinnedMemoryPointer(self.mem, self._offset - int(offset))

    @property
    def __array_interface__(self) -> dict:
        return {
            "version": 3,
            "shape": (self.size(),),
            "typestr": "|u1",
            "data": (self.ptr, False),
        }


class PinnedMemory:
    """Pinned host memory.

    Parameters
    ----------
    size : int
        Bytes.
    flags : int
        CUDA's flags of host allocations.
    """

    def __init__(self, size: int, flags: int = 0) -> None:
        self._buffer = _core.HostBuffer.allocate(int(size), int(flags))
        self.size = int(size)

    @property
    def ptr(self) -> int:
        """Host address."""
        return self._buffer.address

    def __int__(self) -> int:
        return self.ptr


class PinnedMemoryPool:
    """The pool of pinned memory; all objects show the same pool."""

    def __init__(self, allocator=None) -> None:
        if allocator is not None:
            raise NotImplementedError("PinnedMemoryPool(allocator=...)")

    def malloc(self, size: int) -> PinnedMemoryPointer:
        """Take pinned memory."""
        return alloc_pinned_memory(size)

    def free_all_blocks(self) -> None:
        """Give memory that is not in use back to the system."""
        _core.current_context().host_pool.free_all_free_blocks()

    def n_free_blocks(self) -> int:
        """Number of blocks held and not in use."""
        return _core.current_context().host_pool.free_blocks


_default_pool = PinnedMemoryPool()


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    """Take pinned host memory of at least `size` bytes."""
    return PinnedMemoryPointer(_core.HostBuffer.allocate(int(size)), 0)


def set_pinned_memory_allocator(allocator=None) -> None:
    """Choose where pinned memory comes from; only the pool's own allocator is there."""
    if allocator is not None and not isinstance(
        getattr(allocator, "__self__", None), PinnedMemoryPool
    ):
        raise NotImplementedError("set_pinned_memory_allocator: a foreign allocator")


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """Return the pool of pinned memory."""
    return _default_pool
