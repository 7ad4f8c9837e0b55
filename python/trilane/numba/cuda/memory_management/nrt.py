"""Numba's run-time memory system inside kernels: kernels here allocate nothing, so all counts are 0."""

from __future__ import annotations

from collections import namedtuple

from trilane.numba.absent import absent_attributes

__all__ = ["rtsys"]

_nrt_mstats = namedtuple("_nrt_mstats", "alloc free mi_alloc mi_free")


class _Runtime:
    """Counts of the memory that kernels allocated."""

    def __init__(self) -> None:
        self._enabled = False

    def memsys_enable_stats(self, stream: object = None) -> None:
        self._enabled = True

    def memsys_disable_stats(self, stream: object = None) -> None:
        self._enabled = False

    def memsys_stats_enabled(self, stream: object = None) -> bool:
        return self._enabled

    def get_allocation_stats(self, stream: object = None) -> _nrt_mstats:
        """Allocations and frees of memory, and of the objects that own it."""
        return _nrt_mstats(0, 0, 0, 0)

    def memsys_get_stats_alloc(self, stream: object = None) -> int:
        return 0

    memsys_get_stats_free = memsys_get_stats_mi_alloc = memsys_get_stats_alloc
    memsys_get_stats_mi_free = memsys_get_stats_alloc

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(
            f"numba.cuda.memory_management.rtsys.{name}: kernels allocate no memory here"
        )


rtsys = _Runtime()

__getattr__ = absent_attributes(__name__, "get_include")
