"""Compiler internals of Numba that are named here and refused at use: nvvm."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(
    __name__,
    "LibDevice NVVM compile_ir nvvmError CompilationUnit get_arch_option",
)
