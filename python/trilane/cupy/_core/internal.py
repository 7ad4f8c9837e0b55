"""Helpers of CuPy's private `_core.internal` that its public `testing` imports."""

from __future__ import annotations

from collections.abc import Iterable


def prod(args: Iterable[int], init: int = 1) -> int:
    """Product of ints."""
    for arg in args:
        init *= arg
    return init


def get_size(size) -> tuple[int, ...]:
    """A size as a tuple."""
    return (int(size),) if isinstance(size, int) else tuple(size)
