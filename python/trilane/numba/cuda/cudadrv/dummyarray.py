"""Shapes and strides without memory; device arrays have their own here."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(__name__, "Array Dim Extent iter_strides_c_contig")
