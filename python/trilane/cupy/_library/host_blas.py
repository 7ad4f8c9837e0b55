"""The BLAS library that NumPy brings, for products of large matrices on the cpu device."""

from __future__ import annotations

import ctypes
import os

import numpy as np

from trilane.cupy._engine import engine

__all__ = ["connect"]

# Names of cblas_?gemm with 64-bit integers, in the wheels of NumPy 2 and of NumPy 1.
_NAMES = ("scipy_cblas_{}gemm64_", "cblas_{}gemm64_")


def _functions(library: ctypes.CDLL) -> list[int] | None:
    """Addresses of the products of float, double, complex float and complex double."""
    for name in _NAMES:
        try:
            found = [getattr(library, name.format(kind)) for kind in "sdcz"]
        except AttributeError:
            continue
        return [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in found]
    return None


def _candidates() -> list[str]:
    package = os.path.dirname(np.__file__)
    found = []
    for folder in (
        os.path.join(os.path.dirname(package), "numpy.libs"),
        os.path.join(package, ".libs"),
    ):
        if os.path.isdir(folder):
            found += [os.path.join(folder, file) for file in os.listdir(folder)]
    return sorted(file for file in found if "openblas64" in os.path.basename(file))


def connect() -> str | None:
    """Let large products use NumPy's OpenBLAS; its file, or None where NumPy has another BLAS (a
    distribution's, say), whose integers may have another width: kernels of our own run then."""
    for file in _candidates():
        try:
            functions = _functions(ctypes.CDLL(file))
        except OSError:
            continue
        if functions:
            engine.set_host_blas(*functions)
            return file
    return None
