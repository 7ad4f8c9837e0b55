"""The device under test against what an H200 left, bit by bit or within the guide's bounds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.bitcompare import recorded
from tests.bitcompare.all_cases import CASES
from tests.bitcompare.case import groups, run_all
from tests.bitcompare.difference import bits_of, distance, shown, wrong
from tests.bitcompare.rules import RULES, explained
from tests.kernels.devices import context_of, device_types
from tests.parity.texts import Text, absent, complaint

needs_data = pytest.mark.skipif(
    not recorded.FILE.exists(), reason="nothing recorded yet: python -m tests.bitcompare record"
)
# A test for each module: a compile costs more than all that is done with it.
GROUPS = groups(CASES)
each_group = pytest.mark.parametrize("number", range(len(GROUPS)), ids=lambda i: GROUPS[i].name)
each_device = pytest.mark.parametrize("device", device_types())


@cache
def results(number: int, device: str) -> dict[str, np.ndarray]:
    return run_all(GROUPS[number].cases, context_of(device))


@cache
def stored() -> dict[str, tuple[str, np.ndarray]]:
    return recorded.read(recorded.FILE)[1]


@needs_data
@each_device
@each_group
def test_as_recorded(number: int, device: str) -> None:
    faults = []
    for case in GROUPS[number].cases:
        digest, theirs = stored().get(case.name, ("", None))
        if digest != case.digest:
            faults.append(f"{case.name}: has changed since it was recorded: record again")
            continue
        mine = results(number, device)[case.name]
        bad, _ulp = wrong(case, mine, theirs)
        rest = explained(case, mine, theirs, bad)[0] if device == "cpu" else bad
        if rest.any():
            faults.append(f"{case.name}: {shown(case, mine, theirs, rest)}")
    assert not faults, "\n".join(faults)


@needs_data
@pytest.mark.cpu_only(reason="rules say where the cpu device differs")
def test_every_rule_is_needed() -> None:
    needed = set()
    for number, group in enumerate(GROUPS):
        for case in group.cases:
            if any(rule.covers(case) for rule in RULES):
                mine, theirs = results(number, "cpu")[case.name], stored()[case.name][1]
                needed |= explained(case, mine, theirs, wrong(case, mine, theirs)[0])[1]
    assert needed == {rule.name for rule in RULES}


@each_device
@each_group
def test_each_case_writes_its_result(number: int, device: str) -> None:
    silent = [k for k, values in results(number, device).items() if not bits_of(values).any()]
    assert not silent


@pytest.mark.skipif(absent() is not None, reason=str(absent()))
@each_group
def test_nvrtc_takes_the_texts(number: int) -> None:
    group = GROUPS[number]
    assert complaint(Text(group.name, group.source, list(group.options)), 90) is None


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 500


def test_distances_count_neighbours() -> None:
    a = np.array([1.0, -1.0, 0.0, np.nan, np.inf, 2.0**-149, np.nan], np.float32)
    b = np.array([1 + 2.0**-22, -1 - 2.0**-23, -0.0, np.nan, 3.4028234663852886e38,
                  -(2.0**-149), 1.0], np.float32)  # fmt: skip
    assert distance("f32", a, b).tolist() == [2, 1, np.inf, 0, 1, 2, np.inf]
