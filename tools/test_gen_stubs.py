"""The committed stub of the extension is that of the extension as it is built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_stub_is_up_to_date():
    script = Path(__file__).with_name("gen_stubs.py")
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"run {script.name}: {done.stderr}"
