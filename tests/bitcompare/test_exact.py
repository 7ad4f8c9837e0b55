"""Cases whose results follow from exact arithmetic: stated roundings, fma, 16-bit floats.

The recorded data need not be there: the truth is computed with fractions, and CUDA's documentation
says what becomes of values beyond a type's range.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.bitcompare.all_cases import CASES
from tests.bitcompare.case import FLOATS, run_all
from tests.bitcompare.difference import as_double
from tests.kernels.devices import context_of, device_types

BY_NAME = {case.name: case for case in CASES}
MODES = ("rn", "rz", "ru", "rd")
each_device = pytest.mark.parametrize("device", device_types())


def rounded(exact: Fraction, mode: str, kind: str) -> float:
    """The float of `kind` next to `exact`, as a double."""
    exponent_bits, fraction_bits = FLOATS[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    largest = (2 - Fraction(1, 1 << fraction_bits)) * 2**bias
    size, negative = abs(exact), exact < 0
    if size == 0:
        return 0.0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, 1 - bias) - fraction_bits)
    whole, rest = divmod(size / unit, 1)
    away = {"rz": False, "ru": rest > 0 and not negative, "rd": rest > 0 and negative,
            "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)}[mode]  # fmt: skip
    size = (whole + away) * unit
    if size > largest:
        to_infinity = {"rz": False, "ru": not negative, "rd": negative, "rn": True}[mode]
        size = float("inf") if to_infinity else largest
    return float(-size if negative else size)


def outcome(name: str, device: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """The case's result and operands; floats as doubles, integers as they are."""
    case = BY_NAME[name]
    operands = [as_double(kind, values) if kind in FLOATS else values
                for kind, values in case.operands.values()]  # fmt: skip
    result = run_all([case], context_of(device))[name]
    return as_double(case.result, result) if case.result in FLOATS else result, operands


def finite_rows(operands: list[np.ndarray]) -> list[tuple[int, list[Fraction]]]:
    """Columns without infinities and NaN, with exact operands."""
    return [
        (i, [Fraction(v.item()) for v in values])
        for i, values in enumerate(zip(*operands, strict=True))
        if all(np.isfinite(v) for v in values)
    ]


@each_device
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_arithmetic_with_a_stated_rounding(kind: str, mode: str, device: str) -> None:
    result, operands = outcome(f"{kind}_rounding_{mode}", device)
    for i, (x, y) in finite_rows(operands):
        exact = [x + y, x - y, x * y, *([x / y] if y else [])]
        want = [rounded(e, mode, kind) for e in exact]
        assert result[: len(want), i].tolist() == want, (float(x), float(y))


@each_device
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_fma_with_a_stated_rounding(kind: str, mode: str, device: str) -> None:
    result, operands = outcome(f"{kind}_fma_{mode}", device)
    for i, (x, y, z) in finite_rows(operands):
        assert result[0, i] == rounded(x * y + z, mode, kind), (float(x), float(y), float(z))


@each_device
@pytest.mark.parametrize("kind", ["half", "bf16"])
def test_small_floats_round_once(kind: str, device: str) -> None:
    result, operands = outcome(f"{kind}_arithmetic", device)
    for i, (x, y) in finite_rows(operands):
        want = [rounded(e, "rn", kind) for e in (x + y, x - y, x * y)]
        assert result[:, i].tolist() == want, (float(x), float(y))
    result, operands = outcome(f"{kind}_fma", device)
    for i, (x, y, z) in finite_rows(operands):
        assert result[0, i] == rounded(x * y + z, "rn", kind), (float(x), float(y), float(z))


@each_device
@pytest.mark.parametrize(
    "source", ["int", "uint", "ll", "ull", "short", "ushort", "float", "double"]
)
@pytest.mark.parametrize("kind", ["half", "bf16"])
def test_small_floats_from_numbers(kind: str, source: str, device: str) -> None:
    result, operands = outcome(f"{kind}_from_{source}", device)
    modes = MODES if source != "double" else ("rn",)
    for i, (x,) in finite_rows(operands):
        want = [rounded(x, mode, kind) for mode in modes]
        assert result[: len(want), i].tolist() == want, x


@each_device
@pytest.mark.parametrize("to", ["int", "uint", "ll", "ull", "short", "ushort"])
@pytest.mark.parametrize("kind", ["half", "bf16"])
def test_small_floats_to_integers_saturate(kind: str, to: str, device: str) -> None:
    result, (x,) = outcome(f"{kind}_to_{to}", device)
    limits = np.iinfo(result.dtype)
    # CUDA: NaN becomes 0, for 64 bits the pattern 0x8000000000000000
    nan = {"ll": limits.min, "ull": 1 << 63}.get(to, 0)
    for row, rounding in enumerate((np.rint, np.trunc, np.ceil, np.floor)):
        with np.errstate(invalid="ignore"):  # signalling NaN
            values = rounding(x)
        for i, value in enumerate(values):
            if np.isnan(value):
                want = nan
            elif np.isinf(value):
                want = limits.max if value > 0 else limits.min
            else:
                want = min(max(int(value), limits.min), limits.max)
            assert int(result[row, i]) == want, (MODES[row], x[i])
