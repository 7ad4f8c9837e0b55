"""Reductions of whole arrays in kernels: NumPy's functions and methods, as Python functions.

They are compiled into the kernels that use them; each thread runs through the whole array. Sums of
integers are 64 bits wide, as NumPy's.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["FUNCTIONS"]

FUNCTIONS = (
    "all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "nanmax", "nanmean",
    "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "prod", "ptp", "std", "sum", "var",
)  # fmt: skip


def array_sum(a: Any) -> Any:
    """Sum of the elements."""
    total = a.dtype(0) + a.dtype(0)
    for v in a.flat:
        total = total + v
    return total


def array_prod(a: Any) -> Any:
    """Product of the elements."""
    total = a.dtype(1) * a.dtype(1)
    for v in a.flat:
        total = total * v
    return total


def array_mean(a: Any) -> Any:
    """Mean of the elements."""
    return array_sum(a) / a.size


def array_var(a: Any) -> Any:
    """Mean squared distance of the elements from their mean."""
    middle = array_mean(a)
    total = 0.0
    for v in a.flat:
        d = v - middle
        total += d.real * d.real + d.imag * d.imag
    return total / a.size


def array_std(a: Any) -> Any:
    """Root of the mean squared distance of the elements from their mean."""
    return math.sqrt(array_var(a))


def array_all(a: Any) -> Any:
    """Whether all elements are true."""
    return array_count_nonzero(a) == a.size


def array_any(a: Any) -> Any:
    """Whether an element is true."""
    return array_count_nonzero(a) > 0


def array_count_nonzero(a: Any) -> Any:
    """How many elements are true."""
    count = 0
    for v in a.flat:
        if v:
            count += 1
    return count


def array_min(a: Any) -> Any:
    """The least element; NaN if there is one."""
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation not possible")
    best = a.dtype(0)
    first = True
    for v in a.flat:
        if v != v:
            return v
        if first or v < best:
            best = v
            first = False
    return best


def array_max(a: Any) -> Any:
    """The greatest element; NaN if there is one."""
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation not possible")
    best = a.dtype(0)
    first = True
    for v in a.flat:
        if v != v:
            return v
        if first or v > best:
            best = v
            first = False
    return best


def array_ptp(a: Any) -> Any:
    """The greatest element less the least."""
    return a.dtype(array_max(a) - array_min(a))


def array_argmin(a: Any) -> Any:
    """Position of the first least element in C order, or of the first NaN."""
    if a.size == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    best = a.dtype(0)
    at = 0
    for i, v in enumerate(a.flat):
        if v != v:
            return i
        if i == 0 or v < best:
            best = v
            at = i
    return at


def array_argmax(a: Any) -> Any:
    """Position of the first greatest element in C order, or of the first NaN."""
    if a.size == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    best = a.dtype(0)
    at = 0
    for i, v in enumerate(a.flat):
        if v != v:
            return i
        if i == 0 or v > best:
            best = v
            at = i
    return at


def array_nansum(a: Any) -> Any:
    """Sum of the elements that are numbers."""
    total = a.dtype(0) + a.dtype(0)
    for v in a.flat:
        if v == v:
            total = total + v
    return total


def array_nanprod(a: Any) -> Any:
    """Product of the elements that are numbers."""
    total = a.dtype(1) * a.dtype(1)
    for v in a.flat:
        if v == v:
            total = total * v
    return total


def numbers(a: Any) -> Any:
    """How many elements are not NaN."""
    count = 0
    for v in a.flat:
        if v == v:
            count += 1
    return count


def array_nanmean(a: Any) -> Any:
    """Mean of the elements that are numbers; NaN if none is."""
    return array_nansum(a) / numbers(a)


def array_nanvar(a: Any) -> Any:
    """Mean squared distance of the elements that are numbers from their mean."""
    middle = array_nanmean(a)
    total = 0.0
    for v in a.flat:
        if v == v:
            d = v - middle
            total += d.real * d.real + d.imag * d.imag
    return total / numbers(a)


def array_nanstd(a: Any) -> Any:
    """Root of the mean squared distance of the elements that are numbers from their mean."""
    return math.sqrt(array_nanvar(a))


def array_nanmin(a: Any) -> Any:
    """The least element that is a number; NaN if none is."""
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation not possible")
    best = a.dtype(0)
    first = True
    for v in a.flat:
        if first or v < best or best != best:
            best = v
            first = False
    return best


def array_nanmax(a: Any) -> Any:
    """The greatest element that is a number; NaN if none is."""
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation not possible")
    best = a.dtype(0)
    first = True
    for v in a.flat:
        if first or v > best or best != best:
            best = v
            first = False
    return best
