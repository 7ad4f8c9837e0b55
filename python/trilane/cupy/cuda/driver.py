"""The driver's error class, where users look for it."""

from __future__ import annotations

from trilane.cupy.cuda._errors import CUDADriverError

__all__ = ["CUDADriverError"]


def get_build_version() -> int:
    """The CUDA version whose API is followed: 13000 is 13.0."""
    from trilane.cupy.cuda import runtime

    return runtime.runtimeGetVersion()


def _is_cuda_python() -> bool:
    """Whether NVIDIA's Python bindings are what calls the driver: never."""
    return False
