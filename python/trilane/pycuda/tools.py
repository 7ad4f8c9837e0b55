"""Memory pools, memoisation per device, C types of dtypes, and occupancy."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from trilane import _core
from trilane._missing import missing_attributes as _missing_attributes

from ._context import Context, Device, make_default_context
from ._dtypes import ctype_to_dtype, dtype_to_ctype, get_or_register_dtype, register_dtype
from ._enums import device_attribute
from ._errors import TrilaneError, translate
from ._host import PagelockedHostAllocation, _owned, _shape_and_size
from ._memory import PooledDeviceAllocation

__all__ = [
    "Argument",
    "DebugMemoryPool",
    "DeviceData",
    "DeviceMemoryPool",
    "OccupancyRecord",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "ScalarArg",
    "VectorArg",
    "bitlog2",
    "clear_context_caches",
    "context_dependent_memoize",
    "context_dependent_memoized_functions",
    "dtype_to_ctype",
    "get_arg_type",
    "get_default_device",
    "get_or_register_dtype",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
    "parse_c_arg",
    "register_dtype",
]


def bitlog2(n: int) -> int:
    """The position of the highest bit of `n`, 0 for 0."""
    return max(int(n).bit_length() - 1, 0)


def get_default_device(default: int = 0) -> Device:
    """The device with the number `default`."""
    return Device(default)


# --- pools

_MANTISSA_BITS = 4


class _PoolCounters:
    """What a pool object handed out; the memory itself is the device pool's."""

    def __init__(self) -> None:
        self._active_blocks = 0
        self._active_bytes = 0

    @property
    def active_blocks(self) -> int:
        """Allocations of this pool object that are alive."""
        return self._active_blocks

    @property
    def active_bytes(self) -> int:
        """Bytes of those."""
        return self._active_bytes

    @staticmethod
    def bin_number(size: int) -> int:
        """The number of the size class of `size` bytes: classes are 1/16 of a power of two."""
        size = int(size)
        exponent = bitlog2(size)
        shift = exponent - _MANTISSA_BITS
        head = size >> shift if shift >= 0 else size << -shift
        return exponent << _MANTISSA_BITS | head & ((1 << _MANTISSA_BITS) - 1)

    @staticmethod
    def alloc_size(bin_number: int) -> int:
        """The largest size in bytes of a size class."""
        exponent = bin_number >> _MANTISSA_BITS
        head = 1 << _MANTISSA_BITS | bin_number & ((1 << _MANTISSA_BITS) - 1)
        shift = exponent - _MANTISSA_BITS
        if shift < 0:
            return head >> -shift
        return head << shift | ((1 << shift) - 1)

    def _opened(self, nbytes: int) -> None:
        self._active_blocks += 1
        self._active_bytes += nbytes

    def _closed(self, nbytes: int) -> None:
        self._active_blocks -= 1
        self._active_bytes -= nbytes


