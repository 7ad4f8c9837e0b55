"""Products of vectors, matrices and tensors."""

from __future__ import annotations

import operator

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._creation import eye
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import normalize_axis_index, product, require_array, to_array


def dot(a, b, out=None) -> ndarray:
    """Return the dot product: sum over the last axis of `a` and the second-to-last of `b`."""
    return to_array(a, "dot").dot(to_array(b, "dot"), out)


def matmul(x1, x2, /, out=None, *, casting="same_kind", dtype=None, axes=None) -> ndarray:
    """Return the matrix product; the axes ahead of the last two broadcast.

    Parameters
    ----------
    x1, x2 : ndarray
    out : ndarray, optional
    casting, dtype
        As of a ufunc.
    axes : list of tuple, optional
        Where the matrices' axes are, per argument.

    Raises
    ------
    ValueError
        An argument is 0-d, or the inner extents differ.
    """
    x1, x2 = require_array(x1, "matmul"), require_array(x2, "matmul")
    if axes is not None:
        places = [tuple(p) if isinstance(p, (tuple, list)) else (p,) for p in axes]
        x1, x2 = engine.moveaxis(x1, places[0], (-2, -1)), engine.moveaxis(x2, places[1], (-2, -1))
        result = matmul(x1, x2, casting=casting, dtype=dtype)
        last = places[2] if len(places) > 2 else (-2, -1)
        result = engine.moveaxis(result, (-2, -1), last)
        if out is None:
            return result
        engine.copyto(out, result, casting)
        return out
    if dtype is not None:
        dtype = np.dtype(dtype)
        for x in (x1, x2):
            if not np.can_cast(x.dtype, dtype, casting):
                raise TypeError(
                    f"Cannot cast ufunc 'matmul' input from {x.dtype!r} to {dtype!r} "
                    f"with casting rule '{casting}'"
                )
        x1, x2 = x1.astype(dtype, copy=False), x2.astype(dtype, copy=False)
    if out is not None:
        found = np.promote_types(x1.dtype, x2.dtype)
        if out.dtype != found:
            if not np.can_cast(found, out.dtype, casting):
                raise TypeError(
                    f"Cannot cast ufunc 'matmul' output from {found!r} to {out.dtype!r} "
                    f"with casting rule '{casting}'"
                )
            engine.copyto(out, engine.matmul(x1, x2), casting)
            return out
    return engine.matmul(x1, x2, out) if out is not None else engine.matmul(x1, x2)


def vdot(a, b) -> ndarray:
    """Return the dot product of the flattened arrays, the first conjugated."""
    a, b = require_array(a, "vdot"), require_array(b, "vdot")
    if a.size != b.size:
        raise ValueError("Axis dimension mismatch")
    return engine.matmul(a.ravel().conj(), b.ravel())


def inner(a, b) -> ndarray:
    """Return sums of products over the last axes."""
    a, b = to_array(a, "inner"), to_array(b, "inner")
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.shape[-1] != b.shape[-1]:
        raise ValueError("Axis dimension mismatch")
    return tensordot(a, b, axes=(-1, -1))


def outer(a, b, out=None) -> ndarray:
    """Return the products of all pairs of elements of the flattened arrays."""
    a, b = to_array(a, "outer").ravel(), to_array(b, "outer").ravel()
    return uf.multiply(a[:, None], b[None, :], out=out)


def tensordot(a, b, axes=2) -> ndarray:
    """Return sums of products over pairs of axes.

    Parameters
    ----------
    a, b : ndarray
    axes : int or (sequence, sequence)
        The last axes of `a` with the first of `b`, or which with which.
    """
    a, b = to_array(a, "tensordot"), to_array(b, "tensordot")
    if isinstance(axes, (int, np.integer)):
        axes = int(axes)
        if axes < 0:
            raise ValueError("tensordot: axes must not be negative")
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = (list(x) if np.ndim(x) else [x] for x in axes)
    if len(left) != len(right):
        raise ValueError("shape-mismatch for sum")
    if len(left) > min(a.ndim, b.ndim):
        raise ValueError("tensordot: more axes than an array has")
    left = [normalize_axis_index(x, a.ndim) for x in left]
    right = [normalize_axis_index(x, b.ndim) for x in right]
    if any(a.shape[i] != b.shape[j] for i, j in zip(left, right)):
        raise ValueError("Axis dimension mismatch")
    free_a = [i for i in range(a.ndim) if i not in left]
    free_b = [i for i in range(b.ndim) if i not in right]
    inner_size = product(a.shape[i] for i in left)
    shape_a = tuple(a.shape[i] for i in free_a)
    shape_b = tuple(b.shape[i] for i in free_b)
    matrix_a = a.transpose(free_a + left).reshape((product(shape_a), inner_size))
    matrix_b = b.transpose(right + free_b).reshape((inner_size, product(shape_b)))
    return engine.matmul(matrix_a, matrix_b).reshape(shape_a + shape_b)


def vecdot(x1, x2, /, *, axis=-1) -> ndarray:
    """Return dot products of vectors along an axis, the first conjugated."""
    x1, x2 = require_array(x1, "vecdot"), require_array(x2, "vecdot")
    x1, x2 = engine.moveaxis(x1, axis, -1), engine.moveaxis(x2, axis, -1)
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(f"vecdot: lengths differ: got {x1.shape[-1]} and {x2.shape[-1]}")
    first = x1.conj() if x1.dtype.kind == "c" else x1
    return engine.matmul(first[..., None, :], x2[..., :, None])[..., 0, 0]


