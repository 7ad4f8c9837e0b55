"""Settings of transforms, as far as they mean something: plans are kept by no library here."""

from __future__ import annotations

import sys
import types
import warnings

from trilane._missing import no_attribute

_nd_planning = True


def clear_plan_cache() -> None:
    """Forget the plans: there are none."""


def show_plan_cache_info() -> None:
    """Print the state of the cache of plans."""
    print("cache enabled? False: transforms keep no plans")


def set_cufft_gpus(gpus) -> None:
    """Not there: a transform runs on one device."""
    raise NotImplementedError("cupy.fft.config.set_cufft_gpus: transforms over several devices")


class _Config(types.ModuleType):
    """The module, with settings that answer."""

    @property
    def use_multi_gpus(self) -> bool:
        """Whether transforms use several devices: never."""
        return False

    @use_multi_gpus.setter
    def use_multi_gpus(self, value) -> None:
        if value:
            raise NotImplementedError("cupy.fft.config.use_multi_gpus = True")

    @property
    def enable_nd_planning(self) -> bool:
        """Kept, and of no effect; deprecated as in CuPy."""
        _warn()
        return _nd_planning

    @enable_nd_planning.setter
    def enable_nd_planning(self, value) -> None:
        global _nd_planning
        _warn()
        _nd_planning = bool(value)

    def __getattr__(self, name: str):
        raise no_attribute(__name__, name)


def _warn() -> None:
    warnings.warn("enable_nd_planning is deprecated: it has no effect", DeprecationWarning, 3)


sys.modules[__name__].__class__ = _Config
