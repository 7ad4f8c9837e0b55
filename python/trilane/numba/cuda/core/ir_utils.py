"""Compiler internals of Numba that are named here and refused at use: ir_utils."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(
    __name__,
    "apply_copy_propagate copy_propagate get_name_var_table",
)
