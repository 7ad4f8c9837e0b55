"""What follows from singular values: least squares, pseudo-inverse, rank."""

from __future__ import annotations

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._creation import array
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import require_array
from trilane.cupy.linalg._checks import computing_dtype, matrices
from trilane.cupy.linalg._decompose import svd
from trilane.cupy.linalg._products import matmul


def _eps(dtype) -> float:
    return float(np.finfo(dtype).eps)


def lstsq(a, b, rcond=None):
    """Return the x of least ``norm(b - a @ x)``, and of those the shortest.

    Parameters
    ----------
    a : ndarray of shape (M, N)
    b : ndarray of shape (M,) or (M, K)
    rcond : float, optional
        Singular values below this part of the largest count as zero. None: the precision times
        max(M, N); negative: the precision.

    Returns
    -------
    x : ndarray of shape (N,) or (N, K)
    residuals : ndarray
        Squared distances per column; of shape (0,) where the rank is below N or M <= N.
    rank : ndarray of shape ()
    s : ndarray
        Singular values of `a`.

    Raises
    ------
    LinAlgError
        The shapes do not go together.
    """
    a, b = require_array(a, "lstsq"), require_array(b, "lstsq")
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise np.linalg.LinAlgError(
            f"lstsq: got arrays of {a.ndim} and {b.ndim} axes, expected 2 and 1 or 2"
        )
    m, n = a.shape
    if b.shape[0] != m:
        raise np.linalg.LinAlgError(f"Incompatible dimensions: got {a.shape} and {b.shape}")
    dtype = np.result_type(computing_dtype(a.dtype), computing_dtype(b.dtype))
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if rcond is None or rcond == "warn":
        rcond = _eps(dtype) * max(m, n)
    elif rcond < 0:
        rcond = _eps(dtype)
    right = b[:, None] if b.ndim == 1 else b
    u, s, vh = svd(a, full_matrices=False)
    if s.size:
        small = s <= s.dtype.type(rcond) * s.max()
        inverse = engine.where(small, s.dtype.type(0), 1 / engine.where(small, s.dtype.type(1), s))
        rank = int((~small).sum())
    else:
        inverse, rank = s, 0
    x = matmul(vh.T.conj(), inverse[:, None] * matmul(u.T.conj(), right))
    if rank == n and m > n:
        off = uf.absolute(right - matmul(a, x))
        residuals = (off * off).sum(axis=0)
    else:
        residuals = engine.empty((0,), s.dtype)
    return x[:, 0] if b.ndim == 1 else x, residuals, array(rank, np.int32), s


def _per_matrix(cutoff, who: str) -> ndarray | float:
    """A limit, or one per matrix of a batch, to go beside rows of singular values."""
    if isinstance(cutoff, (int, float, np.number)):
        return float(cutoff)
    return require_array(cutoff, who)[..., None]


def pinv(a, rcond=None, hermitian=False, *, rtol=None) -> ndarray:
    """Return the Moore-Penrose inverse of matrices.

    Parameters
    ----------
    a : ndarray of shape (..., M, N)
    rcond : float or ndarray, optional
        Singular values up to this part of the largest count as zero; 1e-15 by default.
    hermitian : bool
        The matrices are Hermitian.
    rtol : float or ndarray, optional
        The same limit by the standard's name; not together with `rcond`.
    """
    a, dtype = matrices(a, "pinv")
    if rcond is not None and rtol is not None:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    limit = rcond if rcond is not None else 1e-15 if rtol is None else rtol
    if a.size == 0:
        return engine.empty(a.shape[:-2] + (a.shape[-1], a.shape[-2]), dtype)
    u, s, vh = svd(a.astype(dtype, copy=False).conj(), full_matrices=False, hermitian=hermitian)
    large = s > _per_matrix(limit, "pinv") * s.max(axis=-1, keepdims=True)
    one = s.dtype.type(1)
    inverse = engine.where(large, one / engine.where(large, s, one), s.dtype.type(0))
    return matmul(vh.swapaxes(-1, -2), inverse[..., None] * u.swapaxes(-1, -2))


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None) -> ndarray:
    """Return the number of singular values above a limit.

    Parameters
    ----------
    A : ndarray
        Matrices in the last two axes; of fewer axes: the rank is whether anything is not zero.
    tol : float or ndarray, optional
        The limit; by default the largest value times `rtol`.
    hermitian : bool
        The matrices are Hermitian.
    rtol : float or ndarray, optional
        By default the precision times max(M, N).
    """
    A = require_array(A, "matrix_rank")
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if A.ndim < 2:
        return (A != 0).any().astype(np.int64)
    s = svd(A, compute_uv=False, hermitian=hermitian)
    if s.shape[-1] == 0:
        return engine.full(s.shape[:-1], 0, np.int64)
    if tol is None:
        part = (
            max(A.shape[-2:]) * _eps(s.dtype) if rtol is None else _per_matrix(rtol, "matrix_rank")
        )
        tol = part * s.max(axis=-1, keepdims=True)
    else:
        tol = _per_matrix(tol, "matrix_rank")
    return (s > tol).sum(axis=-1)
