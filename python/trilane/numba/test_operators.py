"""Every arithmetic operator over pairs of types, against Python's own numbers."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from trilane.numba import cuda

VALUES = [
    np.int8(-7), np.uint8(5), np.int32(-9), np.uint32(3), np.int64(11), np.float32(2.5),
    np.float64(-3.25), True,
]  # fmt: skip
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.truediv,
    operator.pow, operator.lt, operator.eq,
]  # fmt: skip


@cuda.jit
def table(o, a, b):
    o[0] = a + b
    o[1] = a - b
    o[2] = a * b
    o[3] = a // b
    o[4] = a % b
    o[5] = a / b
    o[6] = a**b
    o[7] = a < b
    o[8] = a == b


def plain(value):
    return float(value) if isinstance(value, np.floating) else int(value)


def unsigned(value):
    return getattr(value, "dtype", np.dtype("i8")).kind == "u"


@pytest.mark.parametrize("a", VALUES, ids=lambda v: type(v).__name__)
def test_operators(a):
    for b in VALUES:
        got = np.zeros(9)
        table[1, 1](got, a, b)
        x, y = plain(a), plain(b)
        for i, function in enumerate(OPERATORS):
            expected = function(x, y)
            if isinstance(expected, complex):
                assert np.isnan(got[i]), (a, function, b)
                continue
            if function is operator.pow and isinstance(x, int) and isinstance(y, int) and y < 0:
                # an integer power is an integer: 0 below one, and +-1 stay
                expected = x**y if abs(x) == 1 else 0
            if isinstance(expected, int) and unsigned(a) and unsigned(b):
                expected %= 2**64
            np.testing.assert_allclose(
                got[i], expected, rtol=1e-6, err_msg=f"{a!r} {function} {b!r}"
            )