class _PoolAllocation(PooledDeviceAllocation):
    _pool: Any = None

    def free(self) -> None:
        """Give the memory back to the pool now."""
        super().free()
        self._leave()

    def _leave(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool._closed(self.nbytes)

    def __del__(self) -> None:
        self._leave()


_PoolAllocation.__name__ = _PoolAllocation.__qualname__ = "PooledDeviceAllocation"
_PoolAllocation.__module__ = "pycuda._driver"


class DeviceMemoryPool(_PoolCounters):
    """A view of the device's memory pool, which all allocations use anyway."""

    def allocate(self, size: int) -> PooledDeviceAllocation:
        """Memory from the pool, not initialised.

        Raises
        ------
        MemoryError
            If the device has not enough, even after giving free blocks back.
        """
        try:
            result = _PoolAllocation(size)
        except TrilaneError as error:
            raise translate("memory_pool::allocate", error) from None
        result._pool = self
        self._opened(result.nbytes)
        return result

    __call__ = allocate

    @property
    def held_blocks(self) -> int:
        """Free blocks that the device's pool holds."""
        return _core.current_context().pool.free_blocks

    @property
    def managed_bytes(self) -> int:
        """Bytes that the device's pool took from the device."""
        return _core.current_context().pool.held_bytes

    def free_held(self) -> None:
        """Give free blocks back to the device."""
        _core.current_context().pool.free_all_free_blocks()

    def stop_holding(self) -> None:
        """Give free blocks back to the device, at the end of a program for instance."""
        self.free_held()


class DebugMemoryPool(DeviceMemoryPool):
    """A `DeviceMemoryPool` that prints what it does."""

    def __init__(self, interactive: bool = True, logfile: Any = None) -> None:
        super().__init__()
        self.logfile = logfile if logfile is not None else sys.stdout
        self.interactive = interactive

    def allocate(self, size: int) -> PooledDeviceAllocation:
        """As `DeviceMemoryPool.allocate`, with a line in the log."""
        print(f"allocate {size} bytes, {self.active_bytes} active", file=self.logfile)
        return super().allocate(size)

    __call__ = allocate


class PageLockedAllocator:
    """Allocates page-locked memory with given `host_alloc_flags`."""

    def __init__(self, flags: int = 0) -> None:
        self.flags = int(flags)

    def allocate(self, nbytes: int) -> PagelockedHostAllocation:
        """Page-locked memory, not initialised."""
        return PagelockedHostAllocation(nbytes, self.flags)


class PooledHostAllocation(PagelockedHostAllocation):
    _pool: Any = None

    def free(self) -> None:
        """Give the memory back to the pool now."""
        super().free()
        self._leave()

    def _leave(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool._closed(len(self))

    def __del__(self) -> None:
        self._leave()


class PageLockedMemoryPool(_PoolCounters):
    """A view of the pool of page-locked memory."""

    def __init__(self, allocator: PageLockedAllocator | None = None) -> None:
        super().__init__()
        self._flags = 0 if allocator is None else allocator.flags

    def allocate(self, shape: Any, dtype: Any, order: str = "C") -> np.ndarray:
        """A page-locked array, not initialised."""
        dims, dtype, nbytes = _shape_and_size(shape, dtype)
        holder = PooledHostAllocation(max(nbytes, 1), self._flags)
        holder._pool = self
        self._opened(len(holder))
        return _owned(holder, nbytes, dims, dtype, order)

    @property
    def held_blocks(self) -> int:
        """Free blocks that the pool holds."""
        return _core.current_context().host_pool.free_blocks

    @property
    def managed_bytes(self) -> int:
        """Bytes that the pool took from the system."""
        return _core.current_context().host_pool.held_bytes

    def free_held(self) -> None:
        """Give free blocks back to the system."""
        _core.current_context().host_pool.free_all_free_blocks()

    def stop_holding(self) -> None:
        """Give free blocks back to the system."""
        self.free_held()


# --- memoisation per device

context_dependent_memoized_functions: list[Callable[..., Any]] = []


def context_dependent_memoize(func: Callable[..., Any]) -> Callable[..., Any]:
    """Remember results of `func` by its arguments, for each device on its own."""
    memory: dict[Any, Any] = {}

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        key = (_core.current_device_index(), args, tuple(sorted(kwargs.items())))
        try:
            return memory[key]
        except KeyError:
            memory[key] = result = func(*args, **kwargs)
            return result

    wrapper._pycuda_ctx_dep_memoize_dict = memory  # type: ignore[attr-defined]
    wrapper.clear = memory.clear  # type: ignore[attr-defined]
    context_dependent_memoized_functions.append(wrapper)
    return wrapper


def clear_context_caches() -> None:
    """Forget what `context_dependent_memoize` remembered."""
    for function in context_dependent_memoized_functions:
        function.clear()  # type: ignore[attr-defined]


# --- help for tests


def mark_cuda_test(inner_f: Callable[..., Any]) -> Callable[..., Any]:
    """A test that runs with a context of its own."""

    @functools.wraps(inner_f)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        context = make_default_context()
        try:
            inner_f(*args, **kwargs)
        finally:
            context.detach()
            clear_context_caches()

    if "pytest" in sys.modules:
        return sys.modules["pytest"].mark.cuda(wrapper)
    return wrapper


def init_cuda_context_fixture() -> Iterator[None]:
    """The body of a pytest fixture that gives each test a context of its own."""
    context = make_default_context()
    try:
        yield None
    finally:
        context.detach()
        clear_context_caches()


# --- arguments of generated kernels


class Argument:
    """A parameter of a generated kernel."""

    def __init__(self, dtype: Any, name: str) -> None:
        self.dtype = np.dtype(dtype)
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and self.dtype == other.dtype  # type: ignore[attr-defined]
            and self.name == other.name  # type: ignore[attr-defined]
        )

    def __hash__(self) -> int:
        return hash((type(self), self.dtype, self.name))


class VectorArg(Argument):
    """A pointer parameter."""

    struct_char = "P"

    def declarator(self) -> str:
        """The declaration in C."""
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A parameter by value."""

    @property
    def struct_char(self) -> str:
        return self.dtype.char if self.dtype.char != "V" else f"{self.dtype.itemsize}s"

    def declarator(self) -> str:
        """The declaration in C."""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"


_DECLARATION = re.compile(r"^\s*(?P<type>[\w:<>,\s]+?)\s*(?P<pointer>\*?)\s*(?P<name>\w+)\s*$")


def parse_c_arg(c_arg: str) -> Argument:
    """The `VectorArg` or `ScalarArg` that a C declaration such as ``"float *x"`` means."""
    text = re.sub(r"\b(const|volatile|__restrict__|restrict)\b", " ", c_arg)
    match = _DECLARATION.match(text)
    if match is None:
        raise ValueError(f"parse_c_arg: not a declaration of a scalar or a pointer: got '{c_arg}'")
    dtype = ctype_to_dtype(match["type"])
    return (VectorArg if match["pointer"] else ScalarArg)(dtype, match["name"])


def get_arg_type(c_arg: str) -> str:
    """The `struct` character of a C declaration."""
    return parse_c_arg(c_arg).struct_char  # type: ignore[attr-defined]


# --- occupancy


class DeviceData:
    """Limits of a device that bear on occupancy."""

    def __init__(self, dev: Device | None = None) -> None:
        dev = Context.get_device() if dev is None else dev

        def ask(name: str) -> int:
            return dev.get_attribute(device_attribute[name])

        self.max_threads = ask("MAX_THREADS_PER_BLOCK")
        self.warp_size = ask("WARP_SIZE")
        self.warps_per_mp = ask("MAX_THREADS_PER_MULTIPROCESSOR") // self.warp_size
        self.thread_blocks_per_mp = ask("MAX_BLOCKS_PER_MULTIPROCESSOR")
        self.registers = ask("MAX_REGISTERS_PER_BLOCK")
        self.shared_memory = ask("MAX_SHARED_MEMORY_PER_BLOCK")
        self.smem_alloc_granularity = 256
        self.smem_granularity = 32

    @staticmethod
    def align_bytes(word_size: int = 4) -> int:
        """Bytes to which rows should be aligned for whole transactions."""
        if word_size not in (4, 8, 16):
            raise ValueError(f"no alignment for word size: got {word_size}, expected 4, 8 or 16")
        return 16 * word_size if word_size < 16 else 128

    def align(self, bytes: int, word_size: int = 4) -> int:  # noqa: A002  PyCUDA's name
        """`bytes`, rounded up to whole transactions."""
        unit = self.align_bytes(word_size)
        return -(-bytes // unit) * unit

    def align_words(self, word_size: int = 4) -> int:
        """`align_bytes` in words."""
        return self.align_bytes(word_size) // word_size

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """A number of elements, rounded up to whole transactions."""
        return self.align(elements * dtype_size, max(dtype_size, 4)) // dtype_size

    @staticmethod
    def coalesce(thread_count: int) -> int:
        """A number of threads, rounded up to 16."""
        return -(-thread_count // 16) * 16

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """The number of channels that a texture of `size` channels needs."""
        valid = {1: 1, 2: 2, 3: 4, 4: 4}
        if size not in valid:
            raise ValueError(f"no valid texture channel count: got {size}, expected 1 to 4")
        return valid[size]


class OccupancyRecord:
    """How many blocks of a shape fit on a multiprocessor, and what limits them."""

    def __init__(
        self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0
    ) -> None:
        if threads > devdata.max_threads:
            raise ValueError("too many threads")
        warps = -(-threads // devdata.warp_size)
        limits = {"blocks": devdata.thread_blocks_per_mp, "warps": devdata.warps_per_mp // warps}
        if registers:
            limits["regs"] = devdata.registers // (warps * devdata.warp_size * registers)
        if shared_mem:
            unit = devdata.smem_alloc_granularity
            limits["smem"] = devdata.shared_memory // (-(-shared_mem // unit) * unit)
        self.tb_per_mp_limits = sorted((count, name) for name, count in limits.items())
        self.tb_per_mp, self.limited_by = self.tb_per_mp_limits[0]
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp


__getattr__ = _missing_attributes(__name__)
