"""Functions of device arrays: take and put, join, choose, logic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from trilane import _core

from ._gpuarray import GPUArray, _as_gpu, _into, _on
from ._gpuarray_create import zeros
from ._memory import mem_alloc

_array = _core.array


def take(a: GPUArray, indices: GPUArray, out: Any = None, stream: Any = None) -> GPUArray:
    """``a[indices]`` of the flattened array."""
    with _on(stream):
        result = _as_gpu(_array.take(_as_gpu(a).ravel(), indices))
        return result if out is None else _into(out, result)


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
    joined = list(arrays)
    if not joined:
        raise ValueError("concatenate: got no arrays, expected at least one")
    shape = list(joined[0].shape)
    at = axis + len(shape) if axis < 0 else axis
    if at < len(shape):
        shape[at] = sum(a.shape[at] if at < a.ndim else 0 for a in joined)
    out = _room(joined, tuple(shape), allocator)
    return _as_gpu(_array.concatenate(joined, axis, out=out))


def stack(arrays: Sequence[GPUArray], axis: int = 0, allocator: Any = None) -> GPUArray:
    """Arrays of one shape joined along a new axis."""
    joined = list(arrays)
    if not joined:
        raise ValueError("need at least one array to stack")
    shape = joined[0].shape
    at = axis + len(shape) + 1 if axis < 0 else axis
    out = _room(joined, (*shape[:at], len(joined), *shape[at:]), allocator)
    return _as_gpu(_array.stack(joined, axis, out=out))


def _room(arrays: list[GPUArray], shape: tuple[int, ...], allocator: Any) -> GPUArray | None:
    """Room from the allocator, default: the first array's own; None where that is the device's."""
    if allocator is None:
        allocator = _as_gpu(arrays[0]).allocator
    if allocator is mem_alloc:
        return None
    return GPUArray(shape, np.result_type(*(a.dtype for a in arrays)), allocator)


def transpose(a: GPUArray, axes: Any = None) -> GPUArray:
    """A view with the axes in another order; default: reversed."""
    return _as_gpu(a).transpose(axes)


def reshape(a: GPUArray, *shape: Any, **kwargs: Any) -> GPUArray:
    """A view of another shape, or a copy where none is possible."""
    return _as_gpu(a).reshape(*shape, **kwargs)


# --- choosing


def if_positive(
    criterion: GPUArray, then_: Any, else_: Any, out: Any = None, stream: Any = None
) -> GPUArray:
    """Elements of `then_` where `criterion` > 0, of `else_` elsewhere."""
    with _on(stream):
        positive = criterion if criterion.dtype == np.bool_ else criterion > 0
        return _chosen(criterion, positive, then_, else_, out)


def where(
    criterion: GPUArray, then_: Any, else_: Any, out: Any = None, stream: Any = None
) -> GPUArray:
    """Elements of `then_` where `criterion` is not zero, of `else_` elsewhere."""
    with _on(stream):
        given = criterion if criterion.dtype == np.bool_ else criterion != 0
        return _chosen(criterion, given, then_, else_, out)


def _chosen(criterion: GPUArray, flags: Any, then_: Any, else_: Any, out: Any) -> GPUArray:
    for other in (then_, else_):
        if getattr(other, "shape", ()) not in ((), criterion.shape):
            raise ValueError("shapes do not match")
    result = _as_gpu(_array.where(flags, then_, else_))
    return result if out is None else _into(out, result)


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
        if not isinstance(x1, _array.ndarray) and not isinstance(x2, _array.ndarray):
            return _as_gpu(_array.from_host(np.asarray(getattr(np, name)(x1, x2))))
        return _as_gpu(_array.ufunc(name, (x1, x2), out=out))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``numpy.{name}`` of each pair of elements."
    return function


logical_and = _logical("logical_and")
logical_or = _logical("logical_or")


def logical_not(x: Any, /, out: Any = None, allocator: Any = None) -> GPUArray:
    """``numpy.logical_not`` of each element."""
    if not isinstance(x, _array.ndarray):
        return _as_gpu(_array.from_host(np.asarray(np.logical_not(x))))
    return _as_gpu(_array.ufunc("logical_not", (x,), out=out))
