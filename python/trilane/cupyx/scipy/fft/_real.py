"""Cosine and sine transforms of types 1 to 4, each by one Fourier transform of extended values.

With N values x, and all sums over n:

======  ==========================================================  ==========
type    y[k]                                                        period
======  ==========================================================  ==========
dct 1   x[0] + (-1)^k x[N-1] + 2 sum x[n] cos(pi k n / (N-1))       2 (N - 1)
dct 2   2 sum x[n] cos(pi k (2n+1) / 2N)                            2 N
dct 3   x[0] + 2 sum x[n] cos(pi (2k+1) n / 2N)                     2 N
dct 4   2 sum x[n] cos(pi (2k+1) (2n+1) / 4N)                       2 N
dst 1   2 sum x[n] sin(pi (k+1) (n+1) / (N+1))                      2 (N + 1)
dst 2   2 sum x[n] sin(pi (k+1) (2n+1) / 2N)                        2 N
dst 3   (-1)^k x[N-1] + 2 sum x[n] sin(pi (2k+1) (n+1) / 2N)        2 N
dst 4   2 sum x[n] sin(pi (2k+1) (2n+1) / 4N)                       2 N
======  ==========================================================  ==========
"""

from __future__ import annotations

import numpy as np

from trilane.cupy._creation import array
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import normalize_axis_index, normalize_axis_tuple, require_array
from trilane.cupy.fft._fft import fft, ifft, real_dtype, rfft, zero_padded

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_ROOT_2 = float(np.sqrt(2.0))


def _phases(angles, dtype) -> ndarray:
    """exp(i angle) on the device, computed in double precision."""
    return array(np.exp(1j * angles).astype(dtype.char.upper()))


def _signs(n: int, dtype) -> ndarray:
    return array(np.where(np.arange(n) % 2 == 0, 1, -1).astype(dtype))


def _scaled_at(x, place: int, factor: float) -> ndarray:
    """The values with one of the last axis multiplied."""
    weights = np.ones(x.shape[-1], x.dtype)
    weights[place] = factor
    return x * array(weights)


# Each takes and gives real values along the last axis.
def _dct1(x) -> ndarray:
    inner = x[..., -2:0:-1]
    return rfft(engine.concatenate([x, inner], -1), axis=-1).real


def _dct2(x) -> ndarray:
    n = x.shape[-1]
    folded = engine.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], -1)
    return 2 * (fft(folded) * _phases(-np.pi * np.arange(n) / (2 * n), x.dtype)).real


def _dct3(x) -> ndarray:
    n = x.shape[-1]
    turned = _scaled_at(x, 0, 0.5) * _phases(np.pi * np.arange(n) / (2 * n), x.dtype)
    return 2 * ifft(turned, 2 * n, norm="forward")[..., :n].real


def _dct4(x) -> ndarray:
    n = x.shape[-1]
    turned = x * _phases(-np.pi * np.arange(n) / (2 * n), x.dtype)
    back = _phases(-np.pi * (2 * np.arange(n) + 1) / (4 * n), x.dtype)
    return 2 * (fft(turned, 2 * n)[..., :n] * back).real


def _dst1(x) -> ndarray:
    zero = engine.full(x.shape[:-1] + (1,), 0, x.dtype)
    odd = engine.concatenate([zero, x, zero, -x[..., ::-1]], -1)
    return -rfft(odd)[..., 1 : x.shape[-1] + 1].imag


def _dst2(x) -> ndarray:
    return _dct2(x * _signs(x.shape[-1], x.dtype))[..., ::-1]


def _dst3(x) -> ndarray:
    return _dct3(x[..., ::-1]) * _signs(x.shape[-1], x.dtype)


def _dst4(x) -> ndarray:
    return _dct4(x[..., ::-1]) * _signs(x.shape[-1], x.dtype)


_RULES = {
    ("dct", 1): _dct1, ("dct", 2): _dct2, ("dct", 3): _dct3, ("dct", 4): _dct4,
    ("dst", 1): _dst1, ("dst", 2): _dst2, ("dst", 3): _dst3, ("dst", 4): _dst4,
}  # fmt: skip


