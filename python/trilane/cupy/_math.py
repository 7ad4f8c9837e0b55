"""Sums, products, differences, rounding, complex parts, interpolation, filters, windows."""

from __future__ import annotations

import math
import warnings

import numpy as np

from trilane.cupy import _ufuncs as uf
from trilane.cupy._creation import arange, array, empty, empty_like, zeros
from trilane.cupy._engine import copyto, engine, ndarray
from trilane.cupy._helpers import (
    normalize_axis_index,
    normalize_axis_tuple,
    require_array,
    stack_arrays,
    to_array,
)


def _initial(a, name, axis, dtype, out, keepdims, initial, where):
    """A ufunc's reduction with `initial` and `where`, which the method forms lack."""
    kwargs = {}
    if initial is not None:
        kwargs["initial"] = initial
    if where is not None and where is not True:
        kwargs["where"] = where
    return engine.reduce(name, a, axis, dtype, out, keepdims, **kwargs)


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True) -> ndarray:
    """Return the sum of elements along axes.

    Parameters
    ----------
    a : ndarray
    axis : int or tuple of int, optional
        All axes by default.
    dtype : data-type, optional
        Type of the sum; small integers are summed as 64-bit ones by default.
    out : ndarray, optional
    keepdims : bool
        Keep the axes with length 1.
    initial : scalar, optional
        Starting value.
    where : ndarray of bool
        Which elements count.

    Returns
    -------
    ndarray
        0-d if all axes are summed.
    """
    return _initial(require_array(a, "sum"), "sum", axis, dtype, out, keepdims, initial, where)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True) -> ndarray:
    """Return the product of elements along axes; parameters as of `sum`."""
    return _initial(require_array(a, "prod"), "prod", axis, dtype, out, keepdims, initial, where)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False) -> ndarray:
    """Return the sum of elements along axes, NaN counting as zero."""
    a = require_array(a, "nansum")
    name = "nansum" if a.dtype.kind in "fc" else "sum"
    return engine.reduce(name, a, axis, dtype, out, keepdims)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False) -> ndarray:
    """Return the product of elements along axes, NaN counting as one."""
    a = require_array(a, "nanprod")
    name = "nanprod" if a.dtype.kind in "fc" else "prod"
    return engine.reduce(name, a, axis, dtype, out, keepdims)


def cumsum(a, axis=None, dtype=None, out=None) -> ndarray:
    """Return the running sum along an axis, or of the flattened array."""
    return to_array(a, "cumsum").cumsum(axis=axis, dtype=dtype, out=out)


def cumprod(a, axis=None, dtype=None, out=None) -> ndarray:
    """Return the running product along an axis, or of the flattened array."""
    return to_array(a, "cumprod").cumprod(axis=axis, dtype=dtype, out=out)


def cumproduct(a, axis=None, dtype=None, out=None) -> ndarray:
    """Deprecated name of `cumprod`."""
    warnings.warn("Please use `cumprod` instead.", DeprecationWarning, stacklevel=2)
    return cumprod(a, axis, dtype, out)


def product(a, axis=None, dtype=None, out=None, keepdims=False) -> ndarray:
    """Deprecated name of `prod`."""
    warnings.warn("Please use `prod` instead.", DeprecationWarning, stacklevel=2)
    return prod(a, axis, dtype, out, keepdims)


def _cumulative(x, axis, dtype, out, include_initial, method: str, start: int) -> ndarray:
    x = to_array(x, f"cumulative_{method}")
    if x.ndim == 0:
        x = x.reshape(1)
    if axis is None:
        if x.ndim > 1:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
        axis = 0
    axis = normalize_axis_index(axis, x.ndim)
    result = getattr(x, f"cum{method}")(
        axis=axis, dtype=dtype, out=None if include_initial else out
    )
    if not include_initial:
        return result
    first = result.shape[:axis] + (1,) + result.shape[axis + 1 :]
    return engine.concatenate([engine.full(first, start, result.dtype), result], axis, out)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False) -> ndarray:
    """Return the running sum along an axis; `include_initial` puts a zero in front."""
    return _cumulative(x, axis, dtype, out, include_initial, "sum", 0)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False) -> ndarray:
    """Return the running product along an axis; `include_initial` puts a one in front."""
    return _cumulative(x, axis, dtype, out, include_initial, "prod", 1)


