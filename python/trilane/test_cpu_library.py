"""The library of the cpu device must be of the same build as the extension."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

USE = "from trilane import _core; _core.current_context()"
OTHER = """
int trilane_cpu_abi(void) { return 3; }
void *trilane_cpu_create(int ordinal, const void *hooks, char *error, int error_bytes) {
    __builtin_trap();
}
"""


def _error_with(library: Path) -> str:
    environment = {**os.environ, "TRILANE_DEVICE": "cpu", "TRILANE_CPU_LIBRARY": str(library)}
    done = subprocess.run(
        [sys.executable, "-c", USE], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.skipif(shutil.which("cc") is None, reason="makes a library with a C compiler")
def test_a_library_of_another_version_is_refused_and_not_used(tmp_path: Path) -> None:
    source, library = tmp_path / "other.c", tmp_path / "other.so"
    source.write_text(OTHER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    message = _error_with(library)
    assert "is of another version: got interface 3, expected" in message
    assert str(library) in message


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    library = tmp_path / "text.so"
    library.write_text("no library")
    assert "the cpu device cannot be opened" in _error_with(library)
