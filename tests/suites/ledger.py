"""The ledger of expected results, and the scoreboard in the README."""

from __future__ import annotations

import datetime
import platform
import re
import subprocess
from pathlib import Path

from tests.suites.peers import HERE, Peer

README = HERE.parent.parent / "README.md"
_SECTION = re.compile(r"(<!-- scoreboard -->\n).*?(<!-- /scoreboard -->)", re.DOTALL)


def read_ids(peer: Peer) -> list[str]:
    """The committed denominator."""
    lines = peer.ids_file.read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def ledger_path(peer: Peer, device: str) -> Path:
    return peer.ledger_file.with_name(f"{peer.name}-{device}.txt")


def read_ledger(peer: Peer, device: str) -> set[str]:
    """Ids expected to pass; empty if there is no ledger yet."""
    path = ledger_path(peer, device)
    lines = path.read_text().splitlines() if path.exists() else []
    return {line for line in lines if line and not line.startswith("#")}


def compare(peer: Peer, device: str, passed: list[str], partial: bool, files: list[str]) -> int:
    """Print what newly passes or fails; status 1 if something that passed does not any more."""
    expected = read_ledger(peer, device)
    if partial:
        expected = {i for i in expected if i.split("::")[0] in files}
    new, lost = sorted(set(passed) - expected), sorted(expected - set(passed))
    for name in new[:20]:
        print(f"  newly passes: {name}")
    for name in lost:
        print(f"  NEWLY FAILS: {name}")
    print(f"ledger: {len(expected)} expected, {len(new)} newly pass, {len(lost)} newly fail")
    return 1 if lost else 0


def write_ledger(
    peer: Peer, device: str, passed: list[str], total: int, run: int, files: int
) -> None:
    """Renew the ledger file and the peer's row of the scoreboard.

    `run` of `files` test files were run; the ids of the others count as failures.
    """
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True
    ).stdout.strip()
    import numpy

    releases = ", ".join(f"{a.package} {a.version}" for a in peer.archives)
    today = datetime.date.today().isoformat()
    head = (
        f"# {len(passed)} of {total} {peer.level}s of {releases} pass on the {device} device\n"
        f"# {today}, commit {commit}, Python {platform.python_version()}, NumPy {numpy.__version__}\n"
    )
    if run < files:
        head += (
            f"# {run} of {files} test files were run; the others count as failures, as does what a "
            "file had not reached at its time limit\n"
        )
    ledger_path(peer, device).write_text(head + "\n".join(passed) + "\n")
    _write_scoreboard()


def scoreboard_rows() -> list[str]:
    """One table row per ledger, from the ledgers' first lines."""
    rows = []
    for path in sorted((HERE / "ledger").glob("*.txt")):
        first, second = path.read_text().splitlines()[:2]
        match = re.match(r"# (\d+) of (\d+) (\w+)s of (.+) pass on the (\w+) device", first)
        if match is None:
            raise ValueError(f"{path.name}: the first line is not a summary: {first}")
        passed, total, level, releases, device = match.groups()
        share = 100 * int(passed) / int(total)
        rows.append(
            f"| {releases} | {device} | {passed} of {total} {level}s | {share:.0f} % | "
            f"{second[2:].split(',')[0]} |"
        )
    return rows


def _write_scoreboard() -> None:
    table = "\n".join(
        ["| released tests of | device | pass | share | date |", "|---|---|---|---|---|"]
        + scoreboard_rows()
    )
    text = README.read_text()
    if not _SECTION.search(text):
        raise SystemExit("README.md has no scoreboard section")
    README.write_text(_SECTION.sub(lambda m: m.group(1) + table + "\n" + m.group(2), text))
