"""`In`, `Out` and `InOut`: which way a host array travels for one launch."""

from __future__ import annotations

from typing import Any

__all__ = ["ArgHint", "In", "InOut", "Out"]


class ArgHint:
    """A host array with the way that it travels."""

    copy_in = True
    copy_out = True

    def __init__(self, value: Any) -> None:
        self.value = value


class In(ArgHint):
    """To the device only."""

    copy_out = False


class Out(ArgHint):
    """From the device only: what the kernel does not write is undefined afterwards."""

    copy_in = False


class InOut(ArgHint):
    """Both ways."""
