"""The devices that tests are stamped for: one context per kind of device present."""

from __future__ import annotations

import os
from functools import cache


@cache
def device_types() -> list[str]:
    """Kinds of the devices that this process uses: the one that TRILANE_DEVICE or the core chose."""
    from trilane import _core

    named = os.environ.get("TRILANE_DEVICE", "").split(":")[0]
    there = [kind for kind, count, _reason in _core.device_types() if count]
    return [kind for kind in there if kind == named] if named else there[:1]


@cache
def context_of(kind: str) -> object:
    """The first context of this kind."""
    from trilane import _core

    for index in range(_core.device_count()):
        context = _core.context_of(index)
        if context.properties.type == kind:
            return context
    raise LookupError(f"no device of kind {kind}")
