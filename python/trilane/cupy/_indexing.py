"""Taking and putting elements by index; index helpers."""

from __future__ import annotations

import operator
import sys

import numpy as np

from trilane.cupy._creation import arange, array, asarray, empty, tri
from trilane.cupy._engine import engine, engine_put, engine_take, ndarray
from trilane.cupy._helpers import (
    SCALARS,
    normalize_axis_index,
    product,
    require_array,
    stack_arrays,
    to_array,
)

s_ = np.s_
index_exp = np.index_exp


class _Joiner:
    """What `r_` and `c_` are: indexing joins arrays and ranges."""

    def __init__(self, axis: int, min_ndim: int, trans1d: int) -> None:
        self.defaults = (axis, min_ndim, trans1d)

    def __getitem__(self, key) -> ndarray:
        from trilane.cupy._manipulation import concatenate

        axis, min_ndim, trans1d = self.defaults
        items = key if isinstance(key, tuple) else (key,)
        if items and isinstance(items[0], str):
            if items[0] in ("r", "c"):
                raise NotImplementedError("r_['r'], r_['c']: matrices")
            numbers = [int(x) for x in items[0].split(",")]
            axis = numbers[0]
            min_ndim = numbers[1] if len(numbers) > 1 else 1
            trans1d = numbers[2] if len(numbers) > 2 else -1
            items = items[1:]
        parts, scalars = [], []
        for place, item in enumerate(items):
            if isinstance(item, SCALARS):
                scalars.append((place, item))
                parts.append(item)
            else:
                parts.append(_shape_part(_range(item), min_ndim, trans1d))
        if scalars:
            dtype = engine.result_type(*(p for p in parts))
            for place, item in scalars:
                part = array(item, dtype=dtype, ndmin=max(1, min_ndim))
                parts[place] = part
        return concatenate(parts, axis)

    def __len__(self) -> int:
        return 0


def _range(item) -> ndarray:
    if isinstance(item, slice):
        return array(np.r_[item])
    return asarray(item)


def _shape_part(part: ndarray, min_ndim: int, trans1d: int) -> ndarray:
    from trilane.cupy._manipulation import moveaxis

    own = part.ndim
    if own >= min_ndim:
        return part
    part = part.reshape((1,) * (min_ndim - own) + part.shape)
    if trans1d == -1:
        return part
    # The entries' own axes start at `trans1d`.
    first = trans1d if trans1d >= 0 else min_ndim - own + trans1d + 1
    return moveaxis(part, range(min_ndim - own, min_ndim), range(first, first + own))


# CuPy's own names of this class and of the module that holds it.
AxisConcatenator = _Joiner
generate = sys.modules[__name__]

r_ = _Joiner(0, 1, -1)
c_ = _Joiner(-1, 2, 0)


def indices(dimensions, dtype=int, sparse=False):
    """Return the index arrays of a grid: one per axis, stacked (or a tuple if `sparse`)."""
    dimensions = tuple(dimensions)
    rank = len(dimensions)
    parts = [
        arange(0, extent, 1, np.dtype(dtype)).reshape((1,) * i + (extent,) + (1,) * (rank - i - 1))
        for i, extent in enumerate(dimensions)
    ]
    if sparse:
        return tuple(parts)
    result = empty((rank, *dimensions), dtype)
    for i, part in enumerate(parts):
        result[i] = part
    return result


def ix_(*args) -> tuple[ndarray, ...]:
    """Return index arrays that together pick the cross product of 1-D sequences."""
    result = []
    for i, item in enumerate(args):
        a = item if isinstance(item, ndarray) else array(np.asarray(item))
        if a.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if a.size == 0:
            a = a.astype(np.intp)
        if a.dtype.kind == "b":
            a = engine.flatnonzero(a)
        result.append(a.reshape((1,) * i + (a.size,) + (1,) * (len(args) - i - 1)))
    return tuple(result)


def nonzero(a) -> tuple[ndarray, ...]:
    """Return the indices of the elements that are not zero, one array per axis."""
    return require_array(a, "nonzero").nonzero()


def flatnonzero(a) -> ndarray:
    """Return the positions in C order of the elements that are not zero."""
    return engine.flatnonzero(require_array(a, "flatnonzero"))


def argwhere(a) -> ndarray:
    """Return the indices of the elements that are not zero, one row per element."""
    return engine.argwhere(require_array(a, "argwhere"))


