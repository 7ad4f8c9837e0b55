"""Truth, comparison of arrays, tests of types and values."""

from __future__ import annotations

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._creation import asarray, zeros
from trilane.cupy._engine import engine, engine_take, ndarray
from trilane.cupy._helpers import require_array, to_array


def all(a, axis=None, out=None, keepdims=False) -> ndarray:
    """Whether all elements along axes are true."""
    return require_array(a, "all").all(axis=axis, out=out, keepdims=keepdims)


def any(a, axis=None, out=None, keepdims=False) -> ndarray:
    """Whether any element along axes is true."""
    return require_array(a, "any").any(axis=axis, out=out, keepdims=keepdims)


alltrue = all
sometrue = any


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> ndarray:
    """Whether elements are equal within a tolerance: ``|a - b| <= atol + rtol * |b|``.

    Parameters
    ----------
    a, b : ndarray or scalar
    rtol, atol : float
    equal_nan : bool
        Count two NaN as equal.

    Returns
    -------
    ndarray of bool
    """
    a, b = to_array(a, "isclose"), to_array(b, "isclose")
    if b.dtype.kind not in "fc":
        b = b.astype(np.float64)
    if a.dtype.kind not in "fc":
        a = a.astype(np.float64)
    finite = uf.isfinite(b) & uf.isfinite(a)
    close = uf.absolute(a - b) <= atol + rtol * uf.absolute(b)
    result = (finite & close) | (a == b)
    if equal_nan:
        result = result | (uf.isnan(a) & uf.isnan(b))
    return result


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> ndarray:
    """Whether all elements are equal within a tolerance; a 0-d array of bool."""
    return isclose(a, b, rtol, atol, equal_nan).all()


def array_equal(a1, a2, equal_nan=False) -> ndarray:
    """Whether two arrays have the same shape and elements; a 0-d array of bool."""
    a1, a2 = to_array(a1, "array_equal"), to_array(a2, "array_equal")
    if a1.shape != a2.shape:
        return asarray(False)
    same = a1 == a2
    if equal_nan and a1.dtype.kind in "fc" and a2.dtype.kind in "fc":
        same = same | (uf.isnan(a1) & uf.isnan(a2))
    return same.all()


def array_equiv(a1, a2) -> ndarray:
    """Whether two arrays broadcast to equal elements; a 0-d array of bool."""
    a1, a2 = to_array(a1, "array_equiv"), to_array(a2, "array_equiv")
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return asarray(False)
    return (a1 == a2).all()


def iscomplex(x) -> ndarray:
    """Whether each element has an imaginary part."""
    x = asarray(x)
    return x.imag != 0 if x.dtype.kind == "c" else zeros(x.shape, bool)


def isreal(x) -> ndarray:
    """Whether each element has no imaginary part."""
    x = asarray(x)
    return x.imag == 0 if x.dtype.kind == "c" else ~zeros(x.shape, bool)


def iscomplexobj(x) -> bool:
    """Whether the dtype is complex."""
    dtype = x.dtype if isinstance(x, ndarray) else np.asarray(x).dtype
    return dtype.kind == "c"


def isrealobj(x) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def isscalar(element):
    """Whether a value is a scalar; a 0-d array is none."""
    return np.isscalar(element)


def isfortran(a) -> bool:
    """Whether an array is in Fortran order and not in C order."""
    a = require_array(a, "isfortran")
    return a.f_contiguous and not a.c_contiguous


def _real_only(x, name: str) -> ndarray:
    x = to_array(x, name)
    if x.dtype.kind == "c":
        raise TypeError(
            f"This operation is not supported for {x.dtype} values because it would be ambiguous."
        )
    return x


def isneginf(x, out=None) -> ndarray:
    """Whether each element is minus infinity."""
    x = _real_only(x, "isneginf")
    return uf.logical_and(uf.isinf(x), uf.signbit(x) if x.dtype.kind != "b" else x, out=out)


def isposinf(x, out=None) -> ndarray:
    """Whether each element is plus infinity."""
    x = _real_only(x, "isposinf")
    negative = uf.signbit(x) if x.dtype.kind != "b" else x
    return uf.logical_and(uf.isinf(x), ~negative, out=out)


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None) -> ndarray:
    """Whether each element is among the test elements.

    Parameters
    ----------
    element, test_elements : ndarray or scalar
    assume_unique : bool
        Accepted.
    invert : bool
        Whether each element is *not* among them.
    kind : None
        Accepted.
    """
    element, tests = to_array(element, "isin"), to_array(test_elements, "isin").ravel()
    if tests.size == 0 or element.size == 0:
        result = zeros(element.shape, bool)
    else:
        dtype = np.promote_types(element.dtype, tests.dtype)
        element, tests = element.astype(dtype, copy=False), tests.astype(dtype, copy=False)
        tests = engine.sort(tests, 0)
        places = engine.searchsorted(tests, element.ravel(), "left", None)
        found = engine_take(tests, places, 0, None, "clip")
        result = (found == element.ravel()).reshape(element.shape)
    return ~result if invert else result


def in1d(ar1, ar2, assume_unique=False, invert=False) -> ndarray:
    """As `isin`, of the flattened first array."""
    return isin(to_array(ar1, "in1d").ravel(), ar2, assume_unique, invert)


def isdtype(dtype, kind) -> bool:
    """Whether a dtype is of a kind of the array API standard."""
    return np.isdtype(np.dtype(dtype), kind)
