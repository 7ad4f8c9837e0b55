"""CuPy's private choice of how exactly a matrix product computes."""

from __future__ import annotations

import numpy as np

__all__ = ["get_compute_type", "set_compute_type"]

COMPUTE_TYPE_TBD = 0
COMPUTE_TYPE_DEFAULT = 1
COMPUTE_TYPE_PEDANTIC = 2
COMPUTE_TYPE_FP16 = 3
COMPUTE_TYPE_FP32 = 4
COMPUTE_TYPE_FP64 = 5
COMPUTE_TYPE_BF16 = 6
COMPUTE_TYPE_TF32 = 7

_chosen: dict[np.dtype, int] = {}


def get_compute_type(dtype) -> int:
    """Return the remembered choice for products of a dtype."""
    return _chosen.get(np.dtype(dtype), COMPUTE_TYPE_DEFAULT)


def set_compute_type(dtype, compute_type: int) -> None:
    """Remember a choice: products are never less exact than that, and no faster for it.

    Raises
    ------
    NotImplementedError
        More digits than those of the dtype (of float32, for float16) are asked for.
    """
    dtype = np.dtype(dtype)
    if compute_type == COMPUTE_TYPE_FP64 and dtype.char not in "dD":
        raise NotImplementedError(f"set_compute_type: products of {dtype} in float64")
    _chosen[dtype] = int(compute_type)
