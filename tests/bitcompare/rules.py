"""Differences between the cpu device and the H200 that stay, each by a rule with its reason."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.bitcompare.case import Case


@dataclass(frozen=True)
class Rule:
    """`allows(case, mine, theirs)` says which elements the rule covers, of cases named by `cases`."""

    name: str
    cases: tuple[str, ...]
    reason: str
    allows: Callable[[Case, np.ndarray, np.ndarray], np.ndarray]

    def covers(self, case: Case) -> bool:
        return any(fnmatch.fnmatchcase(case.name, pattern) for pattern in self.cases)


RULES: list[Rule] = []


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
