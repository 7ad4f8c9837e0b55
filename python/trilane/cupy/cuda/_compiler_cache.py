"""CuPy's private classes for the place of compiled kernels: `TRILANE_CACHE_DIR` says it here."""

from __future__ import annotations

from trilane._missing import missing_attributes

__all__ = ["DiskKernelCacheBackend", "KernelCacheBackend"]


class KernelCacheBackend:
    """Not supported: compiled kernels are kept where `TRILANE_CACHE_DIR` says."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise NotImplementedError(
            f"cupy.cuda._compiler_cache.{type(self).__name__}: set TRILANE_CACHE_DIR instead"
        )


class DiskKernelCacheBackend(KernelCacheBackend):
    """Not supported: compiled kernels are kept where `TRILANE_CACHE_DIR` says."""


__getattr__ = missing_attributes(__name__)
