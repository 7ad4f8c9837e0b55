"""Solvers by the device's library, or by LU and Cholesky factorisation in kernels of our own where
there is none: correct on every device, meant for small and middle sizes."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._creation import empty, eye
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._error_state import geterr
from trilane.cupy._helpers import product, require_array
from trilane.cupy._library import library_of
from trilane.cupy.linalg._checks import computing_dtype, square

_BLOCK = 128

# One block factors or solves one matrix. T is the element type, R its real type.
_SOURCE = """
#include <cupy/complex.cuh>
@TYPES@
@HELPERS@
__device__ inline R magnitude(const T& x) { return @ABS@; }

// a: n x n in C order, overwritten by L (unit diagonal, below) and U. pivots: n row numbers.
// sign_and_zero: parity of the exchanges, and whether a pivot was zero.
extern "C" __global__ void lu(T* a, long long* pivots, int* sign_and_zero, const long long n) {
    __shared__ R best[@BLOCK@];
    __shared__ long long place[@BLOCK@];
    T* m = a + blockIdx.x * n * n;
    long long* p = pivots + blockIdx.x * n;
    int sign = 1, zero = 0;
    for (long long k = 0; k < n; ++k) {
        R largest = R(-1);
        long long row = k;
        for (long long i = k + threadIdx.x; i < n; i += blockDim.x) {
            const R v = magnitude(m[i * n + k]);
            if (v > largest) { largest = v; row = i; }
        }
        best[threadIdx.x] = largest;
        place[threadIdx.x] = row;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) {
                const int other = threadIdx.x + half;
                if (best[other] > best[threadIdx.x] ||
                    (best[other] == best[threadIdx.x] && place[other] < place[threadIdx.x])) {
                    best[threadIdx.x] = best[other];
                    place[threadIdx.x] = place[other];
                }
            }
            __syncthreads();
        }
        const long long pivot = place[0];
        const bool singular = !(best[0] > R(0));
        __syncthreads();
        if (pivot != k) {
            sign = -sign;
            for (long long j = threadIdx.x; j < n; j += blockDim.x) {
                const T t = m[k * n + j];
                m[k * n + j] = m[pivot * n + j];
                m[pivot * n + j] = t;
            }
        }
        if (threadIdx.x == 0) p[k] = pivot;
        if (singular) zero = 1;
        __syncthreads();
        if (!singular) {
            for (long long i = k + 1 + threadIdx.x; i < n; i += blockDim.x) {
                const T factor = m[i * n + k] / m[k * n + k];
                m[i * n + k] = factor;
                for (long long j = k + 1; j < n; ++j) m[i * n + j] = m[i * n + j] - factor * m[k * n + j];
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sign_and_zero[blockIdx.x * 2] = sign;
        sign_and_zero[blockIdx.x * 2 + 1] = zero;
    }
}

// b: n x columns in C order, overwritten by the solution. A thread has a column of its own.
extern "C" __global__ void lu_solve(const T* a, const long long* pivots, T* b, const long long n,
                                    const long long columns) {
    const T* m = a + blockIdx.y * n * n;
    const long long* p = pivots + blockIdx.y * n;
    T* x = b + blockIdx.y * n * columns;
    const long long c = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    for (long long k = 0; k < n; ++k) {
        const long long row = p[k];
        const T t = x[k * columns + c];
        x[k * columns + c] = x[row * columns + c];
        x[row * columns + c] = t;
    }
    for (long long i = 0; i < n; ++i) {
        T v = x[i * columns + c];
        for (long long j = 0; j < i; ++j) v = v - m[i * n + j] * x[j * columns + c];
        x[i * columns + c] = v;
    }
    for (long long i = n - 1; i >= 0; --i) {
        T v = x[i * columns + c];
        for (long long j = i + 1; j < n; ++j) v = v - m[i * n + j] * x[j * columns + c];
        x[i * columns + c] = v / m[i * n + i];
    }
}

