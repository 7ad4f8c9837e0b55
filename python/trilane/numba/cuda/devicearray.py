"""Device arrays: Numba's surface on the one array type of the core."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from trilane import _core, _exchange
from trilane._core import array as _array
from trilane._exchange import (
    as_bytes,
    host_array_function,
    host_array_ufunc,
    own_attributes,
    shared_array,
)
from trilane.numba.cuda.cudadrv.driver import core_stream
from trilane.numba.cuda.cudadrv.error import translated
from trilane.numba.genuine import numpy_dtype

__all__ = [
    "DeviceNDArray", "as_cuda_array", "auto_device", "from_core", "is_cuda_array",
    "is_cuda_ndarray", "verify_cuda_ndarray_interface",
]  # fmt: skip

errmsg_contiguous_buffer = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. "
    "Please ensure contiguous buffer with numpy .ascontiguousarray()"
)


@own_attributes
class DeviceNDArray(_array.ndarray):
    """An array in device memory.

    Made by `cuda.to_device` and `cuda.device_array`. Indexing with integers gives a NumPy scalar,
    with slices a view.
    """

    __cuda_memory__ = True
    __cuda_ndarray__ = True
    __array_ufunc__ = host_array_ufunc
    __array_function__ = host_array_function

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        strides = None if self.c_contiguous else self.strides
        stream = getattr(self, "stream", 0)
        handle = int(stream) if stream else None
        return {
            "shape": self.shape,
            "strides": strides,
            "data": (self.ptr if self.size else 0, False),
            "typestr": self.dtype.str,
            "descr": self.dtype.descr if self.dtype.names else [("", self.dtype.str)],
            "stream": handle or None,
            "version": 3,
        }

    @property
    def stream(self) -> Any:
        """The stream that the array was made for; 0: none."""
        return self.__dict__.get("_stream", 0)

    @stream.setter
    def stream(self, value: Any) -> None:
        self.__dict__["_stream"] = value

    @property
    def alloc_size(self) -> int:
        """Bytes from the first to the last element."""
        if self.size == 0:
            return 0
        span = sum((n - 1) * abs(s) for n, s in zip(self.shape, self.strides, strict=True))
        return span + self.itemsize

    @property
    def gpu_data(self) -> Any:
        return self.buffer

    @property
    def device_ctypes_pointer(self) -> Any:
        import ctypes

        return ctypes.c_void_p(self.ptr if self.size else None)

    @property
    def flags(self) -> dict[str, bool]:
        return {"C_CONTIGUOUS": self.c_contiguous, "F_CONTIGUOUS": self.f_contiguous}

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def _numba_type_(self) -> Any:
        from trilane.numba import types

        return types.typeof(self)

    def is_c_contiguous(self) -> bool:
        return self.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self.f_contiguous

    # --- transfers
    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """Copy to `ary` or a new NumPy array, which is returned.

        Raises
        ------
        ValueError, TypeError
            `ary` has another shape, or another dtype or layout.
        """
        if any(s < 0 for s in self.strides) and self.size:
            raise NotImplementedError("D->H copy not implemented for negative strides")
        if ary is not None:
            _check_compatible(self, ary)
        target = core_stream(stream)
        order = "F" if self.f_contiguous and not self.c_contiguous else "C"
        with translated():
            if ary is None:
                out = np.empty(self.shape, self.dtype, order=order)
                return _array.to_host(self, out, target) if self.size else out
            if self.size:
                _array.to_host(self, ary, target)
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copy from a NumPy or device array of the same shape and dtype."""
        if ary.size == 0:
            return
        source = ary if isinstance(ary, _array.ndarray) else None
        if source is None and hasattr(ary, "__cuda_array_interface__"):
            source = as_cuda_array(ary)
        with _on(stream), translated():
            if source is not None:
                _check_contiguous(self)
                _check_contiguous(source)
                _check_compatible(self, source)
                _array.copyto(self, source, casting="no")
                return
            _check_contiguous(self)
            host = np.array(ary, order="C" if self.c_contiguous else "F", subok=True, copy=None)
            _check_compatible(self, host)
            if self.c_contiguous or self.f_contiguous:
                self.set(host)
            else:
                _array.copyto(self, _array.from_host(host), casting="no")

    # --- shape
    def reshape(self, *newshape: Any, order: str = "C") -> DeviceNDArray:
        """A view of another shape; a copy is never made."""
        shape = (
            newshape[0]
            if len(newshape) == 1 and isinstance(newshape[0], (tuple, list))
            else newshape
        )
        if tuple(shape) == self.shape:
            return self.view()
        if not (self.c_contiguous or self.f_contiguous):
            raise NotImplementedError("reshape would require copy")
        with translated():
            return super().reshape(tuple(shape), order=order)

    def ravel(self, order: str = "C", stream: Any = 0) -> DeviceNDArray:
        """A one-dimensional view."""
        if order not in "CFA":
            raise ValueError(f"order not C|F|A: {order!r}")
        with _on(stream), translated():
            return super().ravel(order)

    def split(self, section: int, stream: Any = 0) -> Any:
        """Views of `section` elements each, of a one-dimensional array."""
        if self.ndim != 1:
            raise ValueError("only support 1d array")
        for start in range(0, self.size, section):
            yield self[start : start + section]

    def view(self, dtype: Any = None) -> DeviceNDArray:
        """The same memory, of another dtype if given."""
        try:
            return super().view(self.dtype if dtype is None else numpy_dtype(dtype))
        except _core.TrilaneError as error:
            raise ValueError(str(error)) from None

    def transpose(self, axes: Any = None) -> DeviceNDArray:
        """With the axes reversed: a view."""
        if axes is None or tuple(axes) == tuple(range(self.ndim)):
            return super().transpose() if axes is None else self
        if self.ndim != 2 and tuple(axes) != tuple(range(self.ndim - 1, -1, -1)):
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if set(axes) != set(range(self.ndim)):
            raise ValueError(f"invalid axes list {axes!r}")
        return super().transpose(tuple(axes))

    @property
    def T(self) -> DeviceNDArray:  # noqa: N802
        return self.transpose()

    # --- elements
    def __getitem__(self, key: Any) -> Any:
        return self.getitem(key)

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """An element as NumPy scalar, or a view."""
        keys = item if isinstance(item, tuple) else (item,)
        if any(isinstance(k, (list, np.ndarray, _array.ndarray)) for k in keys):
            raise NotImplementedError(
                "device arrays are indexed with integers, slices and Ellipsis: index arrays "
                "are not supported"
            )
        with _on(stream), translated():
            found = super().__getitem__(item)
            integers = sum(isinstance(k, (int, np.integer)) for k in keys)
            if found.ndim == 0 and integers == self.ndim:
                return found.get()[()]
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.setitem(key, value)

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """Assign an element or a slice from a scalar, a NumPy or a device array."""
        if not isinstance(value, _array.ndarray) and hasattr(value, "__cuda_array_interface__"):
            value = as_cuda_array(value)
        with _on(stream), translated():
            if not isinstance(value, _array.ndarray):
                value = np.asarray(value, dtype=self.dtype)
            target = super().__getitem__(key)
            if value.ndim > target.ndim:
                raise ValueError(f"Can't assign {value.ndim}-D array to {target.ndim}-D self")
            for want, have in zip(target.shape[::-1], value.shape[::-1], strict=False):
                if have != 1 and want != have:
                    raise ValueError(
                        f"Can't copy sequence with size {have} to array axis with dimension {want}"
                    )
            super().__setitem__(key, value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if copy is False:
            raise ValueError("`copy=False` is not supported: device memory is copied to the host")
        host = self.copy_to_host()
        return host.astype(dtype) if dtype is not None else host

    def bind(self, stream: Any = 0) -> DeviceNDArray:
        """The same array with another default stream."""
        bound = self.as_type(DeviceNDArray)
        bound.stream = stream
        return bound

    def as_cuda_arg(self) -> DeviceNDArray:
        return self

    def get_ipc_handle(self) -> Any:
        """What another process opens this array by: ``with handle as array``; it is pickled.

        Raises
        ------
        NotImplementedError
            On the cpu device, whose memory is the process's own.
        """
        from trilane.numba.cuda.cudadrv.ipc import IpcArrayHandle, IpcHandle

        with translated():
            handle, offset = _core.export_memory(self)
        source = (self.buffer.context.index, self.buffer.context.properties.pci_bus_id)
        memory = IpcHandle(self, handle, self.alloc_size, source, offset)
        desc = {"shape": self.shape, "strides": self.strides, "dtype": self.dtype}
        return IpcArrayHandle(memory, desc)

    def __reduce_ex__(self, protocol: Any) -> Any:
        from trilane.numba.cuda.api import to_device

        return (to_device, (self.copy_to_host(),))


class _on:  # noqa: N801
    """Work inside goes to `stream`, if one is given."""

    def __init__(self, stream: Any) -> None:
        self.stream = core_stream(stream)

    def __enter__(self) -> None:
        if self.stream is not None:
            self.previous = _core.current_stream(self.stream.context)
            _core.set_current_stream(self.stream)

    def __exit__(self, *error: object) -> None:
        if self.stream is not None:
            _core.set_current_stream(self.previous)


def _check_contiguous(one: Any) -> None:
    """One range of memory is copied: neither gaps nor another order are possible."""
    core = array_core(one)
    if not (is_contiguous(core) or is_contiguous(core.T)):
        raise ValueError(errmsg_contiguous_buffer)


def _check_compatible(one: Any, two: Any) -> None:
    squeezed_one, squeezed_two = (tuple(n for n in a.shape if n != 1) for a in (one, two))
    if one.dtype != two.dtype:
        raise TypeError(f"incompatible dtype: {one.dtype} vs. {two.dtype}")
    if squeezed_one != squeezed_two:
        raise ValueError(f"incompatible shape: {one.shape} vs. {two.shape}")
    if one.size and _strides(one) != _strides(two):
        raise ValueError(f"incompatible strides: {one.strides} vs. {two.strides}")


def _strides(a: Any) -> tuple[int, ...]:
    return tuple(s for n, s in zip(a.shape, a.strides, strict=True) if n != 1)


def from_core(a: _array.ndarray, stream: Any = 0) -> DeviceNDArray:
    """The same memory as a DeviceNDArray."""
    out = a if type(a) is DeviceNDArray else a.as_type(DeviceNDArray)
    if stream:
        out.stream = stream
    return out


def new_array(
    shape: Any, dtype: Any, strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """Memory that is not initialised."""
    if isinstance(shape, (int, np.integer)):
        shape = (int(shape),)
    else:
        shape = tuple(operator.index(n) for n in shape)
    with _on(stream), translated():
        if strides is not None:
            strides = (strides,) if isinstance(strides, int) else tuple(strides)
            dtype = numpy_dtype(dtype)
            spans = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
            if any(s < 0 for s in spans):
                raise NotImplementedError("device_array: negative strides are not supported")
            nbytes = sum(spans) + dtype.itemsize if math.prod(shape) else 0
            made = _array.from_buffer(_core.Buffer.allocate(nbytes), 0, shape, dtype, strides)
        else:
            made = _array.empty(shape, numpy_dtype(dtype), order)
    return from_core(made, stream)


def is_cuda_array(obj: Any) -> bool:
    """Whether `obj` is device memory of any library."""
    return shared_array(obj) is not None or hasattr(obj, "__cuda_array_interface__")


def is_cuda_ndarray(obj: Any) -> bool:
    return getattr(obj, "__cuda_ndarray__", False)


def verify_cuda_ndarray_interface(obj: Any) -> None:
    if not is_cuda_ndarray(obj):
        raise ValueError("ndarray is required: got " + type(obj).__name__)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """The same memory as a DeviceNDArray, with no copy.

    Memory without a type (an allocation of PyCUDA, a memory pointer of CuPy) becomes an array of
    its bytes: say with ``.view(dtype)`` what it holds.

    Raises
    ------
    TypeError
        `obj` is no device array.
    """
    shown = shared_array(obj)
    if shown is None:
        shown = as_bytes(obj)
    if shown is not None:
        return from_core(shown)
    if not hasattr(obj, "__cuda_array_interface__"):
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return from_interface(obj.__cuda_array_interface__, owner=obj, sync=sync)


def from_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """A DeviceNDArray of the memory that a CUDA array interface describes."""
    with translated():
        out = from_core(_exchange.from_interface(desc, owner, sync))
    handle = desc.get("stream")
    if handle not in (None, 1, 2):
        out.stream = handle
    return out


def auto_device(
    obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False
) -> tuple[DeviceNDArray, bool]:
    """A device array of `obj`, and whether it is new."""
    if is_cuda_array(obj) or as_bytes(obj) is not None:
        return as_cuda_array(obj), False
    host = np.array(obj, copy=None, subok=True)
    if not (host.flags.c_contiguous or host.flags.f_contiguous):
        raise ValueError(errmsg_contiguous_buffer)
    order = "C" if host.flags.c_contiguous else "F"
    made = new_array(host.shape, host.dtype, order=order, stream=stream)
    if copy and host.size:
        with _on(stream), translated():
            made.set(host)
    return made, True


def from_array_like(ary: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceNDArray:
    """Memory of the shape, the strides and the dtype of `ary`; not initialised.

    Raises
    ------
    NotImplementedError
        `gpu_data` is given: memory of one's own is wrapped by `cuda.as_cuda_array`.
    """
    if gpu_data is not None:
        raise NotImplementedError(
            "from_array_like: gpu_data: wrap memory by an object with __cuda_array_interface__"
        )
    return new_array(ary.shape, ary.dtype, strides=ary.strides, stream=stream)


def array_core(ary: Any) -> Any:
    """`ary` without the repetition of dimensions of stride 0: what has to be transferred."""
    if not ary.strides or not ary.size:
        return ary
    return ary[tuple(0 if stride == 0 else slice(None) for stride in ary.strides)]


def is_contiguous(ary: Any) -> bool:
    """Whether the elements follow each other in memory in C order.

    Dimensions of stride 0 (made by broadcasting) do not count.
    """
    core = array_core(ary)
    step = core.dtype.itemsize
    for extent, stride in zip(core.shape[::-1], core.strides[::-1], strict=True):
        if extent > 1 and stride != step:
            return False
        step *= extent
    return True
