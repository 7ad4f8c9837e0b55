"""Functions over axes: sums of exponentials, and gamma in several dimensions."""

from __future__ import annotations

import math

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import require_array, to_array
from trilane.cupyx.scipy.special._functions import gammaln


def _floating(x) -> ndarray:
    x = require_array(x, "special")
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _largest(x, axis) -> ndarray:
    """The largest real part along axes, 0 where it is no number: what to scale by."""
    top = (x.real if x.dtype.kind == "c" else x).max(axis=axis, keepdims=True)
    return engine.where(uf.isfinite(top), top, top.dtype.type(0))


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """Return the logarithm of a sum of exponentials, without overflow.

    Parameters
    ----------
    a : ndarray
    axis : int or tuple of int, optional
    b : ndarray, optional
        Factors of the exponentials.
    keepdims, return_sign : bool
        Of real values: return the logarithm of the magnitude, and the sign.
    """
    a = _floating(a)
    if b is not None:
        b = to_array(b, "logsumexp")
        a, b = _both(a, b)
        a = engine.where(b == 0, a.dtype.type(-np.inf), a)
    top = _largest(a, axis)
    terms = uf.exp(a - top)
    if b is not None:
        terms = b * terms
    total = terms.sum(axis=axis, keepdims=True)
    if return_sign:
        sign = uf.sign(total)
        total = uf.absolute(total)
    result = uf.log(total) + top
    if not keepdims:
        axes = tuple(range(a.ndim)) if axis is None else axis
        result = result.squeeze(axes)
        sign = sign.squeeze(axes) if return_sign else None
    return (result, sign) if return_sign else result


def _both(a, b):
    shape = np.broadcast_shapes(a.shape, b.shape)
    return engine.broadcast_to(a, shape), engine.broadcast_to(b, shape)


def softmax(x, axis=None) -> ndarray:
    """Return exponentials divided by their sum along axes."""
    x = _floating(x)
    terms = uf.exp(x - x.max(axis=axis, keepdims=True))
    return terms / terms.sum(axis=axis, keepdims=True)


def log_softmax(x, axis=None) -> ndarray:
    """Return the logarithm of `softmax`, without overflow."""
    x = _floating(x)
    moved = x - _largest(x, axis)
    return moved - uf.log(uf.exp(moved).sum(axis=axis, keepdims=True))


def multigammaln(a, d) -> ndarray:
    """Return the logarithm of gamma in d dimensions.

    Raises
    ------
    ValueError
        `d` is no positive integer, or an `a` is not above (d - 1) / 2.
    """
    if int(d) != d or d < 1:
        raise ValueError(f"d should be a positive integer (dimension): got {d}")
    a = to_array(a, "multigammaln")
    if bool((a <= 0.5 * (d - 1)).any()):
        raise ValueError(f"condition a > 0.5 * (d-1) not met: d is {d}")
    result = gammaln(a) + d * (d - 1) * 0.25 * math.log(math.pi)
    for j in range(1, int(d)):
        result = result + gammaln(a - 0.5 * j)
    return result
