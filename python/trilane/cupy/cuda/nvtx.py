"""Ranges and marks for an outside profiler, by the protocol of NVTX 3.

They reach the library that ``NVTX_INJECTION64_PATH`` names, as profilers set it. ``available`` says
whether there is one; without one they cost next to nothing.
"""

from __future__ import annotations

from trilane import _core

# Of `id_color`: ARGB.
_COLORS = (
    0xFF2E9E4F,
    0xFF2F6FDE,
    0xFFE0A21B,
    0xFFC7362F,
    0xFF8A4FC9,
    0xFF1FA7A0,
    0xFFD9599F,
    0xFF8B8B8B,
)


def _color(number: int) -> int | None:
    return None if number < 0 else _COLORS[number % len(_COLORS)]


def Mark(message: str, id_color: int = -1) -> None:
    """Mark an instant.

    Parameters
    ----------
    message : str
    id_color : int
        Of a table of colours; negative: the profiler's choice.
    """
    _core.nvtx_mark(message, _color(id_color))


def MarkC(message: str, color: int = 0) -> None:
    """Mark an instant with a colour, ARGB."""
    _core.nvtx_mark(message, color)


def RangePush(message: str, id_color: int = -1) -> None:
    """Open a range; ranges of a thread nest. Colours as of `Mark`."""
    _core.nvtx_push(message, _color(id_color))


def RangePushC(message: str, color: int = 0) -> None:
    """Open a range with a colour, ARGB."""
    _core.nvtx_push(message, color)


def RangePop() -> None:
    """Close the range that this thread opened last."""
    _core.nvtx_pop()


def RangeStart(message: str, color: int | None = None) -> int:
    """Open a range that may overlap others and end in another thread.

    Parameters
    ----------
    message : str
    color : int, optional
        ARGB.

    Returns
    -------
    int
        For `RangeEnd`; 0 where no profiler is.
    """
    return _core.nvtx_start(message, color)


def RangeEnd(range_id: int) -> None:
    """Close what `RangeStart` opened."""
    _core.nvtx_end(range_id)


def __getattr__(name: str) -> bool:
    if name == "available":
        return _core.nvtx_listening()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), "available"]
