"""Where the release has its settings, its errors and its compiler's parts."""

from __future__ import annotations

from trilane.numba.cuda.core import config, errors

__all__ = ["config", "errors"]
