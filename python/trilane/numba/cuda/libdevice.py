"""CUDA's mathematical functions by libdevice's names, for use in kernels."""

from __future__ import annotations

from typing import Any

from trilane._missing import no_attribute, peer_names
from trilane.numba.cuda.stubs import Builtin

_cache: dict[str, Builtin] = {}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    if name not in peer_names("numba")[1]["numba.cuda.libdevice"]:
        raise no_attribute(__name__, name)
    return _cache.setdefault(name, Builtin("libdevice." + name))
