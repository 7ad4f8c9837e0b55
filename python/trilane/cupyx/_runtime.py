"""Facts about the runtime, ready to print."""

from __future__ import annotations

import contextlib
import io


class _RuntimeInfo:
    """What `get_runtime_info` returns; ``str()`` is the text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def get_runtime_info(*, full: bool = True) -> _RuntimeInfo:
    """Return versions and devices."""
    from trilane.cupy import show_config

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show_config()
    return _RuntimeInfo(text.getvalue())