def where(condition, x=None, y=None):
    """Choose from `x` where the condition holds and from `y` elsewhere.

    Without `x` and `y`: as `nonzero`.
    """
    if (x is None) != (y is None):
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    if x is None:
        return nonzero(condition)
    return engine.where(to_array(condition, "where"), _operand(x, "where"), _operand(y, "where"))


def _operand(x, who: str):
    return x if isinstance(x, SCALARS) else require_array(x, who)


def take(a, indices, axis=None, out=None, mode="wrap") -> ndarray:
    """Take elements along an axis; without one from the flattened array.

    Out-of-range indices wrap by default, as in CuPy; ``mode='raise'`` and ``'clip'`` are NumPy's.
    """
    a = to_array(a, "take")
    return engine_take(a, _index(indices), axis, out, mode)


def _index(indices):
    if isinstance(indices, (ndarray, *SCALARS)):
        return indices
    host = np.asarray(indices)
    return array(host.astype(np.intp) if host.size == 0 else host)


def take_along_axis(a, indices, axis=-1) -> ndarray:
    """Take elements by index arrays that match along the other axes."""
    a, indices = require_array(a, "take_along_axis"), require_array(indices, "take_along_axis")
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return engine.take_along_axis(a.ravel(), indices, 0)
    axis = normalize_axis_index(axis, a.ndim)
    if a.ndim != indices.ndim:
        raise ValueError("`indices` and `a` must have the same number of dimensions")
    return engine.take_along_axis(a, indices, axis)


def put_along_axis(arr, indices, values, axis) -> None:
    """Put values by index arrays that match along the other axes."""
    arr, indices = require_array(arr, "put_along_axis"), require_array(indices, "put_along_axis")
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    values = values if isinstance(values, (ndarray, *SCALARS)) else array(values)
    if axis is None:
        if not arr.c_contiguous:
            raise NotImplementedError("put_along_axis(axis=None) of a non-contiguous array")
        engine.put_along_axis(arr.reshape(-1), indices, values, 0)
        return
    engine.put_along_axis(arr, indices, values, normalize_axis_index(axis, arr.ndim))


