"""Types of a genuine numba, which programs import beside `numba.cuda`, as ours.

`from numba import cuda, float32` gives the genuine package's `float32` where that is loaded. Nothing
here imports it: its objects are told by their classes.
"""

from __future__ import annotations

from typing import Any


def _is_genuine(value: Any) -> bool:
    return type(value).__module__.startswith("numba.") and any(
        base.__module__ == "numba.core.types.abstract" and base.__name__ == "Type"
        for base in type(value).__mro__
    )


def _is_genuine_signature(value: Any) -> bool:
    kind = type(value)
    return kind.__name__ == "Signature" and kind.__module__ == "numba.core.typing.templates"


def own(value: Any) -> Any:
    """The type or signature of ours that a genuine numba's says; anything else as it is.

    Raises
    ------
    NotImplementedError
        A genuine type that kernels do not have.
    """
    from . import types

    if _is_genuine_signature(value):
        return types.Signature(own(value.return_type), [own(arg) for arg in value.args])
    if not _is_genuine(value):
        return value
    name = type(value).__name__
    if name in ("Integer", "IntegerLiteral"):
        return getattr(types, f"{'int' if value.signed else 'uint'}{value.bitwidth}")
    if name == "Float":
        return getattr(types, f"float{value.bitwidth}")
    if name == "Complex":
        return getattr(types, f"complex{value.bitwidth}")
    if name in ("Boolean", "BooleanLiteral"):
        return types.boolean
    if name == "NoneType":
        return types.none
    if name == "Array":
        return types.Array(own(value.dtype), value.ndim, value.layout, readonly=not value.mutable)
    if name == "UniTuple":
        return types.UniTuple(own(value.dtype), value.count)
    if name == "Tuple":
        return types.Tuple([own(item) for item in value.types])
    if name == "CPointer":
        return types.CPointer(own(value.dtype))
    if name == "Record":
        return types.Record(value.dtype)
    raise NotImplementedError(f"numba's type {value} ({name}) in a kernel")
