"""Check (or with --fix, apply) clang-format 19 on every C++ file and device header of git."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {".cpp", ".h", ".cuh", ".hpp"}


def main() -> int:
    program = shutil.which("clang-format-19")
    if program is None:
        print("check_format: clang-format-19 is not installed: apt-get install clang-format-19")
        return 1
    listed = subprocess.run(
        ["git", "ls-files", "src", "bench"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [f for f in listed.stdout.split() if Path(f).suffix in SUFFIXES]
    mode = ["-i"] if "--fix" in sys.argv else ["--dry-run", "-Werror"]
    return subprocess.run([program, *mode, *files], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
