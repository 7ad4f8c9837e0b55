"""Compiler internals of Numba that are named here and refused at use: castgraph."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(
    __name__,
    "CastGraph",
)