def _without_nan(a, value) -> ndarray:
    a = to_array(a, "nan")
    return engine.where(uf.isnan(a), a.dtype.type(value), a) if a.dtype.kind in "fc" else a


def nancumsum(a, axis=None, dtype=None, out=None) -> ndarray:
    """As `cumsum`, NaN counting as zero."""
    return cumsum(_without_nan(a, 0), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None) -> ndarray:
    """As `cumprod`, NaN counting as one."""
    return cumprod(_without_nan(a, 1), axis, dtype, out)


def diff(a, n=1, axis=-1, prepend=None, append=None) -> ndarray:
    """Return the n-th difference of neighbours along an axis."""
    a = require_array(a, "diff")
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, a.ndim)
    parts = [_edge(prepend, a, axis), a, _edge(append, a, axis)]
    parts = [part for part in parts if part is not None]
    if len(parts) > 1:
        a = engine.concatenate(parts, axis)
    head = (slice(None),) * axis
    step = uf.not_equal if a.dtype.kind == "b" else uf.subtract
    for _ in range(n):
        a = step(a[(*head, slice(1, None))], a[(*head, slice(None, -1))])
    return a


def _edge(value, a, axis):
    if value is None:
        return None
    value = to_array(value, "diff")
    if value.ndim == 0:
        value = engine.broadcast_to(value, a.shape[:axis] + (1,) + a.shape[axis + 1 :])
    return value


def ediff1d(ary, to_end=None, to_begin=None) -> ndarray:
    """Return the differences of neighbours of the flattened array."""
    ary = require_array(ary, "ediff1d").ravel()
    if ary.dtype.kind == "b":
        raise TypeError("ediff1d: boolean subtract is not supported")
    parts = [ary[1:] - ary[:-1]]
    for value, place in ((to_begin, 0), (to_end, len(parts) + 1)):
        if value is None:
            continue
        value = to_array(value, "ediff1d").ravel()
        if not np.can_cast(value.dtype, ary.dtype, "same_kind"):
            raise TypeError("dtype of `to_begin`/`to_end` must be compatible with input `ary`")
        parts.insert(place, value.astype(ary.dtype, copy=False))
    return engine.concatenate(parts, 0)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Return central differences inside and one-sided ones at the ends, per axis.

    Parameters
    ----------
    f : ndarray
    *varargs : scalar or ndarray
        Spacing: one for all axes, one per axis, or coordinates.
    axis : int or tuple of int, optional
    edge_order : {1, 2}
    """
    f = require_array(f, "gradient")
    if f.dtype.kind == "b":
        raise TypeError("gradient: booleans have no difference")
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    if len(varargs) == 0:
        spacing = [1.0] * len(axes)
    elif len(varargs) == 1 and np.ndim(_host(varargs[0])) == 0:
        spacing = [float(varargs[0])] * len(axes)
    elif len(varargs) == len(axes):
        spacing = [_spacing(v, f, ax) for v, ax in zip(varargs, axes)]
    else:
        raise TypeError("invalid number of arguments")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    if f.dtype.kind not in "fc":
        f = f.astype(np.float64)
    results = []
    for ax, h in zip(axes, spacing):
        if f.shape[ax] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, "
                "at least (edge_order + 1) elements are required."
            )
        results.append(_gradient_axis(f, ax, h, edge_order))
    return results[0] if len(axes) == 1 else results


def _host(x):
    return x.get() if isinstance(x, ndarray) else x


def _spacing(value, f, axis):
    value = _host(value)
    if np.ndim(value) == 0:
        return float(value)
    if np.ndim(value) != 1:
        raise ValueError("distances must be either scalars or 1d")
    if len(value) != f.shape[axis]:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    steps = np.diff(np.asarray(value, np.float64))
    return float(steps[0]) if np.all(steps == steps[0]) else steps


def _gradient_axis(f, axis, h, edge_order) -> ndarray:
    y = engine.moveaxis(f, axis, 0)
    # The result has the layout of `f`, whichever axis it is made along.
    whole = empty_like(f)
    result = engine.moveaxis(whole, axis, 0)
    column = (-1,) + (1,) * (y.ndim - 1)
    if isinstance(h, float):
        result[1:-1] = (y[2:] - y[:-2]) / (2.0 * h)
        h1 = h2 = h3 = h4 = h
    else:
        d = array(h).reshape(column)
        d1, d2 = d[:-1], d[1:]
        result[1:-1] = (y[:-2] * (-d2 / (d1 * (d1 + d2))) + y[1:-1] * ((d2 - d1) / (d1 * d2))) + y[
            2:
        ] * (d1 / (d2 * (d1 + d2)))
        h1, h2, h3, h4 = h[0], h[1] if len(h) > 1 else 0, h[-1], h[-2] if len(h) > 1 else 0
    if edge_order == 1:
        result[0] = (y[1] - y[0]) / h1
        result[-1] = (y[-1] - y[-2]) / h3
    else:
        result[0] = _edge_two(y[0], y[1], y[2], h1, h2, 1)
        result[-1] = _edge_two(y[-1], y[-2], y[-3], h3, h4, -1)
    return whole


def _edge_two(y0, y1, y2, h1, h2, sign: int):
    a = -(2.0 * h1 + h2) / (h1 * (h1 + h2))
    b = (h1 + h2) / (h1 * h2)
    c = -h1 / (h2 * (h1 + h2))
    return (y0 * a + y1 * b + y2 * c) * sign


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None) -> ndarray:
    """Return the cross product of 3-vectors (or of 2-vectors, whose third entry is zero)."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = require_array(a, "cross"), require_array(b, "cross")
    a = engine.moveaxis(a, normalize_axis_index(axisa, a.ndim), -1)
    b = engine.moveaxis(b, normalize_axis_index(axisb, b.ndim), -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if a.shape[-1] == 2 or b.shape[-1] == 2:
        warnings.warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors.",
            DeprecationWarning,
            stacklevel=2,
        )
    a0, a1 = a[..., 0], a[..., 1]
    b0, b1 = b[..., 0], b[..., 1]
    last = a0 * b1 - a1 * b0
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        return last
    a2 = a[..., 2] if a.shape[-1] == 3 else None
    b2 = b[..., 2] if b.shape[-1] == 3 else None
    if a2 is None:
        first, second = a1 * b2, -(a0 * b2)
    elif b2 is None:
        first, second = -(a2 * b1), a2 * b0
    else:
        first, second = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2
    result = stack_arrays([first, second, last], last.ndim)
    return engine.moveaxis(result, -1, normalize_axis_index(axisc, result.ndim))


