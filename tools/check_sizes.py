"""Check the sizes of files: over 800 lines fails, over 600 wants a reason.

Reasons stand in tools/large_files.txt, one ``path: reason`` a line. Run as a program it prints one
line per violation, then the files that have a reason, and exits with 1 if there is a violation.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REASONS = "tools/large_files.txt"
WANTS_REASON = 600
FORBIDDEN = 800
SUFFIXES = {".h", ".cpp", ".inc", ".cuh", ".py", ".pyi", ".cmake", ".sh", ".txt"}
# Not written by hand, or lists of data: (prefix, suffix) of paths.
EXEMPT = (
    ("tests/suites/ids/", ".txt"),
    ("tests/suites/ledger/", ".txt"),
    ("tests/suites/", ".json"),
    ("python/trilane/_core", ".pyi"),
)


def tracked_files(root: Path) -> list[str]:
    """The files that git knows below a root; every file if it is no work tree."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if done.returncode == 0:
        return sorted(name for name in done.stdout.decode().split("\0") if name)
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())


def read_reasons(root: Path) -> dict[str, str]:
    """Path -> reason of the files allowed to be longer than 600 lines."""
    path = root / REASONS
    if not path.exists():
        return {}
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.partition(":") for line in lines if line and not line.startswith("#"))
    return {name.strip(): reason.strip() for name, _, reason in pairs}


def is_checked(name: str) -> bool:
    """Whether a file is one whose length is a matter of style."""
    exempt = any(name.startswith(start) and name.endswith(end) for start, end in EXEMPT)
    return Path(name).suffix in SUFFIXES and not exempt


def count_lines(path: Path) -> int:
    """The number of lines of a text file."""
    with path.open("rb") as file:
        return sum(1 for _ in file)


def check(root: Path = ROOT) -> tuple[list[str], list[str]]:
    """The violations of a tree, and a line for each long file that has a reason."""
    reasons = read_reasons(root)
    faults, listed = [], []
    lengths = {
        name: count_lines(root / name)
        for name in tracked_files(root)
        if is_checked(name) and (root / name).is_file()
    }
    for name, lines in sorted(lengths.items(), key=lambda item: (-item[1], item[0])):
        reason = reasons.get(name, "")
        if lines > FORBIDDEN:
            faults.append(f"{name}: {lines} lines, {FORBIDDEN} are the most: split it")
        elif lines > WANTS_REASON and not reason:
            faults.append(f"{name}: {lines} lines: split it or give the reason in {REASONS}")
        elif lines > WANTS_REASON:
            listed.append(f"{name}: {lines} lines: {reason}")
    faults.extend(
        f"{REASONS}: {name} needs no reason (any more): take the line out"
        for name in sorted(reasons)
        if lengths.get(name, 0) <= WANTS_REASON
    )
    return faults, listed


def main() -> int:
    """Print what was found; 0 if there is no violation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to check")
    faults, listed = check(parser.parse_args().root)
    for line in faults:
        print(line)
    for line in listed:
        print(f"allowed: {line}")
    print(f"check_sizes: {len(faults)} violations" if faults else "check_sizes: clean")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
