"""Functions of cffi modules: kernels do not call them."""

from __future__ import annotations

__all__ = ["SUPPORTED"]

SUPPORTED = False
