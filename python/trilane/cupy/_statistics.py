"""Extremes, averages, order statistics, histograms, correlation."""

from __future__ import annotations

import math
import warnings

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._counting import count_bins
from trilane.cupy._creation import array, asarray, zeros
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import (
    normalize_axis_index,
    normalize_axis_tuple,
    product,
    require_array,
    stack_arrays,
    to_array,
)
from trilane.cupy._ranges import linspace


def amax(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> ndarray:
    """Return the largest element along axes; NaN wins.

    Parameters
    ----------
    a : ndarray
    axis : int or tuple of int, optional
    out : ndarray, optional
    keepdims : bool
    initial : scalar, optional
        The least possible result.
    where : ndarray of bool, optional
        Which elements count; needs `initial`.
    """
    return _extreme(a, "max", axis, out, keepdims, initial, where)


def amin(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> ndarray:
    """Return the smallest element along axes; NaN wins. Parameters as of `amax`."""
    return _extreme(a, "min", axis, out, keepdims, initial, where)


def _extreme(a, name, axis, out, keepdims, initial, where) -> ndarray:
    a = require_array(a, name)
    if initial is None and where is None:
        return engine.reduce(name, a, axis, None, out, keepdims)
    if where is None:
        where = True
    elif initial is None and where is not True:
        raise ValueError(
            f"reduction operation '{name}imum' does not have an identity, "
            "so to use a where mask one has to specify 'initial'"
        )
    return engine.reduce(name, a, axis, None, out, keepdims, initial, where)


max = amax
min = amin


def _without_nan(name: str, a, axis, out, keepdims) -> ndarray:
    """A reduction over what is not NaN; NumPy's warning where there is nothing but NaN."""
    if a.dtype.kind not in "fc":
        return engine.reduce(name, a, axis, None, out, keepdims)
    result = engine.reduce("nan" + name, a, axis, None, out, keepdims)
    if bool(uf.isnan(result).any()):
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
    return result


def nanmax(a, axis=None, out=None, keepdims=False) -> ndarray:
    """Return the largest element along axes, ignoring NaN."""
    a = require_array(a, "nanmax")
    return _without_nan("max", a, axis, out, keepdims)


def nanmin(a, axis=None, out=None, keepdims=False) -> ndarray:
    """Return the smallest element along axes, ignoring NaN."""
    a = require_array(a, "nanmin")
    return _without_nan("min", a, axis, out, keepdims)


def mean(a, axis=None, dtype=None, out=None, keepdims=False) -> ndarray:
    """Return the arithmetic mean along axes."""
    return require_array(a, "mean").mean(axis=axis, dtype=dtype, out=out, keepdims=keepdims)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) -> ndarray:
    """Return the variance along axes; the divisor is the count minus `ddof`."""
    return require_array(a, "var").var(
        axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims
    )


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) -> ndarray:
    """Return the standard deviation along axes; the divisor is the count minus `ddof`."""
    return require_array(a, "std").std(
        axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims
    )


def _counted(a, axis, keepdims):
    """Mask of numbers and their count along axes."""
    valid = ~uf.isnan(a)
    return valid, engine.reduce("sum", valid, axis, np.int64, None, keepdims)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False) -> ndarray:
    """Return the mean along axes, ignoring NaN."""
    a = require_array(a, "nanmean")
    if a.dtype.kind not in "fc":
        made = mean(a, axis, dtype, None, keepdims)
        if out is None:
            return made
        engine.copyto(out, made, "unsafe")
        return out
    _, count = _counted(a, axis, keepdims)
    total = engine.reduce("nansum", a, axis, dtype or _sum_type(a.dtype), None, keepdims)
    result = uf.true_divide(total, count.astype(total.real.dtype))
    result = result.astype(dtype or a.dtype, copy=False)
    return _store(result, out)


