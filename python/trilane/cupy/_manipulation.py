"""Shapes, axes, joining, splitting, tiling, rearranging."""

from __future__ import annotations

import warnings

import numpy as np

from trilane.cupy._creation import array, asarray, empty
from trilane.cupy._dtypes import check_dtype
from trilane.cupy._engine import as_strided, engine, ndarray
from trilane.cupy._helpers import (
    normalize_axis_index,
    normalize_axis_tuple,
    normalize_shape,
    product,
    require_array,
    to_array,
)


def copyto(dst, src, casting="same_kind", where=None) -> None:
    """Copy values into an array, broadcasting, where a mask holds.

    Parameters
    ----------
    dst : ndarray
    src : ndarray or scalar
        A NumPy array of one element counts as a scalar.
    casting : str
    where : ndarray of bool, optional

    Raises
    ------
    TypeError
        The cast is not allowed, or an argument is of the wrong type.
    """
    dst = require_array(dst, "copyto")
    if isinstance(src, int) and dst.dtype.kind in "iu":
        src = dst.dtype.type(src)  # OverflowError where it does not fit
    if isinstance(where, ndarray) and where.dtype.kind != "b":
        raise TypeError(f"Cannot cast array data from {where.dtype} to bool by the rule 'safe'")
    if isinstance(src, np.ndarray) and src.size == 1 and src.ndim <= dst.ndim:
        src = src.reshape(())[()]
    if isinstance(src, ndarray) and src.ndim > dst.ndim:
        surplus = src.ndim - dst.ndim
        if all(extent == 1 for extent in src.shape[:surplus]):
            src = src.reshape(src.shape[surplus:])
    if where is None:
        engine.copyto(dst, src, casting)
    else:
        engine.copyto(dst, src, casting, where)


def shape(a) -> tuple[int, ...]:
    """Return the shape of an array or of anything that NumPy understands."""
    return a.shape if isinstance(a, ndarray) else np.shape(a)


def ndim(a) -> int:
    """Return the number of axes."""
    return a.ndim if isinstance(a, ndarray) else np.ndim(a)


def size(a, axis=None) -> int:
    """Return the number of elements, or the length of one or several axes."""
    if not isinstance(a, ndarray):
        return np.size(a, axis)
    if axis is None:
        return a.size
    return product(a.shape[i] for i in normalize_axis_tuple(axis, a.ndim))


def reshape(a, /, shape=None, order="C", *, copy=None) -> ndarray:
    """Return the values in another shape: a view where possible.

    Parameters
    ----------
    a : ndarray
    shape : int or tuple of int
        One extent may be -1.
    order : {'C', 'F', 'A'}
    copy : bool, optional
        True: always copy. False: raise ValueError where a view is not possible.
    """
    a = require_array(a, "reshape")
    if copy:
        a = a.copy(order="K")
    result = a.reshape(shape, order=order)
    if copy is False and a.size and not engine.may_share_bounds(a, result):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return result


def ravel(a, order="C") -> ndarray:
    """Return the values in one axis: a view where possible."""
    return require_array(a, "ravel").ravel(order=order)