def _orthogonal(kind: str, type: int, x) -> ndarray:
    """The transform that is, but for a factor, an orthogonal matrix."""
    first = 0 if kind == "dct" else -1
    rule = _RULES[kind, type]
    if type == 3:
        return rule(_scaled_at(x, first, _ROOT_2))
    if type == 2:
        return _scaled_at(rule(x), first, 1 / _ROOT_2)
    if (kind, type) == ("dct", 1):
        x = _scaled_at(_scaled_at(x, 0, _ROOT_2), -1, _ROOT_2)
        return _scaled_at(_scaled_at(rule(x), 0, 1 / _ROOT_2), -1, 1 / _ROOT_2)
    return rule(x)


def _transform(kind: str, x, type, n, axis, norm, inverse: bool) -> ndarray:
    x = require_array(x, kind)
    if type not in _INVERSE:
        raise ValueError(f"{kind}: type: got {type!r}, expected 1, 2, 3 or 4")
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(
            f'Invalid norm value {norm!r}, should be "backward", "ortho", or "forward".'
        )
    axis = normalize_axis_index(axis, x.ndim)
    n = x.shape[axis] if n is None else n
    least = 2 if (kind, type) == ("dct", 1) else 1
    if n < least:
        raise ValueError(f"Invalid number of data points ({n}) specified.")
    if x.dtype.kind == "c":
        parts = [_transform(kind, p, type, n, axis, norm, inverse) for p in (x.real, x.imag)]
        return (parts[0] + 1j * parts[1]).astype(x.dtype, copy=False)
    x = x.astype(real_dtype(x.dtype), copy=False)
    x = engine.moveaxis(zero_padded(x, n, axis), axis, -1)
    type = _INVERSE[type] if inverse else type
    period = 2 * (n + {("dct", 1): -1, ("dst", 1): 1}.get((kind, type), 0))
    if norm == "ortho":
        result = _orthogonal(kind, type, x) * x.dtype.type(1 / np.sqrt(period))
    else:
        result = _RULES[kind, type](x)
        if (norm == "forward") != inverse:
            result = result * x.dtype.type(1 / period)
    return engine.moveaxis(result, -1, axis)


def _over_axes(kind: str, x, type, s, axes, norm, inverse: bool) -> ndarray:
    x = require_array(x, kind)
    if s is not None and not isinstance(s, (tuple, list)):
        s = (s,)
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = normalize_axis_tuple(axes, x.ndim, "axes")
    if s is not None and len(s) != len(axes):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    for i, axis in enumerate(axes):
        x = _transform(kind, x, type, None if s is None else s[i], axis, norm, inverse)
    return x


def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False) -> ndarray:
    """Return the discrete cosine transform along an axis.

    Parameters
    ----------
    x : ndarray
        float16 and float32 give float32, complex values their dtype, others float64.
    type : {1, 2, 3, 4}
    n : int, optional
        Length: `x` is cut, or filled up with zeros.
    axis : int
    norm : {None, 'backward', 'ortho', 'forward'}
        None, 'backward': the inverse is divided by the period. 'ortho': an orthogonal matrix.
    overwrite_x : bool
        Without effect.
    """
    return _transform("dct", x, type, n, axis, norm, False)


def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False) -> ndarray:
    """Return the inverse of `dct`."""
    return _transform("dct", x, type, n, axis, norm, True)


def dst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False) -> ndarray:
    """Return the discrete sine transform along an axis; parameters as of `dct`."""
    return _transform("dst", x, type, n, axis, norm, False)


def idst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False) -> ndarray:
    """Return the inverse of `dst`."""
    return _transform("dst", x, type, n, axis, norm, True)


def dctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False) -> ndarray:
    """Return the cosine transform over axes, all by default; parameters as of `dct`."""
    return _over_axes("dct", x, type, s, axes, norm, False)


def idctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False) -> ndarray:
    """Return the inverse of `dctn`."""
    return _over_axes("dct", x, type, s, axes, norm, True)


def dstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False) -> ndarray:
    """Return the sine transform over axes, all by default; parameters as of `dct`."""
    return _over_axes("dst", x, type, s, axes, norm, False)


def idstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False) -> ndarray:
    """Return the inverse of `dstn`."""
    return _over_axes("dst", x, type, s, axes, norm, True)
