"""Reductions made of a binary function."""

from __future__ import annotations

from trilane.numba.cuda.reduction import Reduce

__all__ = ["Reduce"]
