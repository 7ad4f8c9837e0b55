"""GPUArray: PyCUDA's array interface over the array type that all faces share."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np

from trilane import _core

from . import _vector_types as vec
from ._errors import TrilaneError, translate
from ._host import pagelocked_empty
from ._memory import DeviceAllocation, mem_alloc

_array = _core.array


@contextmanager
def _on(stream: Any) -> Any:
    """Work of the body goes to `stream`, if there is one."""
    if stream is None:
        yield
        return
    before = _core.current_stream(stream.context)
    _core.set_current_stream(stream)
    try:
        yield
    finally:
        _core.set_current_stream(before)


class _Flags:
    def __init__(self, ary: Any) -> None:
        self.c_contiguous = ary.c_contiguous
        self.f_contiguous = ary.f_contiguous
        self.forc = self.c_contiguous or self.f_contiguous

    def __repr__(self) -> str:
        return (
            f"  C_CONTIGUOUS : {self.c_contiguous}\n  F_CONTIGUOUS : {self.f_contiguous}\n"
            f"  FORC : {self.forc}"
        )


class _MemoryPointer:
    """What the array type takes for existing memory: a buffer, and bytes from its start."""

    def __init__(self, buffer: Any, offset: int) -> None:
        self.buffer, self.offset = buffer, offset


def _memory_pointer(gpudata: Any, nbytes: int) -> _MemoryPointer:
    try:
        address, buffer = _core.resolve_memory(gpudata)
    except TrilaneError as error:
        raise translate("GPUArray", error) from None
    if buffer is None:
        return _MemoryPointer(_core.Buffer.adopt(address, nbytes, owner=gpudata), 0)
    return _MemoryPointer(buffer, address - buffer.address)


class GPUArray(_array.ndarray):
    """An n-dimensional array in device memory.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
    allocator : callable, optional
        Called with a number of bytes; `pycuda.tools.DeviceMemoryPool.allocate` for instance.
    base : object, optional
        Kept alive as long as the array.
    gpudata : DeviceAllocation, int or device array, optional
        Existing memory to use.
    strides : tuple of int, optional
        In bytes.
    order : {'C', 'F'}

    Notes
    -----
    Differences from PyCUDA: operands broadcast and need not be contiguous, reductions know `axis`,
    ``/`` of integers gives float64 as in NumPy.
    """

    __array_priority__ = 100

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        allocator: Callable[[int], Any] | None = None,
        base: Any = None,
        gpudata: Any = None,
        strides: Any = None,
        order: str = "C",
    ) -> None:
        dtype = np.dtype(dtype)
        pointer = None
        if gpudata is None and allocator is not None and allocator is not mem_alloc:
            gpudata = allocator(builtins.max(_count(shape) * dtype.itemsize, 1))
        if gpudata is not None:
            pointer = _memory_pointer(gpudata, _extent(shape, strides, dtype.itemsize))
        super().__init__(shape, dtype, pointer, strides, order)
        self._allocator = allocator
        self._keep = (base, gpudata)

    # --- attributes

    @property
    def allocator(self) -> Callable[[int], Any]:
        """What makes memory for results: `mem_alloc` unless given."""
        return self.__dict__.get("_allocator") or mem_alloc

    @property
    def mem_size(self) -> int:
        """Elements that the memory holds."""
        return self.size

    @property
    def flags(self) -> _Flags:
        """`c_contiguous`, `f_contiguous`, `forc`."""
        return _Flags(self)

    @property
    def gpudata(self) -> Any:
        """The memory: an allocation, or an address for a view that starts inside one."""
        if self.offset:
            return self.ptr
        result = DeviceAllocation(self.buffer)
        return result

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "strides": None if self.c_contiguous else self.strides,
            "data": (self.ptr, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    def _grid_and_block(self) -> tuple[tuple[int, int], tuple[int, int, int]]:
        return splay(self.size)

    @property
    def _grid(self) -> tuple[int, int]:
        return splay(self.size)[0]

    @property
    def _block(self) -> tuple[int, int, int]:
        return splay(self.size)[1]

    # --- copies between host and device

    def set(self, ary: np.ndarray, async_: bool = False, stream: Any = None, **kwargs: Any) -> None:
        """Copy a host array of the same shape and dtype into this one.

        Raises
        ------
        ValueError
            If shape or dtype differ.
        """
        async_ = bool(kwargs.pop("async", async_))
        _no_more(kwargs)
        ary = np.asarray(ary)
        if ary.shape != self.shape:
            if ary.size != self.size:
                raise ValueError("ary and self must be the same size")
            ary = ary.reshape(self.shape)
        if ary.dtype != self.dtype:
            raise ValueError("ary and self must have the same dtype")
        super().set(ary, stream)

    def set_async(self, ary: np.ndarray, stream: Any = None) -> None:
        """As `set`, ordered on `stream`."""
        self.set(ary, async_=True, stream=stream)

    def get(
        self,
        ary: np.ndarray | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: Any = None,
        **kwargs: Any,
    ) -> np.ndarray:
        """Copy to the host.

        Parameters
        ----------
        ary : numpy.ndarray, optional
            Where to; default: a new array, page-locked if `pagelocked`.
        async_ : bool
            Do not wait: synchronise `stream` before the result is read.
        """
        async_ = bool(kwargs.pop("async", async_))
        _no_more(kwargs)
        if ary is None and pagelocked:
            ary = pagelocked_empty(self.shape, self.dtype, _order_of(self))
        elif ary is not None:
            if ary.size != self.size:
                raise TypeError("'ary' has non-matching size")
            if ary.dtype != self.dtype:
                raise TypeError("'ary' has non-matching type")
            if ary.shape != self.shape:
                raise ValueError("'ary' has non-matching shape")
        return super().get(stream=stream, order="A", out=ary, blocking=not async_)

    def get_async(self, stream: Any = None, ary: np.ndarray | None = None) -> np.ndarray:
        """As `get`, without waiting."""
        return self.get(ary, async_=True, stream=stream)

    # --- arithmetic that is not an operator

    def copy(self, stream: Any = None) -> GPUArray:
        """A copy with its own memory."""
        with _on(stream):
            return super().copy("K")

    def mul_add(
        self,
        selffac: Any,
        other: GPUArray,
        otherfac: Any,
        add_timer: Any = None,
        stream: Any = None,
    ) -> GPUArray:
        """``selffac * self + otherfac * other``."""
        with _on(stream):
            return self * selffac + other * otherfac

    def fill(self, value: Any, stream: Any = None) -> GPUArray:
        """Set every element to `value`; returns the array."""
        with _on(stream):
            super().fill(value)
        return self

    def reverse(self, stream: Any = None) -> GPUArray:
        """A one-dimensional copy in the opposite order."""
        with _on(stream):
            return super().copy() if self.ndim == 0 else self.ravel()[::-1].copy()

    def astype(self, dtype: Any, stream: Any = None) -> GPUArray:
        """A copy with elements converted to `dtype`."""
        with _on(stream):
            return super().astype(dtype)

    def any(self, stream: Any = None, allocator: Any = None) -> GPUArray:  # type: ignore[override]
        """Whether any element is not zero, as a 0-d array."""
        with _on(stream):
            return super().any()

    def all(self, stream: Any = None, allocator: Any = None) -> GPUArray:  # type: ignore[override]
        """Whether all elements are not zero, as a 0-d array."""
        with _on(stream):
            return super().all()

    # --- shape

    def reshape(self, *shape: Any, **kwargs: Any) -> GPUArray:
        """A view of another shape, or a copy where none is possible."""
        order = kwargs.pop("order", "C")
        _no_more(kwargs)
        if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
            shape = tuple(shape[0])
        return super().reshape(shape, order="F" if order == "F" else "C")

    def ravel(self, order: str = "C") -> GPUArray:
        """A one-dimensional view, or a copy where none is possible."""
        return super().ravel(order)

    def view(self, dtype: Any = None) -> GPUArray:
        """The same memory as elements of `dtype`."""
        return super().view(dtype)

    def bind_to_texref(self, *args: Any, **kwargs: Any) -> None:
        """Gone: CUDA 12 dropped texture references."""
        raise NotImplementedError("GPUArray.bind_to_texref: CUDA 12 dropped texture references")

    bind_to_texref_ext = bind_to_texref

    # --- Python protocol

    def __hash__(self) -> int:
        raise TypeError("GPUArrays are not hashable.")

    def __reduce__(self) -> tuple[Any, ...]:
        return to_gpu, (self.get(),)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # The array type's own, where the CuPy face is loaded, would give an array of that face.
        return self.__reduce__()

    def __copy__(self) -> GPUArray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> GPUArray:
        return self.copy()


def _no_more(kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise TypeError(f"extra keyword arguments specified: {', '.join(kwargs)}")


def _count(shape: Any) -> int:
    dims = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    return reduce(lambda a, b: a * int(b), dims, 1)


def _extent(shape: Any, strides: Any, itemsize: int) -> int:
    dims = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if strides is None or not _count(shape):
        return _count(shape) * itemsize
    return (
        builtins.sum((int(n) - 1) * abs(int(s)) for n, s in zip(dims, strides, strict=True))
        + itemsize
    )


def _order_of(ary: Any) -> str:
    return "F" if ary.f_contiguous and not ary.c_contiguous else "C"


def _as_gpu(result: Any) -> GPUArray:
    return result if isinstance(result, GPUArray) else result.as_type(GPUArray)


# --- creation


def to_gpu(
    ary: np.ndarray, allocator: Any = None, async_: bool = False, stream: Any = None, **kwargs: Any
) -> GPUArray:
    """A device array with the contents of a host array."""
    kwargs.pop("async", None)
    _no_more(kwargs)
    ary = np.asarray(ary)
    if allocator is None or allocator is mem_alloc:
        return _as_gpu(_array.from_host(ary, "K", stream))
    order = _order_of_host(ary)
    result = GPUArray(ary.shape, ary.dtype, allocator, order=order)
    result.set(ary, stream=stream)
    return result


def to_gpu_async(ary: np.ndarray, allocator: Any = None, stream: Any = None) -> GPUArray:
    """As `to_gpu`, ordered on `stream`."""
    return to_gpu(ary, allocator, stream=stream)


def _order_of_host(ary: np.ndarray) -> str:
    return "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"


def empty(shape: Any, dtype: Any, allocator: Any = None, order: str = "C") -> GPUArray:
    """A new array, not initialised."""
    return GPUArray(shape, dtype, allocator, order=order)


def zeros(shape: Any, dtype: Any = np.float64, allocator: Any = None, order: str = "C") -> GPUArray:
    """A new array of zeros."""
    return GPUArray(shape, dtype, allocator, order=order).fill(_zero(dtype))


def ones(shape: Any, dtype: Any = np.float64, allocator: Any = None, order: str = "C") -> GPUArray:
    """A new array of ones."""
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def _zero(dtype: Any) -> Any:
    return np.zeros((), dtype)[()] if np.dtype(dtype).kind == "V" else 0


def _like(other: GPUArray, dtype: Any, order: str) -> GPUArray:
    if order not in "CFAK":
        raise ValueError(f"order: got '{order}', expected C, F, A or K")
    kept = order if order in "CF" else _order_of(other)
    return GPUArray(other.shape, other.dtype if dtype is None else dtype, None, order=kept)


def empty_like(other_ary: GPUArray, dtype: Any = None, order: str = "K") -> GPUArray:
    """A new array of the shape and dtype of another, not initialised."""
    return _like(other_ary, dtype, order)


def zeros_like(other_ary: GPUArray, dtype: Any = None, order: str = "K") -> GPUArray:
    """A new array of zeros of the shape and dtype of another."""
    return _like(other_ary, dtype, order).fill(0)


def ones_like(other_ary: GPUArray, dtype: Any = None, order: str = "K") -> GPUArray:
    """A new array of ones of the shape and dtype of another."""
    return _like(other_ary, dtype, order).fill(1)


def arange(*args: Any, **kwargs: Any) -> GPUArray:
    """``arange([start,] stop[, step], dtype=None)``: evenly spaced values.

    Parameters
    ----------
    dtype : dtype, optional
        Default: that of the arguments.
    """
    dtype = kwargs.pop("dtype", None)
    stream = kwargs.pop("stream", None)
    kwargs.pop("allocator", None)
    named = {name: kwargs.pop(name) for name in ("start", "stop", "step") if name in kwargs}
    _no_more(kwargs)
    if len(args) > 4:
        raise ValueError("too many arguments")
    if len(args) == 4 or (args and isinstance(args[-1], (np.dtype, type))):
        dtype, args = args[-1], args[:-1]
    start, stop, step = named.get("start", 0), named.get("stop"), named.get("step", 1)
    if len(args) == 1:
        stop = args[0]
    elif len(args) >= 2:
        start, stop = args[0], args[1]
        step = args[2] if len(args) == 3 else step
    if stop is None:
        raise ValueError("arange: stop is missing")
    if dtype is None:
        dtype = np.array([start, stop, step]).dtype
    with _on(stream):
        return _as_gpu(_array.arange(start, stop, step, np.dtype(dtype)))


# --- taking and putting


def take(a: GPUArray, indices: GPUArray, out: Any = None, stream: Any = None) -> GPUArray:
    """``a[indices]`` of the flattened array."""
    with _on(stream):
        result = _as_gpu(_array.take(a.ravel(), indices))
        if out is None:
            return result
        out[...] = result
        return out


def multi_take(
    arrays: Sequence[GPUArray], indices: GPUArray, out: Any = None, stream: Any = None
) -> list[GPUArray]:
    """`take` of the same indices from several arrays."""
    outs: Sequence[Any] = [None] * len(arrays) if out is None else out
    return [take(a, indices, o, stream) for a, o in zip(arrays, outs, strict=True)]


def multi_take_put(
    arrays: Sequence[GPUArray],
    dest_indices: GPUArray,
    src_indices: GPUArray,
    dest_shape: Any = None,
    out: Any = None,
    stream: Any = None,
    src_offsets: Any = None,
) -> list[GPUArray]:
    """``out[dest_indices] = array[src_indices]`` for several arrays."""
    if src_offsets is not None:
        arrays = [a.ravel()[int(o) :] for a, o in zip(arrays, src_offsets, strict=True)]
    if out is None:
        if dest_shape is None:
            raise ValueError("multi_take_put: one of out and dest_shape must be given")
        out = [zeros(dest_shape, a.dtype) for a in arrays]
    with _on(stream):
        for a, o in zip(arrays, out, strict=True):
            o.ravel()[dest_indices] = _array.take(a.ravel(), src_indices)
    return list(out)


def multi_put(
    arrays: Sequence[GPUArray],
    dest_indices: GPUArray,
    dest_shape: Any = None,
    out: Any = None,
    stream: Any = None,
    use_fill: Any = None,
) -> list[GPUArray]:
    """``out[dest_indices] = array`` for several arrays."""
    if out is None:
        if dest_shape is None:
            raise ValueError("multi_put: one of out and dest_shape must be given")
        out = [zeros(dest_shape, a.dtype) for a in arrays]
    with _on(stream):
        for i, (a, o) in enumerate(zip(arrays, out, strict=True)):
            if use_fill is not None and use_fill[i]:
                o.ravel()[dest_indices] = a.ravel()[0]
            else:
                o.ravel()[dest_indices] = a
    return list(out)


# --- joining and shape


def concatenate(arrays: Sequence[GPUArray], axis: int = 0, allocator: Any = None) -> GPUArray:
    """Arrays joined along an axis."""
    return _as_gpu(_array.concatenate(list(arrays), axis))


def stack(arrays: Sequence[GPUArray], axis: int = 0, allocator: Any = None) -> GPUArray:
    """Arrays of one shape joined along a new axis."""
    return _as_gpu(_array.stack(list(arrays), axis))


def transpose(a: GPUArray, axes: Any = None) -> GPUArray:
    """A view with the axes in another order."""
    return a.transpose() if axes is None else a.transpose(axes)


def reshape(a: GPUArray, *shape: Any, **kwargs: Any) -> GPUArray:
    """A view of another shape, or a copy where none is possible."""
    return a.reshape(*shape, **kwargs)


# --- choosing


def if_positive(
    criterion: GPUArray, then_: Any, else_: Any, out: Any = None, stream: Any = None
) -> GPUArray:
    """Elements of `then_` where `criterion` > 0, of `else_` elsewhere."""
    for other in (then_, else_):
        shape = getattr(other, "shape", ())
        if shape not in ((), criterion.shape):
            raise ValueError("shapes do not match")
    with _on(stream):
        positive = criterion if criterion.dtype == np.bool_ else criterion > 0
        result = _as_gpu(_array.where(positive, then_, else_))
        if out is None:
            return result
        out[...] = result
        return out


where = if_positive


def _binary(name: str) -> Callable[..., GPUArray]:
    def function(a: Any, b: Any, out: Any = None, stream: Any = None) -> GPUArray:
        with _on(stream):
            return _as_gpu(_array.ufunc(name, (a, b), out=out))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``numpy.{name}`` of each pair of elements."
    return function


maximum = _binary("maximum")
minimum = _binary("minimum")


def _logical(name: str) -> Callable[..., GPUArray]:
    def function(x1: Any, x2: Any, /, out: Any = None, allocator: Any = None) -> GPUArray:
        if not isinstance(x1, GPUArray) and not isinstance(x2, GPUArray):
            return _as_gpu(_array.from_host(np.asarray(getattr(np, name)(x1, x2))))
        return _as_gpu(_array.ufunc(name, (x1, x2), out=out))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``numpy.{name}`` of each pair of elements."
    return function


logical_and = _logical("logical_and")
logical_or = _logical("logical_or")


def logical_not(x: Any, /, out: Any = None, allocator: Any = None) -> GPUArray:
    """``numpy.logical_not`` of each element."""
    if not isinstance(x, GPUArray):
        return _as_gpu(_array.from_host(np.asarray(np.logical_not(x))))
    return _as_gpu(_array.ufunc("logical_not", (x,), out=out))


# --- reductions: 0-d arrays


def sum(  # noqa: A001  PyCUDA's name
    a: GPUArray, dtype: Any = None, stream: Any = None, allocator: Any = None
) -> GPUArray:
    """The sum of all elements as a 0-d array, in the dtype of `a` unless told otherwise."""
    with _on(stream):
        return _as_gpu(_array.reduce("sum", a, dtype=a.dtype if dtype is None else dtype))


def any(a: GPUArray, stream: Any = None, allocator: Any = None) -> GPUArray:  # noqa: A001
    """Whether any element is not zero, as a 0-d array."""
    return a if a.ndim == 0 else a.any(stream)


def all(a: GPUArray, stream: Any = None, allocator: Any = None) -> GPUArray:  # noqa: A001
    """Whether all elements are not zero, as a 0-d array."""
    return a if a.ndim == 0 else a.all(stream)


def max(a: GPUArray, stream: Any = None) -> GPUArray:  # noqa: A001
    """The largest element as a 0-d array."""
    with _on(stream):
        return _as_gpu(_array.reduce("max", a))


def min(a: GPUArray, stream: Any = None) -> GPUArray:  # noqa: A001
    """The smallest element as a 0-d array."""
    with _on(stream):
        return _as_gpu(_array.reduce("min", a))


def dot(
    a: GPUArray, b: GPUArray, dtype: Any = None, stream: Any = None, allocator: Any = None
) -> GPUArray:
    """The sum of the products of all elements as a 0-d array; no conjugation."""
    if dtype is None:
        dtype = np.result_type(a.dtype, b.dtype)
    with _on(stream):
        return _as_gpu(_array.reduce("sum", a * b, dtype=np.dtype(dtype)))


def subset_sum(
    subset: GPUArray, a: GPUArray, dtype: Any = None, stream: Any = None, allocator: Any = None
) -> GPUArray:
    """`sum` of the elements of `a` with the indices `subset`."""
    return sum(take(a, subset, stream=stream), dtype, stream, allocator)


def subset_dot(
    subset: GPUArray,
    a: GPUArray,
    b: GPUArray,
    dtype: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`dot` of the elements with the indices `subset`."""
    return dot(
        take(a, subset, stream=stream), take(b, subset, stream=stream), dtype, stream, allocator
    )


