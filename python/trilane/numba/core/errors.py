"""Exceptions and warnings, by Numba's names and with its hierarchy."""

from __future__ import annotations

__all__ = [
    "ByteCodeSupportError", "ConstantInferenceError", "DeprecationError", "ForceLiteralArg",
    "LiteralTypingError", "LoweringError", "NumbaDebugInfoWarning", "NumbaDeprecationWarning",
    "NumbaError", "NumbaInvalidConfigWarning", "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning", "NumbaRuntimeError", "NumbaTypeError", "NumbaTypeSafetyWarning",
    "NumbaValueError", "NumbaWarning", "RequireLiteralValue", "TypingError",
    "UnsupportedBytecodeError", "UnsupportedError", "UntypedAttributeError",
]  # fmt: skip


class NumbaWarning(Warning):
    """Base of all warnings."""

    def __init__(self, msg: str = "", loc: object = None, highlighting: bool = True) -> None:
        self.msg = msg
        self.loc = loc
        super().__init__(msg)


class NumbaPerformanceWarning(NumbaWarning):
    """The program can run faster."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Deprecated."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Will be deprecated."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """Options that do not go together."""


class NumbaDebugInfoWarning(NumbaWarning):
    """Debug information is incomplete."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """A cast may lose values."""


class NumbaError(Exception):
    """Base of all errors."""

    def __init__(self, msg: str = "", loc: object = None, highlighting: bool = True) -> None:
        self.msg = msg
        self.loc = loc
        super().__init__(msg)

    @property
    def contexts(self) -> list[str]:
        return []


class TypingError(NumbaError):
    """An expression has no type."""


class UntypedAttributeError(TypingError):
    """Unknown attribute."""


class LiteralTypingError(TypingError):
    """A literal is needed."""


class RequireLiteralValue(TypingError):
    """A literal value is needed."""


class UnsupportedError(NumbaError, NotImplementedError):
    """A construct that kernels do not have."""


class UnsupportedBytecodeError(NumbaError):
    """A construct that kernels do not have."""


ByteCodeSupportError = UnsupportedBytecodeError


class LoweringError(NumbaError):
    """No code can be generated."""


class ConstantInferenceError(NumbaError):
    """A value must be constant."""


class NumbaTypeError(TypingError):
    """Wrong type."""


class NumbaValueError(TypingError):
    """Wrong value."""


class NumbaRuntimeError(NumbaError):
    """The run failed."""


class DeprecationError(NumbaError):
    """Removed."""


class ForceLiteralArg(NumbaError):
    """An argument must be a literal."""
