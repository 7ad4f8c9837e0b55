"""Element types: which dtypes arrays may have, and what they are called in CUDA C++."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# char of NumPy -> spelling in CUDA C++. 'l' and 'q' are both 64 bits wide and stay two dtypes.
_C_NAMES = {
    "?": "bool",
    "b": "signed char",
    "h": "short",
    "i": "int",
    "l": "long long",
    "q": "long long",
    "B": "unsigned char",
    "H": "unsigned short",
    "I": "unsigned int",
    "L": "unsigned long long",
    "Q": "unsigned long long",
    "e": "float16",
    "f": "float",
    "d": "double",
    "F": "complex<float>",
    "D": "complex<double>",
}


@dataclass(frozen=True)
class HandleType:
    """The type of a handle among the parameters of a kernel, where others have a dtype."""

    name: str
    kind: str = "handle"
    char: str = "handle"


TEXTURE = HandleType("cudaTextureObject_t")
SURFACE = HandleType("cudaSurfaceObject_t")


def c_name(dtype: np.dtype | HandleType) -> str:
    """Spell a dtype in CUDA C++.

    Raises
    ------
    TypeError
        Kernels have no such element type.
    """
    if isinstance(dtype, HandleType):
        return dtype.name
    name = _C_NAMES.get(dtype.char)
    if name is not None and dtype.isnative:
        return name
    if dtype.name == "bfloat16":
        return "bfloat16"
    raise TypeError(
        f"dtype {dtype!r} has no type in kernels: expected a bool, number or complex type"
    )


def check_dtype(dtype) -> np.dtype:
    """Make a dtype from what a user gave, and refuse those that device arrays cannot have.

    Raises
    ------
    ValueError
        The dtype is one of NumPy's that have no device form (object, str, datetime, big-endian,
        long double).
    """
    dtype = np.dtype(dtype)
    if dtype.char in _C_NAMES:
        if not dtype.isnative:
            raise ValueError(f"Unsupported dtype {dtype}: only the native byte-order")
        return dtype
    if dtype.name == "bfloat16":
        return dtype
    if dtype.kind == "V":
        if dtype.hasobject or dtype.subdtype is not None or dtype.itemsize == 0:
            raise ValueError(f"Unsupported dtype {dtype}: it has no bytes of its own on the device")
        return dtype
    raise ValueError(f"Unsupported dtype {dtype}")
