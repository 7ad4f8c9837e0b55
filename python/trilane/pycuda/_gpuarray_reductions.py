"""Reductions of device arrays to 0-d arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._gpuarray import GPUArray, _as_gpu, _on
from ._gpuarray_functions import take

# Results lie in memory of the allocator that is given, else of the array's own.


def sum(  # noqa: A001  PyCUDA's name
    a: GPUArray, dtype: Any = None, stream: Any = None, allocator: Any = None
) -> GPUArray:
    """The sum of all elements as a 0-d array, in the dtype of `a` unless told otherwise."""
    return _as_gpu(a)._reduced("sum", a.dtype if dtype is None else dtype, stream, allocator)


def any(a: GPUArray, stream: Any = None, allocator: Any = None) -> GPUArray:  # noqa: A001
    """Whether any element is not zero, as a 0-d array."""
    return a if a.ndim == 0 else _as_gpu(a).any(stream, allocator)


def all(a: GPUArray, stream: Any = None, allocator: Any = None) -> GPUArray:  # noqa: A001
    """Whether all elements are not zero, as a 0-d array."""
    return a if a.ndim == 0 else _as_gpu(a).all(stream, allocator)


def max(a: GPUArray, stream: Any = None) -> GPUArray:  # noqa: A001
    """The largest element as a 0-d array."""
    return _as_gpu(a)._reduced("max", a.dtype, stream, None)


def min(a: GPUArray, stream: Any = None) -> GPUArray:  # noqa: A001
    """The smallest element as a 0-d array."""
    return _as_gpu(a)._reduced("min", a.dtype, stream, None)


def dot(
    a: GPUArray, b: GPUArray, dtype: Any = None, stream: Any = None, allocator: Any = None
) -> GPUArray:
    """The sum of the products of all elements as a 0-d array; no conjugation."""
    if dtype is None:
        dtype = np.result_type(a.dtype, b.dtype)
    if allocator is None:
        allocator = _as_gpu(a).allocator
    with _on(stream):
        return _as_gpu(a * b)._reduced("sum", dtype, None, allocator)


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
