"""Compiler errors, where users look for them."""

from __future__ import annotations

from trilane.cupy.cuda._errors import CompileException

__all__ = ["CompileException"]
