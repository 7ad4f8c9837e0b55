"""Warnings of CuPy's private `_util` that users filter."""

from __future__ import annotations

# Slicing with a copy by hand of arrays: never needed here.
ENABLE_SLICE_COPY = False


class PerformanceWarning(RuntimeWarning):
    """Something works, but slowly."""


def is_shutting_down() -> bool:
    """Whether the interpreter is ending."""
    import sys

    return sys.is_finalizing()
