"""Names of CuPy's private `_core.flags`."""

from __future__ import annotations

from trilane.cupy._flags import Flags

__all__ = ["Flags"]
