"""Errors of the `cuda` namespace, and how the core's errors become them."""

from __future__ import annotations

from trilane import _core

OutOfMemoryError = _core.OutOfMemoryError

# cudaError_t numbers of the names that calls here raise.
_RUNTIME_STATUS = {
    "cudaSuccess": 0,
    "cudaErrorInvalidValue": 1,
    "cudaErrorMemoryAllocation": 2,
    "cudaErrorNoDevice": 100,
    "cudaErrorInvalidDevice": 101,
    "cudaErrorInvalidResourceHandle": 400,
    "cudaErrorNotReady": 600,
    "cudaErrorPeerAccessUnsupported": 217,
    "cudaErrorUnknown": 999,
}
# CUresult numbers.
_DRIVER_STATUS = {
    "CUDA_ERROR_INVALID_VALUE": 1,
    "CUDA_ERROR_OUT_OF_MEMORY": 2,
    "CUDA_ERROR_FILE_NOT_FOUND": 301,
    "CUDA_ERROR_NOT_FOUND": 500,
    "CUDA_ERROR_LAUNCH_FAILED": 719,
    "CUDA_ERROR_UNKNOWN": 999,
}


class CUDARuntimeError(RuntimeError):
    """A call of `cuda.runtime` failed.

    Attributes
    ----------
    status : int
        The number of ``cudaError_t``.
    """

    def __init__(self, status: int | str, message: str = "") -> None:
        if isinstance(status, str):
            name, number = status, _RUNTIME_STATUS[status]
        else:
            number = int(status)
            name = next((n for n, s in _RUNTIME_STATUS.items() if s == number), "cudaErrorUnknown")
        self.status = number
        super().__init__(f"{name}: {message}" if message else name)

    def __reduce__(self):
        return _restore, (type(self), self.status, self.args[0])


class CUDADriverError(RuntimeError):
    """Loading code, finding a kernel or launching it failed.

    Attributes
    ----------
    status : int
        The number of ``CUresult``.
    """

    def __init__(self, status: int | str, message: str = "") -> None:
        if isinstance(status, str):
            name, number = status, _DRIVER_STATUS[status]
        else:
            number = int(status)
            name = next((n for n, s in _DRIVER_STATUS.items() if s == number), "CUDA_ERROR_UNKNOWN")
        self.status = number
        super().__init__(f"{name}: {message}" if message else name)

    def __reduce__(self):
        return _restore, (type(self), self.status, self.args[0])


def _restore(cls, status: int, text: str):
    error = cls(status)
    error.args = (text,)
    return error


class CompileException(Exception):
    """The compiler refused a text.

    Attributes
    ----------
    source, name, options, backend
        What was compiled, and how.
    """

    def __init__(self, msg: str, source: str, name: str, options, backend: str = "nvrtc") -> None:
        self._msg = msg
        self.source = source
        self.name = name
        self.options = options
        self.backend = backend
        super().__init__(msg, source, name, options, backend)

    @classmethod
    def from_core(cls, error, source: str, name: str, options, backend: str) -> CompileException:
        """Make one of the core's compile error."""
        return cls(error.detail or str(error), source, name, options, backend)

    def __str__(self) -> str:
        return self._msg

    def __repr__(self) -> str:
        return f"CompileException({self._msg!r})"

    def get_message(self) -> str:
        """The compiler's text."""
        return self._msg

    def dump(self, f) -> None:
        """Write the text that was compiled, with line numbers, and the message to a file."""
        for number, line in enumerate(self.source.split("\n"), 1):
            f.write(f"{number:4d} {line.rstrip()}\n")
        f.write(f"\n{self._msg}\n")
        f.flush()


def driver_error(name: str, error: Exception) -> CUDADriverError:
    """The driver-level error that users catch, with the core's text."""
    hint = "named symbol not found: " if name == "CUDA_ERROR_NOT_FOUND" else ""
    return CUDADriverError(name, f"{hint}{error}")
