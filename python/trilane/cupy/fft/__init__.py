"""Fourier transforms. Frequencies and shifts are here; transforms wait for the library interface."""

from __future__ import annotations

import numpy as np

from trilane._missing import missing
from trilane._missing import no_attribute as _no_attribute
from trilane.cupy._creation import array
from trilane.cupy._engine import ndarray
from trilane.cupy._helpers import normalize_axis_tuple, require_array
from trilane.cupy._manipulation import roll

_MISSING = frozenset(
    """fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft config""".split()
)

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


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


def __getattr__(name: str):
    if name in _MISSING:
        raise missing(f"cupy.fft.{name} (the device's FFT library interface)")
    raise _no_attribute(__name__, name)
