"""Device arrays from nothing, from host arrays and like others."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilane import _core
from trilane._exchange import shared_array

from ._gpuarray import GPUArray, _as_gpu, _no_more, _on, _order_of
from ._memory import mem_alloc

_array = _core.array


def to_gpu(
    ary: np.ndarray, allocator: Any = None, async_: bool = False, stream: Any = None, **kwargs: Any
) -> GPUArray:
    """A device array with the contents of a host array, or of a device array of another face."""
    kwargs.pop("async", None)
    _no_more(kwargs)
    shown = shared_array(ary)
    if shown is not None:
        result = GPUArray(shown.shape, shown.dtype, allocator, order=_order_of(shown))
        with _on(stream):
            _array.copyto(result, shown)
        return result
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
