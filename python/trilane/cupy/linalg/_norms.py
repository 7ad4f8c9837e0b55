"""Norms, rank and condition number."""

from __future__ import annotations

import numpy as np

from trilane._missing import missing
from trilane.cupy import _ufuncs as uf
from trilane.cupy._engine import ndarray
from trilane.cupy._helpers import normalize_axis_index, normalize_axis_tuple, require_array


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
        Norms of singular values: 2, -2, 'nuc' of matrices.
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
        raise missing(f"cupy.linalg.norm(ord={ord!r}) of matrices (the device's LAPACK interface)")
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


def cond(x, p=None) -> ndarray:
    """Return the condition number of matrices in a norm that needs no singular values."""
    from trilane.cupy.linalg._solve import inv

    if p in (None, 2, -2):
        raise missing("cupy.linalg.cond with the norm of singular values (LAPACK interface)")
    return norm(x, p, (-2, -1)) * norm(inv(x), p, (-2, -1))


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """Not there yet: it needs singular values."""
    raise missing("cupy.linalg.matrix_rank (the device's LAPACK interface)")
