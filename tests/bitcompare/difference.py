"""How two devices' results of a case are compared: bits, or distance in units of the last place."""

from __future__ import annotations

import numpy as np

from tests.bitcompare.case import FLOATS, Case
from tests.bitcompare.inputs import doubles


def bits_of(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.dtype.itemsize}")


def is_nan(kind: str, bits: np.ndarray) -> np.ndarray:
    exponent, fraction = FLOATS[kind]
    infinity = ((1 << exponent) - 1) << fraction
    magnitude = bits & bits.dtype.type((1 << (exponent + fraction)) - 1)
    return magnitude > bits.dtype.type(infinity)


def as_double(kind: str, values: np.ndarray) -> np.ndarray:
    """Values of any type as doubles."""
    if kind == "half":
        return doubles(values.view(np.float16))
    if kind == "bf16":
        return doubles((values.astype(np.uint32) << np.uint32(16)).view(np.float32))
    return doubles(values)


def distance(kind: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Steps between neighbours from a to b; infinite where one is NaN or zeros differ in sign."""
    bits_a, bits_b = bits_of(a), bits_of(b)
    top = bits_a.dtype.type(1 << (8 * a.dtype.itemsize - 1))
    magnitude_a, magnitude_b = bits_a & ~top, bits_b & ~top
    same_sign = (bits_a & top) == (bits_b & top)
    larger, smaller = np.maximum(magnitude_a, magnitude_b), np.minimum(magnitude_a, magnitude_b)
    # A sum of two magnitudes may not fit; it is far beyond any bound then, and doubles say so.
    steps = np.where(
        same_sign,
        (larger - smaller).astype(np.float64),
        magnitude_a.astype(np.float64) + magnitude_b.astype(np.float64),
    )
    nan_a, nan_b = is_nan(kind, bits_a), is_nan(kind, bits_b)
    steps[nan_a != nan_b] = np.inf
    steps[nan_a & nan_b] = 0
    steps[~same_sign & (larger == 0)] = np.inf
    return steps


def wrong(case: Case, mine: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, float]:
    """Where the results differ by more than the case allows, and the largest finite distance."""
    different = bits_of(mine) != bits_of(theirs)
    if case.result not in FLOATS:
        return different, 0.0
    steps = distance(case.result, mine, theirs)
    operands = [values for _kind, values in case.operands.values()]
    if case.nan_bits:
        steps[different & (steps == 0)] = np.inf
    ulp = case.ulp(*operands) if callable(case.ulp) else case.ulp
    bad = steps > ulp
    absolute = case.absolute(*operands) if callable(case.absolute) else case.absolute
    if np.any(absolute):
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(as_double(case.result, mine) - as_double(case.result, theirs))
        bad &= ~(apart <= absolute)
    finite = steps[np.isfinite(steps)]
    return bad, float(finite.max()) if finite.size else 0.0


def shown(case: Case, mine: np.ndarray, theirs: np.ndarray, where: np.ndarray) -> str:
    """The first wrong element of `where`: row, operands, both values with their bits."""
    row, column = (int(k[0]) for k in np.nonzero(where))

    def value(kind: str, array: np.ndarray, at: tuple) -> str:
        bits = int(bits_of(array)[at])
        number = as_double(kind, array[at].reshape(1))[0] if kind in FLOATS else array[at]
        return f"{number!s} (0x{bits:0{2 * array.dtype.itemsize}x})"

    operands = ", ".join(
        f"{name.removeprefix('p_')}={value(kind, values, (column,))}"
        for name, (kind, values) in case.operands.items()
        if len(values) == case.columns
    )
    return (
        f"{int(where.sum())} of {where.size} differ; {case.rows[row]} [{column}] of {operands}: "
        f"got {value(case.result, mine, (row, column))}, "
        f"recorded {value(case.result, theirs, (row, column))}"
    )
