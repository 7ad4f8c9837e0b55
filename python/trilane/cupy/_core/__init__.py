"""Names of CuPy's private `_core` that other libraries and its tests import."""

from __future__ import annotations

from trilane.cupy._core import core, internal
from trilane.cupy._core._accelerator import (
    get_reduction_accelerators,
    get_routine_accelerators,
    set_reduction_accelerators,
    set_routine_accelerators,
)
from trilane.cupy._core._reduction import create_reduction_func
from trilane.cupy._core._routines_linalg import get_compute_type, set_compute_type
from trilane.cupy._creation import array
from trilane.cupy._engine import UFunc as ufunc
from trilane.cupy._engine import ndarray
from trilane.cupy._kernel import ElementwiseKernel, RawKernel, RawModule, ReductionKernel
from trilane.cupy._manipulation import concatenate

__all__ = [
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "array",
    "concatenate",
    "core",
    "create_reduction_func",
    "get_compute_type",
    "get_reduction_accelerators",
    "get_routine_accelerators",
    "internal",
    "ndarray",
    "set_compute_type",
    "set_reduction_accelerators",
    "set_routine_accelerators",
    "ufunc",
]


def elementwise_copy(src, dst) -> None:
    """Copy element by element, converting the type."""
    dst[...] = src


def get_size(size) -> tuple[int, ...]:
    """A size as a tuple."""
    return (int(size),) if isinstance(size, int) else tuple(size)
