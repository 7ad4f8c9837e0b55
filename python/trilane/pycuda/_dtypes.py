"""NumPy dtypes and their C types, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_TO_C: dict[np.dtype, str] = {
    np.dtype(np.bool_): "bool",
    np.dtype(np.int8): "signed char",
    np.dtype(np.uint8): "unsigned char",
    np.dtype(np.int16): "short",
    np.dtype(np.uint16): "unsigned short",
    np.dtype(np.int32): "int",
    np.dtype(np.uint32): "unsigned int",
    np.dtype(np.int64): "long",
    np.dtype(np.uint64): "unsigned long",
    np.dtype(np.float16): "half",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    np.dtype(np.complex64): "pycuda::complex<float>",
    np.dtype(np.complex128): "pycuda::complex<double>",
}

_FROM_C: dict[str, np.dtype] = {
    name: np.dtype(kind)
    for kind, names in {
        np.bool_: ["bool"],
        np.int8: ["char", "signed char", "int8_t"],
        np.uint8: ["unsigned char", "uint8_t", "uchar"],
        np.int16: ["short", "short int", "signed short", "int16_t"],
        np.uint16: ["unsigned short", "unsigned short int", "uint16_t", "ushort"],
        np.int32: ["int", "signed int", "signed", "int32_t"],
        np.uint32: ["unsigned", "unsigned int", "uint32_t", "uint"],
        np.int64: [
            "long",
            "long int",
            "signed long",
            "long long",
            "long long int",
            "int64_t",
            "ptrdiff_t",
        ],
        np.uint64: [
            "unsigned long",
            "unsigned long int",
            "unsigned long long",
            "unsigned long long int",
            "uint64_t",
            "size_t",
            "ulong",
        ],
        np.float16: ["half", "__half"],
        np.float32: ["float"],
        np.float64: ["double"],
        np.complex64: ["pycuda::complex<float>", "complex64_t", "cfloat_t"],
        np.complex128: ["pycuda::complex<double>", "complex128_t", "cdouble_t"],
    }.items()
    for name in names
}


def get_or_register_dtype(c_names: str | Sequence[str], dtype: Any = None) -> np.dtype:
    """Look a C type up, or make its name known for `dtype`.

    Parameters
    ----------
    c_names : str or list of str
        The first is what generated kernels call the type.
    dtype : dtype, optional
        Without it the type must be known.
    """
    names = [c_names] if isinstance(c_names, str) else list(c_names)
    if dtype is None:
        return ctype_to_dtype(names[0])
    dtype = np.dtype(dtype)
    for name in names:
        known = _FROM_C.setdefault(_normal(name), dtype)
        if known != dtype:
            raise RuntimeError(f"name '{name}' already registered: for {known}, not {dtype}")
    _TO_C.setdefault(dtype, names[0])
    return dtype


def register_dtype(dtype: Any, c_names: str | Sequence[str]) -> None:
    """`get_or_register_dtype` with its arguments the other way round."""
    get_or_register_dtype(c_names, dtype)


def _normal(name: str) -> str:
    return (
        " ".join(name.replace("<", " < ").replace(">", " > ").split())
        .replace(" < ", "<")
        .replace(" >", ">")
    )


def ctype_to_dtype(name: str) -> np.dtype:
    """The dtype of a C type.

    Raises
    ------
    ValueError
        If the type is not known; register it with `get_or_register_dtype`.
    """
    try:
        return _FROM_C[_normal(name)]
    except KeyError:
        raise ValueError(
            f"unknown type '{name}': register it with pycuda.tools.get_or_register_dtype"
        ) from None


def dtype_to_ctype(dtype: Any) -> str:
    """The C type of a dtype in generated kernels.

    Raises
    ------
    ValueError
        If there is none; register it with `get_or_register_dtype`.
    """
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = np.dtype(dtype)
    try:
        return _TO_C[dtype]
    except KeyError:
        raise ValueError(f"unable to map dtype '{dtype}' to a C type: register it") from None
