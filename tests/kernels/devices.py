"""The devices that tests are stamped for: one context per kind of device present."""

from __future__ import annotations

from functools import cache


@cache
def device_types() -> list[str]:
    """Kinds with at least one device, "cpu" or "cuda" or both."""
    from trilane import _core

    return [kind for kind, count, _reason in _core.device_types() if count]


@cache
def context_of(kind: str) -> object:
    """The first context of this kind."""
    from trilane import _core

    for index in range(_core.device_count()):
        context = _core.context_of(index)
        if context.properties.type == kind:
            return context
    raise LookupError(f"no device of kind {kind}")
