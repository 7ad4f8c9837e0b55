"""pad(): borders of arrays, axis by axis."""

from __future__ import annotations

import numpy as np

from trilane.cupy._creation import arange, array
from trilane.cupy._engine import engine, engine_take, ndarray

_ALLOWED = {
    "constant": {"constant_values"},
    "edge": set(),
    "linear_ramp": {"end_values"},
    "maximum": {"stat_length"},
    "mean": {"stat_length"},
    "median": {"stat_length"},
    "minimum": {"stat_length"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "wrap": set(),
    "empty": set(),
}


def _pairs(value, ndim: int, integral: bool) -> list[tuple]:
    """One (before, after) per axis."""
    if isinstance(value, dict):
        pairs = [(0, 0)] * ndim
        for axis, item in value.items():
            pairs[axis] = (item, item) if np.ndim(item) == 0 else tuple(item)
        return pairs
    value = value.get() if isinstance(value, ndarray) else value
    values = np.asarray(value)
    if integral:
        if values.dtype.kind not in "iu":
            raise TypeError("`pad_width` must be of integral type.")
        if values.size and values.min() < 0:
            raise ValueError("index can't contain negative values")
    return [tuple(row) for row in np.broadcast_to(values, (ndim, 2)).tolist()]


def pad_array(a: ndarray, pad_width, mode, kwargs: dict) -> ndarray:
    """See `pad`."""
    widths = _pairs(pad_width, a.ndim, True)
    if callable(mode):
        return _pad_by_function(a, widths, mode, kwargs)
    if mode not in _ALLOWED:
        raise ValueError(f"mode {mode!r} is not supported")
    unknown = set(kwargs) - _ALLOWED[mode]
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    if mode not in ("constant", "empty"):
        for axis, width in enumerate(widths):
            if a.shape[axis] == 0 and max(width) > 0:
                raise ValueError(
                    f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
                )
    if (
        mode in ("edge", "wrap", "reflect", "symmetric")
        and kwargs.get("reflect_type", "even") == "even"
    ):
        for axis, width in enumerate(widths):
            if max(width) > 0:
                places = _places(mode, a.shape[axis], width)
                a = engine_take(a, array(places), axis, None, "raise")
        return a.copy() if not any(max(w) for w in widths) else a
    if mode in ("reflect", "symmetric"):
        for axis, width in enumerate(widths):
            a = _odd_reflection(a, axis, width, mode == "reflect")
        return a
    return _framed(a, widths, mode, kwargs)


def _places(mode: str, n: int, width) -> np.ndarray:
    """Where each element along the padded axis comes from."""
    index = np.arange(-width[0], n + width[1])
    if mode == "edge":
        return np.clip(index, 0, n - 1)
    if mode == "wrap":
        return index % n
    if mode == "symmetric":
        index = index % (2 * n)
        return np.where(index < n, index, 2 * n - 1 - index)
    if n == 1:
        return np.zeros_like(index)
    index = index % (2 * n - 2)
    return np.where(index < n, index, 2 * n - 2 - index)


def _odd_reflection(a, axis, width, skip_edge: bool) -> ndarray:
    """Reflection in value as well as in place, chunk by chunk."""
    before, after = width
    head = (slice(None),) * axis
    while before or after:
        n = a.shape[axis]
        span = n - 1 if skip_edge and n > 1 else n
        parts = [a]
        start = 1 if skip_edge and n > 1 else 0
        if before:
            count = min(before, span)
            chunk = a[(*head, slice(start, start + count))][(*head, slice(None, None, -1))]
            parts.insert(0, 2 * a[(*head, slice(0, 1))] - chunk)
            before -= count
        if after:
            count = min(after, span)
            chunk = a[(*head, slice(n - start - count, n - start))][(*head, slice(None, None, -1))]
            parts.append(2 * a[(*head, slice(n - 1, n))] - chunk)
            after -= count
        a = engine.concatenate(parts, axis).astype(a.dtype, copy=False)
    return a


def _framed(a, widths, mode, kwargs) -> ndarray:
    """Modes that fill borders by values: constant, empty, linear_ramp and the statistics."""
    for axis, width in enumerate(widths):
        if not max(width):
            continue
        sides = [_border(a, axis, width, side, mode, kwargs) for side in (0, 1)]
        a = engine.concatenate([sides[0], a, sides[1]], axis)
    return a if any(max(w) for w in widths) else a.copy()


def _border(a, axis, width, side: int, mode, kwargs) -> ndarray:
    shape = a.shape[:axis] + (width[side],) + a.shape[axis + 1 :]
    head = (slice(None),) * axis
    if mode == "empty":
        return engine.empty(shape, a.dtype)
    if mode == "constant":
        value = _pairs(kwargs.get("constant_values", 0), a.ndim, False)[axis][side]
        result = engine.empty(shape, a.dtype)
        engine.copyto(result, value, "unsafe")
        return result
    edge = a[(*head, slice(0, 1) if side == 0 else slice(a.shape[axis] - 1, None))]
    if mode == "linear_ramp":
        end = _pairs(kwargs.get("end_values", 0), a.ndim, False)[axis][side]
        return _ramp(edge, end, width[side], axis, side, a.dtype)
    length = kwargs.get("stat_length")
    if length is not None:
        length = _pairs(length, a.ndim, True)[axis][side]
        if length == 0 and mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        length = min(length, a.shape[axis])
        area = a[(*head, slice(0, length) if side == 0 else slice(a.shape[axis] - length, None))]
    else:
        area = a
    if mode in ("maximum", "minimum"):
        value = engine.reduce(mode[:3], area, axis, None, None, True)
    else:
        from trilane.cupy._statistics import median

        value = (
            area.mean(axis=axis, keepdims=True)
            if mode == "mean"
            else median(area, axis, keepdims=True)
        )
        if a.dtype.kind in "iu":
            value = engine.ufuncs["rint"](value)
    return engine.broadcast_to(value, shape).astype(a.dtype)


def _ramp(edge, end, count: int, axis: int, side: int, dtype) -> ndarray:
    steps = arange(0, count, 1, np.float64)
    fraction = steps / count if count else steps
    shape = [1] * edge.ndim
    shape[axis] = count
    if side == 0:
        values = end + (edge - end) * fraction.reshape(tuple(shape))
    else:
        fraction = (steps + 1) / count if count else steps
        values = edge + (end - edge) * fraction.reshape(tuple(shape))
    if dtype.kind in "iu":
        values = engine.ufuncs["trunc"](values)
    return values.astype(dtype)


def _pad_by_function(a, widths, function, kwargs) -> ndarray:
    shape = tuple(e + b + f for e, (b, f) in zip(a.shape, widths))
    result = engine.full(shape, 0, a.dtype)
    inside = tuple(slice(b, b + e) for e, (b, _) in zip(a.shape, widths))
    result[inside] = a
    for axis, width in enumerate(widths):
        view = engine.moveaxis(result, axis, -1)
        for place in np.ndindex(*view.shape[:-1]):
            function(view[place], width, axis, kwargs)
    return result
