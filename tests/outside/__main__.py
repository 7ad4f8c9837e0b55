"""Run programs of others at several numbers of lanes; print a table and renew the ledger.

python -m tests.outside --drivers FOLDER --sources FOLDER [--only PATTERN] [--lanes 1,0] [--write]

Each program runs in a process of its own per number of lanes, so a crash or a hang is one row.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.outside.ledger import write_ledger
from tests.outside.program import PROGRAMS, Run

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = Path(__file__).resolve().parent / "work"


@dataclass
class Outcome:
    """What one program did.

    Attributes
    ----------
    reason : str
        Empty: it passed.
    lanes : str
        What each kernel ran in, at the default number of lanes.
    """

    name: str
    kernels: int
    reason: str = ""
    lanes: str = ""
    compile_s: float = 0.0
    launch_s: float = 0.0
    ns_per_thread: float = 0.0
    outputs: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)


def load_drivers(folder: Path) -> None:
    """Import every Python file of a folder: they register their programs."""
    files = sorted(folder.glob("*.py"))
    if not files:
        raise SystemExit(f"no drivers in {folder}: see tests/outside/README.md")
    for file in files:
        spec = importlib.util.spec_from_file_location(f"outside_{file.stem}", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def run_here(name: str, sources: Path, result: Path) -> int:
    """Run one program in this process; leaves its outputs beside `result`."""
    run = Run(PROGRAMS[name], sources)
    try:
        run.compile()
        run.wanted.drive(run)
        reason = "" if run.outputs else "the driver compared nothing"
    except Exception as error:  # whatever a driver or the device raises is this row's reason
        text = str(error).strip() or type(error).__name__
        wanted = [line for line in text.splitlines() if "error" in line] or text.splitlines()
        reason = f"{type(error).__name__}: {wanted[0].strip()}"
    np.savez(result.with_suffix(".npz"), **run.outputs)
    told = {
        "reason": reason,
        "compile_s": run.compile_s,
        "launch_s": run.launch_s,
        "ns_per_thread": run.launch_s * 1e9 / max(run.threads, 1),
    }
    result.write_text(json.dumps(told))
    return 0


def lanes_told(stderr: str, kernels: Sequence[str]) -> str:
    """How kernels ran, from the lines `lanes: KERNEL SHAPE W` of the device's log.

    Kernels of the arrays' own are not counted.
    """
    bare = [re.split(r"<", name)[0].rpartition("::")[2] for name in kernels]
    found = []
    for line in stderr.splitlines():
        told = re.search(r"lanes: (\S+) (\w+) (\d+)$", line)
        if told and any(name in told[1] for name in bare):
            found.append(f"{told[2]}/{told[3]}")
    return " ".join(sorted(set(found)))


def run_child(outcome: Outcome, lanes: str, options: argparse.Namespace) -> None:
    """Run one program at a number of lanes in a process; fills the outcome."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "tests.outside", "--drivers", str(options.drivers)]
        command += ["--sources", str(options.sources), "--here", outcome.name, "--to", str(result)]
        environment = dict(os.environ, TRILANE_LANES=lanes, TRILANE_LOG_LANES="1")
        environment["TRILANE_CACHE_DIR"] = folder
        try:
            done = subprocess.run(
                command, env=environment, cwd=ROOT, capture_output=True, text=True,
                timeout=options.timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            outcome.reason = outcome.reason or f"W={lanes}: no end within {options.timeout} s"
            return
        if not result.exists():
            last = (done.stderr.strip().splitlines() or [""])[-1]
            outcome.reason = outcome.reason or f"W={lanes}: exit code {done.returncode}: {last}"
            return
        told = json.loads(result.read_text())
        if told["reason"] and not outcome.reason:
            outcome.reason = f"W={lanes}: {told['reason']}"
        with np.load(result.with_suffix(".npz")) as saved:
            outcome.outputs[lanes] = {key: saved[key] for key in saved.files}
        if lanes == "0" or not outcome.lanes:
            outcome.lanes = lanes_told(done.stderr, PROGRAMS[outcome.name].kernels)
            outcome.compile_s, outcome.launch_s = told["compile_s"], told["launch_s"]
            outcome.ns_per_thread = told["ns_per_thread"]


def compare_lanes(outcome: Outcome, ordered: bool) -> None:
    """Every number of lanes must have given the same bits."""
    if not ordered or outcome.reason:
        return
    first, *others = outcome.outputs
    for other in others:
        for label, values in outcome.outputs[first].items():
            if outcome.outputs[other][label].tobytes() != values.tobytes():
                outcome.reason = f"{label}: other bits at W={other} than at W={first}"
                return


def run_program(name: str, options: argparse.Namespace) -> Outcome:
    """Run one program at every number of lanes."""
    wanted = PROGRAMS[name]
    outcome = Outcome(name, len(wanted.kernels))
    for lanes in options.lanes.split(","):
        run_child(outcome, lanes, options)
        if outcome.reason:
            return outcome
    compare_lanes(outcome, wanted.ordered)
    return outcome


def main() -> int:
    """Return 0 if every program passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.outside", description=__doc__)
    parser.add_argument("--drivers", type=Path, default=WORK / "drivers")
    parser.add_argument("--sources", type=Path, default=WORK / "sources")
    parser.add_argument("--only", default="*", help="names of programs, a shell pattern")
    parser.add_argument("--lanes", default="1,0", help="numbers of lanes; 0: the device chooses")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds of one process")
    parser.add_argument("--write", action="store_true", help="renew ledger.txt")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    load_drivers(options.drivers)
    if options.here:
        return run_here(options.here, options.sources, options.to)
    outcomes = []
    for name in sorted(PROGRAMS):
        if not fnmatch.fnmatch(name, options.only):
            continue
        outcome = run_program(name, options)
        outcomes.append(outcome)
        print(
            f"{'FAIL' if outcome.reason else 'pass'} {name:34} {outcome.kernels:2} kernels  "
            f"compile {outcome.compile_s:5.2f} s  run {outcome.launch_s:7.3f} s "
            f"{outcome.ns_per_thread:9.1f} ns/thread  {outcome.lanes}"
            + (f"\n     {outcome.reason}" if outcome.reason else ""),
            flush=True,
        )
    passed = [o for o in outcomes if not o.reason]
    print(
        f"{len(passed)} of {len(outcomes)} programs pass, "
        f"{sum(o.kernels for o in passed)} of {sum(o.kernels for o in outcomes)} kernels"
    )
    if options.write:
        write_ledger(outcomes, ROOT)
    return 0 if len(passed) == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
