"""Numba's CUDA target: `from trilane.numba import cuda`.

Only `cuda`, the types and the errors are here. What Numba compiles for the processor (`njit`,
`vectorize` ...) needs the genuine package.
"""

from __future__ import annotations

import importlib
from typing import Any

from trilane.numba import _own_modules, types  # the finder before what it must find
from trilane.numba.core import config, errors
from trilane.numba.types import (
    b1,
    bool_,
    boolean,
    byte,
    c8,
    c16,
    char,
    complex64,
    complex128,
    double,
    f4,
    f8,
    float32,
    float64,
    float_,
    from_dtype,
    i1,
    i2,
    i4,
    i8,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    intp,
    long_,
    longlong,
    none,
    short,
    size_t,
    ssize_t,
    typeof,
    u1,
    u2,
    u4,
    u8,
    uchar,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulong,
    ulonglong,
    ushort,
    void,
)  # fmt: skip

# The release whose CUDA target is followed; programs compare it.
__version__ = "0.62.1"

_NEEDS_NUMBA = (
    "njit", "jit", "vectorize", "guvectorize", "stencil", "cfunc", "prange", "generated_jit",
    "jit_module", "objmode", "literally", "set_num_threads", "get_num_threads",
    "threading_layer",
)  # fmt: skip

__all__ = [
    name
    for name in dir()
    if not name.startswith("_") and name not in ("Any", "importlib", "annotations")
]
__all__ += ["cuda"]


def _absent(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("target") == "cuda" and name in ("vectorize", "guvectorize"):
            vectorizers = importlib.import_module("trilane.numba.cuda.vectorizers")
            return getattr(vectorizers, name)(*args, **kwargs)
        raise NotImplementedError(
            f"numba.{name} compiles for the processor, which is not part of Trilane: install the "
            "package numba beside it; numba.cuda stays Trilane's"
        )

    function.__name__ = name
    return function


def __getattr__(name: str) -> Any:
    if name in _NEEDS_NUMBA:
        return _absent(name)
    if name == "literal_unroll":
        return importlib.import_module("trilane.numba.cuda.misc.special").literal_unroll
    if name in ("cuda", "np", "core", "extending", "experimental"):
        try:
            return importlib.import_module(f"trilane.numba.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"trilane.numba.{name}":
                raise
    raise AttributeError(f"module 'numba' has no attribute {name!r}")
