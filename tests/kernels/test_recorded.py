"""The cases' expected values against what an H200 left (recorded by `tests.kernels.record`)."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.kernels.all_cases import CASES
from tests.kernels.case import Case, differences
from tests.kernels.cases_random import RECORDED

STORED = json.loads(RECORDED.read_text())
# NVRTC finds pow(int, int) ambiguous; nvcc takes it.
NOT_RECORDED = {"pow_ints"}


def test_a_gpu_has_seen_every_case() -> None:
    missing = {case.name for case in CASES} - set(STORED["cases"])
    assert missing == NOT_RECORDED


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name not in NOT_RECORDED], ids=lambda case: case.name
)
def test_expected_is_what_the_gpu_left(case: Case) -> None:
    stored = STORED["cases"][case.name]
    results = [
        np.frombuffer(bytes.fromhex(s), a.dtype) for s, a in zip(stored, case.arrays, strict=True)
    ]
    assert not differences(case, results)
