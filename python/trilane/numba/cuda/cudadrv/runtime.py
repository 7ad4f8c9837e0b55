"""Versions of the CUDA runtime library, which is not used."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(__name__, "Runtime get_version runtime")
