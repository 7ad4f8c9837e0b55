"""Compilation to PTX and to LLVM's text, which kernels here do not pass through."""

from __future__ import annotations

from trilane.numba.absent import absent_attributes

__getattr__ = absent_attributes(
    __name__,
    "CompilerBase PassManager compile compile_all compile_for_current_device compile_ptx "
    "compile_ptx_for_current_device run_frontend",
)
