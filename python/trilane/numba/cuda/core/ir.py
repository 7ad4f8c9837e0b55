"""Compiler internals of Numba that are named here and refused at use: ir."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(
    __name__,
    "Assign Block Expr FunctionIR Global Loc Var Const",
)