// a: n x n in C order; its lower triangle becomes the factor, the upper one zero.
extern "C" __global__ void cholesky(T* a, int* failed, const long long n) {
    T* m = a + blockIdx.x * n * n;
    int bad = 0;
    for (long long k = 0; k < n; ++k) {
        const R d = @REAL@(m[k * n + k]);
        if (!(d > R(0))) bad = 1;
        const R root = sqrt(d);
        __syncthreads();
        for (long long i = k + threadIdx.x; i < n; i += blockDim.x) {
            if (i == k) m[k * n + k] = T(root);
            else m[i * n + k] = m[i * n + k] / T(root);
        }
        __syncthreads();
        for (long long i = k + 1 + threadIdx.x; i < n; i += blockDim.x) {
            const T factor = m[i * n + k];
            for (long long j = k + 1; j <= i; ++j) {
                m[i * n + j] = m[i * n + j] - factor * @CONJ@(m[j * n + k]);
            }
        }
        __syncthreads();
    }
    for (long long i = threadIdx.x; i < n; i += blockDim.x) {
        for (long long j = i + 1; j < n; ++j) m[i * n + j] = T(0);
    }
    if (threadIdx.x == 0) failed[blockIdx.x] = bad;
}
"""


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: ndarray
    logabsdet: ndarray


@functools.cache
def _module(char: str):
    from trilane.cupy._kernel.raw import RawModule

    real = "float" if char in "fF" else "double"
    kind = f"complex<{real}>" if char in "FD" else real
    text = _SOURCE.replace("@TYPES@", f"typedef {real} R;\ntypedef {kind} T;")
    complex_kind = char in "FD"
    text = (
        text.replace("@BLOCK@", str(_BLOCK))
        .replace("@ABS@", "fabs(x.real()) + fabs(x.imag())" if complex_kind else "fabs(x)")
        .replace("@REAL@", "real_of" if complex_kind else "")
        .replace("@CONJ@", "conj" if complex_kind else "")
    )
    helper = "__device__ inline R real_of(const T& x) { return x.real(); }" if complex_kind else ""
    text = text.replace("@HELPERS@", helper)
    if not complex_kind:
        text = text.replace("#include <cupy/complex.cuh>\n", "")
    return RawModule(code=text)


def _factor(a, dtype):
    """LU factors, pivots, and per matrix (parity, whether singular)."""
    n = a.shape[-1]
    batch = product(a.shape[:-2])
    factors = a.astype(dtype, order="C", copy=True)
    pivots = empty((batch, n), np.int64)
    flags = engine.full((batch, 2), 1, np.int32)
    if n == 0:
        flags[:, 1] = 0
    elif batch:
        _module(dtype.char).get_function("lu")(
            (batch,), (_BLOCK,), (factors, pivots, flags, np.int64(n))
        )
    return factors, pivots, flags


def _mark_failures(result, failed, message: str) -> ndarray:
    """The results with NaN in place of those that failed.

    Raises
    ------
    LinAlgError
        Something failed, and the state is ``cupyx.errstate(linalg='raise')``.
    """
    if geterr()["linalg"] == "raise" and bool(failed.any()):
        raise np.linalg.LinAlgError(message)
    failed = failed.reshape(result.shape[:-2] + (1, 1))
    return engine.where(failed, result.dtype.type(np.nan), result)


def solve(a, b) -> ndarray:
    """Solve ``a @ x = b``.

    Parameters
    ----------
    a : ndarray of shape (..., M, M)
    b : ndarray of shape (M,) or (..., M, K)

    Returns
    -------
    ndarray

    Raises
    ------
    LinAlgError
        `a` is not square; or singular, under ``cupyx.errstate(linalg='raise')``: by default a
        singular matrix gives NaN, as CuPy does not wait for the answer.
    """
    a, dtype = square(a, "solve")
    b = require_array(b, "solve")
    dtype = np.result_type(dtype, computing_dtype(b.dtype))
    vector = b.ndim == 1
    right = b[:, None] if vector else b
    if right.shape[-2] != a.shape[-1]:
        raise ValueError(f"solve: extents differ: got {a.shape} and {b.shape}")
    library = library_of(a)
    if library.has_solvers:
        x = library.solve(a.astype(dtype, copy=False), right.astype(dtype, copy=False))
        return x[..., 0] if vector else x
    batch = np.broadcast_shapes(a.shape[:-2], right.shape[:-2])
    a = engine.broadcast_to(a, batch + a.shape[-2:])
    x = engine.broadcast_to(right, batch + right.shape[-2:]).astype(dtype, order="C", copy=True)
    factors, pivots, flags = _factor(a, dtype)
    n, columns = x.shape[-2:]
    if x.size:
        _module(dtype.char).get_function("lu_solve")(
            (-(-columns // _BLOCK), product(batch)),
            (_BLOCK,),
            (factors, pivots, x, np.int64(n), np.int64(columns)),
        )
    x = _mark_failures(x, flags[:, 1] != 0, "Singular matrix")
    return x[..., 0] if vector else x


def inv(a) -> ndarray:
    """Return the inverse of square matrices; singular ones as in `solve`."""
    a, dtype = square(a, "inv")
    if library_of(a).has_solvers:
        return library_of(a).inv(a.astype(dtype, copy=False))
    return solve(a, engine.broadcast_to(eye(a.shape[-1], dtype=dtype), a.shape))


def slogdet(a):
    """Return sign and logarithm of the magnitude of the determinant.

    Returns
    -------
    sign, logdet : ndarray
    """
    a, dtype = square(a, "slogdet")
    if library_of(a).has_solvers:
        return SlogdetResult(*library_of(a).slogdet(a.astype(dtype, copy=False)))
    factors, _, flags = _factor(a, dtype)
    diagonal = factors.diagonal(0, -2, -1)
    real = np.empty(0, dtype).real.dtype
    size = uf.absolute(diagonal)
    parity = flags[:, 0].reshape(a.shape[:-2]).astype(dtype)
    unit = diagonal / engine.where(size == 0, real.type(1), size)
    sign = engine.reduce("prod", unit, -1) * parity if a.shape[-1] else parity
    logdet = uf.log(size).sum(-1)
    singular = flags[:, 1].reshape(a.shape[:-2]) != 0
    sign = engine.where(singular, dtype.type(0), sign)
    logdet = engine.where(singular, real.type(-np.inf), logdet)
    return SlogdetResult(sign, logdet)


def det(a) -> ndarray:
    """Return the determinant of square matrices."""
    a, dtype = square(a, "det")
    if library_of(a).has_solvers:
        return library_of(a).det(a.astype(dtype, copy=False))
    factors, _, flags = _factor(a, dtype)
    parity = flags[:, 0].reshape(a.shape[:-2]).astype(dtype)
    result = engine.reduce("prod", factors.diagonal(0, -2, -1), -1) * parity
    singular = flags[:, 1].reshape(a.shape[:-2]) != 0
    return engine.where(singular, dtype.type(0), result)


def cholesky(a, /, *, upper=False) -> ndarray:
    """Return the Cholesky factor of positive definite matrices (the lower one by default).

    Other matrices give NaN, or LinAlgError under ``cupyx.errstate(linalg='raise')``.
    """
    a, dtype = square(a, "cholesky")
    if upper:
        a = a.swapaxes(-1, -2).conj()
    if library_of(a).has_solvers:
        factor = library_of(a).cholesky(a.astype(dtype, copy=False))
        return factor.swapaxes(-1, -2).conj() if upper else factor
    factor = a.astype(dtype, order="C", copy=True)
    batch, n = product(a.shape[:-2]), a.shape[-1]
    if factor.size:
        failed = engine.full((batch,), 0, np.int32)
        _module(dtype.char).get_function("cholesky")(
            (batch,), (_BLOCK,), (factor, failed, np.int64(n))
        )
        factor = _mark_failures(factor, failed != 0, "Matrix is not positive definite")
    return factor.swapaxes(-1, -2).conj() if upper else factor


def tensorsolve(a, b, axes=None) -> ndarray:
    """Solve ``tensordot(a, x, x.ndim) = b``."""
    a, b = require_array(a, "tensorsolve"), require_array(b, "tensorsolve")
    if axes is not None:
        order = [i for i in range(a.ndim) if i not in axes] + list(axes)
        a = a.transpose(order)
    shape = a.shape[b.ndim :]
    n = product(shape)
    if n != b.size:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == b.size"
        )
    return solve(a.reshape((n, n)), b.ravel()).reshape(shape)


def tensorinv(a, ind=2) -> ndarray:
    """Return the inverse of a tensor with respect to `tensordot` over `ind` axes."""
    a = require_array(a, "tensorinv")
    if ind <= 0:
        raise ValueError("Invalid ind argument")
    n = product(a.shape[ind:])
    if n != product(a.shape[:ind]):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return inv(a.reshape((n, n))).reshape(a.shape[ind:] + a.shape[:ind])