def put(a, ind, v, mode="wrap") -> None:
    """Put values at positions in C order. Out-of-range positions wrap by default, as in CuPy."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    v = v if isinstance(v, (ndarray, *SCALARS)) else array(v)
    engine_put(require_array(a, "put"), _index(ind), v, mode)


def putmask(a, mask, values) -> None:
    """Set elements where a mask holds; the values repeat by position."""
    a, mask = require_array(a, "putmask"), require_array(mask, "putmask")
    if mask.shape != a.shape:
        raise ValueError("mask and data must be the same size")
    if isinstance(values, (bool, int, float, complex)):
        values = array(values, dtype=a.dtype)
    values = to_array(values, "putmask")
    if not np.can_cast(values.dtype, a.dtype, "safe"):
        raise TypeError(
            f"Cannot cast array data from {values.dtype} to {a.dtype} according to the rule 'safe'"
        )
    if values.shape != a.shape:
        if values.size == 0:
            return
        positions = arange(0, a.size, 1, np.int64) % values.size
        values = engine_take(values.ravel(), positions, 0, None, "wrap").reshape(a.shape)
    engine.copyto(a, values, "same_kind", mask)


def place(arr, mask, vals) -> None:
    """Set elements where a mask holds; the values repeat in the order of the places."""
    arr, mask = require_array(arr, "place"), require_array(mask, "place")
    if mask.size != arr.size:
        raise ValueError("Mask and data must be the same size.")
    mask = mask.astype(bool, copy=False).reshape(arr.shape)
    count = int(mask.sum())
    if count == 0:
        return
    vals = to_array(vals, "place").ravel()
    if vals.size == 0:
        raise ValueError("Cannot insert from an empty array.")
    positions = arange(0, count, 1, np.int64) % vals.size
    arr[mask] = engine_take(vals, positions, 0, None, "wrap").astype(arr.dtype, copy=False)


def extract(condition, arr) -> ndarray:
    """Return the elements of the flattened array where the condition holds."""
    arr = require_array(arr, "extract").ravel()
    condition = to_array(condition, "extract").ravel()
    return arr.take(engine.flatnonzero(condition))


def choose(a, choices, out=None, mode="raise") -> ndarray:
    """Make an array by choosing for each place the array that the index names."""
    a = require_array(a, "choose")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    if a.dtype.kind not in "biu":
        raise TypeError(
            f"Cannot cast array data from {a.dtype} to int64 according to the rule 'safe'"
        )
    choices = [to_array(c, "choose") for c in choices]
    if not choices:
        raise ValueError("choose: there is nothing to choose from")
    n = len(choices)
    index = a.astype(np.int64)
    if mode == "wrap":
        index = index % n
    elif mode == "clip":
        index = index.clip(0, n - 1)
    elif a.size and bool(((index < 0) | (index >= n)).any()):
        raise ValueError("invalid entry in choice array")
    dtype = engine.result_type(*choices)
    shape = np.broadcast_shapes(a.shape, *(c.shape for c in choices))
    wide = [engine.broadcast_to(c.astype(dtype, copy=False), shape) for c in choices]
    index = engine.broadcast_to(index, shape)
    result = engine.take_along_axis(stack_arrays(wide, 0), index.reshape((1, *shape)), 0)[0]
    if out is None:
        return result
    engine.copyto(out, result, "unsafe")
    return out


def compress(condition, a, axis=None, out=None) -> ndarray:
    """Return the slices along an axis where a 1-D condition holds."""
    a = require_array(a, "compress")
    condition = condition if isinstance(condition, ndarray) else array(np.asarray(condition))
    if condition.ndim != 1:
        raise ValueError("condition must be an 1-d array")
    return engine_take(a, engine.flatnonzero(condition), axis, out, "raise")


def diagonal(a, offset=0, axis1=0, axis2=1) -> ndarray:
    """Return the diagonal of two axes, put last; a view."""
    return require_array(a, "diagonal").diagonal(offset, axis1, axis2)


def select(condlist, choicelist, default=0) -> ndarray:
    """For each place, take from the first choice whose condition holds."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    if not isinstance(default, SCALARS):
        raise TypeError("default only accepts scalar values")
    for condition in condlist:
        if condition.dtype.kind != "b":
            raise ValueError("invalid entry in condlist: should be boolean ndarray")
    dtype = engine.result_type(*choicelist, default)
    result: object = dtype.type(default)
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        choice = choice if isinstance(choice, SCALARS) else choice.astype(dtype, copy=False)
        result = engine.where(condition, choice, result)
    return result.astype(dtype, copy=False)


def fill_diagonal(a, val, wrap=False) -> None:
    """Set the main diagonal in place."""
    a = require_array(a, "fill_diagonal")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    if a.ndim == 2:
        step = a.shape[1] + 1
        end = a.size if wrap else min(a.size, a.shape[1] * a.shape[1])
        positions = arange(0, end, step, np.int64)
    else:
        step = sum(a.shape[0] ** i for i in range(a.ndim))
        positions = arange(0, a.shape[0], 1, np.int64) * step
    if positions.size == 0:
        return
    val = asarray(val)
    count = positions.size
    if val.ndim:
        val = engine_take(val.ravel(), arange(0, count, 1, np.int64) % val.size, 0, None, "wrap")
    engine_put(a, positions, val.astype(a.dtype, copy=False), "raise")


def diag_indices(n, ndim=2) -> tuple[ndarray, ...]:
    """Return the indices of the main diagonal of an n x n x ... array."""
    return (arange(0, n, 1, np.int64),) * ndim


def diag_indices_from(arr) -> tuple[ndarray, ...]:
    """Return the indices of the main diagonal of an array."""
    if not isinstance(arr, ndarray):
        raise TypeError("Argument must be cupy.ndarray")
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def mask_indices(n, mask_func, k=0) -> tuple[ndarray, ...]:
    """Return the indices of the elements that a masking function keeps of an n x n array."""
    from trilane.cupy._creation import ones

    return mask_func(ones((n, n), dtype=int), k).nonzero()


def tril_indices(n, k=0, m=None) -> tuple[ndarray, ...]:
    """Return the indices of the lower triangle of an n x m array."""
    return tri(n, m, k, bool).nonzero()


def tril_indices_from(arr, k=0) -> tuple[ndarray, ...]:
    """Return the indices of the lower triangle of a 2-D array."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices(n, k=0, m=None) -> tuple[ndarray, ...]:
    """Return the indices of the upper triangle of an n x m array."""
    return (~tri(n, m, k - 1, bool)).nonzero()


def triu_indices_from(arr, k=0) -> tuple[ndarray, ...]:
    """Return the indices of the upper triangle of a 2-D array."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triu_indices(arr.shape[0], k, arr.shape[1])


