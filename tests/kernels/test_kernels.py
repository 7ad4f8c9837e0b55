"""Every kernel case on every device there is."""

from __future__ import annotations

import pytest

from tests.kernels.all_cases import CASES
from tests.kernels.case import Case, differences, run
from tests.kernels.devices import context_of, device_types


@pytest.mark.parametrize("device", device_types())
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, device: str) -> None:
    if device in case.refused:
        with pytest.raises((NotImplementedError, RuntimeError), match=case.refused[device]):
            run(case, context_of(device))
        return
    wrong = differences(case, run(case, context_of(device)))
    assert not wrong, f"{case.name} on {device}:\n" + "\n".join(wrong)


def test_there_are_enough_cases_and_each_expects_something() -> None:
    assert len(CASES) >= 150
    assert all(case.expected for case in CASES)
