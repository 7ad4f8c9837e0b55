"""The type of a Python value."""

from __future__ import annotations

from trilane.numba.types import typeof

__all__ = ["typeof"]
