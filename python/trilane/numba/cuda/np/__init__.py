"""Between NumPy and kernels' types."""

from __future__ import annotations

from trilane.numba.cuda.np import numpy_support

__all__ = ["numpy_support"]
