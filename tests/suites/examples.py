"""Run a peer's example programs over the aliases: `python -m tests.suites.examples pycuda`.

Each runs as a process of its own, as `python -m trilane run program.py`, in a folder of its own. The
ledger says of each what came of it: passed, failed (with the last line of its errors), timed out, or
why it cannot be run here.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.suites.fetch import fetch
from tests.suites.peers import HERE, PEERS, Archive, Peer
from tests.suites.run import ROOT, private_python

_PYCUDA = PEERS["pycuda"]

EXAMPLES = {
    "pycuda": dataclasses.replace(
        _PYCUDA,
        name="pycuda-examples",
        archives=(
            Archive("pycuda", "2026.1", "sdist", {"pycuda-2026.1/examples/": "examples"}),
        ),
        tests=("examples",),
        requirements=(
            "numpy", "nanobind-backend", "ml_dtypes", "platformdirs", "rich", "pytools", "mako",
            "jinja2", "cgen", "scipy", "matplotlib", "pillow",
        ),
        # One fills all memory there is.
        environment={"TRILANE_CPU_MEMORY": "1GB"},
        timeout_s=300,
    ),
}  # fmt: skip

_GL = "draws in a window of OpenGL's"
_CODEPY = "compiles a module of its own with codepy, Boost.Python and nvcc"
# What cannot be run anywhere without more than Python packages and a device, and why.
UNUSABLE = {
    "pycuda": {
        "demo_meta_codepy.py": _CODEPY,
        "from-wiki/thrust_interop.py": _CODEPY,
        "from-wiki/demo_meta_matrixmul_cheetah.py": "Cheetah is a package of Python 2",
        "from-wiki/2d_fft.py": "imports pyfft, a package of Python 2",
        "from-wiki/gl_interop.py": _GL,
        "from-wiki/light_field_3d_viewer.py": _GL,
        "from-wiki/sobel_filter.py": _GL,
        "from-wiki/mandelbrot.py": "opens a window and waits for clicks",
        "from-wiki/mandelbrot_interactive.py": "opens a window and waits for clicks",
        "from-wiki/arithmetic_example.py": "divides for its grid as Python 2 did: 218.13 blocks",
        "from-wiki/gpu_scalar_mult.py": "texture references, which CUDA 12 dropped",
        "from-wiki/rotate.py": "texture references, which CUDA 12 dropped",
        "from-wiki/simple_rgb2gray.py": "reads a picture that does not come with it",
    }
}
# What a program asks for on its standard input.
ANSWERS = {"from-wiki/convolution.py": "\n"}


def programs(peer: Peer) -> list[str]:
    """Names below the examples' folder."""
    folder = peer.work / peer.tests[0]
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))


def run_program(peer: Peer, python: str, name: str, device: str) -> tuple[str, str]:
    """The outcome, and what to say of it."""
    path = peer.work / peer.tests[0] / name
    environment = {
        **os.environ,
        **peer.environment,
        "PYTHONPATH": str(ROOT / "python"),
        "TRILANE_DEVICE": device,
        "MPLBACKEND": "Agg",
    }
    with tempfile.TemporaryDirectory(prefix="example-") as folder:
        try:
            done = subprocess.run(
                [python, "-m", "trilane", "run", str(path)],
                cwd=folder,
                env=environment,
                input=ANSWERS.get(name, ""),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=peer.timeout_s,
            )
        except subprocess.TimeoutExpired:
            return "timed out", f"{peer.timeout_s} s"
    if done.returncode == 0:
        return "passed", ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return "failed", lines[-1].strip()[:200] if lines else f"status {done.returncode}"


def ledger_file(peer: str, device: str) -> Path:
    return HERE / "ledger" / f"examples-{peer}-{device}.tsv"


def read_ledger(peer: str, device: str) -> dict[str, str]:
    """Outcome by program; empty if there is no ledger yet."""
    path = ledger_file(peer, device)
    if not path.exists():
        return {}
    rows = [line.split("\t") for line in path.read_text().splitlines() if line[:1] != "#"]
    return {row[0]: row[1] for row in rows}


def write_ledger(peer: str, device: str, outcomes: dict[str, tuple[str, str]]) -> None:
    usable = {name: row for name, row in outcomes.items() if row[0] != "unusable"}
    passed = sum(row[0] == "passed" for row in usable.values())
    release = " ".join((EXAMPLES[peer].archives[0].package, EXAMPLES[peer].archives[0].version))
    head = (
        f"# {passed} of {len(usable)} usable programs of {release}'s {len(outcomes)} run to their "
        f"end on the {device} device\n"
    )
    lines = ["\t".join((name, *row)).rstrip() for name, row in outcomes.items()]
    ledger_file(peer, device).write_text(head + "\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.suites.examples", description=__doc__)
    parser.add_argument("peer", choices=sorted(EXAMPLES))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--only", default="", help="part of a program's name")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="renew the ledger")
    parser.add_argument("--python", metavar="EXE", help="interpreter that has what they import")
    options = parser.parse_args()
    peer = EXAMPLES[options.peer]
    fetch(peer)
    python = options.python or private_python(peer)
    names = [name for name in programs(peer) if options.only in name]
    unusable = UNUSABLE[options.peer]
    outcomes: dict[str, tuple[str, str]] = {}

    def run(name: str) -> tuple[str, str]:
        if name in unusable:
            return "unusable", unusable[name]
        start = time.monotonic()
        outcome, reason = run_program(peer, python, name, options.device)
        print(f"{name}: {outcome} in {time.monotonic() - start:.0f} s {reason}", flush=True)
        return outcome, reason

    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = dict(zip(names, pool.map(run, names), strict=True))
    expected = read_ledger(options.peer, options.device)
    lost = [n for n in names if expected.get(n) == "passed" and outcomes[n][0] != "passed"]
    for name in lost:
        print(f"  NEWLY FAILS: {name}: {outcomes[name][1]}")
    passed = sum(row[0] == "passed" for row in outcomes.values())
    usable = sum(row[0] != "unusable" for row in outcomes.values())
    print(f"{passed} of {usable} usable programs ran to their end")
    if options.write and not options.only:
        write_ledger(options.peer, options.device, outcomes)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
