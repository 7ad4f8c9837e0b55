"""Coefficients of series, lowest power first: common types, trailing zeros."""

from __future__ import annotations

import numpy as np

from trilane._missing import missing_attributes
from trilane.cupy import _ufuncs as uf
from trilane.cupy._creation import array, asarray
from trilane.cupy._engine import ndarray
from trilane.cupy._indexing import flatnonzero

__all__ = ["as_series", "trimcoef", "trimseq"]


def trimseq(seq) -> ndarray:
    """Return a view without the zeros at the end; one element is kept.

    Raises
    ------
    ValueError
        `seq` has more than one axis.
    """
    if seq.size == 0:
        return seq
    if seq.ndim == 0:
        raise TypeError("trimseq: got a 0-d array, expected one axis")
    if seq.ndim > 1:
        raise ValueError(f"trimseq: got {seq.ndim} axes, expected one")
    return _without_end(seq, seq != 0)


def _without_end(seq, kept) -> ndarray:
    """`seq` up to the last place where `kept` is true, its first element at least."""
    places = flatnonzero(kept)
    return seq[: int(places[-1]) + 1 if places.size else 1]


def as_series(alist, trim: bool = True) -> list[ndarray]:
    """Return series as 1-d arrays of their common inexact type.

    Parameters
    ----------
    alist : sequence of array_like
        A series each.
    trim : bool
        Take zeros at the end away.

    Raises
    ------
    ValueError
        A series is empty or has several axes, or is of booleans.
    """
    arrays = [asarray(a) for a in alist]
    arrays = [a.reshape(1) if a.ndim == 0 else a for a in arrays]
    if any(a.size == 0 for a in arrays):
        raise ValueError("Coefficient array is empty")
    if any(a.ndim != 1 for a in arrays):
        raise ValueError("Coefficient array is not 1-d")
    if any(a.dtype.kind == "b" for a in arrays):
        raise ValueError("Coefficient arrays have no common type")
    if trim:
        arrays = [trimseq(a) for a in arrays]
    dtype = np.result_type(*(_inexact(a.dtype) for a in arrays))
    return [array(a, dtype=dtype) for a in arrays]


def _inexact(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def trimcoef(c, tol=0) -> ndarray:
    """Return a series without the end that is no larger than `tol`; at least one element, a zero.

    Raises
    ------
    ValueError
        `tol` is negative, or `c` is no series.
    """
    if tol < 0:
        raise ValueError("tol must be non-negative")
    (series,) = as_series([c], trim=False)
    kept = uf.table["absolute"](series) > tol
    if not bool(kept.any()):
        return series[:1] * 0
    return _without_end(series, kept).copy()


__getattr__ = missing_attributes(__name__)
