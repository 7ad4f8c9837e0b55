"""Types of the genuine numba, taken as if they were ours: where both are installed, programs write
`from numba import cuda, float32` and get the genuine package's type objects.

They are known by their classes' names, so that the package is never imported for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["is_genuine", "numpy_dtype", "own"]


def is_genuine(value: Any) -> bool:
    """Whether `value` is a type or a signature made by the genuine numba."""
    kind = type(value)
    if not kind.__module__.startswith(("numba.", "numba_cuda.")):
        return False
    return any(base.__name__ in ("Type", "Signature") for base in kind.__mro__)


def own(value: Any) -> Any:
    """Our type or signature for the genuine numba's; anything else as it is.

    Raises
    ------
    NotImplementedError
        A type of the genuine numba that kernels do not have.
    """
    return _converted(value) if is_genuine(value) else value


def numpy_dtype(dtype: Any) -> np.dtype:
    """NumPy's dtype for whatever names an element type: also types of ours and of numba's."""
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError):
        if not is_genuine(dtype):
            raise
        return np.dtype(own(dtype).dtype)


def _converted(value: Any) -> Any:
    from trilane.numba import types

    names = {base.__name__ for base in type(value).__mro__}
    if "Signature" in names:
        return types.Signature(own(value.return_type), [own(arg) for arg in value.args])
    if "NoneType" in names:
        return types.none
    if names & {"Boolean", "BooleanLiteral"}:
        return types.boolean
    if names & {"Integer", "IntegerLiteral"}:
        return types.from_dtype(f"{'int' if value.signed else 'uint'}{value.bitwidth}")
    if names & {"Float", "Complex"}:
        return types.from_dtype(f"{'float' if 'Float' in names else 'complex'}{value.bitwidth}")
    if "NestedArray" in names:
        return types.NestedArray(own(value.dtype), value.shape)
    if "Array" in names:
        return types.Array(own(value.dtype), value.ndim, value.layout, readonly=not value.mutable)
    if "Record" in names:
        return types.Record(value.dtype)
    if "BaseTuple" in names:
        items = [own(item) for item in value.types]
        cls = getattr(value, "instance_class", None)
        return types.Tuple(items) if cls is None else types.NamedTuple(items, cls)
    if "CPointer" in names:
        return types.CPointer(own(value.dtype))
    if "UnicodeType" in names:
        return types.unicode_type
    raise NotImplementedError(f"kernels have no type {value} ({type(value).__name__}) of numba's")
