"""Settings, read from the environment at import and changeable while running."""

from __future__ import annotations

import os

__all__: list[str] = []


def _flag(name: str, default: int) -> int:
    try:
        return int(os.environ.get("NUMBA_" + name, default))
    except ValueError:
        return default


CUDA_LOW_OCCUPANCY_WARNINGS = _flag("CUDA_LOW_OCCUPANCY_WARNINGS", 0)
CUDA_WARN_ON_IMPLICIT_COPY = _flag("CUDA_WARN_ON_IMPLICIT_COPY", 0)
CUDA_ARRAY_INTERFACE_SYNC = _flag("CUDA_ARRAY_INTERFACE_SYNC", 1)
CUDA_DEBUGINFO_DEFAULT = _flag("CUDA_DEBUGINFO", 0)
CUDA_ENABLE_NRT = _flag("CUDA_ENABLE_NRT", 0)
CUDA_LOG_LEVEL = os.environ.get("NUMBA_CUDA_LOG_LEVEL", "")
CUDA_PER_THREAD_DEFAULT_STREAM = _flag("CUDA_PER_THREAD_DEFAULT_STREAM", 0)
CUDA_USE_NVIDIA_BINDING = 1
# The device is the cpu device where there is no GPU: nothing is simulated.
ENABLE_CUDASIM = 0
DISABLE_CUDA = _flag("DISABLE_CUDA", 0)
DISABLE_JIT = 0
OPT = _flag("OPT", 3)
CUDA_DEFAULT_PTX_CC = (7, 5)