def matvec(x1, x2, /) -> ndarray:
    """Return products of matrices with vectors."""
    return engine.matmul(require_array(x1, "matvec"), require_array(x2, "matvec")[..., None])[
        ..., 0
    ]


def vecmat(x1, x2, /) -> ndarray:
    """Return products of (conjugated) vectors with matrices."""
    x1 = require_array(x1, "vecmat")
    first = x1.conj() if x1.dtype.kind == "c" else x1
    return engine.matmul(first[..., None, :], require_array(x2, "vecmat"))[..., 0, :]


def kron(a, b) -> ndarray:
    """Return the Kronecker product."""
    a, b = to_array(a, "kron"), to_array(b, "kron")
    rank = max(a.ndim, b.ndim)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    a = a.reshape((1,) * (rank - a.ndim) + a.shape)
    b = b.reshape((1,) * (rank - b.ndim) + b.shape)
    wide_a = a.reshape(tuple(x for e in a.shape for x in (e, 1)))
    wide_b = b.reshape(tuple(x for e in b.shape for x in (1, e)))
    return (wide_a * wide_b).reshape(tuple(p * q for p, q in zip(a.shape, b.shape)))


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None) -> ndarray:
    """Return the sum along the diagonal of two axes."""
    return require_array(a, "trace").diagonal(offset, axis1, axis2).sum(-1, dtype=dtype, out=out)


def linalg_trace(x, /, *, offset=0, dtype=None) -> ndarray:
    """Return the sums along the diagonals of the last two axes."""
    return trace(x, offset, -2, -1, dtype)


def diagonal(x, /, *, offset=0) -> ndarray:
    """Return the diagonals of the last two axes."""
    return require_array(x, "diagonal").diagonal(offset, -2, -1)


def matrix_transpose(x, /) -> ndarray:
    """Exchange the last two axes; a view."""
    x = require_array(x, "matrix_transpose")
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.swapaxes(-1, -2)


def cross(x1, x2, /, *, axis=-1) -> ndarray:
    """Return the cross product of 3-vectors."""
    from trilane.cupy._math import cross as general

    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    return general(x1, x2, axis=axis)


def matrix_power(M, n) -> ndarray:
    """Return a power of square matrices; a negative one of the inverse."""
    M = require_array(M, "matrix_power")
    if M.ndim < 2 or M.shape[-1] != M.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError("exponent must be an integer") from None
    if n == 0:
        return engine.broadcast_to(eye(M.shape[-1], dtype=M.dtype), M.shape).copy()
    if n < 0:
        from trilane.cupy.linalg._solve import inv

        M, n = inv(M), -n
    result, square = None, M
    while n:
        if n & 1:
            result = square if result is None else engine.matmul(result, square)
        n >>= 1
        if n:
            square = engine.matmul(square, square)
    return result.copy() if result is M else result


def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe") -> ndarray:
    """Return Einstein's sum of products.

    Parameters
    ----------
    *operands
        ``'ij,jk->ik', a, b``, or ``a, [0, 1], b, [1, 2], [0, 2]``.
    out : ndarray, optional
    optimize : bool or str
        Accepted; operands are contracted from left to right, or in NumPy's order if true.
    dtype : data-type, optional
        Of the computation.
    order, casting : str
    """
    from trilane.cupy.linalg._einsum import contract

    return contract(operands, out, optimize, dtype, casting)


def multi_dot(arrays, *, out=None) -> ndarray:
    """Return the product of two or more arrays, in the order that multiplies least.

    Parameters
    ----------
    arrays : sequence of ndarray
        Matrices; the first and the last may be vectors.
    out : ndarray, optional
    """
    arrays = [require_array(a, "multi_dot") for a in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    for i, a in enumerate(arrays):
        if a.ndim != 2 and not (a.ndim == 1 and i in (0, len(arrays) - 1)):
            raise np.linalg.LinAlgError(
                f"{a.ndim}-dimensional array given. Array must be two-dimensional"
            )
    first, last = arrays[0].ndim == 1, arrays[-1].ndim == 1
    chain = list(arrays)
    if first:
        chain[0] = chain[0][None, :]
    if last:
        chain[-1] = chain[-1][:, None]
    result = _by_cheapest_order(chain)
    if first:
        result = result[0]
    if last:
        result = result[..., 0]
    if out is None:
        return result
    engine.copyto(out, result, "same_kind")
    return out


def _by_cheapest_order(chain) -> ndarray:
    extents = [a.shape[0] for a in chain] + [chain[-1].shape[1]]
    count = len(chain)
    # best[i, j]: multiplications of the product of i..j, and where it is divided last.
    best = {(i, i): (0, i) for i in range(count)}
    for span in range(1, count):
        for i in range(count - span):
            j = i + span
            best[i, j] = min(
                (
                    best[i, k][0]
                    + best[k + 1, j][0]
                    + extents[i] * extents[k + 1] * extents[j + 1],
                    k,
                )
                for k in range(i, j)
            )

    def multiply(i, j):
        if i == j:
            return chain[i]
        k = best[i, j][1]
        return matmul(multiply(i, k), multiply(k + 1, j))

    return multiply(0, count - 1)