def moveaxis(a, source, destination) -> ndarray:
    """Move axes to new places; a view."""
    a = require_array(a, "moveaxis")
    source = normalize_axis_tuple(source, a.ndim, "source")
    destination = normalize_axis_tuple(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [axis for axis in range(a.ndim) if axis not in source]
    for target, axis in sorted(zip(destination, source)):
        order.insert(target, axis)
    return a.transpose(order)


def rollaxis(a, axis, start=0) -> ndarray:
    """Move one axis in front of another; a view."""
    a = require_array(a, "rollaxis")
    axis = normalize_axis_index(axis, a.ndim)
    if start < 0:
        start += a.ndim
    if not 0 <= start <= a.ndim:
        raise np.exceptions.AxisError(start, a.ndim, "start")
    if axis < start:
        start -= 1
    axes = [i for i in range(a.ndim) if i != axis]
    axes.insert(start, axis)
    return a.transpose(axes)


def swapaxes(a, axis1, axis2) -> ndarray:
    """Exchange two axes; a view."""
    return require_array(a, "swapaxes").swapaxes(axis1, axis2)


def transpose(a, axes=None) -> ndarray:
    """Permute the axes; a view. Without `axes` they are reversed."""
    a = require_array(a, "transpose")
    return a.transpose() if axes is None else a.transpose(axes)


permute_dims = transpose


def matrix_transpose(x, /) -> ndarray:
    """Exchange the last two axes; a view."""
    x = require_array(x, "matrix_transpose")
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.swapaxes(-1, -2)


def _at_least(arys, expand):
    results = [expand(to_array(a, "atleast")) for a in arys]
    return results[0] if len(results) == 1 else tuple(results)


def atleast_1d(*arys):
    """Give each array at least one axis; views."""
    return _at_least(arys, lambda a: a.reshape(1) if a.ndim == 0 else a)


def atleast_2d(*arys):
    """Give each array at least two axes; views."""

    def expand(a):
        if a.ndim == 0:
            return a.reshape(1, 1)
        return a[None, :] if a.ndim == 1 else a

    return _at_least(arys, expand)


def atleast_3d(*arys):
    """Give each array at least three axes; views."""

    def expand(a):
        if a.ndim == 0:
            return a.reshape(1, 1, 1)
        if a.ndim == 1:
            return a[None, :, None]
        return a[:, :, None] if a.ndim == 2 else a

    return _at_least(arys, expand)


class broadcast:
    """Broadcast several arrays against one another.

    Attributes
    ----------
    shape : tuple of int
    size, nd : int
    values : tuple
        The inputs as views of the common shape.
    """

    def __init__(self, *arrays) -> None:
        self.shape = np.broadcast_shapes(*(shape(a) for a in arrays))
        self.nd = self.ndim = len(self.shape)
        self.size = product(self.shape)
        self.values = tuple(
            engine.broadcast_to(a, self.shape) if isinstance(a, ndarray) else a for a in arrays
        )


def broadcast_to(array, shape) -> ndarray:
    """Return a view of another shape that repeats the values."""
    return engine.broadcast_to(require_array(array, "broadcast_to"), normalize_shape(shape))


def broadcast_arrays(*args, subok=False) -> tuple[ndarray, ...]:
    """Return views of one common shape."""
    arrays = [to_array(a, "broadcast_arrays") for a in args]
    common = np.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(engine.broadcast_to(a, common) for a in arrays)


def broadcast_shapes(*shapes) -> tuple[int, ...]:
    """Return the shape that several shapes broadcast to."""
    return np.broadcast_shapes(*shapes)


def expand_dims(a, axis) -> ndarray:
    """Insert axes of length 1; a view."""
    a = require_array(a, "expand_dims")
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    total = a.ndim + len(axes)
    places = normalize_axis_tuple(axes, total)
    extents = iter(a.shape)
    return a.reshape(tuple(1 if i in places else next(extents) for i in range(total)))


def squeeze(a, axis=None) -> ndarray:
    """Remove axes of length 1; a view."""
    if require_array(a, "squeeze").ndim == 0 and axis in (0, -1):
        axis = None  # NumPy lets a number have one axis here
    return require_array(a, "squeeze").squeeze(axis)


def _arrays(tup, who: str) -> list[ndarray]:
    if isinstance(tup, ndarray):
        return list(tup)
    if not isinstance(tup, (list, tuple)):
        raise TypeError(f"{who}: arrays must be a sequence: got {type(tup).__name__}")
    return [to_array(a, who) for a in tup]


def concatenate(tup, axis=0, out=None, *, dtype=None, casting="same_kind") -> ndarray:
    """Join arrays along an axis that they have.

    Parameters
    ----------
    tup : sequence of ndarray
    axis : int or None
        None: the flattened arrays.
    out : ndarray, optional
    dtype : data-type, optional
    casting : str

    Raises
    ------
    ValueError
        Nothing to join, or the other axes differ.
    """
    arrays = [require_array(a, "concatenate") for a in tup]
    if not arrays:
        raise ValueError("Cannot concatenate from empty tuple")
    if out is not None and dtype is not None:
        raise TypeError(
            "concatenate() only takes `out` or `dtype` as an argument, but both were provided."
        )
    if axis is not None and any(a.ndim == 0 for a in arrays):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    dtype = None if dtype is None else check_dtype(dtype)
    if axis is None:
        arrays, axis = [a.ravel() for a in arrays], 0
    wanted = dtype if out is None else out.dtype
    if casting == "unsafe" and wanted is not None and wanted.kind not in "cV":
        if any(a.dtype.kind == "c" for a in arrays):
            warnings.warn(
                "Casting complex values to real discards the imaginary part",
                np.exceptions.ComplexWarning,
                stacklevel=2,
            )
    return engine.concatenate(arrays, axis, out, dtype, casting)


concat = concatenate


def stack(tup, axis=0, out=None, *, dtype=None, casting="same_kind") -> ndarray:
    """Join arrays of one shape along a new axis."""
    arrays = _arrays(tup, "stack")
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len({a.shape for a in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis_index(axis, arrays[0].ndim + 1)
    return concatenate(
        [expand_dims(a, axis) for a in arrays], axis, out, dtype=dtype, casting=casting
    )


def unstack(x, /, *, axis=0) -> tuple[ndarray, ...]:
    """Split an array into the sequence of its parts along an axis; views."""
    x = require_array(x, "unstack")
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(x, axis, 0))


def vstack(tup, *, dtype=None, casting="same_kind") -> ndarray:
    """Join arrays along the first axis; 1-D arrays count as rows."""
    return concatenate(
        [atleast_2d(a) for a in _arrays(tup, "vstack")], 0, dtype=dtype, casting=casting
    )


def row_stack(tup, *, dtype=None, casting="same_kind") -> ndarray:
    """Deprecated name of `vstack`."""
    warnings.warn("`row_stack` is deprecated: use `vstack`.", DeprecationWarning, stacklevel=2)
    return vstack(tup, dtype=dtype, casting=casting)


def hstack(tup, *, dtype=None, casting="same_kind") -> ndarray:
    """Join arrays along the second axis; 1-D arrays along their only one."""
    arrays = [atleast_1d(a) for a in _arrays(tup, "hstack")]
    axis = 0 if arrays and arrays[0].ndim == 1 else 1
    return concatenate(arrays, axis, dtype=dtype, casting=casting)


def dstack(tup, *, dtype=None, casting="same_kind") -> ndarray:
    """Join arrays along the third axis."""
    return concatenate(
        [atleast_3d(a) for a in _arrays(tup, "dstack")], 2, dtype=dtype, casting=casting
    )


def column_stack(tup) -> ndarray:
    """Join 1-D and 2-D arrays as columns."""
    columns = []
    for a in _arrays(tup, "column_stack"):
        if a.ndim > 2:
            raise ValueError("Only 1 or 2 dimensional arrays can be column stacked")
        columns.append(a.reshape(-1, 1) if a.ndim < 2 else a)
    return concatenate(columns, 1)


def block(arrays) -> ndarray:
    """Assemble an array from nested lists of blocks."""

    def depth_of(item) -> int:
        return (
            1 + max(map(depth_of, item))
            if isinstance(item, list) and item
            else (1 if isinstance(item, list) else 0)
        )

    depth = depth_of(arrays)

    def largest(item) -> int:
        return max(map(largest, item)) if isinstance(item, list) else ndim(item)

    rank = max(depth, largest(arrays))

    def build(item, level: int) -> ndarray:
        if not isinstance(item, list):
            a = to_array(item, "block")
            return a.reshape((1,) * (rank - a.ndim) + a.shape)
        if not item:
            raise ValueError("List at arrays cannot be empty")
        return concatenate([build(part, level + 1) for part in item], rank - depth + level)

    return build(arrays, 0)


def array_split(ary, indices_or_sections, axis=0) -> list[ndarray]:
    """Split an array into parts that may differ in length by one; views."""
    ary = require_array(ary, "array_split")
    if ary.ndim == 0:
        raise IndexError("Cannot split a scalar array")
    axis = normalize_axis_index(axis, ary.ndim)
    length = ary.shape[axis]
    if isinstance(indices_or_sections, ndarray):
        indices_or_sections = indices_or_sections.tolist()
    if np.ndim(indices_or_sections) == 0:
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = divmod(length, sections)
        points = [0]
        for part in range(sections):
            points.append(points[-1] + each + (part < extra))
    else:
        points = [0, *(int(i) for i in indices_or_sections), length]
    head = (slice(None),) * axis
    return [ary[(*head, slice(first, last))] for first, last in zip(points, points[1:])]


def split(ary, indices_or_sections, axis=0) -> list[ndarray]:
    """Split an array into equal parts, or at given places; views."""
    ary = require_array(ary, "split")
    if ary.ndim == 0 or not -ary.ndim <= axis < ary.ndim:
        raise ValueError(f"split: axis {axis} is out of bounds for {ary.ndim} axes")
    if np.ndim(indices_or_sections) == 0 and ary.shape[axis] % int(indices_or_sections):
        raise ValueError(
            "indices_or_sections must divide the size along the axes.\n"
            f"actual size: {ary.shape[axis]}\nsections: {indices_or_sections}"
        )
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections) -> list[ndarray]:
    """Split along the second axis, or the only one; views."""
    if ary.ndim == 0:
        raise ValueError("Cannot hsplit a zero-dimensional array")
    return split(ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


def vsplit(ary, indices_or_sections) -> list[ndarray]:
    """Split along the first axis; views."""
    if ary.ndim <= 1:
        raise ValueError("Cannot vsplit an array with less than 2 dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections) -> list[ndarray]:
    """Split along the third axis; views."""
    if ary.ndim <= 2:
        raise ValueError("Cannot dsplit an array with less than 3 dimensions")
    return split(ary, indices_or_sections, 2)


def tile(A, reps) -> ndarray:
    """Repeat an array as a whole along each axis."""
    A = to_array(A, "tile")
    reps = normalize_shape(reps)
    reps = (1,) * (A.ndim - len(reps)) + reps
    own = (1,) * (len(reps) - A.ndim) + A.shape
    if all(r == 1 for r in reps):
        return A.reshape(own).copy()
    paired = A.reshape(tuple(x for e in own for x in (1, e)))
    wide = engine.broadcast_to(paired, tuple(x for r, e in zip(reps, own) for x in (r, e)))
    return wide.reshape(tuple(r * e for r, e in zip(reps, own)))


def repeat(a, repeats, axis=None) -> ndarray:
    """Repeat each element along an axis."""
    return to_array(a, "repeat").repeat(_host_counts(repeats), axis)


def _host_counts(repeats):
    """Repeats as an int or a list of ints of the host.

    Raises
    ------
    TypeError
        A NumPy array, or counts that do not fit 64-bit integers safely.
    ValueError
        More than one axis, or a negative count.
    """
    if isinstance(repeats, np.ndarray):
        raise TypeError(
            "repeat: repeats must be int, a sequence or cupy.ndarray: got numpy.ndarray"
        )
    if isinstance(repeats, ndarray):
        if not np.can_cast(repeats.dtype, np.int64, "safe"):
            raise TypeError(f"Cannot cast repeats from {repeats.dtype} to int64 by the rule 'safe'")
        repeats = repeats.get()
    counts = np.asarray(repeats)
    if counts.ndim > 1:
        raise ValueError("object too deep for desired array")
    if counts.size and counts.min() < 0:
        raise ValueError("all elements of 'repeats' should not be negative")
    if counts.ndim == 0 or counts.size == 1:
        return int(counts.reshape(())[()])
    return [int(c) for c in counts]


def delete(arr, obj, axis=None) -> ndarray:
    """Return an array without the places that `obj` says."""
    if not isinstance(arr, ndarray):
        raise ValueError("delete: the array must be cupy.ndarray")
    if axis is None:
        arr, axis = arr.ravel(), 0
    axis = normalize_axis_index(axis, arr.ndim)
    if isinstance(obj, ndarray):
        obj = obj.get()
    length = arr.shape[axis]
    keep = np.delete(np.arange(length), obj)
    return arr.take(array(keep), axis)


def insert(arr, obj, values, axis=None) -> ndarray:
    """Return an array with values inserted before the places that `obj` says."""
    arr = require_array(arr, "insert")
    if axis is None:
        arr, axis = arr.ravel(), 0
    axis = normalize_axis_index(axis, arr.ndim)
    obj = obj.get() if isinstance(obj, ndarray) else obj
    length = arr.shape[axis]
    # The same insertion into the positions on the host says where each element goes.
    single = isinstance(obj, (int, np.integer))
    values = values if isinstance(values, ndarray) else array(values)
    values = values.astype(arr.dtype, copy=False)
    if single:
        count = values.shape[axis] if values.ndim == arr.ndim else 1
        values = (
            values
            if values.ndim == arr.ndim
            else values.reshape(
                values.shape if values.ndim == 0 else expand_dims(values, axis).shape
            )
        )
        marked = np.insert(np.arange(length), [int(obj)] * count, -1)
    else:
        marked = np.insert(np.arange(length), obj, -1)
    new_shape = arr.shape[:axis] + (len(marked),) + arr.shape[axis + 1 :]
    result = empty(new_shape, arr.dtype)
    head = (slice(None),) * axis
    result[(*head, array(marked >= 0))] = arr
    result[(*head, array(marked < 0))] = values
    return result


def append(arr, values, axis=None) -> ndarray:
    """Join values to the end of an array."""
    arr, values = to_array(arr, "append"), asarray(values)
    if axis is None:
        return concatenate((arr.ravel(), values.ravel()))
    return concatenate((arr, values), axis)


def resize(a, new_shape) -> ndarray:
    """Return an array of a new shape, repeating the values where there are too few."""
    a = to_array(a, "resize").ravel()
    new_shape = normalize_shape(new_shape)
    count = product(new_shape)
    if count == 0 or a.size == 0:
        return array(np.zeros(new_shape, a.dtype))
    times = -(-count // a.size)
    return concatenate([a] * times)[:count].reshape(new_shape)


def trim_zeros(filt, trim="fb") -> ndarray:
    """Remove leading ('f') and trailing ('b') zeros of a 1-D array; a view."""
    filt = require_array(filt, "trim_zeros")
    if filt.ndim == 0:
        return filt
    if filt.ndim != 1:
        raise ValueError("Multi-dimensional trim is not supported")
    places = engine.flatnonzero(filt)
    if places.size == 0:
        return filt[:0]
    trim = trim.lower()
    first = int(places[0]) if "f" in trim else 0
    last = int(places[-1]) + 1 if "b" in trim else filt.size
    return filt[first:last]


def flip(a, axis=None) -> ndarray:
    """Reverse the order along axes; a view."""
    a = require_array(a, "flip")
    axes = range(a.ndim) if axis is None else normalize_axis_tuple(axis, a.ndim)
    return a[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(a.ndim))]


def fliplr(a) -> ndarray:
    """Reverse the second axis; a view."""
    if a.ndim < 2:
        raise ValueError("Input must be >= 2-d")
    return flip(a, 1)


def flipud(a) -> ndarray:
    """Reverse the first axis; a view."""
    if a.ndim < 1:
        raise ValueError("Input must be >= 1-d")
    return flip(a, 0)


def roll(a, shift, axis=None) -> ndarray:
    """Shift elements along axes; those that leave come in at the other end."""
    a = require_array(a, "roll")
    if axis is None:
        return roll(a.ravel(), sum(_as_ints(shift)), 0).reshape(a.shape)
    if isinstance(axis, str):
        raise TypeError("roll: axis must be int or a sequence of int: got str")
    axes = [normalize_axis_index(int(x), a.ndim) for x in _as_ints(axis)]
    shifts = _as_ints(shift)
    if len(axes) == 1:
        axes = axes * len(shifts)
    elif len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) != len(shifts):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    total: dict[int, int] = {}
    for place, distance in zip(axes, shifts):
        total[place] = total.get(place, 0) + int(distance)
    result = a
    for place, distance in total.items():
        distance %= a.shape[place] or 1
        if distance:
            head = (slice(None),) * place
            result = concatenate(
                (result[(*head, slice(-distance, None))], result[(*head, slice(None, -distance))]),
                place,
            )
    return result.copy() if result is a else result


def _as_ints(x) -> list[int]:
    if isinstance(x, ndarray):
        x = x.get()
    return [int(v) for v in np.ravel(x)]


def rot90(a, k=1, axes=(0, 1)) -> ndarray:
    """Rotate by 90 degrees in a plane of two axes; a view."""
    a = require_array(a, "rot90")
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == a.ndim:
        raise ValueError("axes must be different")
    if not all(-a.ndim <= x < a.ndim for x in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={a.ndim}.")
    k %= 4
    if k == 0:
        return a[:]
    if k == 2:
        return flip(flip(a, axes[0]), axes[1])
    if k == 1:
        return flip(a, axes[1]).swapaxes(*axes)
    return flip(a.swapaxes(*axes), axes[1])


def require(a, dtype=None, requirements=None) -> ndarray:
    """Return an array that meets requirements: 'C', 'F', 'O' (owns its memory), or none."""
    wanted = {str(r).upper() for r in requirements or ()}
    names = {
        "C_CONTIGUOUS": "C",
        "CONTIGUOUS": "C",
        "F_CONTIGUOUS": "F",
        "FORTRAN": "F",
        "OWNDATA": "O",
    }
    wanted = {names.get(r, r) for r in wanted}
    try:
        dtype = None if dtype is None else check_dtype(dtype)
    except TypeError as error:
        raise ValueError(f"require: {error}") from None
    if not wanted <= {"C", "F", "O"}:
        raise ValueError(f"requirements must be among C, F and O: got {sorted(wanted)}")
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "F" if "F" in wanted else "C" if "C" in wanted else "A"
    result = array(a, dtype, copy=None, order=order)
    return result.copy() if "O" in wanted and not result.owndata else result


def astype(x, dtype, /, *, copy=True, device=None) -> ndarray:
    """Return the values as another dtype."""
    if device is not None:
        raise NotImplementedError("astype(device=...)")
    x = require_array(x, "astype")
    return x.astype(dtype, copy=copy)


def asfarray(a, dtype=np.float64) -> ndarray:
    """Return an array of a floating dtype."""
    dtype = np.dtype(dtype)
    return asarray(a, dtype if dtype.kind in "fc" else np.float64)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False) -> ndarray:
    """Return a view of all windows of a shape: the windows' axes come last."""
    x = require_array(x, "sliding_window_view")
    window = normalize_shape(window_shape)
    if axis is None:
        axes = tuple(range(x.ndim))
        if len(window) != x.ndim:
            raise ValueError(f"window_shape must have {x.ndim} entries: got {len(window)}")
    else:
        axes = normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
        if len(window) != len(axes):
            raise ValueError("Must provide matching length window_shape and axis")
    extents = list(x.shape)
    for place, length in zip(axes, window):
        if extents[place] < length:
            raise ValueError("window shape cannot be larger than input array shape")
        extents[place] -= length - 1
    return as_strided(x, (*extents, *window), (*x.strides, *(x.strides[place] for place in axes)))
