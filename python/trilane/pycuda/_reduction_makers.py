"""Ready-made reduction kernels: sums, products, extremes, of all elements or of chosen ones."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ._dtypes import dtype_to_ctype

__all__ = [
    "get_all_kernel",
    "get_any_kernel",
    "get_dot_kernel",
    "get_minmax_kernel",
    "get_minmax_neutral",
    "get_subset_dot_kernel",
    "get_subset_minmax_kernel",
    "get_subset_sum_kernel",
    "get_sum_kernel",
]

# NaN is left out, as fmin and fmax do.
_CHOOSE = {"min": "b != b || a < b ? a : b", "max": "b != b || a > b ? a : b"}


@cache
def _made(dtype_out: np.dtype, neutral: str, reduce: str, map_expr: str, arguments: str) -> Any:
    from .reduction import ReductionKernel

    return ReductionKernel(dtype_out, neutral, reduce, map_expr, arguments)


def _vectors(*arguments: tuple[Any, str]) -> str:
    return ", ".join(f"const {dtype_to_ctype(dtype)} *{name}" for dtype, name in arguments)


def get_sum_kernel(dtype_out: Any, dtype_in: Any) -> Any:
    """``kernel(x)``: the sum; `dtype_out` None means `dtype_in`."""
    dtype_out = np.dtype(dtype_in if dtype_out is None else dtype_out)
    return _made(dtype_out, "0", "a+b", "x[i]", _vectors((dtype_in, "x")))


def get_any_kernel(dtype_out: Any, dtype_in: Any) -> Any:
    """``kernel(x)``: whether any element is not zero."""
    dtype_out = np.dtype(dtype_in if dtype_out is None else dtype_out)
    return _made(dtype_out, "false", "a || b", "(bool) x[i]", _vectors((dtype_in, "x")))


def get_all_kernel(dtype_out: Any, dtype_in: Any) -> Any:
    """``kernel(x)``: whether no element is zero."""
    dtype_out = np.dtype(dtype_in if dtype_out is None else dtype_out)
    return _made(dtype_out, "true", "a && b", "(bool) x[i]", _vectors((dtype_in, "x")))


def get_subset_sum_kernel(dtype_out: Any, dtype_subset: Any, dtype_in: Any) -> Any:
    """``kernel(subset, x)``: the sum of ``x[subset]``."""
    dtype_out = np.dtype(dtype_in if dtype_out is None else dtype_out)
    arguments = _vectors((dtype_subset, "subset"), (dtype_in, "x"))
    return _made(dtype_out, "0", "a+b", "x[subset[i]]", arguments)


def _product(dtype_a: Any, dtype_b: Any, dtype_out: Any) -> tuple[Any, Any, np.dtype]:
    """Dtypes of the factors and of the product; what is None follows from the others."""
    dtype_a = dtype_out if dtype_a is None else dtype_a
    dtype_b = dtype_a if dtype_b is None else dtype_b
    return (
        dtype_a,
        dtype_b,
        np.dtype(np.result_type(dtype_a, dtype_b) if dtype_out is None else dtype_out),
    )


def get_dot_kernel(dtype_out: Any, dtype_a: Any = None, dtype_b: Any = None) -> Any:
    """``kernel(x, y)``: the sum of the products; no conjugation."""
    dtype_a, dtype_b, dtype_out = _product(dtype_a, dtype_b, dtype_out)
    ctype = dtype_to_ctype(dtype_out)
    product = f"({ctype}) x[i] * ({ctype}) y[i]"
    return _made(dtype_out, "0", "a+b", product, _vectors((dtype_a, "x"), (dtype_b, "y")))


def get_subset_dot_kernel(
    dtype_out: Any, dtype_subset: Any, dtype_a: Any = None, dtype_b: Any = None
) -> Any:
    """``kernel(subset, x, y)``: `get_dot_kernel` of ``x[subset]`` and ``y[subset]``."""
    dtype_a, dtype_b, dtype_out = _product(dtype_a, dtype_b, dtype_out)
    ctype = dtype_to_ctype(dtype_out)
    product = f"({ctype}) x[subset[i]] * ({ctype}) y[subset[i]]"
    arguments = _vectors((dtype_subset, "subset"), (dtype_a, "x"), (dtype_b, "y"))
    return _made(dtype_out, "0", "a+b", product, arguments)


def get_minmax_neutral(what: str, dtype: Any) -> str:
    """The C text of the value that changes no minimum ("min") or maximum ("max") of `dtype`."""
    dtype = np.dtype(dtype)
    if what not in _CHOOSE:
        raise ValueError(f"what: got {what!r}, expected 'min' or 'max'")
    if dtype.kind == "f":
        return "1.0/0.0" if what == "min" else "-1.0/0.0"
    if dtype.kind not in "iu":
        raise TypeError(f"get_minmax_neutral: dtype: got {dtype}, expected integers or floats")
    limits = np.iinfo(dtype)
    value = int(limits.max if what == "min" else limits.min)
    # The least of 64 bits has no literal of its own.
    return f"({value + 1}LL - 1)" if value < 0 else f"{value}ULL"


def get_minmax_kernel(what: str, dtype: Any) -> Any:
    """``kernel(x)``: the least ("min") or largest ("max") element."""
    neutral = get_minmax_neutral(what, dtype)
    return _made(np.dtype(dtype), neutral, _CHOOSE[what], "x[i]", _vectors((dtype, "x")))


def get_subset_minmax_kernel(what: str, dtype: Any, dtype_subset: Any) -> Any:
    """``kernel(subset, x)``: the least or largest element of ``x[subset]``."""
    neutral = get_minmax_neutral(what, dtype)
    arguments = _vectors((dtype_subset, "subset"), (dtype, "x"))
    return _made(np.dtype(dtype), neutral, _CHOOSE[what], "x[subset[i]]", arguments)
