"""The ledger of the last full run: one line per program, passed or why not."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

LEDGER = Path(__file__).resolve().parent / "ledger.txt"


class Line(Protocol):
    """What the ledger says of a program."""

    name: str
    kernels: int
    reason: str
    lanes: str


def ledger_text(outcomes: Iterable[Line], date: str, commit: str) -> str:
    """The whole ledger."""
    listed = sorted(outcomes, key=lambda o: o.name)
    passed = [o for o in listed if not o.reason]
    lines = [
        f"# Programs of others on the cpu device, {date}, at {commit}:",
        f"# {len(passed)} of {len(listed)} pass, with {sum(o.kernels for o in passed)} kernels.",
        "# Program, its kernels driven, result, how they ran (shape/lanes).",
    ]
    for o in listed:
        result = f"fails: {o.reason}" if o.reason else "pass"
        lines.append(f"{o.name} {o.kernels} {result}" + (f" [{o.lanes}]" if o.lanes else ""))
    return "\n".join(lines) + "\n"


def write_ledger(outcomes: Iterable[Line], root: Path) -> None:
    """Renew ledger.txt."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    LEDGER.write_text(ledger_text(outcomes, datetime.date.today().isoformat(), commit))
