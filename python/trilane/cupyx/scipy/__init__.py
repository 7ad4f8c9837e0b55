"""The namespace of SciPy's functions for device arrays; fft, fftpack, special; others are to come."""

from __future__ import annotations

import importlib

from trilane._missing import missing
from trilane._missing import no_attribute as _no_attribute
from trilane.cupy._convert import get_array_module as _get_array_module

_LAZY = frozenset({"fft", "fftpack", "sparse", "special"})
_MISSING = frozenset("interpolate linalg ndimage optimize signal spatial stats".split())


def get_array_module(*args):
    """Return this module if any argument is a device array, `scipy` if none is."""
    import numpy

    if _get_array_module(*args) is not numpy:
        import trilane.cupyx.scipy

        return trilane.cupyx.scipy
    import scipy

    return scipy


def __getattr__(name: str):
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _MISSING:
        raise missing(f"cupyx.scipy.{name}")
    raise _no_attribute(__name__, name)
