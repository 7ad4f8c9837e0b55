"""CUDA arrays, texture objects and surface objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilane import _core

from ._enums import address_mode, array3d_flags, array_format, filter_mode
from ._errors import TrilaneError, translate

_FORMATS = {
    1: ("uint", 8),
    2: ("uint", 16),
    3: ("uint", 32),
    8: ("int", 8),
    9: ("int", 16),
    10: ("int", 32),
    16: ("float", 16),
    32: ("float", 32),
}


def dtype_to_array_format(dtype: Any) -> Any:
    """The `array_format` of a channel of that dtype.

    Raises
    ------
    TypeError
        There is none, as for float64.
    """
    dtype = np.dtype(dtype)
    kind = {"u": "uint", "i": "int", "f": "float"}.get(dtype.kind)
    for number, (name, bits) in _FORMATS.items():
        if name == kind and bits == dtype.itemsize * 8:
            return array_format(number)
    raise TypeError(f"cannot convert dtype '{dtype}' to array format")


class ArrayDescriptor:
    """The shape of a `Array` of one or two axes: ``width``, ``height``, ``format``, ``num_channels``."""

    def __init__(self) -> None:
        self.width = self.height = 0
        self.format = array_format.UNSIGNED_INT8
        self.num_channels = 1


class ArrayDescriptor3D(ArrayDescriptor):
    """As `ArrayDescriptor`, with ``depth`` and ``flags`` (of `array3d_flags`)."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = self.flags = 0


class Array(_core.CudaArray):
    """A CUDA array of the shape that a descriptor says.

    Raises
    ------
    LogicError
        There is no such format or shape.
    """

    def __init__(self, descriptor: ArrayDescriptor) -> None:
        flags = int(getattr(descriptor, "flags", 0))
        kind, bits = _FORMATS[int(descriptor.format)]
        try:
            super().__init__(
                kind,
                bits,
                descriptor.num_channels,
                descriptor.width,
                descriptor.height,
                getattr(descriptor, "depth", 0),
                layered=bool(flags & 1),
                cubemap=bool(flags & 4),
                surface=bool(flags & 2),
                gather=bool(flags & 8),
            )
        except TrilaneError as error:
            raise translate("cuArray3DCreate", error) from None
        self._descriptor = descriptor

    def free(self) -> None:
        """Give the memory back now; textures and surfaces of it keep it."""
        try:
            super().free()
        except TrilaneError as error:
            raise translate("cuArrayDestroy", error) from None

    def get_descriptor(self) -> ArrayDescriptor:
        """The shape, as of two axes."""
        return self._fill(ArrayDescriptor())

    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """The shape, with depth and flags."""
        made = ArrayDescriptor3D()
        made.depth, made.flags = self.depth, int(getattr(self._descriptor, "flags", 0))
        return self._fill(made)

    def _fill(self, made: Any) -> Any:
        made.width, made.height = self.width, self.height
        made.format, made.num_channels = self._descriptor.format, self.channels
        return made


def _make(
    dtype: Any, channels: int, width: int, height: int, depth: int, bind_surface: bool
) -> Array:
    descriptor = ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = width, height, depth
    descriptor.format, descriptor.num_channels = dtype_to_array_format(dtype), channels
    if bind_surface:
        descriptor.flags |= int(array3d_flags.SURFACE_LDST)
    return Array(descriptor)


def _copy_whole(array: Array, source: Any, host: bool) -> None:
    height, depth = max(array.height, 1), max(array.depth, 1)
    row = array.nbytes // (height * depth)
    try:
        _core.copy_box(array, source, row, height, depth, src_host=host)
    except TrilaneError as error:
        raise translate("cuMemcpy3D", error) from None


def _shape_in_order(shape: tuple[int, ...], order: str) -> tuple[int, ...]:
    if order not in ("C", "F"):
        raise ValueError('order must be either "F" or "C"')
    return tuple(reversed(shape)) if order == "C" else tuple(shape)


def matrix_to_array(
    matrix: Any, order: str, allow_double_hack: bool = False, allowSurfaceBind: bool = False
) -> Array:
    """An array of a host matrix: of order "C", x runs along its columns.

    With `allow_double_hack`, float64 becomes two channels of int32.
    """
    if matrix.ndim != 2:
        raise TypeError("matrix must be two-dimensional")
    dtype, channels = matrix.dtype, 1
    if dtype == np.float64 and allow_double_hack:
        dtype, channels = np.dtype(np.int32), 2
    width, height = _shape_in_order(matrix.shape, order)
    array = _make(dtype, channels, width, height, 0, allowSurfaceBind)
    _copy_whole(array, np.asarray(matrix, order=order), True)
    return array


def np_to_array(nparray: Any, order: str, allowSurfaceBind: bool = False) -> Array:
    """An array of a host array of one to three axes; of order "C", x is the last one."""
    dtype, channels = nparray.dtype, 1
    if dtype == np.float64:
        dtype, channels = np.dtype(np.int32), 2
    shape = (*_shape_in_order(nparray.shape, order), 0, 0)
    array = _make(dtype, channels, shape[0], shape[1], shape[2], allowSurfaceBind)
    _copy_whole(array, np.asarray(nparray, order=order), True)
    return array


