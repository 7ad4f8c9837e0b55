"""PyCUDA's exception classes, and the translation of the core's errors into them.

Messages have PyCUDA's form, ``<driver function> failed: <CUDA's text> - <what is wrong>``.
"""

from __future__ import annotations

import builtins

from trilane import _core

TrilaneError = _core.TrilaneError


class Error(Exception):
    """Base of the driver's errors. ``detail`` holds long text such as a compiler's."""

    detail: str = ""


class MemoryError(Error):  # noqa: A001  PyCUDA's name
    """Out of device or pinned memory."""


class LogicError(Error):
    """A call was wrong: an invalid value, handle, name or context."""


class LaunchError(Error):
    """A kernel failed, or its launch was refused."""


class RuntimeError(Error):  # noqa: A001  PyCUDA's name
    """The machine or the driver is at fault."""


class CompileError(Error):
    """The compiler refused a program.

    Attributes
    ----------
    msg : str
    command_line : list of str or None
        The options that the program was compiled with.
    stdout, stderr : str or None
        ``stderr`` holds the compiler's text.
    """

    def __init__(
        self,
        msg: str,
        command_line: list[str] | None = None,
        stdout: str | None = None,
        stderr: str | None = None,
    ) -> None:
        super().__init__(msg, command_line, stdout, stderr)
        self.msg, self.command_line, self.stdout, self.stderr = msg, command_line, stdout, stderr

    def __str__(self) -> str:
        text = self.msg
        if self.command_line is not None:
            text += "\n[command: {}]".format(" ".join(self.command_line))
        if self.stdout:
            text += "\n[stdout:\n" + self.stdout + "]"
        if self.stderr:
            text += "\n[stderr:\n" + self.stderr + "]"
        return text


# PyCUDA reports a wrong argument of a launch as TypeError or LogicError, and a refused launch as
# LogicError or LaunchError, by where it was noticed; whoever catches one of them catches these.
class _ArgumentError(LogicError, TypeError):
    pass


class _LaunchRefused(LaunchError, LogicError):
    pass


class _KernelFault(LaunchError, LogicError):
    """A running kernel died: PyCUDA's class depends on the fault, programs catch either."""

    code: int = 0


class _FeatureError(LogicError, NotImplementedError):
    pass


_ArgumentError.__name__ = _ArgumentError.__qualname__ = "LogicError"
_LaunchRefused.__name__ = _LaunchRefused.__qualname__ = "LaunchError"
_KernelFault.__name__ = _KernelFault.__qualname__ = "LaunchError"
_FeatureError.__name__ = _FeatureError.__qualname__ = "LogicError"
for _class in (Error, MemoryError, LogicError, LaunchError, RuntimeError):
    _class.__module__ = "pycuda._driver"
for _class in (_ArgumentError, _LaunchRefused, _KernelFault, _FeatureError):
    _class.__module__ = "pycuda._driver"
CompileError.__module__ = "pycuda.driver"

_CLASSES: dict[str, tuple[type[Error], str]] = {
    "InvalidArgument": (LogicError, "invalid argument"),
    "TypeMismatch": (_ArgumentError, "invalid argument"),
    "OutOfMemory": (MemoryError, "out of memory"),
    "LaunchError": (_LaunchRefused, "too many resources requested for launch"),
    "DeviceError": (LogicError, "device error"),
    "KernelFault": (_KernelFault, "unspecified launch failure"),
    "CheckError": (LaunchError, "launch failed"),
    "NotFound": (LogicError, "named symbol not found"),
    "NotSupported": (_FeatureError, "operation not supported"),
    "IndexError": (LogicError, "invalid argument"),
    "Internal": (RuntimeError, "unknown error"),
}


def no_device_error(function: str) -> RuntimeError:
    """What PyCUDA raises in `function` where there is no device."""
    reason = (_core.no_device() or (0, ""))[1]
    return RuntimeError(f"{function} failed: no CUDA-capable device is detected - {reason}")


def translate(function: str, error: BaseException) -> builtins.Exception:
    """The exception of PyCUDA for an error of the core in the driver function `function`."""
    kind = getattr(error, "kind", "")
    detail = getattr(error, "detail", "")
    if kind == "CompileError":
        return CompileError(str(error), stderr=detail or None)
    if kind == "DeviceError" and _core.no_device() is not None:
        return no_device_error(function)
    if kind not in _CLASSES:
        return Error(f"{function} failed: {error}")
    cls, text = _CLASSES[kind]
    text = getattr(error, "fault_text", "") or text
    result = cls(f"{function} failed: {text} - {getattr(error, 'message', error)}")
    result.detail = detail
    if isinstance(result, _KernelFault):
        result.code = getattr(error, "code", 0)
    return result
