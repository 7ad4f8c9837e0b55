"""How arguments of a launch are held: `wrap_arg` and the hints."""

from __future__ import annotations

from typing import Any

from trilane.numba.cuda.hints import ArgHint, In, InOut, Out

__all__ = ["ArgHint", "In", "InOut", "Out", "wrap_arg"]


def wrap_arg(value: Any, default: type[ArgHint] = InOut) -> ArgHint:
    """`value` if it is a hint already, else `value` as `default`."""
    return value if isinstance(value, ArgHint) else default(value)
