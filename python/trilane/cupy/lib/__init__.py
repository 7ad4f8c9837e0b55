"""Helpers that live under `lib` in NumPy: stride tricks."""

from __future__ import annotations

from trilane.cupy.lib import stride_tricks

__all__ = ["stride_tricks"]
