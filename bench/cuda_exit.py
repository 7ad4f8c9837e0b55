"""Where the time of a whole program goes on a GPU: its start, its work and, above all, its end.

    TRILANE_DEVICE=cuda python bench/cuda_exit.py [--runs 7] [--json FILE]

Every line is a way to end one program, whose phases it reports by the clock that all processes
share: until Python runs it, its imports, the device's first use, the work, then the end of the
program until the process is gone. The ways:

- as it is: nothing special
- synchronised: the program waits for the device itself first, so the rest is no work in flight
- at once: `os._exit`, which leaves everything to the system
- reset: the primary context is destroyed by the program, timed as part of its end
- driver alone: no Trilane, only cuInit and the primary context by ctypes; ended in three ways

What "as it is" takes beyond "driver alone" is ours; what "at once" saves is the driver's own
teardown in the process, which the system does more cheaply.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cuda_dispatch import installed_environment

ROOT = Path(__file__).resolve().parent.parent

_CLOCK = "import os, sys, time\nstamps = [time.monotonic()]\n"
_TELL = "stamps.append(time.monotonic())\nprint(*stamps, flush=True)\n"
_PROGRAM = (
    _CLOCK
    + """
import trilane.cupy as cp
import numpy as np
stamps.append(time.monotonic())
a = cp.ones(400, cp.float32)
stamps.append(time.monotonic())
assert cp.asnumpy(a + a).shape == (400,)
"""
    + _TELL
)
_DRIVER = (
    _CLOCK
    + """
import ctypes
cuda = ctypes.CDLL(os.environ.get("TRILANE_CUDA_LIBRARY", "libcuda.so.1"))
stamps.append(time.monotonic())
context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
stamps.append(time.monotonic())
"""
    + _TELL
)
_RESET = """
import ctypes
ctypes.CDLL(os.environ.get("TRILANE_CUDA_LIBRARY", "libcuda.so.1")).cuDevicePrimaryCtxReset_v2(0)
"""
WAYS = {
    "as it is": _PROGRAM,
    "synchronised": _PROGRAM + "cp.cuda.Device().synchronize()\n",
    "at once": _PROGRAM + "cp.cuda.Device().synchronize()\nos._exit(0)\n",
    "reset": _PROGRAM + _RESET + "os._exit(0)\n",
    "driver alone, as it is": _DRIVER,
    "driver alone, at once": _DRIVER + "os._exit(0)\n",
    "driver alone, reset": _DRIVER + _RESET + "os._exit(0)\n",
}
PHASES = ("until it runs", "imports", "device", "work", "end", "whole")


def run(text: str, environment: dict[str, str]) -> list[float]:
    """Milliseconds of each of `PHASES` of one run."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", text],
        check=True, capture_output=True, text=True, timeout=120, env=environment,
    )  # fmt: skip
    gone = time.monotonic()
    points = [start, *map(float, done.stdout.split()), gone]
    return [(b - a) * 1e3 for a, b in zip(points, points[1:])] + [(gone - start) * 1e3]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")])
    )
    found: dict[str, list[list[float]]] = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        environment = installed_environment(folder)
        for round_index in range(given.runs + 1):  # one to warm up
            for name, text in WAYS.items():
                phases = run(text, environment)
                if round_index:
                    found[name].append(phases)
    print(f"{'ms, median':26}" + "".join(f"{phase:>15}" for phase in PHASES))
    figures = {}
    for name, rows in found.items():
        medians = [statistics.median(column) for column in zip(*rows, strict=True)]
        figures[name] = dict(zip(PHASES, medians, strict=True))
        print(f"{name:26}" + "".join(f"{value:15.1f}" for value in medians))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
