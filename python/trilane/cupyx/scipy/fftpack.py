"""Fourier transforms by the names and storage of `scipy.fftpack`."""

from __future__ import annotations

from trilane._missing import missing_attributes as _missing_attributes
from trilane.cupy._engine import engine, ndarray
from trilane.cupy._helpers import normalize_axis_index, require_array
from trilane.cupy.fft import _fft
from trilane.cupyx.scipy.fft._fft import _in, get_fft_plan

__all__ = [
    "fft", "fft2", "fftn", "get_fft_plan", "ifft", "ifft2", "ifftn", "irfft", "rfft",
]  # fmt: skip


def fft(x, n=None, axis=-1, overwrite_x=False, plan=None) -> ndarray:
    """Return the transform along an axis."""
    with _in(plan):
        return _fft.fft(x, n, axis)


def ifft(x, n=None, axis=-1, overwrite_x=False, plan=None) -> ndarray:
    """Return the inverse transform along an axis."""
    with _in(plan):
        return _fft.ifft(x, n, axis)


def fft2(x, shape=None, axes=(-2, -1), overwrite_x=False, plan=None) -> ndarray:
    """Return the transform over two axes."""
    with _in(plan):
        return _fft.fft2(x, shape, axes)


def ifft2(x, shape=None, axes=(-2, -1), overwrite_x=False, plan=None) -> ndarray:
    """Return the inverse transform over two axes."""
    with _in(plan):
        return _fft.ifft2(x, shape, axes)


def fftn(x, shape=None, axes=None, overwrite_x=False, plan=None) -> ndarray:
    """Return the transform over axes."""
    with _in(plan):
        return _fft.fftn(x, shape, axes)


def ifftn(x, shape=None, axes=None, overwrite_x=False, plan=None) -> ndarray:
    """Return the inverse transform over axes."""
    with _in(plan):
        return _fft.ifftn(x, shape, axes)


def rfft(x, n=None, axis=-1, overwrite_x=False, plan=None) -> ndarray:
    """Return the transform of real values as real ones: y[0], Re y[1], Im y[1], Re y[2], ..."""
    x = require_array(x, "rfft")
    if x.dtype.kind == "c":
        raise TypeError("rfft: x: got complex values, expected real ones")
    axis = normalize_axis_index(axis, x.ndim)
    n = x.shape[axis] if n is None else n
    with _in(plan):
        terms = engine.moveaxis(_fft.rfft(x, n, axis), axis, -1)
    result = engine.empty(terms.shape[:-1] + (n,), _fft.real_dtype(x.dtype), "C")
    result[..., 0] = terms[..., 0].real
    result[..., 1::2] = terms[..., 1:].real
    result[..., 2::2] = terms[..., 1 : (n - 1) // 2 + 1].imag
    return engine.moveaxis(result, -1, axis)


def irfft(x, n=None, axis=-1, overwrite_x=False) -> ndarray:
    """Return the real values whose `rfft` is given in its storage."""
    x = require_array(x, "irfft")
    if x.dtype.kind == "c":
        raise TypeError("irfft: x: got complex values, expected real ones")
    axis = normalize_axis_index(axis, x.ndim)
    n = _fft._length(x.shape[axis] if n is None else n)
    dtype = _fft.real_dtype(x.dtype)
    packed = engine.moveaxis(_fft.zero_padded(x.astype(dtype, copy=False), n, axis), axis, -1)
    terms = engine.full(packed.shape[:-1] + (n // 2 + 1,), 0, dtype.char.upper())
    terms.real[..., 0] = packed[..., 0]
    terms.real[..., 1:] = packed[..., 1::2]
    terms.imag[..., 1 : (n - 1) // 2 + 1] = packed[..., 2::2]
    return engine.moveaxis(_fft.irfft(terms, n, -1), -1, axis)


__getattr__ = _missing_attributes(__name__)