def trapezoid(y, x=None, dx=1.0, axis=-1) -> ndarray:
    """Integrate along an axis by the trapezoidal rule."""
    y = require_array(y, "trapezoid")
    axis = normalize_axis_index(axis, y.ndim)
    if x is None:
        d = dx
    else:
        x = require_array(x, "trapezoid")
        if x.ndim == 1:
            d = diff(x)
            d = d.reshape((1,) * axis + (-1,) + (1,) * (y.ndim - axis - 1))
        else:
            d = diff(x, axis=axis)
    head = (slice(None),) * axis
    return (d * (y[(*head, slice(1, None))] + y[(*head, slice(None, -1))]) / 2.0).sum(axis)


trapz = trapezoid


def around(a, decimals=0, out=None) -> ndarray:
    """Round to a number of decimals, halves to even."""
    return to_array(a, "around").round(decimals, out=out)


round = around


def round_(a, decimals=0, out=None) -> ndarray:
    """Deprecated name of `round`."""
    warnings.warn("Please use `round` instead.", DeprecationWarning, stacklevel=2)
    return around(a, decimals, out)


def fix(x, out=None) -> ndarray:
    """Round towards zero."""
    return uf.trunc(to_array(x, "fix"), out=out)


_NOT_GIVEN = object()


def clip(
    a, a_min=_NOT_GIVEN, a_max=_NOT_GIVEN, out=None, *, min=_NOT_GIVEN, max=_NOT_GIVEN
) -> ndarray:
    """Limit the values to an interval.

    Parameters
    ----------
    a : ndarray
    a_min, a_max : scalar or ndarray or None
        Also as `min` and `max`.
    out : ndarray, optional
    """
    if (a_min is _NOT_GIVEN) != (a_max is _NOT_GIVEN):
        given, absent = ("a_min", "a_max") if a_max is _NOT_GIVEN else ("a_max", "a_min")
        raise TypeError(f"clip: got {given} without {absent}: expected both, or min= and max=")
    if a_min is _NOT_GIVEN:
        a_min, a_max = (None if x is _NOT_GIVEN else x for x in (min, max))
    elif min is not _NOT_GIVEN or max is not _NOT_GIVEN:
        raise ValueError("clip: a_min and a_max or min= and max=, not both")
    return to_array(a, "clip").clip(a_min, a_max, out=out)


