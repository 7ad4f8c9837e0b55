"""CUDA's vector types in kernels: ``cuda.float32x4(x, y, z, w)``, also named ``cuda.float4``.

A vector is a tuple with the names x, y, z, w; it is made of numbers and shorter vectors in a row.
"""

from __future__ import annotations

from typing import Any

from trilane.numba import types
from trilane.numba.cuda.stubs import Builtin

__all__ = ["ALIASES", "VectorType", "vector_types"]

_BASES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
          "float64")  # fmt: skip
# CUDA's names of the same types.
ALIASES = {
    "int8": ("char",), "int16": ("short",), "int32": ("int",), "int64": ("long", "longlong"),
    "uint8": ("uchar",), "uint16": ("ushort",), "uint32": ("uint",),
    "uint64": ("ulong", "ulonglong"), "float32": ("float",), "float64": ("double",),
}  # fmt: skip


class VectorType:
    """A vector type.

    Attributes
    ----------
    user_facing_object : Builtin
        What makes one in a kernel.
    """

    def __init__(self, base: str, count: int) -> None:
        self.name = f"{base}x{count}"
        self.base_type = getattr(types, base)
        self.num_elements = count
        self.attr_names = tuple("xyzw"[:count])
        self.user_facing_object: Any = Builtin(f"vector.{self.name}")

    def __repr__(self) -> str:
        return self.name


vector_types = {
    f"{base}x{count}": VectorType(base, count) for base in _BASES for count in (1, 2, 3, 4)
}


def constructors() -> dict[str, Any]:
    """What makes vectors, by all names."""
    found = {name: kind.user_facing_object for name, kind in vector_types.items()}
    for base, aliases in ALIASES.items():
        for alias in aliases:
            for count in (1, 2, 3, 4):
                found[f"{alias}{count}"] = found[f"{base}x{count}"]
    return found
