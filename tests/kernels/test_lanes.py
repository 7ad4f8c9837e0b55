"""Every kernel case at numbers of lanes that the cpu device would not choose itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trilane.testing.child import child_environment

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.cpu_only(reason="lanes are how the cpu device runs threads")
@pytest.mark.parametrize(
    ("lanes", "features"),
    [("1", ""), ("4", "sse2"), ("8", "avx2"), ("16", ""), ("32", "")],
)
def test_cases_at_lanes(lanes: str, features: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.kernels.at_lanes"],
        env=child_environment(
            str(ROOT),
            TRILANE_DEVICE="cpu",
            TRILANE_LANES=lanes,
            TRILANE_CPU_FEATURES=features,
        ),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.endswith(" 0 wrong\n")
