"""Compiler internals of Numba that are named here and refused at use: bytecode."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(
    __name__,
    "ByteCode ByteCodeInst FunctionIdentity _fix_LOAD_GLOBAL_arg",
)
