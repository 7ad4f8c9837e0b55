"""Registration of code for functions of one's own: what uses them is refused when it is compiled."""

from __future__ import annotations

from typing import Any

from trilane.numba.absent import absent_attributes

__all__ = ["lower", "lower_attr"]


def lower(function: Any, *argument_types: Any) -> Any:
    """Register how a call of `function` is compiled; kernels here are never compiled that way."""
    return lambda implementation: implementation


lower_attr = lower

__getattr__ = absent_attributes(__name__, "registry")
