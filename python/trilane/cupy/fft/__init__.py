"""Fourier transforms, their frequencies and shifts."""

from __future__ import annotations

import numpy as np

from trilane._missing import missing_attributes as _missing_attributes
from trilane.cupy._creation import array
from trilane.cupy._engine import ndarray
from trilane.cupy._helpers import normalize_axis_tuple, require_array
from trilane.cupy._manipulation import roll
from trilane.cupy.fft import config
from trilane.cupy.fft._fft import (
    fft,
    fft2,
    fftn,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)

__all__ = [
    "config",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def fftfreq(n, d=1.0, *, device=None) -> ndarray:
    """Return the frequencies of a transform of `n` points at distance `d`."""
    return array(np.fft.fftfreq(n, d))


def rfftfreq(n, d=1.0, *, device=None) -> ndarray:
    """Return the frequencies of a real transform of `n` points at distance `d`."""
    return array(np.fft.rfftfreq(n, d))


def fftshift(x, axes=None) -> ndarray:
    """Move the zero frequency to the middle."""
    x = require_array(x, "fftshift")
    axes = tuple(range(x.ndim)) if axes is None else normalize_axis_tuple(axes, x.ndim)
    return roll(x, tuple(x.shape[axis] // 2 for axis in axes), axes)


def ifftshift(x, axes=None) -> ndarray:
    """Undo `fftshift`."""
    x = require_array(x, "ifftshift")
    axes = tuple(range(x.ndim)) if axes is None else normalize_axis_tuple(axes, x.ndim)
    return roll(x, tuple(-(x.shape[axis] // 2) for axis in axes), axes)


__getattr__ = _missing_attributes(__name__)
