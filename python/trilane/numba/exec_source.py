"""Source text of functions that no file holds: made by `exec`, or given to ``python -c``.

Python tells its audit hooks the text of everything that it compiles. A bounded number of texts
that are no files are kept, so that a kernel made of a format string can be read.
"""

from __future__ import annotations

import sys
from collections import deque
from types import CodeType
from typing import Any

__all__ = ["recorded_texts", "start_recording"]

# A text is kept if it is shorter than the first; all kept ones together are below the second.
_LONGEST, _MOST = 1 << 16, 4 << 20
_texts: deque[str | bytes] = deque()
_size = 0
_started = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    global _size
    if event != "compile":
        return
    text, file = arguments[0], arguments[1]
    if not isinstance(text, (str, bytes)) or len(text) > _LONGEST:
        return
    if isinstance(file, bytes):
        file = file.decode(errors="replace")
    if isinstance(file, str) and file.startswith("<"):
        _texts.append(text)
        _size += len(text)
        while _size > _MOST:
            _size -= len(_texts.popleft())


def start_recording() -> None:
    """From now on texts given to `exec` and `compile` are remembered. Again: does nothing."""
    global _started
    if not _started:
        _started = True
        sys.addaudithook(_hook)


def recorded_texts(code: CodeType) -> list[str]:
    """Texts that may define `code`, the latest first."""
    found = []
    for text in list(_texts)[::-1]:
        plain = text if isinstance(text, str) else text.decode(errors="replace")
        if code.co_name == "<lambda>" or code.co_name in plain:
            found.append(plain)
    arguments = getattr(sys, "orig_argv", [])
    if "-c" in arguments[:-1]:
        found.append(arguments[arguments.index("-c") + 1])
    return found
