"""Sorting, searching, counting, sets."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._creation import arange, zeros
from trilane.cupy._engine import engine, engine_take, ndarray
from trilane.cupy._helpers import normalize_axis_index, require_array, to_array
from trilane.cupy._logic import in1d


def sort(a, axis=-1, kind=None, *, stable=None) -> ndarray:
    """Return a sorted copy; NaN last. `axis` None: of the flattened array.

    The sort is stable in every case; `kind` may be None, 'stable' or any name of NumPy's.
    """
    a = require_array(a, "sort")
    _check_kind(kind)
    if axis is None:
        return engine.sort(a.ravel(), -1)
    if a.ndim == 0:
        raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    return engine.sort(a, normalize_axis_index(axis, a.ndim))


def _check_kind(kind) -> None:
    if kind is not None and kind not in ("stable", "quicksort", "mergesort", "heapsort"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")


def argsort(a, axis=-1, kind=None, *, stable=None) -> ndarray:
    """Return the indices that would sort an array; stable."""
    a = require_array(a, "argsort")
    _check_kind(kind)
    if a.ndim == 0 and axis is not None:
        normalize_axis_index(axis, 1)
    if axis is None or a.ndim == 0:
        return engine.argsort(a.reshape(-1), -1)
    return engine.argsort(a, normalize_axis_index(axis, a.ndim))


def msort(a) -> ndarray:
    """Deprecated: return a copy sorted along the first axis."""
    warnings.warn("msort is deprecated: use sort(a, axis=0)", DeprecationWarning, stacklevel=2)
    return sort(a, axis=0)


def sort_complex(a) -> ndarray:
    """Return a complex copy sorted by real part, then imaginary part."""
    a = require_array(a, "sort_complex")
    if a.dtype.kind != "c":
        a = a.astype(np.complex64 if a.dtype.char in "bhBHF" else np.complex128)
    return sort(a)


def lexsort(keys) -> ndarray:
    """Return the indices that sort by several keys; the last key counts most.

    Parameters
    ----------
    keys : ndarray
        (k, N): k keys of N entries each.
    """
    if isinstance(keys, ndarray):
        if keys.ndim == 0:
            raise TypeError("need sequence of keys with len > 0 in lexsort")
        if keys.ndim > 2:
            raise NotImplementedError(
                "Keys with the rank of three or more is not supported in lexsort"
            )
        rows = [keys] if keys.ndim == 1 else list(keys)
        if keys.ndim == 1:
            return zeros((), np.int64)
    else:
        rows = [require_array(k, "lexsort") for k in keys]
        if not rows:
            raise TypeError("need sequence of keys with len > 0 in lexsort")
    order = engine.argsort(rows[0], -1)
    for row in rows[1:]:
        order = engine_take(
            order, engine.argsort(engine_take(row, order, 0, None, "raise"), -1), 0, None, "raise"
        )
    return order


def _check_kth(kth, length: int) -> None:
    kth = kth.get() if isinstance(kth, ndarray) else kth
    for k in np.ravel(kth):
        if not -length <= k < length:
            raise ValueError(f"kth(={k}) out of bounds ({length})")


def partition(a, kth, axis=-1) -> ndarray:
    """Return a copy with the kth element in its sorted place; here: sorted as a whole."""
    a = require_array(a, "partition")
    if axis is None:
        a, axis = a.ravel(), -1
    if a.ndim == 0:
        raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    axis = normalize_axis_index(axis, a.ndim)
    _check_kth(kth, a.shape[axis])
    return engine.sort(a, axis)


def argpartition(a, kth, axis=-1) -> ndarray:
    """Return the indices of `partition`; here: those that sort."""
    a = require_array(a, "argpartition")
    if axis is None:
        a, axis = a.ravel(), -1
    if a.ndim == 0:
        a = a.reshape(1)
    axis = normalize_axis_index(axis, a.ndim)
    _check_kth(kth, a.shape[axis])
    return engine.argsort(a, axis)


def searchsorted(a, v, side="left", sorter=None) -> ndarray:
    """Return where values have to be inserted to keep a 1-D array sorted.

    Parameters
    ----------
    a : ndarray
        Sorted, or sorted by `sorter`.
    v : ndarray or scalar
    side : {'left', 'right'}
        Before or after equal elements.
    sorter : ndarray of int, optional
    """
    a = require_array(a, "searchsorted")
    if a.ndim > 1:
        raise ValueError("object too deep for desired array")
    if a.ndim < 1:
        raise ValueError("object of too small depth for desired array")
    if side not in ("left", "right"):
        raise ValueError(f"'{side}' is an invalid value for keyword 'side'")
    if sorter is not None:
        if sorter.dtype.kind not in "iu":
            raise TypeError("sorter must be of integer type")
        if sorter.size != a.size:
            raise ValueError("sorter.size must equal a.size")
        a, sorter = engine_take(a, sorter, 0, None, "raise"), None
    v = to_array(v, "searchsorted") if not isinstance(v, ndarray) else v
    return engine.searchsorted(a, v, side, None)


def argmax(a, axis=None, dtype=None, out=None, keepdims=False) -> ndarray:
    """Return the index of the largest element along an axis; the first NaN wins."""
    return engine.reduce("argmax", require_array(a, "argmax"), axis, dtype, out, keepdims)


def argmin(a, axis=None, dtype=None, out=None, keepdims=False) -> ndarray:
    """Return the index of the smallest element along an axis; the first NaN wins."""
    return engine.reduce("argmin", require_array(a, "argmin"), axis, dtype, out, keepdims)


def nanargmax(a, axis=None, dtype=None, out=None, keepdims=False) -> ndarray:
    """Return the index of the largest element along an axis, ignoring NaN."""
    a = require_array(a, "nanargmax")
    name = "nanargmax" if a.dtype.kind in "fc" else "argmax"
    return engine.reduce(name, a, axis, dtype, out, keepdims)


def nanargmin(a, axis=None, dtype=None, out=None, keepdims=False) -> ndarray:
    """Return the index of the smallest element along an axis, ignoring NaN."""
    a = require_array(a, "nanargmin")
    name = "nanargmin" if a.dtype.kind in "fc" else "argmin"
    return engine.reduce(name, a, axis, dtype, out, keepdims)


def count_nonzero(a, axis=None, keepdims=False) -> ndarray:
    """Return the number of elements along axes that are not zero."""
    a = to_array(a, "count_nonzero")
    return engine.reduce("count_nonzero", a, axis, None, None, keepdims)


# --- sets


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: ndarray
    inverse_indices: ndarray


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """Return the sorted different elements (or slices along an axis).

    Parameters
    ----------
    ar : ndarray
    return_index : bool
        Also the first place of each.
    return_inverse : bool
        Also which one each element is.
    return_counts : bool
        Also how often each occurs.
    axis : int, optional
    equal_nan : bool
        All NaN are one.
    sorted : bool
        Accepted; the result is sorted in either case.
    """
    ar = to_array(ar, "unique")
    if axis is not None:
        return _unique_axis(
            ar, normalize_axis_index(axis, ar.ndim), return_index, return_inverse, return_counts
        )
    flat = ar.ravel()
    order = engine.argsort(flat, -1)
    ordered = engine_take(flat, order, 0, None, "raise")
    starts = _changes(ordered, equal_nan)
    return _unique_result(
        ordered, order, starts, ar.shape, return_index, return_inverse, return_counts
    )


def _changes(ordered, equal_nan) -> ndarray:
    """Whether each element of a sorted array differs from the one before."""
    starts = engine.full((ordered.size,), True, np.dtype(bool))
    if ordered.size > 1:
        differs = ordered[1:] != ordered[:-1]
        if equal_nan and ordered.dtype.kind in "fc":
            differs = differs & ~(uf.isnan(ordered[1:]) & uf.isnan(ordered[:-1]))
        starts[1:] = differs
    return starts


def _unique_result(values, order, starts, shape, with_index, with_inverse, with_counts):
    places = engine.flatnonzero(starts)
    result = [engine_take(values, places, 0, None, "raise")]
    if with_index:
        result.append(engine_take(order, places, 0, None, "raise"))
    if with_inverse:
        inverse = zeros(order.shape, np.int64)
        inverse[order] = starts.cumsum(dtype=np.int64) - 1
        result.append(inverse.reshape(shape))
    if with_counts:
        total = order.size
        ends = engine.concatenate(
            [places[1:], engine.full((min(1, places.size),), total, places.dtype)], 0
        )
        result.append(ends - places)
    return result[0] if len(result) == 1 else tuple(result)


def _unique_axis(ar, axis, with_index, with_inverse, with_counts):
    moved = engine.moveaxis(ar, axis, 0)
    rows = moved.reshape((moved.shape[0], -1)) if moved.size else moved.reshape((moved.shape[0], 0))
    order = arange(0, rows.shape[0], 1, np.int64)
    for column in range(rows.shape[1] - 1, -1, -1):
        keys = engine_take(rows[:, column], order, 0, None, "raise")
        order = engine_take(order, engine.argsort(keys, -1), 0, None, "raise")
    ordered = engine_take(rows, order, 0, None, "raise")
    starts = engine.full((rows.shape[0],), True, np.dtype(bool))
    if rows.shape[0] > 1:
        starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    slices = engine_take(moved, order, 0, None, "raise")
    result = _unique_result(
        slices, order, starts, (rows.shape[0],), with_index, with_inverse, with_counts
    )
    if isinstance(result, tuple):
        return (engine.moveaxis(result[0], 0, axis), *result[1:])
    return engine.moveaxis(result, 0, axis)


def unique_all(x, /) -> UniqueAllResult:
    """Return the different elements with indices, inverse and counts; each NaN is its own."""
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x, /) -> UniqueCountsResult:
    """Return the different elements with their counts; each NaN is its own."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x, /) -> UniqueInverseResult:
    """Return the different elements and which one each element is; each NaN is its own."""
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x, /) -> ndarray:
    """Return the different elements; each NaN is its own."""
    return unique(x, equal_nan=False)


