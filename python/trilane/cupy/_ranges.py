"""Ranges: evenly spaced numbers, and coordinates of grids."""

from __future__ import annotations

import numpy as np

from trilane.cupy._creation import arange, array, asarray
from trilane.cupy._dtypes import check_dtype
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import SCALARS, require_array, stack_arrays


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """Return evenly spaced numbers over an interval.

    Parameters
    ----------
    start, stop : scalar or array_like
    num : int
    endpoint : bool
        Whether `stop` is the last value.
    retstep : bool
        Return the step too.
    dtype : data-type, optional
    axis : int
        Where the new axis goes if `start` or `stop` is an array.

    Returns
    -------
    ndarray, or (ndarray, step)
    """
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    divisions = num - 1 if endpoint else num
    start, stop = (x if isinstance(x, SCALARS) else asarray(x) for x in (start, stop))
    # Numbers without a type of their own bow to arrays: 0.0 makes the result inexact, no more.
    kinds = (x.dtype if isinstance(x, ndarray) else x for x in (start, stop))
    computed = np.result_type(*kinds, 0.0)
    integral = dtype is not None and np.dtype(dtype).kind in "iu"
    dtype = computed if dtype is None else check_dtype(dtype)
    start, stop = (
        x.astype(computed, copy=False) if isinstance(x, ndarray) else computed.type(x)
        for x in (start, stop)
    )
    delta = stop - start
    scalar = not isinstance(delta, ndarray)
    position = arange(0, num, 1, computed)
    if not scalar:
        position = position.reshape((-1,) + (1,) * delta.ndim)
    if divisions > 0:
        step = delta / divisions
        tiny = (step == 0) if scalar else bool((step == 0).any())
        result = position / divisions * delta if tiny else position * step
    else:
        step = float("nan")
        result = position * delta
    result = result + start
    if endpoint and num > 1:
        result[-1] = stop
    if axis != 0:
        result = engine.moveaxis(result, 0, axis)
    if integral:
        result = engine.ufuncs["floor"](result)
    result = result.astype(dtype, copy=False)
    return (result, step) if retstep else result


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0) -> ndarray:
    """Return numbers spaced evenly on a log scale: ``base ** linspace(start, stop, num)``."""
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    result = engine.ufuncs["power"](base, exponents)
    return result if dtype is None else result.astype(check_dtype(dtype), copy=False)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0) -> ndarray:
    """Return numbers spaced evenly in ratio from `start` to `stop`; made on the host."""
    from trilane.cupy._convert import asnumpy

    return array(np.geomspace(asnumpy(start), asnumpy(stop), num, endpoint, dtype, axis))


def meshgrid(*xi, copy=True, sparse=False, indexing="xy") -> tuple[ndarray, ...]:
    """Return coordinate arrays of 1-D coordinate vectors.

    Parameters
    ----------
    *xi : ndarray
        1-D, or 0-d.
    copy : bool
        False: broadcast views.
    sparse : bool
        Keep length 1 along the other axes.
    indexing : {'xy', 'ij'}
        'xy' swaps the first two axes.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    for x in xi:
        if require_array(x, "meshgrid").ndim > 1:
            raise ValueError("input has to be 0-D or 1-D")
    ndim = len(xi)
    grids = [x.reshape((1,) * i + (-1,) + (1,) * (ndim - i - 1)) for i, x in enumerate(xi)]
    if indexing == "xy" and ndim > 1:
        grids[0] = grids[0].reshape((1, -1) + (1,) * (ndim - 2))
        grids[1] = grids[1].reshape((-1, 1) + (1,) * (ndim - 2))
    if not sparse:
        shape = np.broadcast_shapes(*(g.shape for g in grids))
        grids = [engine.broadcast_to(g, shape) for g in grids]
    return tuple(g.copy() for g in grids) if copy else tuple(grids)


class _Grid:
    """What `mgrid` and `ogrid` are: indexing with slices makes coordinate arrays."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if any(isinstance(x, ndarray) for k in keys for x in (k.start, k.stop, k.step)):
            return self._of_arrays(keys, isinstance(key, tuple))
        made = (np.ogrid if self.sparse else np.mgrid)[key]
        if isinstance(made, (tuple, list)):
            return tuple(array(part) for part in made)
        return array(made)

    def _of_arrays(self, keys, several: bool):
        """Where bounds are arrays of the device: they broadcast against the positions."""
        dtype = _common_type(keys)
        lines = [_line(key, dtype) for key in keys]
        if not several:
            index, step, start = lines[0]
            return index * step + start
        ndim = len(keys)
        if self.sparse:
            return tuple(
                (index * step + start)[
                    tuple(slice(None) if axis == own else None for axis in range(ndim))
                ]
                for own, (index, step, start) in enumerate(lines)
            )
        shape = tuple(index.size for index, _, _ in lines)
        parts = []
        for own, (index, step, start) in enumerate(lines):
            index = index.reshape(tuple(-1 if axis == own else 1 for axis in range(ndim)))
            parts.append(engine.broadcast_to(index * step + start, shape))
        return stack_arrays(parts, 0)


def _common_type(keys) -> np.dtype:
    """The type of positions of all axes."""
    bounds = [x for k in keys for x in (k.start, k.stop, k.step) if x is not None]
    bounds = [abs(x) if isinstance(x, complex) else x for x in bounds]
    return np.result_type(0, *(x.dtype if isinstance(x, ndarray) else x for x in bounds))


def _line(key: slice, dtype: np.dtype):
    """Positions along a grid's axis, and what they are multiplied with and added to."""
    start = 0 if key.start is None else key.start
    step = 1 if key.step is None else key.step
    if isinstance(step, complex):
        length = int(abs(step))
        step = (key.stop - start) / float(length - 1) if length != 1 else 1
    else:
        length = int(np.ceil(float((key.stop - start) / step)))
    return arange(0, length, 1, dtype), step, start


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)
