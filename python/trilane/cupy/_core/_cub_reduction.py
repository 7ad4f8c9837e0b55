"""Constant of CuPy's private `_cub_reduction` that other modules read."""

from __future__ import annotations

_CUB_REDUCE_SIZE_THRESHOLD = 32768
