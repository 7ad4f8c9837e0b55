"""NVTX marks: accepted and ignored, as CuPy does where no profiler listens."""

from __future__ import annotations

available = False


def Mark(message: str, id_color: int = -1) -> None:
    """Mark an instant."""


def MarkC(message: str, color: int = 0) -> None:
    """Mark an instant with a colour."""


def RangePush(message: str, id_color: int = -1) -> None:
    """Open a range; ranges nest."""


def RangePushC(message: str, color: int = 0) -> None:
    """Open a range with a colour."""


def RangePop() -> None:
    """Close the range that was opened last."""
