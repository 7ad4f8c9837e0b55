"""Exceptions that kernels raised, raised again in Python."""

from __future__ import annotations

from typing import Any

__all__ = ["Failures"]

_ZERO_DIVISION = 1 << 20  # sites that are no lines of the program: jit/translate.h
_ZERO_STEP = _ZERO_DIVISION + 1
_SHAPE = _ZERO_DIVISION + 2


class Failures:
    """Raises in Python what a kernel raised."""

    def __init__(self, dispatcher: Any, unit: Any) -> None:
        self.name = dispatcher.__name__
        self.raises = unit.raises
        self.keep_alive = unit.keep_alive

    def __call__(self, site: int, block: tuple[int, ...], thread: tuple[int, ...]) -> None:
        place = f"tid={list(thread)} ctaid={list(block)}"
        if site + 1 == _ZERO_DIVISION:
            raise ZeroDivisionError(f"{place}: division by zero")
        if site + 1 == _ZERO_STEP:
            raise ValueError(f"{place}: range() arg 3 must not be zero")
        if site + 1 == _SHAPE:
            raise ValueError(f"{place}: an array cannot be broadcast to the shape of its target")
        cls, args, where = self.raises[site]
        if args:
            raise cls(f"{place}: {args[0]} ({where})", *args[1:])
        raise cls(f"{place}: {where}")
