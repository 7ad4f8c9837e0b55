"""Host memory that the device works with: page-locked, aligned, managed, registered."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilane import _core
from trilane._exchange import ReachableArray

from ._enums import mem_attach_flags
from ._errors import LogicError, TrilaneError, translate
from ._memory import DeviceAllocation


def _shape_and_size(shape: Any, dtype: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    dims = (int(shape),) if not hasattr(shape, "__len__") else tuple(int(n) for n in shape)
    dtype = np.dtype(dtype)
    count = 1
    for extent in dims:
        count *= extent
    return dims, dtype, count * dtype.itemsize


def _array_over(holder: Any, nbytes: int, shape: Any, dtype: np.dtype, order: str) -> np.ndarray:
    raw = np.asarray(holder)[:nbytes]
    return np.ndarray(shape, dtype, buffer=raw, order=order)  # type: ignore[call-overload]


class PagelockedHostAllocation:
    """Page-locked host memory; the `base` of arrays made of it."""

    def __init__(self, nbytes: int, flags: int = 0) -> None:
        try:
            self._buffer = _core.HostBuffer.allocate(nbytes, int(flags))
        except TrilaneError as error:
            raise translate("cuMemHostAlloc", error) from None

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._buffer.__array_interface__

    def free(self) -> None:
        """Give the memory back now; arrays of it must not be used any more."""
        if self._buffer.freed:
            raise LogicError(
                "pagelocked_host_allocation::free failed: invalid handle - freed before"
            )
        self._buffer.free_now()

    def get_flags(self) -> int:
        """The `host_alloc_flags` that it was made with."""
        return self._buffer.flags

    def get_device_pointer(self) -> int:
        """The address under which kernels reach the memory."""
        try:
            return self._buffer.device_pointer
        except TrilaneError as error:
            raise translate("cuMemHostGetDevicePointer", error) from None

    def __len__(self) -> int:
        return self._buffer.nbytes

    _nbytes = __len__


HostAllocation = PagelockedHostAllocation
HostPointer = PagelockedHostAllocation


class _OwnedArray(np.ndarray):
    # `base` of a NumPy array made over foreign memory is an inner array; PyCUDA's users call
    # `ary.base.get_device_pointer()` and `ary.base.free()`.
    _owner: Any = None

    def __array_finalize__(self, obj: Any) -> None:
        # Views share the owner; results of arithmetic, which NumPy finishes likewise, do not.
        owner = getattr(obj, "_owner", None)
        if owner is not None:
            start, size = owner.__array_interface__["data"][0], owner._nbytes()
            if not start <= self.__array_interface__["data"][0] < start + max(size, 1):
                owner = None
        self._owner = owner

    @property
    def base(self) -> Any:  # type: ignore[override]
        return self._owner if self._owner is not None else super().base


def _owned(holder: Any, nbytes: int, shape: Any, dtype: np.dtype, order: str) -> np.ndarray:
    plain = _array_over(holder, nbytes, shape, dtype, order)
    result = plain.view(_OwnedArray)
    result._owner = holder
    return result


def pagelocked_empty(shape: Any, dtype: Any, order: str = "C", mem_flags: int = 0) -> np.ndarray:
    """A page-locked host array, not initialised.

    Parameters
    ----------
    shape, dtype, order
        As for `numpy.empty`.
    mem_flags : host_alloc_flags
        For instance ``host_alloc_flags.DEVICEMAP``.

    Returns
    -------
    numpy.ndarray
        Its `base` is a `PagelockedHostAllocation`.
    """
    dims, dtype, nbytes = _shape_and_size(shape, dtype)
    return _owned(PagelockedHostAllocation(max(nbytes, 1), mem_flags), nbytes, dims, dtype, order)


def pagelocked_zeros(shape: Any, dtype: Any, order: str = "C", mem_flags: int = 0) -> np.ndarray:
    """As `pagelocked_empty`, filled with zeros."""
    result = pagelocked_empty(shape, dtype, order, mem_flags)
    result.fill(0)
    return result


def _order_of(ary: np.ndarray) -> str:
    return "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"


def pagelocked_empty_like(array: np.ndarray, mem_flags: int = 0) -> np.ndarray:
    """A page-locked array of the shape, type and order of `array`."""
    return pagelocked_empty(array.shape, array.dtype, _order_of(array), mem_flags)


def pagelocked_zeros_like(array: np.ndarray, mem_flags: int = 0) -> np.ndarray:
    """As `pagelocked_empty_like`, filled with zeros."""
    return pagelocked_zeros(array.shape, array.dtype, _order_of(array), mem_flags)


class AlignedHostAllocation:
    """Host memory that starts at a multiple of `alignment`; the `base` of arrays made of it."""

    def __init__(self, nbytes: int, alignment: int = 4096) -> None:
        if alignment <= 0 or alignment & (alignment - 1):
            raise LogicError(
                f"aligned_empty failed: alignment: got {alignment}, expected a power of two"
            )
        self._raw = np.empty(nbytes + alignment, np.uint8)
        start = -self._raw.ctypes.data % alignment
        self._view: np.ndarray | None = self._raw[start : start + nbytes]

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self._view is None:
            raise LogicError("aligned_host_allocation failed: invalid handle - it was freed")
        return self._view.__array_interface__

    def _nbytes(self) -> int:
        return 0 if self._view is None else self._view.nbytes

    def free(self) -> None:
        """Forget the memory; it goes when the last array of it does."""
        self._view = None


def aligned_empty(shape: Any, dtype: Any, order: str = "C", alignment: int = 4096) -> np.ndarray:
    """A host array that starts at a multiple of `alignment` bytes, not initialised."""
    dims, dtype, nbytes = _shape_and_size(shape, dtype)
    return _owned(AlignedHostAllocation(nbytes, alignment), nbytes, dims, dtype, order)


def aligned_zeros(shape: Any, dtype: Any, order: str = "C", alignment: int = 4096) -> np.ndarray:
    """As `aligned_empty`, filled with zeros."""
    result = aligned_empty(shape, dtype, order, alignment)
    result.fill(0)
    return result


def aligned_empty_like(array: np.ndarray, alignment: int = 4096) -> np.ndarray:
    """An aligned array of the shape, type and order of `array`."""
    return aligned_empty(array.shape, array.dtype, _order_of(array), alignment)


def aligned_zeros_like(array: np.ndarray, alignment: int = 4096) -> np.ndarray:
    """As `aligned_empty_like`, filled with zeros."""
    return aligned_zeros(array.shape, array.dtype, _order_of(array), alignment)


class ManagedAllocation(DeviceAllocation):
    """Memory that host and device share; the `base` of arrays made of it."""

    def __init__(self, nbytes: int, flags: int) -> None:
        try:
            super().__init__(_core.Buffer.allocate_managed(nbytes, int(flags)))
        except TrilaneError as error:
            raise translate("cuMemAllocManaged", error) from None

    @property
    def __array_interface__(self) -> dict[str, Any]:
        self.mark_escaped()
        return {
            "version": 3,
            "typestr": "|u1",
            "shape": (self.nbytes,),
            "data": (self.address, False),
        }

    def _nbytes(self) -> int:
        return self.nbytes

    def get_device_pointer(self) -> int:
        """The address under which kernels reach the memory."""
        return int(self)

    def attach(self, flags: int, stream: Any = None) -> None:
        """Say which stream uses the memory: a hint that devices here ignore."""
        mem_attach_flags(flags)


ManagedAllocationOrStub = ManagedAllocation


class _ManagedArray(ReachableArray):
    @property
    def base(self) -> Any:  # type: ignore[override]
        return self._reach[0] if self._reach is not None else super().base


def managed_empty(shape: Any, dtype: Any, order: str = "C", mem_flags: int = 0) -> np.ndarray:
    """An array that host and device share; pass it to kernels as it is.

    Parameters
    ----------
    mem_flags : mem_attach_flags
        0, which CUDA refuses, means ``mem_attach_flags.GLOBAL``.
    """
    dims, dtype, nbytes = _shape_and_size(shape, dtype)
    holder = ManagedAllocation(max(nbytes, 1), int(mem_flags) or int(mem_attach_flags.GLOBAL))
    result = _array_over(holder, nbytes, dims, dtype, order).view(_ManagedArray)
    result._reach = (holder, holder.address)
    return result


def managed_zeros(shape: Any, dtype: Any, order: str = "C", mem_flags: int = 0) -> np.ndarray:
    """As `managed_empty`, filled with zeros."""
    result = managed_empty(shape, dtype, order, mem_flags)
    result.fill(0)
    return result


def managed_empty_like(array: np.ndarray, mem_flags: int = 0) -> np.ndarray:
    """A shared array of the shape, type and order of `array`."""
    return managed_empty(array.shape, array.dtype, _order_of(array), mem_flags)


def managed_zeros_like(array: np.ndarray, mem_flags: int = 0) -> np.ndarray:
    """As `managed_empty_like`, filled with zeros."""
    return managed_zeros(array.shape, array.dtype, _order_of(array), mem_flags)


class RegisteredHostMemory:
    """Ordinary host memory made page-locked; the `base` of the array that came back."""

    def __init__(self, ary: np.ndarray, flags: int) -> None:
        try:
            self._registration = _core.register_host(ary, int(flags))
        except TrilaneError as error:
            raise translate("cuMemHostRegister", error) from None
        self._array = ary

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._array.__array_interface__

    def _nbytes(self) -> int:
        return self._array.nbytes

    def unregister(self) -> None:
        """Undo the registration; the array stays as it is."""
        self._registration.unregister()

    def get_device_pointer(self) -> int:
        """The address under which kernels reach the memory."""
        try:
            return self._registration.device_pointer
        except TrilaneError as error:
            raise translate("cuMemHostGetDevicePointer", error) from None


def register_host_memory(ary: np.ndarray, flags: int = 0) -> np.ndarray:
    """Page-lock the memory of `ary`.

    Returns
    -------
    numpy.ndarray
        A view of the same memory; its `base` is a `RegisteredHostMemory`.
    """
    holder = RegisteredHostMemory(ary, flags)
    result = ary.view(_OwnedArray)
    result._owner = holder
    return result


for _class in (
    PagelockedHostAllocation,
    AlignedHostAllocation,
    ManagedAllocation,
    RegisteredHostMemory,
):
    _class.__module__ = "pycuda._driver"
