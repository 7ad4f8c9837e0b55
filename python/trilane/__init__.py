"""Trilane: CUDA from Python in three ways on one core, with a GPU or without."""

from __future__ import annotations

__version__ = "0.1.0"

_ERRORS = (
    "TrilaneError",
    "InvalidArgumentError",
    "TypeMismatchError",
    "OutOfMemoryError",
    "CompileError",
    "LaunchError",
    "KernelFaultError",
    "DeviceError",
    "CheckError",
    "NotFoundError",
    "NotSupportedError",
    "IndexOutOfRangeError",
    "InternalError",
)


def __getattr__(name: str) -> object:
    # The extension is opened when somebody needs it, not by `import trilane`.
    if name in _ERRORS:
        from trilane import _core

        return getattr(_core, name)
    raise AttributeError(f"module 'trilane' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ERRORS])