def gpuarray_to_array(gpuarray: Any, order: str, allowSurfaceBind: bool = False) -> Array:
    """As `np_to_array`, of a device array that is contiguous in that order."""
    contiguous = gpuarray.flags.c_contiguous if order == "C" else gpuarray.flags.f_contiguous
    shape = (*_shape_in_order(gpuarray.shape, order), 0, 0)
    if not contiguous:
        raise ValueError(f"the array must be contiguous in order {order!r}")
    dtype, channels = gpuarray.dtype, 1
    if dtype == np.float64:
        dtype, channels = np.dtype(np.int32), 2
    array = _make(dtype, channels, shape[0], shape[1], shape[2], allowSurfaceBind)
    _copy_whole(array, gpuarray, False)
    return array


def make_multichannel_2d_array(ndarray: Any, order: str) -> Array:
    """An array of two axes whose channels are the first axis (order "F") or the last ("C")."""
    channels, width, height = _shape_in_order(ndarray.shape, order)
    array = _make(ndarray.dtype, channels, width, height, 0, False)
    _copy_whole(array, np.asarray(ndarray, order=order), True)
    return array


class TextureObject(_core.Texture):
    """A texture object: kernels take it as ``cudaTextureObject_t``. Not in PyCUDA.

    Parameters
    ----------
    source : Array, or device memory
        Memory is read by ``tex1Dfetch``, or with `height` and `pitch` as rows by ``tex2D``.
    address_mode : address_mode or sequence of them
        Of all axes, or of each.
    filter_mode : filter_mode
    normalized_coordinates : bool
    read_as_integer : bool
        Integers of 8 and 16 bits as they are; else they become 0..1 or -1..1.
    srgb : bool
        Bytes are decoded from sRGB.
    border_color : sequence of float
        What lies outside with ``address_mode.BORDER``.
    format, num_channels, width, height, pitch
        Of memory: `array_format`, elements of a row, rows, bytes from row to row.

    Raises
    ------
    LogicError
        The device cannot read that so; linear filtering of integers, for instance.
    """

    def __init__(
        self,
        source: Any,
        *,
        address_mode: Any = address_mode.CLAMP,
        filter_mode: Any = filter_mode.POINT,
        normalized_coordinates: bool = False,
        read_as_integer: bool = False,
        srgb: bool = False,
        border_color: Any = (0.0, 0.0, 0.0, 0.0),
        format: Any = array_format.FLOAT,
        num_channels: int = 1,
        width: int = 0,
        height: int = 0,
        pitch: int = 0,
    ) -> None:
        modes = address_mode if isinstance(address_mode, (tuple, list)) else (address_mode,) * 3
        kind, bits = _FORMATS[int(format)]
        try:
            super().__init__(
                source,
                kind=kind,
                bits=bits,
                channels=num_channels,
                width=width,
                height=height,
                pitch_bytes=pitch,
                address_mode=tuple(int(mode) for mode in modes),
                filter=int(filter_mode),
                elements_as_they_are=read_as_integer,
                normalized_coordinates=normalized_coordinates,
                srgb=srgb,
                border=tuple(float(c) for c in border_color),
            )
        except TrilaneError as error:
            raise translate("cuTexObjectCreate", error) from None
        self.source = source


class SurfaceObject(_core.Surface):
    """A surface object: kernels take it as ``cudaSurfaceObject_t``. Not in PyCUDA.

    Parameters
    ----------
    array : Array
        Made with ``array3d_flags.SURFACE_LDST`` (`allowSurfaceBind` of the helpers).
    """

    def __init__(self, array: Array) -> None:
        try:
            super().__init__(array)
        except TrilaneError as error:
            raise translate("cuSurfObjectCreate", error) from None
        self.source = array


def _linear(function: str, dst: Any, src: Any, nbytes: int, **ends: Any) -> None:
    try:
        _core.copy_box(dst, src, nbytes, **ends)
    except TrilaneError as error:
        raise translate(function, error) from None


def memcpy_htoa(ary: Array, index: int, src: Any) -> None:
    """Copy host memory to an array of one axis, from byte `index` on."""
    _linear("cuMemcpyHtoA", ary, src, memoryview(src).nbytes, src_host=True, dst_at=(index, 0, 0))


def memcpy_atoh(dest: Any, ary: Array, index: int) -> None:
    """Copy from an array of one axis, from byte `index` on, to fill host memory."""
    _linear("cuMemcpyAtoH", dest, ary, memoryview(dest).nbytes, dst_host=True, src_at=(index, 0, 0))


def memcpy_dtoa(ary: Array, index: int, src: Any, len: int) -> None:
    """Copy `len` bytes of device memory to an array of one axis, from byte `index` on."""
    _linear("cuMemcpyDtoA", ary, src, len, dst_at=(index, 0, 0))


def memcpy_atod(dest: Any, ary: Array, index: int, len: int) -> None:
    """Copy `len` bytes of an array of one axis, from byte `index` on, to device memory."""
    _linear("cuMemcpyAtoD", dest, ary, len, src_at=(index, 0, 0))


def memcpy_atoa(dest: Array, dest_index: int, src: Array, src_index: int, len: int) -> None:
    """Copy `len` bytes between arrays of one axis."""
    _linear("cuMemcpyAtoA", dest, src, len, dst_at=(dest_index, 0, 0), src_at=(src_index, 0, 0))


py_memcpy_htoa, py_memcpy_atoh = memcpy_htoa, memcpy_atoh

for _class in (ArrayDescriptor, ArrayDescriptor3D, Array, TextureObject, SurfaceObject):
    _class.__module__ = "pycuda._driver"
