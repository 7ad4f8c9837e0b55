"""Memory without a type (allocations of PyCUDA, CuPy's memory pointers) as kernel arguments."""

from __future__ import annotations

from typing import Any

from trilane._exchange import as_array_of, as_bytes
from trilane.numba import types
from trilane.numba.cuda.devicearray import from_core
from trilane.numba.np.numpy_support import as_dtype

__all__ = ["UntypedMemoryError", "as_declared"]


class UntypedMemoryError(TypeError):
    """An argument is memory without a type, which only a signature can give."""

    def __init__(self, value: Any) -> None:
        super().__init__(
            f"Cannot determine Numba type of {type(value)}: it is memory without a type: give the "
            "kernel a signature, or pass cuda.as_cuda_array(memory).view(dtype)"
        )


def as_declared(value: Any, kind: Any) -> Any:
    """`value`, or if it is memory without a type an array of the type that a signature says.

    Raises
    ------
    TypeError
        The signature's array has not one dimension.
    """
    if not isinstance(kind, types.Array) or as_bytes(value) is None:
        return value
    if kind.ndim != 1:
        raise TypeError(
            f"memory without a type has one dimension, the kernel's parameter is {kind}: pass "
            "cuda.as_cuda_array(memory).view(dtype).reshape(shape)"
        )
    return from_core(as_array_of(value, as_dtype(kind.dtype)))