def real(val):
    """Return the real part; a view of a complex array, the array itself if it is real."""
    return to_array(val, "real").real


def imag(val):
    """Return the imaginary part; a view of a complex array."""
    return to_array(val, "imag").imag


def angle(z, deg=False) -> ndarray:
    """Return the angle of complex values, in radians or degrees."""
    z = to_array(z, "angle")
    if z.dtype.kind == "c":
        result = uf.arctan2(z.imag, z.real)
    else:
        result = uf.arctan2(0, z)
    return result * (180 / math.pi) if deg else result


def real_if_close(a, tol=100) -> ndarray:
    """Return the real part if all imaginary parts are within `tol` machine epsilons (or `tol`)."""
    a = to_array(a, "real_if_close")
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = np.finfo(a.dtype.type).eps * tol
    return a.real if bool((uf.absolute(a.imag) < tol).all()) else a


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None) -> ndarray:
    """Replace NaN and infinities by numbers.

    Parameters
    ----------
    x : ndarray or scalar
    copy : bool
        False: in place.
    nan, posinf, neginf : scalar or ndarray, optional
        The infinities become the largest and lowest numbers of the dtype by default.
    """
    x = to_array(x, "nan_to_num")
    result = x.copy(order="K") if copy else x
    if result.dtype.kind not in "fc":
        return result
    parts = [result.real, result.imag] if result.dtype.kind == "c" else [result]
    for part in parts:
        limits = np.finfo(part.dtype)
        high = limits.max if posinf is None else posinf
        low = limits.min if neginf is None else neginf
        infinite = uf.isinf(part)
        negative = part < 0
        for value, where in (
            (nan, uf.isnan(part)),
            (high, infinite & ~negative),
            (low, infinite & negative),
        ):
            copyto(part, value if isinstance(value, ndarray) else part.dtype.type(value),
                   "same_kind", where)  # fmt: skip
    return result


def convolve(a, v, mode="full") -> ndarray:
    """Return the discrete convolution of two 1-D arrays.

    Parameters
    ----------
    a, v : ndarray
        1-D (0-d counts as one element).
    mode : {'full', 'same', 'valid'}
    """
    a, v = to_array(a, "convolve"), to_array(v, "convolve")
    if a.ndim == 0:
        a = a.reshape(1)
    if v.ndim == 0:
        v = v.reshape(1)
    if a.ndim > 1 or v.ndim > 1:
        raise ValueError("object too deep for desired array")
    if a.size == 0 or v.size == 0:
        raise ValueError("a or v cannot be empty")
    if a.size < v.size:
        a, v = v, a
    return _slide(a, v[::-1], mode)


def correlate(a, v, mode="valid") -> ndarray:
    """Return the cross-correlation of two 1-D arrays."""
    a, v = to_array(a, "correlate"), to_array(v, "correlate")
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    if a.size == 0 or v.size == 0:
        raise ValueError("Array arguments cannot be empty")
    v = v.conj()
    if a.size < v.size:
        return _slide(v, a, mode)[::-1].copy()
    return _slide(a, v, mode)


