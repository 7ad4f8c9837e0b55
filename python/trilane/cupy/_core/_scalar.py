"""Names of CuPy's private `_core._scalar`."""

from __future__ import annotations

import numpy as np

from trilane.cupy._dtypes import c_name


def get_typename(dtype) -> str:
    """The spelling of a dtype in CUDA C++."""
    if dtype is None:
        raise ValueError("dtype is None")
    return c_name(np.dtype(dtype))
