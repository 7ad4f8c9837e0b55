"""Power series: Vandermonde and companion matrices, values."""

from __future__ import annotations

import operator

import numpy as np

from trilane._missing import missing_attributes
from trilane.cupy._creation import array, asarray
from trilane.cupy._engine import empty, engine, ndarray
from trilane.cupy._math import prod
from trilane.cupy.polynomial.polyutils import as_series

__all__ = ["polycompanion", "polyval", "polyvalfromroots", "polyvander"]


def polyvander(x, deg) -> ndarray:
    """Return the powers 0 to `deg` of points along a new last axis.

    Raises
    ------
    ValueError
        `deg` is negative.
    """
    degree = operator.index(deg)
    if degree < 0:
        raise ValueError("deg must be non-negative")
    x = asarray(x)
    x = x.reshape(1) if x.ndim == 0 else x
    # As NumPy: `x + 0.0`, in which integers become float64.
    x = x + 0.0
    powers = empty((degree + 1, *x.shape), x.dtype)
    powers[0] = 1
    for power in range(1, degree + 1):
        powers[power] = powers[power - 1] * x
    return engine.moveaxis(powers, 0, -1)


def polycompanion(c) -> ndarray:
    """Return the matrix whose eigenvalues are the roots of a series.

    Raises
    ------
    ValueError
        The series has no root: its degree is below 1.
    """
    (series,) = as_series([c])
    degree = series.size - 1
    if degree < 1:
        raise ValueError("Series must have maximum degree of at least 1.")
    matrix = engine.full((degree, degree), 0, series.dtype)
    if degree > 1:
        matrix.reshape(-1)[degree :: degree + 1] = 1
    matrix[:, -1] -= series[:-1] / series[-1]
    return matrix


def polyval(x, c, tensor: bool = True) -> ndarray:
    """Return the values of series at points, by Horner's rule.

    Parameters
    ----------
    x : array_like
        Points.
    c : array_like
        Coefficients along the first axis; further axes are series of their own.
    tensor : bool
        Every series at every point; else the points broadcast against the series.
    """
    c = asarray(c)
    c = c.reshape(1) if c.ndim == 0 else c
    c = c if c.dtype.kind in "fc" else c.astype(np.float64)
    x = asarray(x)
    if tensor:
        c = c.reshape(c.shape + (1,) * x.ndim)
    result = c[-1] + x * 0
    for power in range(c.shape[0] - 2, -1, -1):
        result = c[power] + result * x
    return result


def polyvalfromroots(x, r, tensor: bool = True) -> ndarray:
    """Return the values at points of the monic polynomials with the given roots.

    Parameters
    ----------
    x : array_like
        Points.
    r : array_like
        Roots along the first axis; further axes are polynomials of their own.
    tensor : bool
        Every polynomial at every point; else the points broadcast against them.
    """
    r = array(r, ndmin=1)
    r = r if r.dtype.kind not in "?bBhHiIlLqQpP" else r.astype(np.float64)
    x = asarray(x)
    if tensor:
        r = r.reshape(r.shape + (1,) * x.ndim)
    elif x.ndim >= r.ndim:
        raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return prod(x - r, axis=0)


__getattr__ = missing_attributes(__name__)
