"""`python -m tests.bitcompare record|compare`: results of every case on the current device.

`record [--out FILE]` keeps them; `compare [FILE] [--all]` prints per case equal, the largest
distance in ulp, or the first operands for which the values differ, and closes with a count.
TRILANE_DEVICE chooses the device; `--only PATTERN` some of the cases.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.bitcompare import recorded
from tests.bitcompare.all_cases import CASES
from tests.bitcompare.case import run_all
from tests.bitcompare.difference import shown, wrong
from tests.bitcompare.rules import explained
from tests.kernels.devices import context_of, device_types


def about(context: object) -> dict:
    """Device, driver and compiler, as far as they can be asked."""
    from trilane import _core

    properties = context.properties  # type: ignore[attr-defined]
    made = {"device": properties.name, "capability": list(properties.compute_capability)}
    made["libraries"] = {str(k): str(v) for k, v in _core.library_versions().items()}
    try:
        told = subprocess.run(["nvidia-smi"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        told = ""
    if found := re.search(r"Driver Version:\s*(\S+)\s*CUDA Version:\s*(\S+)", told):
        made["driver"], made["cuda"] = found.groups()
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("file", nargs="?", type=Path, default=recorded.FILE)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--only", default="*")
    parser.add_argument("--all", action="store_true", help="print the cases that agree too")
    given = parser.parse_args()
    started = time.monotonic()
    context = context_of(device_types()[0])
    cases = [case for case in CASES if fnmatch.fnmatchcase(case.name, given.only)]
    results = run_all(cases, context)
    took = time.monotonic() - started
    if given.what == "record":
        out = given.out or given.file
        recorded.write(out, cases, results, about(context))
        print(f"{len(cases)} cases in {took:.1f} s, {out.stat().st_size} bytes in {out}")
        return 0
    made, stored = recorded.read(given.file)
    counts = dict.fromkeys(["equal", "within", "rule", "differ", "stale"], 0)
    for case in cases:
        digest, theirs = stored.get(case.name, ("", None))
        if digest != case.digest:
            kind, line = "stale", "not recorded as it is now"
        else:
            mine = results[case.name]
            bad, ulp = wrong(case, mine, theirs)
            rest, rules = explained(case, mine, theirs, bad)
            if rest.any():
                kind, line = "differ", shown(case, mine, theirs, rest)
            elif rules:
                kind, line = "rule", ", ".join(sorted(rules))
            elif ulp:
                kind, line = "within", f"at most {ulp:g} ulp"
            else:
                kind, line = "equal", ""
        counts[kind] += 1
        if given.all or kind in ("differ", "stale"):
            print(f"{case.name}: {kind} {line}")
    told = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    print(f"{told}; recorded on {made['device']}; {took:.1f} s")
    return 1 if counts["differ"] or counts["stale"] else 0


if __name__ == "__main__":
    sys.exit(main())
