"""Settings, read from the environment at import and changeable while running."""

from __future__ import annotations

import os
import sys

__all__ = ["reload_config"]


def _flag(name: str, default: int) -> int:
    try:
        return int(os.environ.get("NUMBA_" + name, default))
    except ValueError:
        return default


class _OptLevel(int):
    """How much is optimised: 0 to 3, or "max", which is 3."""

    def __new__(cls, value: int | str) -> _OptLevel:
        return super().__new__(cls, 3 if value == "max" else int(value))

    @property
    def is_opt_max(self) -> bool:
        return self == 3


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
OPT = _OptLevel(_flag("OPT", 3))
DISABLE_PERFORMANCE_WARNINGS = _flag("DISABLE_PERFORMANCE_WARNINGS", 0)
CUDA_DEFAULT_PTX_CC = (7, 5)
CUDA_NRT_STATS = _flag("CUDA_NRT_STATS", 0)
CUDA_MEMORY_MANAGER = os.environ.get("NUMBA_CUDA_MEMORY_MANAGER", "default")
CUDA_DEALLOCS_COUNT = _flag("CUDA_MAX_PENDING_DEALLOCS_COUNT", 10)
CUDA_DEALLOCS_RATIO = 0.2
CUDA_NVRTC_EXTRA_SEARCH_PATHS = os.environ.get("NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS", "")
CUDA_DEBUG_POLY = _flag("CUDA_DEBUG_POLY", 0)
FORCE_CUDA_CC = None
ALWAYS_WARN_UNINIT_VAR = _flag("ALWAYS_WARN_UNINIT_VAR", 0)
DEBUGINFO_DEFAULT = _flag("DEBUGINFO", 0)
DUMP_ASSEMBLY = DUMP_BYTECODE = DUMP_CFG = DUMP_IR = DUMP_LLVM = 0
HTML = os.environ.get("NUMBA_DUMP_HTML")
IS_WIN32 = sys.platform == "win32"


def reload_config() -> None:
    """Read the settings that are taken from the environment again."""
    for name in _FROM_ENVIRONMENT:
        globals()[name] = _flag(name, _FROM_ENVIRONMENT[name])


_FROM_ENVIRONMENT = {
    "ALWAYS_WARN_UNINIT_VAR": 0,
    "CUDA_ARRAY_INTERFACE_SYNC": 1,
    "CUDA_LOW_OCCUPANCY_WARNINGS": 0,
    "CUDA_WARN_ON_IMPLICIT_COPY": 0,
    "DISABLE_PERFORMANCE_WARNINGS": 0,
    "OPT": 3,
}
