"""bincount: counts by atomics, weights summed bin by bin in a fixed order."""

from __future__ import annotations

import functools

import numpy as np

from trilane.cupy._engine import engine, engine_take, ndarray


@functools.cache
def _kernels():
    from trilane.cupy._kernel import ElementwiseKernel

    count = ElementwiseKernel(
        "int64 x", "raw int64 bins", "atomicAdd((unsigned long long*)&bins[x], 1ull)",
        "trilane_bincount", no_return=True,
    )  # fmt: skip
    add = ElementwiseKernel(
        "int64 first, int64 last, raw float64 weights", "float64 total",
        "total = 0; for (long long k = first; k < last; ++k) total += weights[k]",
        "trilane_bincount_weights",
    )  # fmt: skip
    return count, add


def count_bins(x: ndarray, weights: ndarray | None, minlength: int) -> ndarray:
    """Count values 0, 1, 2 ... of a 1-D array of non-negative integers, or sum their weights.

    Parameters
    ----------
    x : ndarray of int, shape (n,)
    weights : ndarray, shape (n,), optional
    minlength : int

    Returns
    -------
    ndarray
        int64, or float64 with weights of at least one value. Deterministic.
    """
    length = max(minlength, int(x.max()) + 1 if x.size else 0)
    count, add = _kernels()
    x = x.astype(np.int64, copy=False)
    if weights is None:
        bins = engine.full((length,), 0, np.dtype(np.int64))
        if x.size:
            count(x, bins)
        return bins
    if x.size == 0:
        return engine.full((length,), 0, np.dtype(np.int64))
    order = engine.argsort(x, -1)
    ordered = engine_take(x, order, 0, None, "raise")
    weights = engine_take(weights, order, 0, None, "raise").astype(np.float64)
    numbers = engine.arange(0, length, 1, np.dtype(np.int64))
    first = engine.searchsorted(ordered, numbers, "left", None)
    last = engine.searchsorted(ordered, numbers, "right", None)
    return add(first, last, weights)
