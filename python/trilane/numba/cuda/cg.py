"""Cooperative groups: `cg.this_grid().sync()` in kernels launched as one."""

from __future__ import annotations

from trilane._missing import missing_attributes as _missing_attributes
from trilane.numba.cuda.stubs import Builtin

this_grid = Builtin("cg.this_grid")

__all__ = ["this_grid"]

__getattr__ = _missing_attributes(__name__)
