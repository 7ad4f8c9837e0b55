"""Transposition of matrices on the device."""

from __future__ import annotations

from typing import Any

from trilane import _core
from trilane.numba.cuda.cudadrv.error import translated
from trilane.numba.cuda.devicearray import DeviceNDArray, as_cuda_array, new_array

__all__ = ["transpose"]


def transpose(a: Any, b: Any = None) -> DeviceNDArray:
    """Write the transpose of the matrix `a` to `b`.

    Parameters
    ----------
    a : device array, shape (rows, columns)
    b : device array, shape (columns, rows), optional
        Made if it is not given.

    Returns
    -------
    `b`.

    Raises
    ------
    ValueError
        `a` is no matrix, or `b` has another shape.
    """
    source = as_cuda_array(a)
    if source.ndim != 2:
        raise ValueError(f"transpose: a matrix is expected, got {source.ndim} dimensions")
    target = new_array(source.shape[::-1], source.dtype) if b is None else as_cuda_array(b)
    if target.shape != source.shape[::-1]:
        raise ValueError(f"transpose: got shapes {source.shape} and {target.shape}")
    with translated():
        _core.array.copyto(target, source.transpose())
    return target if b is None else b
