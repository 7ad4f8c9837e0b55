"""Whole programs of the three styles, each run unmodified by `trilane run` in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trilane.testing.child import child_environment

HERE = Path(__file__).resolve().parent
SCRIPTS = sorted(path.name for path in HERE.glob("*.py") if not path.name.startswith("test_"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_runs_and_its_results_hold(script):
    command = [sys.executable, "-m", "trilane", "run", str(HERE / script)]
    done = subprocess.run(
        command, env=child_environment(), capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "ok" in done.stdout
