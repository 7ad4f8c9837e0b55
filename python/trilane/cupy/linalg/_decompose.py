"""Decompositions: singular values, QR, eigenvalues. The device's library computes them."""

from __future__ import annotations

from typing import NamedTuple

from trilane.cupy import _ufuncs as uf
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import require_array
from trilane.cupy._library import library_of
from trilane.cupy.linalg._checks import matrices, square


class EigResult(NamedTuple):
    eigenvalues: ndarray
    eigenvectors: ndarray


class EighResult(NamedTuple):
    eigenvalues: ndarray
    eigenvectors: ndarray


class SVDResult(NamedTuple):
    U: ndarray
    S: ndarray
    Vh: ndarray


class QRResult(NamedTuple):
    Q: ndarray
    R: ndarray


def _uplo(UPLO: str) -> str:
    if str(UPLO).upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO.upper()


def eigh(a, UPLO="L") -> EighResult:
    """Return the eigenvalues, ascending, and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : ndarray of shape (..., M, M)
    UPLO : {'L', 'U'}
        The triangle that is read.

    Returns
    -------
    eigenvalues : ndarray of shape (..., M)
        Real.
    eigenvectors : ndarray of shape (..., M, M)
        In columns.

    Raises
    ------
    LinAlgError
        The matrices are not square; or have no answer, under ``cupyx.errstate(linalg='raise')``:
        by default such a matrix gives NaN.
    """
    uplo = _uplo(UPLO)
    a, dtype = square(a, "eigh")
    return EighResult(*library_of(a).eigh(a.astype(dtype, copy=False), uplo))


def eigvalsh(a, UPLO="L") -> ndarray:
    """Return the eigenvalues of Hermitian matrices, ascending; see `eigh`."""
    uplo = _uplo(UPLO)
    a, dtype = square(a, "eigvalsh")
    return library_of(a).eigvalsh(a.astype(dtype, copy=False), uplo)


def eig(a) -> EigResult:
    """Return the eigenvalues and right eigenvectors of square matrices.

    Returns
    -------
    eigenvalues : ndarray of shape (..., M)
        Complex, whatever the values (of arrays without elements: of the dtype computed in).
    eigenvectors : ndarray of shape (..., M, M)
        In columns, of length 1.

    Differences
    -----------
    NumPy's results are real if all eigenvalues are.
    """
    a, dtype = square(a, "eig")
    if a.size == 0:
        return EigResult(engine.empty(a.shape[:-1], dtype), engine.empty(a.shape, dtype))
    return EigResult(*library_of(a).eig(a.astype(dtype, copy=False)))


def eigvals(a) -> ndarray:
    """Return the eigenvalues of square matrices, complex; see `eig`."""
    a, dtype = square(a, "eigvals")
    if a.size == 0:
        return engine.empty(a.shape[:-1], dtype)
    return library_of(a).eigvals(a.astype(dtype, copy=False))


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Decompose matrices into ``U @ diag(S) @ Vh``.

    Parameters
    ----------
    a : ndarray of shape (..., M, N)
    full_matrices : bool
        U and Vh are (M, M) and (N, N); else (M, K) and (K, N) with K = min(M, N).
    compute_uv : bool
        False: return the singular values alone.
    hermitian : bool
        The matrices are Hermitian: their lower triangle is read.

    Returns
    -------
    U, S, Vh : ndarray
        Singular values descend.
    """
    a, dtype = matrices(a, "svd")
    a = a.astype(dtype, copy=False)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    if compute_uv:
        return SVDResult(*library_of(a).svd(a, bool(full_matrices)))
    return library_of(a).svdvals(a)


def _hermitian_svd(a, compute_uv):
    if not compute_uv:
        return -engine.sort(-uf.absolute(eigvalsh(a)), -1)
    values, vectors = eigh(a)
    sizes = uf.absolute(values)
    order = engine.argsort(-sizes, -1)
    signs = engine.where(values < 0, values.dtype.type(-1), values.dtype.type(1))

    def sorted_columns(x):
        from trilane.cupy._indexing import take_along_axis

        places = (
            order if x.ndim == order.ndim else engine.broadcast_to(order[..., None, :], x.shape)
        )
        return take_along_axis(x, places, -1)

    u = sorted_columns(vectors * signs[..., None, :])
    vh = sorted_columns(vectors).swapaxes(-1, -2).conj()
    return SVDResult(u, sorted_columns(sizes), vh)


def svdvals(x, /) -> ndarray:
    """Return the singular values of matrices, descending."""
    x, dtype = matrices(x, "svdvals")
    return library_of(x).svdvals(x.astype(dtype, copy=False))


def qr(a, mode="reduced"):
    """Decompose matrices into an orthonormal Q and an upper triangular R.

    Parameters
    ----------
    a : ndarray of shape (..., M, N)
    mode : {'reduced', 'complete', 'r', 'raw'}
        Q is (M, K) with K = min(M, N), or (M, M); R alone; LAPACK's reflectors and their factors.

    Returns
    -------
    Q, R : ndarray
        ``h, tau`` for 'raw', with h transposed; one array for 'r'.
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        if mode in ("f", "full", "e", "economic"):
            raise ValueError(f"The deprecated mode '{mode}' is not supported")
        raise ValueError(f"Unrecognized mode '{mode}'")
    a, dtype = matrices(require_array(a, "qr"), "qr")
    result = library_of(a).qr(a.astype(dtype, copy=False), mode)
    return QRResult(*result) if mode in ("reduced", "complete") else result
