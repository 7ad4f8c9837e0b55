"""Start and stop marks for an outside profiler."""

from __future__ import annotations


def start() -> None:
    """Tell an outside profiler to start; does nothing where there is none."""


def stop() -> None:
    """Tell an outside profiler to stop; does nothing where there is none."""
