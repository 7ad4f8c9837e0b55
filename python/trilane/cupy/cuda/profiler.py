"""Start and stop marks for an outside profiler."""

from __future__ import annotations

from trilane import _core


def start() -> None:
    """Let an outside profiler collect from now on; does nothing where there is none."""
    _core.start_profiler()


def stop() -> None:
    """End what `start` began."""
    _core.stop_profiler()
