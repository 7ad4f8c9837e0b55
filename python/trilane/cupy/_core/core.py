"""Names of CuPy's private `_core.core`."""

from __future__ import annotations

from trilane.cupy._creation import array
from trilane.cupy._engine import ndarray

__all__ = ["array", "ndarray"]
