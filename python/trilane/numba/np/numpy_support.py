"""Between NumPy's dtypes and Numba's types."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilane.numba.absent import absent_attributes
from trilane.numba.types import Array, NestedArray, Record, Type, from_dtype, typeof

__all__ = [
    "as_dtype",
    "from_dtype",
    "from_struct_dtype",
    "is_contiguous",
    "is_fortran",
    "map_layout",
    "numpy_version",
]

numpy_version = tuple(int(part) for part in np.__version__.split(".")[:2])


def as_dtype(numba_type: Type) -> np.dtype:
    """NumPy's dtype for `numba_type`."""
    if isinstance(numba_type, NestedArray):
        return np.dtype((as_dtype(numba_type.dtype), numba_type.shape))
    if isinstance(numba_type, Array):
        return as_dtype(numba_type.dtype)
    dtype = getattr(numba_type, "dtype", None)
    if not isinstance(dtype, np.dtype):
        raise NotImplementedError(f"{numba_type!r} cannot be represented as a NumPy dtype")
    return dtype


def from_struct_dtype(dtype: Any) -> Record:
    """The record type of a structured dtype."""
    dtype = np.dtype(dtype)
    if dtype.names is None:
        raise TypeError(f"{dtype} is no structured dtype")
    return Record(dtype)


def map_layout(array: np.ndarray) -> str:
    """ "C", "F" or "A"."""
    return typeof(array).layout


def is_contiguous(array: np.ndarray) -> bool:
    return bool(array.flags.c_contiguous)


def is_fortran(array: np.ndarray) -> bool:
    return bool(array.flags.f_contiguous)


__getattr__ = absent_attributes(__name__, "carray farray")