def _slide(a, v, mode) -> ndarray:
    """Inner products of `v` with each window of `a` (which is at least as long)."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"acceptable mode flags are 'valid', 'same', or 'full', not {mode!r}")
    n, m = a.size, v.size
    dtype = np.promote_types(a.dtype, v.dtype)
    a, v = a.astype(dtype, copy=False), v.astype(dtype, copy=False)
    if mode != "valid":
        left = m - 1 if mode == "full" else m // 2
        right = m - 1 if mode == "full" else (m - 1) - m // 2
        padded = engine.full((n + left + right,), 0, dtype)
        padded[left : left + n] = a
        a = padded
    windows = engine.as_strided(a, (a.size - m + 1, m), (a.strides[0], a.strides[0]))
    if dtype.kind == "b":
        return (windows & v).any(axis=1)
    return engine.matmul(windows, v)


def interp(x, xp, fp, left=None, right=None, period=None) -> ndarray:
    """Interpolate linearly between points with increasing `xp`."""
    x, xp, fp = (require_array(v, "interp") for v in (x, xp, fp))
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("xp and fp must be 1D arrays")
    if xp.size != fp.size:
        raise ValueError("fp and xp are not of the same length")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    if not x.c_contiguous:
        x = x.copy()
    value_type = np.promote_types(fp.dtype, np.float64)
    x, xp, fp = x.astype(np.float64), xp.astype(np.float64), fp.astype(value_type)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = xp.argsort()
        xp, fp = xp[order], fp[order]
        xp = engine.concatenate([xp[-1:] - period, xp, xp[:1] + period], 0)
        fp = engine.concatenate([fp[-1:], fp, fp[:1]], 0)
    last = xp.size - 1
    upper = engine.searchsorted(xp, x, "right", None).clip(1, max(last, 1))
    lower = upper - 1
    upper = upper.clip(0, last)
    x0, x1, f0, f1 = xp[lower], xp[upper], fp[lower], fp[upper]
    width = x1 - x0
    width = engine.where(width == 0, 1.0, width)
    if f0.dtype.kind == "c":  # infinite parts do not spoil the others
        result = empty(x.shape, f0.dtype)
        result.real = _between(x, x0, x1, f0.real, f1.real, width)
        result.imag = _between(x, x0, x1, f0.imag, f1.imag, width)
    else:
        result = _between(x, x0, x1, f0, f1, width)
    below = fp[0] if left is None else left
    above = fp[-1] if right is None else right
    result = engine.where(x < xp[0], below, result)
    result = engine.where(x > xp[-1], above, result)
    return engine.where(uf.isnan(x), x, result)


def _between(x, x0, x1, f0, f1, width) -> ndarray:
    """Values on the lines from (x0, f0) to (x1, f1); from the other end where infinities give NaN."""
    slope = (f1 - f0) / width
    result = slope * (x - x0) + f0
    other = slope * (x - x1) + f1
    other = engine.where(uf.isnan(other) & (f0 == f1), f0, other)
    result = engine.where(uf.isnan(result), other, result)
    return engine.where(x == x1, f1, engine.where(x == x0, f0, result))


def sinc(x) -> ndarray:
    """Return ``sin(pi x) / (pi x)``, one at zero."""
    x = to_array(x, "sinc")
    if x.dtype.kind not in "fc":
        x = x.astype(np.float64)
    y = x * x.dtype.type(math.pi)
    y = engine.where(x == 0, y.dtype.type(1e-20 if y.dtype.itemsize > 2 else 1e-4), y)
    return uf.sin(y) / y


# Coefficients of the Chebyshev expansions of exp(-x) I0(x) on [0, 8] and exp(-x) sqrt(x) I0(x)
# beyond, fitted by `_fit_i0` at first use.
_i0_series: dict[str, np.ndarray] = {}


def _fit_i0() -> None:
    """Fit the two expansions with NumPy's own i0, to rounding error."""
    chebyshev = np.polynomial.chebyshev
    _i0_series["low"] = chebyshev.chebinterpolate(
        lambda t: np.exp(-(t + 1) * 4) * np.i0((t + 1) * 4), 32
    )

    def high(t):
        x = 16 / np.maximum(t + 1.0, 1e-12)
        near = np.minimum(x, 100.0)
        small = np.exp(-near) * np.sqrt(near) * np.i0(near)
        term = total = np.ones_like(x)
        for k in range(1, 10):
            term = term * (2 * k - 1) ** 2 / (8 * k * x)
            total = total + term
        return np.where(x <= 100.0, small, total / math.sqrt(2 * math.pi))

    _i0_series["high"] = chebyshev.chebinterpolate(high, 32)


def i0(x) -> ndarray:
    """Return the modified Bessel function of the first kind, order 0."""
    x = to_array(x, "i0")
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    if not _i0_series:
        _fit_i0()
    x = uf.absolute(x.astype(np.float64))
    low = _clenshaw(x / 4 - 1, _i0_series["low"])
    safe = uf.maximum(x, 8.0)
    high = _clenshaw(16.0 / safe - 1, _i0_series["high"]) / uf.sqrt(safe)
    return (uf.exp(x) * engine.where(x <= 8, low, high)).astype(dtype, copy=False)


def _clenshaw(t, coefficients) -> ndarray:
    b1 = engine.full(t.shape, 0, t.dtype)
    b2 = b1
    for c in coefficients[:0:-1]:
        b1, b2 = 2 * t * b1 - b2 + float(c), b1
    return t * b1 - b2 + float(coefficients[0])


