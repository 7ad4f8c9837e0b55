"""CUDA's mathematical functions by libdevice's names, for use in kernels."""

from __future__ import annotations

from typing import Any

from trilane.numba.cuda.stubs import Builtin

_cache: dict[str, Builtin] = {}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return _cache.setdefault(name, Builtin("libdevice." + name))
