"""Device memory: allocations, linear copies and fills."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from trilane import _core

from ._context import Context
from ._errors import LogicError, TrilaneError, translate

_copy_to_device = _core.copy_to_device
_copy_to_host = _core.copy_to_host


class PointerHolderBase:
    """Base of users' classes that stand for a device address: override `get_pointer`."""

    def get_pointer(self) -> int:
        """The address."""
        raise NotImplementedError("PointerHolderBase.get_pointer must be overridden")

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """Host view of the memory, where the host may reach it."""
        return _as_buffer(int(self), size, offset)

    def __int__(self) -> int:
        return int(self.get_pointer())

    __index__ = __int__


class DeviceAllocation(_core.Buffer):
    """Device memory that lives as long as this object, or until `free`.

    Accepted wherever a device pointer is; ``int(allocation) + offset`` is an address inside it.
    """

    def free(self) -> None:
        """Give the memory back now.

        Raises
        ------
        LogicError
            If it was freed before.
        """
        if self.freed:
            raise LogicError("device_allocation::free failed: invalid handle - it was freed before")
        self.free_now()

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """Host view of `size` bytes from `offset` on, where the host may reach the memory."""
        return _as_buffer(int(self), size, offset)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        state = "freed" if self.freed else f"at {self.address:#x}"
        return f"<pycuda._driver.DeviceAllocation of {self.nbytes} bytes, {state}>"


class PooledDeviceAllocation(DeviceAllocation):
    """An allocation made by a `DeviceMemoryPool`."""


for _class in (PointerHolderBase, DeviceAllocation, PooledDeviceAllocation):
    _class.__module__ = "pycuda._driver"


def _as_buffer(address: int, size: int, offset: int) -> memoryview:
    import ctypes

    if _core.current_context().properties.type != "cpu":
        raise LogicError("as_buffer failed: the host cannot reach this memory: use memcpy_dtoh")
    raw = (ctypes.c_char * int(size)).from_address(address + int(offset))
    return memoryview(raw).cast("B")


def mem_get_info() -> tuple[int, int]:
    """Free and total bytes of the current device."""
    try:
        return _core.current_context().memory_info()
    except TrilaneError as error:
        raise translate("cuMemGetInfo", error) from None


def mem_alloc(nbytes: int) -> DeviceAllocation:
    """Allocate device memory, not initialised.

    Parameters
    ----------
    nbytes : int
        At least 1.

    Raises
    ------
    MemoryError
        If the device has not enough; the message says how much was asked, held and free.
    LogicError
        If `nbytes` is 0 or negative.
    """
    nbytes = operator.index(nbytes)
    if nbytes <= 0:
        raise LogicError(
            f"cuMemAlloc failed: invalid argument - nbytes: got {nbytes}, expected > 0"
        )
    try:
        return DeviceAllocation(nbytes)
    except TrilaneError as error:
        raise translate("cuMemAlloc", error) from None


