"""Run a peer's released tests over the aliases: `python -m tests.suites.run PEER [options]`."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.suites.fetch import fetch
from tests.suites.ids import test_files
from tests.suites.ledger import compare, read_ids, write_ledger
from tests.suites.peers import HERE, PEERS, WORK, Peer

ROOT = HERE.parent.parent


def private_python(peer: Peer) -> str:
    """The peer's private environment, made on first use: none of the originals is in it."""
    folder = WORK / f"env-{peer.name}"
    python = folder / "bin" / "python"
    stamp = folder / "requirements"
    wanted = "\n".join(peer.requirements)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"making the environment of {peer.name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *peer.requirements], check=True)
        stamp.write_text(wanted)
    return str(python)


def pytest_command(peer: Peer, python: str) -> list[str]:
    """pytest with settings of its own: none of this repository's or the peer's apply."""
    settings = peer.work / "pytest.ini"
    settings.write_text("[pytest]\n")
    plugins = ["-p", "trilane_suite_plugin", "-p", "no:cacheprovider"]
    return [python, "-m", "pytest", "-c", str(settings), *plugins]


def available_memory() -> int:
    """Bytes that a shard may address: three quarters of what is free now."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 768
    raise RuntimeError("/proc/meminfo does not tell MemAvailable")


def suite_environment(peer: Peer, device: str, **settings: object) -> dict[str, str]:
    """Environment variables of a shard; `settings` go to the plug-in."""
    settings = {
        "results": os.devnull,
        "skip_done": [],
        "work": str(peer.work),
        "overlays": {name: str(peer.work / place) for name, place in peer.overlays.items()},
        **settings,
    }
    # A given interpreter may find its packages by it; the private environments need nothing of it.
    inherited = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    return {
        **os.environ,
        **peer.environment,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(HERE), *inherited]),
        "TRILANE_DEVICE": f"cpu:{peer.cpu_devices}" if device == "cpu" else device,
        "TRILANE_SUITE": json.dumps(settings),
    }


# What cupy.testing.parameterize adds to the names of the classes that it makes.
_MADE_CLASS = re.compile(r"_param_\d+_\{.*\}(?=::)", re.DOTALL)


def definition(item: str, given: str) -> str:
    """The id of an item: the one that the plug-in gave, or its class as it stands in the file."""
    plain, made = _MADE_CLASS.subn("", item)
    return plain.split("[")[0] if made else given


def read_results(file: Path) -> tuple[dict[str, dict], list[dict]]:
    """Rows by item, and collection errors. An item that started and never ended has crashed."""
    rows: dict[str, dict] = {}
    errors = []
    for line in file.read_text().splitlines() if file.exists() else []:
        row = json.loads(line)
        if row["event"] == "start":
            identity = definition(row["item"], row["id"])
            rows[row["item"]] = {"id": identity, "outcome": "crashed", "reason": "process ended"}
        elif row["event"] == "end":
            rows[row["item"]].update(outcome=row["outcome"], reason=row["reason"])
        else:
            errors.append(row)
    return rows, errors


def results_file(peer: Peer, path: Path, device: str) -> Path:
    """Where the results of a test file go."""
    name = path.relative_to(peer.work).as_posix()
    return peer.work / "results" / device / (name.replace("/", "__") + ".jsonl")


def run_file(peer: Peer, python: str, path: Path, device: str, limit_s: float = 1800) -> Path:
    """Run one test file to its end, going on behind items that crash the process.

    `limit_s` bounds the file's whole time; the item that was running then counts as crashed.
    """
    name = path.relative_to(peer.work).as_posix()
    results = results_file(peer, path, device)
    results.parent.mkdir(parents=True, exist_ok=True)
    finished = results.with_suffix(".done")
    if finished.exists():
        return results
    # A file of many items may crash often; each round has at least one item fewer to run.
    end = time.monotonic() + limit_s
    for _ in range(60):
        rows, _errors = read_results(results)
        environment = suite_environment(
            peer,
            device,
            results=str(results),
            skip_done=[*rows],
            overlays_of=peer.name,
            # CUDA reserves more address space than there is memory.
            memory=available_memory() if device == "cpu" else 0,
        )
        try:
            done = subprocess.run(
                pytest_command(peer, python)
                + ["-q", "--tb=short", f"--timeout={peer.timeout_s}", name],
                cwd=peer.work,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=max(1.0, end - time.monotonic()),
            )
            code = done.returncode
        except subprocess.TimeoutExpired:
            break
        if code in (0, 1, 2, 3, 4, 5) or len(read_results(results)[0]) == len(rows):
            break
    finished.touch()
    return results


def outcomes_by_id(peer: Peer, files: list[Path]) -> dict[str, str]:
    """Outcome per id: "passed" only if every item of it passed; else the worst one."""
    order = ["passed", "skipped", "failed", "crashed"]
    found: dict[str, str] = {}
    for file in files:
        for item, row in read_results(file)[0].items():
            key = item if peer.level == "item" else row["id"]
            worst = max(found.get(key, "passed"), row["outcome"], key=order.index)
            found[key] = worst
    return found


def reasons(files: list[Path]) -> Counter[str]:
    """How often each reason for failing was met, to see what to mend first."""
    counted: Counter[str] = Counter()
    for file in files:
        rows, errors = read_results(file)
        counted.update(r["reason"] for r in rows.values() if r["outcome"] in ("failed", "crashed"))
        counted.update(f"collection: {e['reason']}" for e in errors)
    return counted


def run_files(peer: Peer, files: list[Path], options: argparse.Namespace) -> list[Path]:
    """Run test files, `jobs` at a time, and tell how each did."""
    python = options.python or private_python(peer)
    results = []
    with ThreadPoolExecutor(options.jobs) as pool:
        work = [
            pool.submit(run_file, peer, python, f, options.device, options.file_timeout)
            for f in files
        ]
        for index, (path, future) in enumerate(zip(files, work, strict=True), 1):
            results.append(future.result())
            rows = read_results(results[-1])[0].values()
            passed = sum(row["outcome"] == "passed" for row in rows)
            name = path.relative_to(peer.work)
            print(f"[{index}/{len(files)}] {name}: {passed} of {len(rows)} items", flush=True)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.suites.run", description=__doc__)
    parser.add_argument("peer", choices=sorted(PEERS))
    parser.add_argument("--only", default="*", help="glob of test files")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--write", action="store_true", help="renew the ledger and the README")
    parser.add_argument(
        "--file-timeout", type=float, default=1800, metavar="S", help="most seconds for one file"
    )
    parser.add_argument(
        "--resume-only", action="store_true", help="count the results that are there, run nothing"
    )
    parser.add_argument("--reasons", type=int, default=0, metavar="N", help="print the N commonest")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--python", metavar="EXE", help="interpreter that has what the tests import, as it is"
    )
    options = parser.parse_args()
    peer = PEERS[options.peer]
    fetch(peer)
    files = [f for f in test_files(peer) if fnmatch.fnmatch(str(f), f"*{options.only}*")]
    if options.fresh:
        for path in (peer.work / "results" / options.device).glob("*"):
            path.unlink()
    started = time.monotonic()
    if options.resume_only:
        results = [
            r
            for f in files
            if (r := results_file(peer, f, options.device)).with_suffix(".done").exists()
        ]
    else:
        results = run_files(peer, files, options)
    outcomes = outcomes_by_id(peer, results)
    for reason, count in reasons(results).most_common(options.reasons):
        print(f"{count:6d}  {reason}")
    ids = read_ids(peer)
    passed = [i for i in ids if outcomes.get(i) == "passed"]
    print(
        f"{peer.name}: {len(passed)} of {len(ids)} ids pass on {options.device} "
        f"({time.monotonic() - started:.0f} s)"
    )
    partial = options.only != "*"
    if options.write and not partial:
        write_ledger(peer, options.device, passed, len(ids), len(results), len(files))
        return 0
    return compare(
        peer, options.device, passed, partial, [str(f.relative_to(peer.work)) for f in files]
    )


if __name__ == "__main__":
    sys.exit(main())
