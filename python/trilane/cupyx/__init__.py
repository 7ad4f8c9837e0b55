"""What CuPy has beyond NumPy: scattered updates, rsqrt, pinned arrays, error states."""

from __future__ import annotations

import importlib as _importlib

from trilane._missing import missing as _missing
from trilane._missing import no_attribute as _no_attribute
from trilane.cupy._error_state import errstate, geterr, seterr
from trilane.cupyx._pinned import (
    empty_like_pinned,
    empty_pinned,
    zeros_like_pinned,
    zeros_pinned,
)
from trilane.cupyx._runtime import get_runtime_info
from trilane.cupyx._scatter import rsqrt, scatter_add, scatter_max, scatter_min

_LAZY = frozenset({"jit", "profiler", "scipy"})
_MISSING = frozenset(
    """signal distributed optimizing cutensor cusolver cusparse cublas lapack linalg tools time""".split()
)

__all__ = [
    "GeneralizedUFunc",  # noqa: F822 (given by __getattr__)
    "empty_like_pinned",
    "empty_pinned",
    "errstate",
    "get_runtime_info",
    "geterr",
    "rsqrt",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "seterr",
    "zeros_like_pinned",
    "zeros_pinned",
]


def __getattr__(name: str):
    if name == "GeneralizedUFunc":
        return _importlib.import_module("trilane.cupy._core._gufuncs").GeneralizedUFunc
    if name in _LAZY:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _MISSING:
        raise _missing(f"cupyx.{name}")
    raise _no_attribute(__name__, name)
