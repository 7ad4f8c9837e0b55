"""`cuda.fp16`: functions of half-precision numbers, themselves compiled into the kernels.

Where a result is not exact it is computed in single precision and rounded once more, which is at
least as near as the hardware's own half-precision instruction.
"""

from __future__ import annotations

import math
from typing import Any

from trilane._missing import missing_attributes as _missing_attributes
from trilane.numba.types import float16, float32

__all__ = [
    "habs", "hadd", "hceil", "hcos", "hdiv", "heq", "hexp", "hexp10", "hexp2", "hfloor", "hfma",
    "hge", "hgt", "hle", "hlog", "hlog10", "hlog2", "hlt", "hmax", "hmin", "hmul", "hne", "hneg",
    "hrcp", "hrint", "hrsqrt", "hsin", "hsqrt", "hsub", "htrunc",
]  # fmt: skip


def hadd(a: Any, b: Any) -> Any:
    """a + b."""
    return float16(float32(a) + float32(b))


def hsub(a: Any, b: Any) -> Any:
    """a - b."""
    return float16(float32(a) - float32(b))


def hmul(a: Any, b: Any) -> Any:
    """a * b."""
    return float16(float32(a) * float32(b))


def hdiv(a: Any, b: Any) -> Any:
    """a / b."""
    return float16(float32(a) / float32(b))


def hfma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c."""
    return float16(float32(a) * float32(b) + float32(c))


def hneg(a: Any) -> Any:
    """-a."""
    return float16(-float32(a))


def habs(a: Any) -> Any:
    """Magnitude of a."""
    return float16(math.fabs(float32(a)))


def heq(a: Any, b: Any) -> Any:
    """Whether a == b."""
    return float32(a) == float32(b)


def hne(a: Any, b: Any) -> Any:
    """Whether a != b."""
    return float32(a) != float32(b)


def hge(a: Any, b: Any) -> Any:
    """Whether a >= b."""
    return float32(a) >= float32(b)


def hgt(a: Any, b: Any) -> Any:
    """Whether a > b."""
    return float32(a) > float32(b)


def hle(a: Any, b: Any) -> Any:
    """Whether a <= b."""
    return float32(a) <= float32(b)


def hlt(a: Any, b: Any) -> Any:
    """Whether a < b."""
    return float32(a) < float32(b)


def hmax(a: Any, b: Any) -> Any:
    """The greater one; the number if the other is NaN."""
    x, y = float32(a), float32(b)
    if x != x:
        return float16(y)
    if y != y:
        return float16(x)
    return float16(x if x > y else y)


def hmin(a: Any, b: Any) -> Any:
    """The smaller one; the number if the other is NaN."""
    x, y = float32(a), float32(b)
    if x != x:
        return float16(y)
    if y != y:
        return float16(x)
    return float16(x if x < y else y)


def hsin(a: Any) -> Any:
    """Sine."""
    return float16(math.sin(float32(a)))


def hcos(a: Any) -> Any:
    """Cosine."""
    return float16(math.cos(float32(a)))


def hlog(a: Any) -> Any:
    """Natural logarithm."""
    return float16(math.log(float32(a)))


def hlog2(a: Any) -> Any:
    """Logarithm to base 2."""
    return float16(math.log2(float32(a)))


def hlog10(a: Any) -> Any:
    """Logarithm to base 10."""
    return float16(math.log10(float32(a)))


def hexp(a: Any) -> Any:
    """e to the power a."""
    return float16(math.exp(float32(a)))


def hexp2(a: Any) -> Any:
    """2 to the power a."""
    return float16(float32(2.0) ** float32(a))


def hexp10(a: Any) -> Any:
    """10 to the power a."""
    return float16(float32(10.0) ** float32(a))


def hsqrt(a: Any) -> Any:
    """Square root."""
    return float16(math.sqrt(float32(a)))


def hrsqrt(a: Any) -> Any:
    """1 / sqrt(a)."""
    return float16(float32(1.0) / math.sqrt(float32(a)))


def hrcp(a: Any) -> Any:
    """1 / a."""
    return float16(float32(1.0) / float32(a))


def hceil(a: Any) -> Any:
    """Rounded up."""
    return float16(math.ceil(float32(a)))


def hfloor(a: Any) -> Any:
    """Rounded down."""
    return float16(math.floor(float32(a)))


def htrunc(a: Any) -> Any:
    """Rounded towards zero."""
    return float16(math.trunc(float32(a)))


def hrint(a: Any) -> Any:
    """Rounded to the nearest integer, ties to even."""
    return float16(round(float32(a)))


__getattr__ = _missing_attributes(__name__)
