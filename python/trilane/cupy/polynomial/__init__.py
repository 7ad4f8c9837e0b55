"""Power series: NumPy's `numpy.polynomial`, as far as CuPy has it."""

from __future__ import annotations

from trilane._missing import missing_attributes
from trilane.cupy.polynomial import polynomial, polyutils

__all__ = ["polynomial", "polyutils"]

__getattr__ = missing_attributes(__name__)
