"""numba.core: errors, config and types."""

from __future__ import annotations

from trilane.numba import types
from trilane.numba.core import config, errors

__all__ = ["config", "errors", "types"]