def intersect1d(arr1, arr2, assume_unique=False, return_indices=False):
    """Return the sorted elements that both arrays have.

    Returns
    -------
    ndarray, and with `return_indices` their first places in both arrays
    """
    arr1, arr2 = to_array(arr1, "intersect1d").ravel(), to_array(arr2, "intersect1d").ravel()
    if not assume_unique:
        arr1, places1 = unique(arr1, return_index=True)
        arr2, places2 = unique(arr2, return_index=True)
    both = engine.concatenate([arr1, arr2], 0)
    order = engine.argsort(both, -1)
    ordered = engine_take(both, order, 0, None, "raise")
    twice = ordered[1:] == ordered[:-1]
    result = ordered[:-1][twice]
    if not return_indices:
        return result
    first, second = order[:-1][twice], order[1:][twice] - arr1.size
    if not assume_unique:
        first, second = places1[first], places2[second]
    return result, first, second


def setdiff1d(ar1, ar2, assume_unique=False) -> ndarray:
    """Return the elements of the first array that the second has not."""
    ar1, ar2 = to_array(ar1, "setdiff1d"), to_array(ar2, "setdiff1d")
    ar1 = ar1.ravel() if assume_unique else unique(ar1)
    return ar1[in1d(ar1, ar2, True, True)]


def setxor1d(ar1, ar2, assume_unique=False) -> ndarray:
    """Return the sorted elements that exactly one of the arrays has."""
    ar1, ar2 = to_array(ar1, "setxor1d").ravel(), to_array(ar2, "setxor1d").ravel()
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    both = engine.concatenate([ar1, ar2], 0)
    if both.size == 0:
        return both
    both = engine.sort(both, -1)
    edge = engine.full((1,), True, np.dtype(bool))
    differs = engine.concatenate([edge, both[1:] != both[:-1], edge], 0)
    return both[differs[1:] & differs[:-1]]


def union1d(arr1, arr2) -> ndarray:
    """Return the sorted elements that any of the arrays has."""
    arr1, arr2 = to_array(arr1, "union1d").ravel(), to_array(arr2, "union1d").ravel()
    return unique(engine.concatenate([arr1, arr2], 0))
