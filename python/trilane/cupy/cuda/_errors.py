"""Errors of the `cuda` namespace, and how the core's errors become them."""

from __future__ import annotations

from trilane import _core

OutOfMemoryError = _core.OutOfMemoryError

# Of running kernels, in both interfaces.
_FAULT_NAMES = {
    700: "IllegalAddress",
    702: "LaunchTimeout",
    710: "Assert",
    714: "HardwareStackError",
    715: "IllegalInstruction",
    716: "MisalignedAddress",
    717: "InvalidAddressSpace",
    718: "InvalidPc",
    719: "LaunchFailure",
}
# Of captures of streams: CUDA's number, name in the runtime, name in the driver.
_CAPTURE_NAMES = (
    (401, "IllegalState", "ILLEGAL_STATE"),
    (900, "StreamCaptureUnsupported", "STREAM_CAPTURE_UNSUPPORTED"),
    (901, "StreamCaptureInvalidated", "STREAM_CAPTURE_INVALIDATED"),
    (902, "StreamCaptureMerge", "STREAM_CAPTURE_MERGE"),
    (903, "StreamCaptureUnmatched", "STREAM_CAPTURE_UNMATCHED"),
    (904, "StreamCaptureUnjoined", "STREAM_CAPTURE_UNJOINED"),
    (905, "StreamCaptureIsolation", "STREAM_CAPTURE_ISOLATION"),
    (906, "StreamCaptureImplicit", "STREAM_CAPTURE_IMPLICIT"),
    (907, "CapturedEvent", "CAPTURED_EVENT"),
    (908, "StreamCaptureWrongThread", "STREAM_CAPTURE_WRONG_THREAD"),
)
# cudaError_t numbers of the names that calls here raise.
_RUNTIME_STATUS = {
    "cudaSuccess": 0,
    "cudaErrorInvalidValue": 1,
    "cudaErrorMemoryAllocation": 2,
    "cudaErrorInsufficientDriver": 35,
    "cudaErrorNoDevice": 100,
    "cudaErrorInvalidDevice": 101,
    "cudaErrorInvalidResourceHandle": 400,
    "cudaErrorNotReady": 600,
    "cudaErrorLaunchOutOfResources": 701,
    "cudaErrorPeerAccessUnsupported": 217,
    "cudaErrorPeerAccessAlreadyEnabled": 704,
    "cudaErrorPeerAccessNotEnabled": 705,
    "cudaErrorUnknown": 999,
    **{f"cudaError{name}": number for number, name in _FAULT_NAMES.items()},
    **{f"cudaError{name}": number for number, name, _ in _CAPTURE_NAMES},
}
# CUresult numbers.
_DRIVER_STATUS = {
    "CUDA_ERROR_INVALID_VALUE": 1,
    "CUDA_ERROR_OUT_OF_MEMORY": 2,
    "CUDA_ERROR_INVALID_IMAGE": 200,
    "CUDA_ERROR_INVALID_SOURCE": 300,
    "CUDA_ERROR_FILE_NOT_FOUND": 301,
    "CUDA_ERROR_NOT_FOUND": 500,
    "CUDA_ERROR_ILLEGAL_ADDRESS": 700,
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": 701,
    "CUDA_ERROR_LAUNCH_TIMEOUT": 702,
    "CUDA_ERROR_ASSERT": 710,
    "CUDA_ERROR_HARDWARE_STACK_ERROR": 714,
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": 715,
    "CUDA_ERROR_MISALIGNED_ADDRESS": 716,
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": 717,
    "CUDA_ERROR_INVALID_PC": 718,
    "CUDA_ERROR_LAUNCH_FAILED": 719,
    "CUDA_ERROR_UNKNOWN": 999,
    **{f"CUDA_ERROR_{name}": number for number, _, name in _CAPTURE_NAMES},
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


class _KernelFault(CUDARuntimeError, CUDADriverError, _core.KernelFaultError):
    """A running kernel died. CuPy raises the class of the call that noticed, a launch or a wait:
    who catches either catches this."""

    def __init__(self, error: _core.KernelFaultError) -> None:
        self.status = self.code = error.code
        self.driver_name, self.runtime_name = error.driver_name, error.runtime_name
        self.fault_text, self.message = error.fault_text, error.message
        text = f"{error.runtime_name}: {error.fault_text}: {error.message}"
        RuntimeError.__init__(self, text)

    def __reduce__(self):
        return _restore, (CUDARuntimeError, self.status, self.args[0])


def _no_device() -> tuple[int, str] | None:
    """Status and text of CUDA's runtime where there is no device, else None."""
    none = _core.no_device()
    if none is None:
        return None
    status, reason = none
    if status == 35:
        text = (
            "cudaErrorInsufficientDriver: "
            "CUDA driver version is insufficient for CUDA runtime version"
        )
    else:
        text = "cudaErrorNoDevice: no CUDA-capable device is detected"
    return status, f"{text}: {reason}"


def check_device_count() -> int:
    """How many devices there are; an error of CUDA's runtime if there is none."""
    none = _no_device()
    if none is not None:
        raise _restore(CUDARuntimeError, *none)
    return _core.device_count()


class _DeviceFailure(CUDARuntimeError, _core.DeviceError):
    """A call of the driver failed, or there is no device."""

    def __init__(self, error: _core.DeviceError) -> None:
        self.message, self.detail, self.code = error.message, error.detail, error.code
        self.driver_name, self.runtime_name = error.driver_name, error.runtime_name
        self.fault_text = error.fault_text
        if error.code:
            self.status = error.code
            text = f"{error.runtime_name}: {error.fault_text}: {error.message}"
        else:
            self.status, text = _no_device() or (999, f"cudaErrorUnknown: {error.message}")
        RuntimeError.__init__(self, text)

    def __reduce__(self):
        return _restore, (CUDARuntimeError, self.status, self.args[0])


class _LaunchRefused(CUDADriverError, _core.LaunchError):
    """The kernel needs more of the device than there is."""

    def __init__(self, error: _core.LaunchError) -> None:
        self.status, self.message = 701, error.message
        RuntimeError.__init__(self, f"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: {error.message}")

    def __reduce__(self):
        return _restore, (CUDADriverError, self.status, self.args[0])


for _class in (_KernelFault, _DeviceFailure):
    _class.__name__ = _class.__qualname__ = "CUDARuntimeError"
_LaunchRefused.__name__ = _LaunchRefused.__qualname__ = "CUDADriverError"
# Errors of these kinds leave the core from everywhere: also those of arrays are CuPy's.
_core.set_error_face("KernelFault", _KernelFault)
_core.set_error_face("DeviceError", _DeviceFailure)
_core.set_error_face("LaunchError", _LaunchRefused)


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
    return CUDADriverError(name, f"{hint}{getattr(error, 'message', error)}")