def unravel_index(indices, dims, order="C") -> tuple[ndarray, ...]:
    """Turn positions into index arrays, one per axis.

    Raises
    ------
    TypeError
        The positions are not integers.
    ValueError
        `order` is unknown, or a position is out of range.
    """
    order = "C" if order is None else order
    if order not in ("C", "F"):
        raise ValueError(f"order not understood: {order!r}")
    dims = tuple(dims) if not isinstance(dims, (int, np.integer)) else (int(dims),)
    indices = to_array(indices, "unravel_index")
    if indices.dtype.kind not in "iu":
        raise TypeError("Iterator operand 0 dtype could not be cast to int64 under 'same_kind'")
    total = product(dims)
    if indices.size and bool(((indices >= total) | (indices < 0)).any()):
        raise ValueError("invalid entry in index array")
    rest = indices.astype(np.int64)
    parts = []
    for extent in dims if order == "F" else reversed(dims):
        parts.append(rest % extent if extent else rest)
        rest = rest // extent if extent else rest
    return tuple(parts if order == "F" else parts[::-1])


def ravel_multi_index(multi_index, dims, mode="wrap", order="C") -> ndarray:
    """Turn index arrays, one per axis, into positions.

    Raises
    ------
    TypeError
        An index is not an integer array.
    ValueError
        The number of index arrays is wrong, or an index is out of range under ``'raise'``.
    """
    dims = tuple(operator.index(extent) for extent in dims)
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    if any(m not in ("raise", "wrap", "clip") for m in modes):
        raise ValueError(f"Unrecognized mode: {mode}")
    if product(dims) > np.iinfo(np.int64).max:
        raise ValueError("dims are too large: the positions do not fit into 64 bits")
    order = "C" if order is None else order
    if order not in ("C", "F"):
        raise ValueError(f"order not understood: {order!r}")
    steps = [1]
    for extent in dims[:-1] if order == "F" else dims[:0:-1]:
        steps.append(steps[-1] * extent)
    if order == "C":
        steps.reverse()
    result = 0
    for index, extent, step, how in zip(multi_index, dims, steps, modes):
        index = to_array(index, "ravel_multi_index")
        if index.dtype.kind not in "iub":
            raise TypeError("only int indices permitted")
        index = index.astype(np.int64)
        if how == "raise":
            if bool(((index >= extent) | (index < 0)).any()):
                raise ValueError("invalid entry in coordinates array")
        elif how == "clip":
            index = index.clip(0, extent - 1)
        else:
            index = index % extent
        result = index * step + result
    return result


def _refuse_new_axis(index) -> None:
    if index is None:
        raise IndexError("unsupported iterator index")


class flatiter:
    """The elements of an array in C order: what ``a.flat`` is."""

    def __init__(self, a: ndarray) -> None:
        self._base = a

    base = property(lambda self: self._base, doc="The array.")

    def __len__(self) -> int:
        return self._base.size

    def __iter__(self):
        self._next = 0
        return self

    def __next__(self) -> ndarray:
        place = getattr(self, "_next", 0)
        if place >= self._base.size:
            raise StopIteration
        self._next = place + 1
        return self._base.ravel()[place]

    def __getitem__(self, index) -> ndarray:
        if index is Ellipsis:
            return self._base.flatten()
        _refuse_new_axis(index)
        result = self._base.ravel()[index]
        return result.copy() if isinstance(index, slice) else result

    def __setitem__(self, index, value) -> None:
        if isinstance(index, slice) or index is Ellipsis:
            span = range(self._base.size)[slice(None) if index is Ellipsis else index]
            positions = arange(span.start, span.stop, span.step, np.int64)
            value = asarray(value).ravel()
            if value.size == 0:
                raise ValueError("Error setting single item of array.")
            if positions.size == 0:
                return
            fill = engine_take(
                value, arange(0, positions.size, 1, np.int64) % value.size, 0, None, "wrap"
            )
            engine_put(self._base, positions, fill.astype(self._base.dtype, copy=False), "raise")
            return
        _refuse_new_axis(index)
        engine_put(self._base, _index(index), asarray(value), "raise")

    def copy(self) -> ndarray:
        """Return a flat copy."""
        return self._base.flatten()
