"""Norms and condition number."""

from __future__ import annotations

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._error_state import errstate
from trilane.cupy._helpers import normalize_axis_index, normalize_axis_tuple, require_array
from trilane.cupy.linalg._checks import square
from trilane.cupy.linalg._decompose import svdvals


def norm(x, ord=None, axis=None, keepdims=False) -> ndarray:
    """Return a norm of vectors or matrices.

    Parameters
    ----------
    x : ndarray
    ord : {None, 'fro', 'nuc', inf, -inf, number}
        Which norm. None: of the flattened values, or along `axis`.
    axis : int or (int, int), optional
        One axis holds vectors, two hold matrices.
    keepdims : bool

    Raises
    ------
    ValueError
        The order does not go with the number of axes.
    NotImplementedError
        Norms of singular values (2, -2, 'nuc' of matrices) on a device whose library lacks them.
    """
    x = require_array(x, "norm")
    if x.dtype.kind not in "fc":
        x = x.astype(np.float64)
    if axis is None:
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            result = uf.sqrt(_squares(x.ravel()).sum())
            return result.reshape((1,) * x.ndim) if keepdims else result
        axis = tuple(range(x.ndim))
    axes = normalize_axis_tuple(axis, x.ndim)
    if len(axes) == 1:
        return _vector(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix(x, ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _squares(x) -> ndarray:
    if x.dtype.kind == "c":
        return x.real * x.real + x.imag * x.imag
    return x * x


def _vector(x, ord, axis, keepdims) -> ndarray:
    if ord is None or ord == 2:
        return uf.sqrt(_squares(x).sum(axis=axis, keepdims=keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order {ord!r} for vectors")
    magnitude = uf.absolute(x)
    if ord == np.inf:
        return magnitude.max(axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return magnitude.min(axis=axis, keepdims=keepdims)
    if ord == 0:
        return (x != 0).astype(magnitude.dtype).sum(axis=axis, keepdims=keepdims)
    if ord == 1:
        return magnitude.sum(axis=axis, keepdims=keepdims)
    total = (magnitude ** magnitude.dtype.type(ord)).sum(axis=axis, keepdims=keepdims)
    return total ** magnitude.dtype.type(1.0 / ord)


def _matrix(x, ord, axes, keepdims) -> ndarray:
    rows, columns = axes
    if ord is None or ord in ("f", "fro"):
        return uf.sqrt(_squares(x).sum(axis=axes, keepdims=keepdims))
    if ord in (2, -2, "nuc"):
        return _of_singular_values(x, ord, axes, keepdims)
    if ord in (1, -1):
        total = uf.absolute(x).sum(axis=rows, keepdims=True)
    elif ord in (np.inf, -np.inf):
        total = uf.absolute(x).sum(axis=columns, keepdims=True)
    else:
        raise ValueError("Invalid norm order for matrices.")
    result = total.max(axis=axes, keepdims=True) if ord > 0 else total.min(axis=axes, keepdims=True)
    return result if keepdims else result.squeeze(axes)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2) -> ndarray:
    """Return norms of vectors along axes, joined; by default of all values."""
    x = require_array(x, "vector_norm")
    if x.dtype.kind not in "fc":
        x = x.astype(np.float64)
    if axis is None:
        result = _vector(x.ravel(), ord, 0, False)
        return result.reshape((1,) * x.ndim) if keepdims else result
    if isinstance(axis, tuple):
        axes = normalize_axis_tuple(axis, x.ndim)
        kept = [i for i in range(x.ndim) if i not in axes]
        flat = x.transpose(kept + list(axes)).reshape(tuple(x.shape[i] for i in kept) + (-1,))
        result = _vector(flat, ord, -1, False)
        if keepdims:
            result = result.reshape(tuple(1 if i in axes else e for i, e in enumerate(x.shape)))
        return result
    return _vector(x, ord, normalize_axis_index(axis, x.ndim), keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro") -> ndarray:
    """Return norms of the matrices in the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


def _of_singular_values(x, ord, axes, keepdims) -> ndarray:
    values = svdvals(engine.moveaxis(x, axes, (-2, -1)))
    if ord == "nuc":
        result = values.sum(axis=-1)
    else:
        result = values.max(axis=-1) if ord == 2 else values.min(axis=-1)
    if keepdims:
        result = result.reshape(tuple(1 if i in axes else e for i, e in enumerate(x.shape)))
    return result


def cond(x, p=None) -> ndarray:
    """Return the condition number of matrices.

    Parameters
    ----------
    x : ndarray of shape (..., M, N)
    p : {None, 1, -1, 2, -2, inf, -inf, 'fro'}
        The norm; None and 2: the largest singular value over the smallest. Other norms take square
        matrices.
    """
    from trilane.cupy.linalg._solve import inv

    x = require_array(x, "cond")
    if x.size == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        values = svdvals(x)
        top, bottom = (values[..., 0], values[..., -1])
        result = bottom / top if p == -2 else top / bottom
    else:
        x, dtype = square(x, "cond")
        x = x.astype(dtype, copy=False)
        with errstate(linalg="ignore"):
            inverse = inv(x)
        result = norm(x, p, (-2, -1)) * norm(inverse, p, (-2, -1))
    # NaN is for matrices with NaN: singular ones are infinitely bad.
    singular = uf.logical_and(uf.isnan(result), ~uf.isnan(x).any(axis=(-2, -1)))
    return engine.where(singular, result.dtype.type(np.inf), result)
