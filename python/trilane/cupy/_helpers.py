"""Small helpers that several modules share: axes, conversion of arguments."""

from __future__ import annotations

import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from trilane.cupy._engine import engine, ndarray, plain

SCALARS = (bool, int, float, complex, np.generic)

__all__ = [
    "SCALARS",
    "normalize_axis_index",
    "normalize_axis_tuple",
    "normalize_shape",
    "product",
    "require_array",
    "stack_arrays",
    "to_array",
]


def require_array(a, who: str) -> ndarray:
    """Return `a` if it is a device array.

    Raises
    ------
    TypeError
        It is something else; NumPy arrays and lists do not convert by themselves.
    """
    if isinstance(a, ndarray):
        return plain(a)
    convert = getattr(a, "__cupy_get_ndarray__", None)
    if convert is not None:
        return convert()
    raise TypeError(f"{who}: unsupported type {type(a)}: expected cupy.ndarray")


def to_array(a, who: str) -> ndarray:
    """Return `a` as a device array; scalars become 0-d arrays.

    Raises
    ------
    TypeError
        It is neither a device array nor a scalar.
    """
    if isinstance(a, SCALARS):
        from trilane.cupy._creation import array

        return array(a)
    return require_array(a, who)


def normalize_shape(shape) -> tuple[int, ...]:
    """A shape as a tuple of non-negative ints.

    Raises
    ------
    ValueError
        An extent is negative.
    """
    if isinstance(shape, ndarray):
        shape = shape.tolist()
    if shape is None:
        raise TypeError("expected a sequence of integers or a single integer. Use () for a scalar")
    try:
        extents = (operator.index(shape),)
    except TypeError:
        extents = tuple(operator.index(s) for s in shape)
    if any(e < 0 for e in extents):
        raise ValueError("negative dimensions are not allowed")
    return extents


def product(extents) -> int:
    """Product of ints, 1 for none."""
    count = 1
    for extent in extents:
        count *= extent
    return count


def stack_arrays(arrays: list[ndarray], axis: int) -> ndarray:
    """Join device arrays of one shape along a new axis."""
    shape = arrays[0].shape
    if any(a.shape != shape for a in arrays):
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis_index(axis, len(shape) + 1)
    wide = shape[:axis] + (1,) + shape[axis:]
    return engine.concatenate([a.reshape(wide) for a in arrays], axis)
