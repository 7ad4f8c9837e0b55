"""Differences between the cpu device and the H200 that stay, each by a rule with its reason.

docs/design/dialect.md tells users of them ("Same bits").
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.bitcompare.case import Case
from tests.bitcompare.difference import as_double, bits_of, is_nan


@dataclass(frozen=True)
class Rule:
    """`allows(case, mine, theirs)` says which elements the rule covers, of cases named by `cases`."""

    name: str
    cases: tuple[str, ...]
    reason: str
    allows: Callable[[Case, np.ndarray, np.ndarray], np.ndarray]

    def covers(self, case: Case) -> bool:
        return any(fnmatch.fnmatchcase(case.name, pattern) for pattern in self.cases)


def operands(case: Case) -> list[np.ndarray]:
    return [values for _kind, values in case.operands.values()]


def both_nan(case: Case, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return is_nan(case.result, bits_of(mine)) & is_nan(case.result, bits_of(theirs))


def is_subnormal(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (values != 0) & (np.abs(values) < np.finfo(np.float32).tiny)


def flushed(case: Case, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """The result is the least normal float, and was less before it was rounded."""
    return (theirs == 0) & (np.abs(mine) == np.finfo(np.float32).tiny)


def remainder_by_zero(case: Case, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    by = operands(case)[1]
    return (np.array(case.rows) == "x % y")[:, None] & (by == 0)


def lgamma_between_zeros(case: Case, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    (x,) = operands(case)
    with np.errstate(invalid="ignore"):
        apart = np.abs(as_double(case.result, mine) - as_double(case.result, theirs))
    return (x > -10.001) & (x < -2.264) & (apart <= 2.0**-22)


def atomic_flush(case: Case, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return is_subnormal(mine) & (theirs == 0)


RULES = [
    Rule(
        "nan bits", ("f32_nan_bits", "f32_sign_bits", "f64_nan_bits", "f64_sign_bits"),
        "Which NaN comes out: a GPU's float operations give 0x7fffffff, negation and fabs of it "
        "included, its double ones keep an operand's payload; the host keeps the first operand's.",
        both_nan,
    ),
    Rule(
        "ftz", ("option_ftz_*",),
        "A GPU flushes results before it rounds: what rounds up to the least normal float is 0 there.",
        flushed,
    ),
    Rule(
        "remainder by zero", ("integer_division_by_zero_*",),
        "Not defined by the language. x % 0 alone is -1 on both; a GPU compiler that has x / 0 at "
        "hand makes x - (x / 0) * 0 of it, which is x.",
        remainder_by_zero,
    ),
    Rule(
        "lgammaf between its zeros", ("math_lgamma_f32",),
        "The guide gives no bound in ulp between -10.001 and -2.264.",
        lgamma_between_zeros,
    ),
    Rule(
        "atomicAdd of float in global memory", ("atomic_float_global_subnormals",),
        "PTX: atom.add.f32 on global memory flushes subnormals, on shared memory it does not; the "
        "cpu device keeps them in both.",
        atomic_flush,
    ),
]  # fmt: skip


def explained(
    case: Case, mine: np.ndarray, theirs: np.ndarray, bad: np.ndarray
) -> tuple[np.ndarray, set[str]]:
    """What of `bad` no rule covers, and the names of the rules that cover some of it."""
    used = set()
    rest = bad.copy()
    for rule in RULES:
        if rest.any() and rule.covers(case):
            covered = rest & np.broadcast_to(rule.allows(case, mine, theirs), rest.shape)
            if covered.any():
                used.add(rule.name)
                rest &= ~covered
    return rest, used
