"""The version of CuPy whose API this face follows."""

from __future__ import annotations

__version__ = "14.2.0"