def subset_max(
    subset: GPUArray, a: GPUArray, stream: Any = None, allocator: Any = None
) -> GPUArray:
    """`max` of the elements of `a` with the indices `subset`."""
    return max(take(a, subset, stream=stream), stream)


def subset_min(
    subset: GPUArray, a: GPUArray, stream: Any = None, allocator: Any = None
) -> GPUArray:
    """`min` of the elements of `a` with the indices `subset`."""
    return min(take(a, subset, stream=stream), stream)


def splay(n: int, dev: Any = None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """A grid and a block for `n` elements of a grid-stride loop."""
    threads = builtins.min(256, builtins.max(32, -(-int(n) // 32) * 32))
    blocks = builtins.max(1, builtins.min(4096, -(-int(n) // threads)))
    return (blocks, 1), (threads, 1, 1)


__all__ = [
    "GPUArray",
    "all",
    "any",
    "arange",
    "concatenate",
    "dot",
    "empty",
    "empty_like",
    "if_positive",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "min",
    "minimum",
    "multi_put",
    "multi_take",
    "multi_take_put",
    "ones",
    "ones_like",
    "reshape",
    "splay",
    "stack",
    "subset_dot",
    "subset_max",
    "subset_min",
    "subset_sum",
    "sum",
    "take",
    "to_gpu",
    "to_gpu_async",
    "transpose",
    "vec",
    "where",
    "zeros",
    "zeros_like",
]