def _sum_type(dtype):
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def _store(result, out):
    if out is None:
        return result
    engine.copyto(out, result, "same_kind")
    return out


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) -> ndarray:
    """Return the variance along axes, ignoring NaN."""
    a = require_array(a, "nanvar")
    if a.dtype.kind not in "fc":
        return var(a, axis, dtype, out, ddof, keepdims)
    valid, count = _counted(a, axis, keepdims)
    working = np.dtype(dtype) if dtype is not None else _sum_type(a.dtype)
    centre = nanmean(a.astype(working, copy=False), axis, None, None, True)
    deviation = engine.where(valid, a - centre, working.type(0))
    if working.kind == "c":
        squares = deviation.real * deviation.real + deviation.imag * deviation.imag
    else:
        squares = deviation * deviation
    total = squares.sum(axis=axis, keepdims=keepdims)
    divisor = uf.maximum(count - ddof, 0).astype(total.dtype)
    result = total / divisor
    final = np.dtype(dtype) if dtype is not None else a.real.dtype
    return _store(result.astype(np.empty(0, final).real.dtype, copy=False), out)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) -> ndarray:
    """Return the standard deviation along axes, ignoring NaN."""
    return _store(uf.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims)), out)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Return the weighted mean along axes.

    Parameters
    ----------
    a : ndarray
    axis : int or tuple of int, optional
    weights : ndarray, optional
        Of the shape of `a`, or 1-D along one axis.
    returned : bool
        Return the sum of weights too.
    keepdims : bool

    Raises
    ------
    ZeroDivisionError
        The weights sum to zero.
    """
    a = asarray(a)
    if weights is None:
        result = a.mean(axis=axis, keepdims=keepdims)
        scale = result.dtype.type(a.size / result.size if result.size else 0)
        scale = engine.full(result.shape, scale, result.dtype)
        return (result, scale) if returned else result
    weights = asarray(weights)
    dtype = np.result_type(
        a.dtype, weights.dtype, *((np.float64,) if a.dtype.kind in "iub" else ())
    )
    if a.shape != weights.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if weights.ndim != 1:
            raise TypeError("1D weights expected when shapes of a and weights differ.")
        place = normalize_axis_index(axis, a.ndim)
        if weights.shape[0] != a.shape[place]:
            raise ValueError("Length of weights not compatible with specified axis.")
        shape = (1,) * place + (-1,) + (1,) * (a.ndim - place - 1)
        weights = engine.broadcast_to(weights.reshape(shape), a.shape)
    scale = weights.sum(axis=axis, dtype=dtype, keepdims=keepdims)
    if bool((scale == 0).any()):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    result = uf.multiply(a, weights, dtype=dtype).sum(axis=axis, keepdims=keepdims) / scale
    return (result, scale) if returned else result


# --- order statistics


def _flatten_axes(a, axis):
    """Bring the axes to reduce to the end and join them; also the shape with ones there."""
    if axis is None:
        return a.ravel(), (1,) * a.ndim
    axes = normalize_axis_tuple(axis, a.ndim)
    kept = [i for i in range(a.ndim) if i not in axes]
    shape = tuple(1 if i in axes else a.shape[i] for i in range(a.ndim))
    moved = a.transpose(kept + list(axes))
    return moved.reshape(tuple(a.shape[i] for i in kept) + (-1,)) if moved.size else moved.reshape(
        tuple(a.shape[i] for i in kept) + (product(a.shape[i] for i in axes),)
    ), shape


_METHODS = frozenset(
    """inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull
    linear median_unbiased normal_unbiased lower higher midpoint nearest""".split()
)
_ALPHA_BETA = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


def _virtual_index(n, q, method):
    """Place in the sorted values, as a real number; `n` may be an array."""
    if method in ("lower", "higher", "midpoint", "nearest"):
        place = (n - 1) * q
        if method == "lower":
            return uf.floor(place)
        if method == "higher":
            return uf.ceil(place)
        if method == "midpoint":
            return 0.5 * (uf.floor(place) + uf.ceil(place))
        return uf.rint(place)
    if method in _ALPHA_BETA:
        alpha, beta = _ALPHA_BETA[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    if method == "inverted_cdf":
        return uf.maximum(uf.ceil(n * q) - 1, 0)
    if method == "averaged_inverted_cdf":
        place = n * q - 1
        return engine.where(place == uf.floor(place), place + 0.5, uf.ceil(place))
    return uf.maximum(uf.rint(n * q - 1), 0)


_DISCRETE = frozenset({"lower", "higher", "nearest", "inverted_cdf", "closest_observation"})


def _quantile(a, q, axis, out, method, keepdims, ignore_nan=False) -> ndarray:
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {sorted(_METHODS)}")
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if a.dtype.kind == "b" and method not in _DISCRETE:
        raise TypeError("quantile of booleans is not supported: boolean subtract")
    flat, kept = _flatten_axes(a, axis)
    final = a.dtype if method in _DISCRETE else np.result_type(a.dtype, q.dtype)
    ordered = engine.sort(flat, -1).astype(final, copy=False)
    rows = engine.moveaxis(ordered, -1, 0)
    places = q.reshape((-1,) + (1,) * (ordered.ndim - 1))
    if ignore_nan:
        n = (~uf.isnan(rows)).sum(axis=0).astype(q.dtype)
    else:
        n = engine.full(rows.shape[1:], rows.shape[0], q.dtype)
    place = _virtual_index(n, places, method)
    place = uf.minimum(uf.maximum(place, 0), uf.maximum(n - 1, 0))
    if rows.shape[0] == 0:
        result = engine.full(place.shape, math.nan, final if final.kind == "f" else np.float64)
    else:
        result = _interpolate(rows, place, n, final)
        if final.kind == "f":
            empty = n == 0 if ignore_nan else uf.isnan(rows[-1])
            result = engine.where(empty, final.type(math.nan), result)
    shape = kept if keepdims else result.shape[1:]
    return _store(result.reshape(q.shape + tuple(shape)), out)


def _interpolate(rows, place, n, final) -> ndarray:
    """Values between the sorted ones at real-valued places."""
    low = uf.floor(place).astype(np.int64)
    first = engine.take_along_axis(rows, low, 0)
    weight = place - low.astype(place.dtype)
    if not bool((weight != 0).any()):
        return first
    high = uf.minimum(low + 1, uf.maximum(n - 1, 0).astype(np.int64))
    second = engine.take_along_axis(rows, high, 0)
    step = second - first
    weight = weight.astype(final, copy=False)
    return engine.where(weight >= 0.5, second - step * (1 - weight), first + step * weight)


def _fractions(q, scale: int, a, who: str) -> ndarray:
    """Fractions from 0 to 1, of the dtype in which places are computed."""
    hundred = a.dtype.type(scale) if a.dtype.kind == "f" else scale
    if isinstance(q, ndarray):
        q = q if scale == 1 and q.dtype.kind == "f" else uf.true_divide(q, hundred)
    else:
        host = (
            np.true_divide(q, hundred)
            if isinstance(q, (int, float))
            else np.true_divide(np.asarray(q), hundred)
        )
        scalar = isinstance(q, (int, float)) and a.dtype.kind == "f"
        q = array(np.asarray(host, a.dtype if scalar else None))
    if q.ndim > 1:
        raise ValueError("Expected q to be a scalar or to have one axis")
    if q.size and bool(((q < 0) | (q > 1)).any()):
        raise ValueError(f"{who} must be in the range [0, {scale}]")
    return q


def quantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    interpolation=None,
) -> ndarray:
    """Return quantiles along axes.

    Parameters
    ----------
    a : ndarray
    q : float or array_like
        Fractions from 0 to 1. Their axes come first in the result.
    axis : int or tuple of int, optional
    out : ndarray, optional
    overwrite_input : bool
        Accepted; the input is left as it is.
    method : str
        How to interpolate; NumPy's names.
    keepdims : bool
    """
    a = require_array(a, "quantile")
    return _quantile(
        a, _fractions(q, 1, a, "Quantiles"), axis, out, interpolation or method, keepdims
    )


def percentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    interpolation=None,
) -> ndarray:
    """Return percentiles along axes; as `quantile` with `q` from 0 to 100."""
    a = require_array(a, "percentile")
    return _quantile(
        a, _fractions(q, 100, a, "Percentiles"), axis, out, interpolation or method, keepdims
    )


def nanquantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False
) -> ndarray:
    """Return quantiles along axes, ignoring NaN."""
    a = require_array(a, "nanquantile")
    return _quantile(
        a, _fractions(q, 1, a, "Quantiles"), axis, out, method, keepdims, a.dtype.kind == "f"
    )


def nanpercentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False
) -> ndarray:
    """Return percentiles along axes, ignoring NaN."""
    a = require_array(a, "nanpercentile")
    return _quantile(
        a,
        _fractions(q, 100, a, "Percentiles"),
        axis,
        out,
        method,
        keepdims,
        a.dtype.kind == "f",
    )


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> ndarray:
    """Return the median along axes; NaN if there is one."""
    return _median(require_array(a, "median"), axis, out, keepdims, False)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> ndarray:
    """Return the median along axes, ignoring NaN."""
    a = require_array(a, "nanmedian")
    return _median(a, axis, out, keepdims, a.dtype.kind in "fc")


def _median(a, axis, out, keepdims, ignore_nan) -> ndarray:
    flat, kept = _flatten_axes(a, axis)
    count = flat.shape[-1]
    working = a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64)
    rows = engine.moveaxis(engine.sort(flat, -1), -1, 0)
    if count == 0:
        result = engine.full(rows.shape[1:], math.nan, working)
    elif ignore_nan:
        n = (~uf.isnan(rows)).sum(axis=0)
        low = uf.maximum((n - 1) // 2, 0)[None]
        high = uf.minimum(n // 2, uf.maximum(n - 1, 0))[None]
        result = _middle(
            engine.take_along_axis(rows, low, 0)[0],
            engine.take_along_axis(rows, high, 0)[0],
            working,
        )
    else:
        result = _middle(rows[(count - 1) // 2], rows[count // 2], working)
        if working.kind in "fc":
            result = engine.where(uf.isnan(rows[-1]), working.type(math.nan), result)
    return _store(result.reshape(kept) if keepdims else result, out)


def _middle(low, high, working) -> ndarray:
    wide = np.dtype(np.float32) if working == np.float16 else working
    return ((low.astype(wide) + high.astype(wide)) / 2).astype(working, copy=False)


# --- counting


def bincount(x, weights=None, minlength=0) -> ndarray:
    """Count each value of a 1-D array of non-negative integers.

    Parameters
    ----------
    x : ndarray of int
    weights : ndarray, optional
        Added instead of one.
    minlength : int
        Least length of the result.
    """
    x = require_array(x, "bincount")
    if x.ndim > 1:
        raise ValueError("object too deep for desired array")
    if x.ndim < 1:
        raise ValueError("object of too small depth for desired array")
    if x.dtype.kind == "f":
        raise TypeError("x must be int array")
    if minlength is None:
        minlength = 0
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if x.size and x.dtype.kind == "i" and bool((x < 0).any()):
        raise ValueError("The first argument of bincount must be non-negative")
    if weights is not None and weights.shape != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    return count_bins(x, weights, int(minlength))


def digitize(x, bins, right=False) -> ndarray:
    """Return the number of the interval that each value falls in; `bins` must be monotonic."""
    x, bins = to_array(x, "digitize"), require_array(bins, "digitize")
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if bins.ndim > 1:
        raise ValueError("object too deep for desired array")
    if bins.ndim < 1:
        raise ValueError("object of too small depth for desired array")
    side = "left" if right else "right"
    direction = _monotonicity(bins)
    if direction == 0:
        raise ValueError("bins must be monotonically increasing or decreasing")
    if direction > 0:
        return engine.searchsorted(bins, x, side, None)
    return bins.size - engine.searchsorted(bins[::-1].copy(), x, side, None)


def _monotonicity(bins) -> int:
    """1 if `bins` never falls, -1 if it never rises, else 0; NaN does neither, and counts as a fall.

    The first two neighbours that differ say which of them is asked, as in NumPy.
    """
    low, high = bins[:-1], bins[1:]
    unequal = low != high
    if not bool(unequal.any()):
        return 1
    first = int(unequal.argmax())
    rising = bool(low[first] < high[first])
    broken = (low > high) if rising else (low < high)
    if bool(broken.any()):
        return 0
    return 1 if rising else -1


def _edges(a, bins, range, of_values: bool = True) -> ndarray:
    """Edges of a histogram's bins, of a type that has part in the values', or of the range's alone."""
    if isinstance(bins, str):
        return array(np.histogram_bin_edges(a.get(), bins, range))
    if np.ndim(bins.get() if isinstance(bins, ndarray) else bins) == 1:
        edges = asarray(bins)
        if edges.size > 1 and bool((edges[:-1] > edges[1:]).any()):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    if np.ndim(bins) != 0:
        raise ValueError("`bins` must be 1d, when an array")
    count = int(bins)
    if count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    if range is not None:
        first, last = range
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (math.isfinite(first) and math.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif a.size == 0:
        first, last = 0.0, 1.0
    else:
        first, last = a.min().get()[()], a.max().get()[()]
        if not (math.isfinite(first) and math.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    if not of_values:
        return linspace(first, last, count + 1)
    dtype = np.result_type(first, last, a.dtype)
    if dtype.kind in "iub":
        dtype = np.result_type(dtype, np.float64)
    return linspace(first, last, count + 1, dtype=dtype)


def histogram_bin_edges(a, bins=10, range=None, weights=None) -> ndarray:
    """Return the edges of the bins that `histogram` would use."""
    return _edges(require_array(a, "histogram_bin_edges").ravel(), bins, range)


def histogram(x, bins=10, range=None, weights=None, density=False):
    """Count the values in bins.

    Parameters
    ----------
    x : ndarray
    bins : int, ndarray or str
        Number of bins, their edges, or a method of NumPy's.
    range : (float, float), optional
    weights : ndarray, optional
    density : bool
        Return the density instead of counts.

    Returns
    -------
    hist, bin_edges : ndarray
    """
    x = require_array(x, "histogram")
    if x.dtype.kind == "c":
        raise TypeError("histogram of complex values is not supported")
    if weights is not None:
        if weights.shape != x.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights.ravel()
    x = x.ravel()
    if x.dtype.kind == "b":
        x = x.astype(np.uint8)
    edges = _edges(x, bins, range)
    count = edges.size - 1
    places = engine.searchsorted(edges, x, "right", None) - 1
    places = engine.where(x == edges[-1], count - 1, places)
    inside = (x >= edges[0]) & (x <= edges[-1])
    if weights is None:
        hist = count_bins(places[inside], None, count)
    else:
        picked = weights[inside]
        where = places[inside]
        if picked.dtype.kind == "c":
            hist = count_bins(where, picked.real, count) + 1j * count_bins(
                where, picked.imag, count
            )
        else:
            hist = count_bins(where, picked, count)
        if weights.dtype.kind in "iub":
            hist = hist.astype(weights.dtype if weights.dtype.kind != "b" else np.int64)
    if density:
        widths = (edges[1:] - edges[:-1]).astype(np.float64)
        return hist / widths / hist.sum(), edges
    return hist, edges


def histogramdd(sample, bins=10, range=None, weights=None, density=False):
    """Count points of several dimensions in boxes.

    Parameters
    ----------
    sample : ndarray of shape (N, D), or sequence of D arrays
    bins : int, or sequence of int or ndarray
    range : sequence of (float, float), optional
    weights : ndarray of shape (N,), optional
    density : bool

    Returns
    -------
    hist : ndarray
    edges : list of ndarray
    """
    if isinstance(sample, ndarray):
        sample = sample.reshape(-1, 1) if sample.ndim == 1 else sample
    else:
        sample = stack_arrays(list(sample), 1)
    rank = sample.shape[1]
    bins = [bins] * rank if not isinstance(bins, (list, tuple)) else list(bins)
    if len(bins) != rank:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is None:
        range = (None,) * rank
    elif len(range) != rank:
        raise ValueError("range argument must have one entry per dimension")
    edges, flat, inside, shape = [], 0, True, []
    for i, (wanted, limits) in enumerate(zip(bins, range)):
        if not isinstance(wanted, (ndarray, int, np.integer)):
            raise ValueError("histogramdd: bins must be int or cupy.ndarray")
        column = sample[:, i]
        edge = _edges(column, wanted, limits, of_values=False)
        count = edge.size - 1
        place = engine.searchsorted(edge, column.copy(), "right", None) - 1
        place = engine.where(column == edge[-1], count - 1, place)
        inside = (column >= edge[0]) & (column <= edge[-1]) & inside
        flat = flat * count + place
        edges.append(edge)
        shape.append(count)
    picked = None if weights is None else require_array(weights, "histogramdd")[inside]
    hist = count_bins(flat[inside], picked, product(shape)).reshape(tuple(shape))
    hist = hist.astype(np.float64)
    if density:
        total = hist.sum()
        for i, edge in enumerate(edges):
            widths = (edge[1:] - edge[:-1]).reshape((1,) * i + (-1,) + (1,) * (rank - i - 1))
            hist = hist / widths
        hist = hist / total
    return hist, edges


def histogram2d(x, y, bins=10, range=None, weights=None, density=None):
    """Count points of the plane in rectangles; returns the counts and both edges."""
    if isinstance(bins, ndarray):
        bins = [bins, bins]
    elif isinstance(bins, (list, tuple)) and len(bins) not in (1, 2):
        raise ValueError("histogram2d: bins must be int, cupy.ndarray, or a pair of them")
    elif isinstance(bins, (list, tuple)) and len(bins) == 1:
        bins = list(bins) * 2
    hist, edges = histogramdd([x, y], bins, range, weights, bool(density))
    return hist, edges[0], edges[1]


# --- correlation


def cov(
    a, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None
) -> ndarray:
    """Return the covariance matrix of variables (rows, or columns if not `rowvar`).

    Parameters
    ----------
    a : ndarray
        1-D or 2-D.
    y : ndarray, optional
        More variables.
    rowvar, bias : bool
    ddof : int, optional
        The divisor is the count minus this; 1 by default, 0 if `bias`.
    fweights : ndarray of int, optional
        How often each observation counts.
    aweights : ndarray, optional
        How much each observation counts.
    dtype : data-type, optional
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    a = require_array(a, "cov")
    if a.ndim > 2:
        raise ValueError("Input must be <= 2-d")
    if dtype is None:
        parts = (a.dtype,) if y is None else (a.dtype, y.dtype)
        dtype = np.result_type(*parts, np.float64)
    x = _rows(a, rowvar or a.ndim == 1, dtype)
    if x.shape[0] == 0:
        return zeros((0, 0), np.float64)
    if y is not None:
        if y.ndim > 2:
            raise ValueError("y must be <= 2-d")
        # NumPy turns a single row of `y` into no column, and one of `a` into one.
        alone = y.ndim < 2 or y.shape[0] == 1
        x = engine.concatenate([x, _rows(y, rowvar or alone, dtype)], 0)
    if ddof is None:
        ddof = 0 if bias else 1
    weights = _weights(x, fweights, aweights)
    if weights is None:
        total, factor = x.shape[1], x.shape[1] - ddof
        centre = x.mean(axis=1) if x.shape[1] else engine.full((x.shape[0],), math.nan, dtype)
    else:
        total = float(weights.sum())
        centre = (x * weights).sum(axis=1) / total
        if ddof == 0:
            factor = total
        elif aweights is None:
            factor = total - ddof
        else:
            factor = total - ddof * float((weights * aweights).sum()) / total
    if not np.can_cast(centre.dtype, x.dtype, "same_kind"):
        raise TypeError(f"cov: cannot cast means from {centre.dtype} to {x.dtype}")
    if factor <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        factor = 0.0
    x = x - centre[:, None]
    right = x if weights is None else x * weights
    # A 0-d divisor array keeps NumPy's inf and NaN for no degrees of freedom.
    result = engine.matmul(x, right.conj().T) / array(factor, dtype=np.empty(0, dtype).real.dtype)
    return result.squeeze()


def _rows(a, rowvar, dtype) -> ndarray:
    x = a.reshape(1, -1) if a.ndim < 2 else a
    return (x if rowvar else x.T).astype(dtype)


def _weights(x, fweights, aweights):
    weights = None
    if fweights is not None:
        fweights = require_array(fweights, "cov")
        if fweights.ndim > 1:
            raise RuntimeError("cannot handle multidimensional fweights")
        if fweights.shape[0] != x.shape[1]:
            raise RuntimeError("incompatible numbers of samples and fweights")
        if bool((fweights < 0).any()):
            raise ValueError("fweights cannot be negative")
        if fweights.dtype.kind not in "iu":
            raise TypeError("fweights must be integer")
        weights = fweights.astype(np.float64)
    if aweights is not None:
        aweights = require_array(aweights, "cov")
        if aweights.ndim > 1:
            raise RuntimeError("cannot handle multidimensional aweights")
        if aweights.shape[0] != x.shape[1]:
            raise RuntimeError("incompatible numbers of samples and aweights")
        if bool((aweights < 0).any()):
            raise ValueError("aweights cannot be negative")
        weights = aweights if weights is None else weights * aweights
    return weights


def corrcoef(a, y=None, rowvar=True, bias=None, ddof=None, *, dtype=None) -> ndarray:
    """Return the matrix of Pearson's correlation coefficients; `bias` and `ddof` are deprecated."""
    if bias is not None or ddof is not None:
        warnings.warn("bias and ddof have no effect", DeprecationWarning, stacklevel=2)
    result = cov(a, y, rowvar, dtype=dtype)
    if result.ndim == 0:
        return result / result
    deviation = uf.sqrt(engine.diag_view(result).real)
    result = result / deviation[:, None] / deviation[None, :]
    if result.dtype.kind == "c":
        result = result.real.clip(-1, 1) + 1j * result.imag.clip(-1, 1)
        return result
    return result.clip(-1, 1)
