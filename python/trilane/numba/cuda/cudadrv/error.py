"""Exceptions of Numba's driver layer, and the translation of the core's errors into them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from trilane import _core

__all__ = [
    "CCSupportError", "CudaAPIError", "CudaDriverError", "CudaRuntimeError", "CudaSupportError",
    "DriverError", "LinkerError", "NvvmError", "NvvmSupportError", "NvrtcError", "require_device",
    "translated", "why_no_device",
]  # fmt: skip


class CudaDriverError(Exception):
    """A fault of the driver layer."""


class DriverError(CudaDriverError):
    """A driver call could not be made."""


class CudaSupportError(ImportError):
    """There is no usable device."""


class CudaRuntimeError(Exception):
    """A fault of the runtime library."""


class NvvmError(Exception):
    """The compiler refused a program."""


class NvvmSupportError(ImportError):
    """There is no compiler."""


class NvrtcError(Exception):
    """The compiler refused CUDA C++ text."""


class CCSupportError(RuntimeError):
    """The device's compute capability is too old."""


class LinkerError(RuntimeError):
    """Code could not be linked."""


class CudaAPIError(CudaDriverError):
    """A driver call failed; `code` is CUDA's number of the error."""

    def __init__(self, code: int, msg: str) -> None:
        self.code = code
        self.msg = msg
        super().__init__(code, msg)

    def __str__(self) -> str:
        return f"[{self.code}] {self.msg}"


_CODES = {
    "InvalidArgument": (1, "CUDA_ERROR_INVALID_VALUE"),
    "OutOfMemory": (2, "CUDA_ERROR_OUT_OF_MEMORY"),
    "NotFound": (500, "CUDA_ERROR_NOT_FOUND"),
    "LaunchError": (701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"),
    "DeviceError": (999, "CUDA_ERROR_UNKNOWN"),
}


# The driver's functions in which a kind of error shows, whoever called.
_PLACES = {"OutOfMemory": "cuMemAlloc", "LaunchError": "cuLaunchKernel"}


def why_no_device() -> str | None:
    """Numba's text of why there is no device; None if there is one."""
    none = _core.no_device()
    if none is None:
        return None
    code, reason = none
    if code == 35:
        return f"CUDA driver library cannot be found: {reason}"
    return f"Call to cuInit results in CUDA_ERROR_NO_DEVICE (100): {reason}"


def require_device() -> None:
    """Raise `CudaSupportError` if there is no device."""
    why = why_no_device()
    if why is not None:
        raise CudaSupportError(f"Error at driver init: {why}")


def as_api_error(error: _core.TrilaneError, function: str = "") -> Exception:
    """The exception that Numba's users catch for `error`; itself where they catch built-in ones.

    `function` is the driver's function that the call stands for.
    """
    if getattr(error, "code", 0):  # of a kernel that died, or of what a capture refuses
        found = error.code, error.driver_name
    else:
        found = _CODES.get(error.kind)
    if found is None:
        return error
    if error.kind == "DeviceError" and (why := why_no_device()) is not None:
        return CudaSupportError(f"Error at driver init: {why}")
    code, name = found
    place = _PLACES.get(error.kind, function)
    call = f"Call to {place}" if place else "Call"
    return CudaAPIError(code, f"{call} results in {name}: {error.message}")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Core errors raised inside leave as Numba's."""
    try:
        yield
    except _core.TrilaneError as error:
        raise as_api_error(error) from None
