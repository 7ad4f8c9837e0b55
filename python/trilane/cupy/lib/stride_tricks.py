"""Views by shape and strides."""

from __future__ import annotations

from trilane.cupy._engine import as_strided as _as_strided
from trilane.cupy._engine import ndarray
from trilane.cupy._helpers import require_array
from trilane.cupy._manipulation import sliding_window_view

__all__ = ["as_strided", "sliding_window_view"]


def as_strided(x, shape=None, strides=None) -> ndarray:
    """Return a view with any shape and strides (bytes); nothing is checked."""
    x = require_array(x, "as_strided")
    shape = x.shape if shape is None else tuple(shape)
    strides = x.strides if strides is None else tuple(strides)
    return _as_strided(x, shape, strides)
