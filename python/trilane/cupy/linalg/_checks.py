"""What linear algebra takes: shapes and element types."""

from __future__ import annotations

import numpy as np

from trilane.cupy._engine import ndarray
from trilane.cupy._helpers import require_array


def computing_dtype(dtype) -> np.dtype:
    """The dtype that values are computed in: float64 for what is no real or complex number.

    Raises
    ------
    TypeError
        The dtype is float16.
    """
    if dtype.char == "e":
        raise TypeError("array type float16 is unsupported in linalg")
    return dtype if dtype.char in "fdFD" else np.dtype(np.float64)


def matrices(a, who: str) -> tuple[ndarray, np.dtype]:
    """An array whose last two axes are matrices, and the dtype to compute in."""
    a = require_array(a, who)
    if a.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    return a, computing_dtype(a.dtype)


def square(a, who: str) -> tuple[ndarray, np.dtype]:
    """As `matrices`, of square ones."""
    a, dtype = matrices(a, who)
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return a, dtype
