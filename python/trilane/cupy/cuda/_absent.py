"""Libraries that CuPy's `cuda` namespace shows and that are not there: `available` is False."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from trilane._missing import missing

NAMES = frozenset(
    """cub cublas curand cusolver cusparse cusparselt cutensor cufft jitify nccl nvrtc thrust""".split()
)


class AbsentLibrary(ModuleType):
    """A module of which only ``available = False`` is there."""

    available = False

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(f"{self.__name__}.{name}")


def library(name: str) -> AbsentLibrary:
    """The module of an absent library, the same one each time."""
    full_name = f"trilane.cupy.cuda.{name}"
    module = sys.modules.get(full_name)
    if not isinstance(module, AbsentLibrary):
        module = AbsentLibrary(f"cupy.cuda.{name}", "A library that is not there.")
        module.__spec__ = ModuleSpec(full_name, None)
        sys.modules[full_name] = module
    return module