def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi) -> ndarray:
    """Remove jumps of more than half a period along an axis."""
    p = require_array(p, "unwrap")
    axis = normalize_axis_index(axis, p.ndim)
    steps = diff(p, axis=axis)
    discont = period / 2 if discont is None else discont
    dtype = np.result_type(steps.dtype, type(period)(0))
    if dtype.kind in "iu":
        high, rest = divmod(period, 2)
        boundary_ambiguous = rest == 0
    else:
        high, boundary_ambiguous = period / 2, True
    low = -high
    wrapped = (steps - low) % period + low
    if boundary_ambiguous:
        wrapped = engine.where((wrapped == low) & (steps > 0), high, wrapped)
    correction = engine.where(uf.absolute(steps) < discont, 0, wrapped - steps)
    result = p.astype(dtype)
    head = (slice(None),) * axis
    result[(*head, slice(1, None))] += correction.cumsum(axis)
    return result


def ptp(a, axis=None, out=None, keepdims=False) -> ndarray:
    """Return the range of values along axes: maximum minus minimum."""
    a = require_array(a, "ptp")
    return uf.subtract(a.max(axis, keepdims=keepdims), a.min(axis, keepdims=keepdims), out=out)


def packbits(a, axis=None, bitorder="big") -> ndarray:
    """Pack boolean elements into bytes along an axis."""
    a = require_array(a, "packbits")
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    _check_bitorder(bitorder)
    if axis is None:
        a, axis = a.ravel(), 0
    axis = normalize_axis_index(axis, a.ndim)
    bits = engine.moveaxis(a != 0, axis, -1)
    count = -(-bits.shape[-1] // 8)
    padded = zeros((*bits.shape[:-1], count * 8), np.uint8)
    padded[..., : bits.shape[-1]] = bits
    weights = 1 << (np.arange(8) if bitorder == "little" else np.arange(7, -1, -1))
    groups = padded.reshape((*bits.shape[:-1], count, 8)) * array(weights.astype(np.uint8))
    return engine.moveaxis(groups.sum(-1, dtype=np.uint8), -1, axis)


def unpackbits(a, axis=None, bitorder="big") -> ndarray:
    """Unpack bytes into bits along an axis."""
    a = require_array(a, "unpackbits")
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    _check_bitorder(bitorder)
    if axis is None:
        a, axis = a.ravel(), 0
    axis = normalize_axis_index(axis, a.ndim)
    moved = engine.moveaxis(a, axis, -1)
    places = (np.arange(8) if bitorder == "little" else np.arange(7, -1, -1)).astype(np.uint8)
    bits = (moved[..., None] >> array(places)) & np.uint8(1)
    return engine.moveaxis(bits.reshape((*moved.shape[:-1], moved.shape[-1] * 8)), -1, axis)


def _check_bitorder(bitorder) -> None:
    if bitorder not in ("big", "little"):
        raise ValueError("bitorder must be either 'big' or 'little'")


def _window(M: int, terms) -> ndarray:
    if M < 1:
        return array([])
    if M == 1:
        return engine.full((1,), 1.0, np.float64)
    phase = arange(0, M, 1, np.float64) * (2 * math.pi / (M - 1))
    result = engine.full((M,), terms[0], np.float64)
    for order, weight in enumerate(terms[1:], 1):
        result += weight * uf.cos(order * phase)
    return result


def hanning(M) -> ndarray:
    """Return the Hann window of `M` points."""
    return _window(M, (0.5, -0.5))


def hamming(M) -> ndarray:
    """Return the Hamming window of `M` points."""
    return _window(M, (0.54, -0.46))


def blackman(M) -> ndarray:
    """Return the Blackman window of `M` points."""
    return _window(M, (0.42, -0.5, 0.08))


def bartlett(M) -> ndarray:
    """Return the Bartlett (triangular) window of `M` points."""
    if M < 1:
        return array([])
    if M == 1:
        return engine.full((1,), 1.0, np.float64)
    n = arange(0, M, 1, np.float64)
    return 1 - uf.absolute(n * (2.0 / (M - 1)) - 1)


def kaiser(M, beta) -> ndarray:
    """Return the Kaiser window of `M` points."""
    if M < 1:
        return array([])
    if M == 1:
        return engine.full((1,), 1.0, np.float64)
    n = arange(0, M, 1, np.float64) * (2.0 / (M - 1)) - 1
    return i0(beta * uf.sqrt(uf.maximum(1 - n * n, 0.0))) / float(np.i0(beta))