def mem_alloc_pitch(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]:
    """Allocate `height` rows of `width` bytes, each starting at a multiple of 512 bytes.

    Returns
    -------
    (DeviceAllocation, int)
        The memory, and the distance of rows in bytes.
    """
    if access_size not in (4, 8, 16):
        raise LogicError(
            f"cuMemAllocPitch failed: invalid argument - access_size: got {access_size}, expected "
            "4, 8 or 16"
        )
    if width <= 0 or height <= 0:
        raise LogicError(
            f"cuMemAllocPitch failed: invalid argument - got {width} x {height} bytes, expected "
            "positive numbers"
        )
    pitch = -(-int(width) // 512) * 512
    return mem_alloc(pitch * int(height)), pitch


def mem_get_address_range(ptr: Any) -> tuple[int, int]:
    """Start and size in bytes of the allocation that `ptr` stands for or points into.

    Raises
    ------
    LogicError
        An address in no allocation of this program's that is alive.
    """
    try:
        address, buffer = _core.resolve_memory(ptr)
    except TrilaneError as error:
        raise translate("cuMemGetAddressRange", error) from None
    if buffer is None:
        buffer = _allocation_around(address)
    if buffer is None:
        raise LogicError(
            f"cuMemGetAddressRange failed: invalid argument - address {address:#x} is in no "
            "allocation of this program's"
        )
    return buffer.address, buffer.nbytes


def _allocation_around(address: int) -> Any:
    # Nobody keeps a list of them for this seldom asked question; the interpreter's will do.
    import gc

    from ._gpuarray import GPUArray

    for found in gc.get_objects():
        if isinstance(found, GPUArray):
            found = _core.resolve_memory(found)[1]
        elif not isinstance(found, DeviceAllocation) or found.freed:
            continue
        if found is not None and 0 <= address - found.address < max(found.nbytes, 1):
            return found
    return None


def mem_alloc_like(ary: np.ndarray) -> DeviceAllocation:
    """Allocate as many bytes as `ary` has."""
    return mem_alloc(ary.nbytes)


# --- linear copies


def memcpy_htod(dest: Any, src: Any) -> None:
    """Copy all of host memory `src` to the device; done on return.

    Parameters
    ----------
    dest : DeviceAllocation, int or device array
    src : contiguous object with the buffer protocol

    Raises
    ------
    LogicError
        If `dest` is too small or was freed.
    """
    try:
        _copy_to_device(dest, src)
    except TrilaneError as error:
        raise translate("cuMemcpyHtoD", error) from None


def memcpy_htod_async(dest: Any, src: Any, stream: Any = None) -> None:
    """As `memcpy_htod`, ordered on `stream`; `src` should be page-locked."""
    try:
        _copy_to_device(dest, src, stream=stream, wait=False)
    except TrilaneError as error:
        raise translate("cuMemcpyHtoDAsync", error) from None


def memcpy_dtoh(dest: Any, src: Any) -> None:
    """Fill all of host memory `dest` from the device; done on return."""
    try:
        _copy_to_host(dest, src)
    except TrilaneError as error:
        raise translate("cuMemcpyDtoH", error) from None


def memcpy_dtoh_async(dest: Any, src: Any, stream: Any = None) -> None:
    """As `memcpy_dtoh`, ordered on `stream`: wait for it before `dest` is read."""
    try:
        _copy_to_host(dest, src, stream=stream, wait=False)
    except TrilaneError as error:
        raise translate("cuMemcpyDtoHAsync", error) from None


def memcpy_dtod(dest: Any, src: Any, size: int) -> None:
    """Copy `size` bytes on the device."""
    try:
        _core.copy_on_device(dest, src, size, wait=False)
    except TrilaneError as error:
        raise translate("cuMemcpyDtoD", error) from None


def memcpy_dtod_async(dest: Any, src: Any, size: int, stream: Any = None) -> None:
    """As `memcpy_dtod`, ordered on `stream`."""
    try:
        _core.copy_on_device(dest, src, size, stream=stream, wait=False)
    except TrilaneError as error:
        raise translate("cuMemcpyDtoDAsync", error) from None


def memcpy_peer(
    dest: Any,
    src: Any,
    size: int,
    dest_context: Context | None = None,
    src_context: Context | None = None,
) -> None:
    """Copy `size` bytes from one device to another; the contexts say which bare addresses mean."""
    _copy_peer("cuMemcpyPeer", dest, src, size, dest_context, src_context, None, True)


def memcpy_peer_async(
    dest: Any,
    src: Any,
    size: int,
    dest_context: Context | None = None,
    src_context: Context | None = None,
    stream: Any = None,
) -> None:
    """As `memcpy_peer`, ordered on `stream`, which is of one of the two devices.

    On the other device the copy comes after what is on its current stream, and before what follows.
    """
    _copy_peer("cuMemcpyPeerAsync", dest, src, size, dest_context, src_context, stream, False)


def _copy_peer(
    function: str, dest: Any, src: Any, size: int, dest_context: Context | None,
    src_context: Context | None, stream: Any, wait: bool,
) -> None:  # fmt: skip
    try:
        _core.copy_peer(
            dest,
            None if dest_context is None else dest_context._core,
            src,
            None if src_context is None else src_context._core,
            size,
            stream=stream,
            wait=wait,
        )
    except TrilaneError as error:
        raise translate(function, error) from None


# --- fills


def _fill(function: str, dest: Any, data: int, nbytes: int, count: int, stream: Any) -> None:
    _require_fits(function, data, nbytes)
    try:
        _core.fill(dest, int(data), nbytes, count, stream=stream)
    except TrilaneError as error:
        raise translate(function, error) from None


def _fill_2d(
    function: str,
    dest: Any,
    pitch: int,
    data: int,
    nbytes: int,
    width: int,
    height: int,
    stream: Any,
) -> None:
    _require_fits(function, data, nbytes)
    try:
        _core.fill(dest, int(data), nbytes, width, height=height, pitch=pitch, stream=stream)
    except TrilaneError as error:
        raise translate(function, error) from None


def _require_fits(function: str, data: int, nbytes: int) -> None:
    if not 0 <= int(data) < 1 << (8 * nbytes):
        raise OverflowError(
            f"{function}: data: got {data}, expected 0 to {(1 << (8 * nbytes)) - 1}"
        )


def memset_d8(dest: Any, data: int, count: int) -> None:
    """Set `count` bytes to `data`."""
    _fill("cuMemsetD8", dest, data, 1, count, None)


def memset_d16(dest: Any, data: int, count: int) -> None:
    """Set `count` 16-bit words to `data`."""
    _fill("cuMemsetD16", dest, data, 2, count, None)


def memset_d32(dest: Any, data: int, count: int) -> None:
    """Set `count` 32-bit words to `data`."""
    _fill("cuMemsetD32", dest, data, 4, count, None)


def memset_d8_async(dest: Any, data: int, count: int, stream: Any = None) -> None:
    """As `memset_d8`, ordered on `stream`."""
    _fill("cuMemsetD8Async", dest, data, 1, count, stream)


def memset_d16_async(dest: Any, data: int, count: int, stream: Any = None) -> None:
    """As `memset_d16`, ordered on `stream`."""
    _fill("cuMemsetD16Async", dest, data, 2, count, stream)


def memset_d32_async(dest: Any, data: int, count: int, stream: Any = None) -> None:
    """As `memset_d32`, ordered on `stream`."""
    _fill("cuMemsetD32Async", dest, data, 4, count, stream)


def memset_d2d8(dest: Any, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` bytes, `pitch` bytes apart."""
    _fill_2d("cuMemsetD2D8", dest, pitch, data, 1, width, height, None)


def memset_d2d16(dest: Any, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` 16-bit words, `pitch` bytes apart."""
    _fill_2d("cuMemsetD2D16", dest, pitch, data, 2, width, height, None)


def memset_d2d32(dest: Any, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` 32-bit words, `pitch` bytes apart."""
    _fill_2d("cuMemsetD2D32", dest, pitch, data, 4, width, height, None)


def memset_d2d8_async(
    dest: Any, pitch: int, data: int, width: int, height: int, stream: Any = None
) -> None:
    """As `memset_d2d8`, ordered on `stream`."""
    _fill_2d("cuMemsetD2D8Async", dest, pitch, data, 1, width, height, stream)


def memset_d2d16_async(
    dest: Any, pitch: int, data: int, width: int, height: int, stream: Any = None
) -> None:
    """As `memset_d2d16`, ordered on `stream`."""
    _fill_2d("cuMemsetD2D16Async", dest, pitch, data, 2, width, height, stream)


def memset_d2d32_async(
    dest: Any, pitch: int, data: int, width: int, height: int, stream: Any = None
) -> None:
    """As `memset_d2d32`, ordered on `stream`."""
    _fill_2d("cuMemsetD2D32Async", dest, pitch, data, 4, width, height, stream)


# --- whole arrays


def to_device(bf_obj: Any) -> DeviceAllocation:
    """Allocate as much as the host object has, and copy it."""
    bf = memoryview(bf_obj)
    result = mem_alloc(bf.nbytes)
    memcpy_htod(result, bf_obj)
    return result


def from_device(devptr: Any, shape: Any, dtype: Any, order: str = "C") -> np.ndarray:
    """A new host array of `shape` and `dtype`, copied from `devptr`."""
    result = np.empty(shape, dtype, order)  # type: ignore[call-overload]
    memcpy_dtoh(result, devptr)
    return result


def from_device_like(devptr: Any, other_ary: np.ndarray) -> np.ndarray:
    """A new host array like `other_ary`, copied from `devptr`."""
    result = np.empty_like(other_ary)
    memcpy_dtoh(result, devptr)
    return result
