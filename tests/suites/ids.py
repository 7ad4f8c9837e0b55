"""Make the denominator: `python -m tests.suites.ids PEER` writes ids/PEER.txt.

Function ids are read from the released files' text, so they depend on nothing that Trilane does:
`file.py::Class::test_name`, for every function named test* at module level or in a class. Item ids
(PyCUDA) are what pytest collects, which needs the test files to be importable.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.suites.fetch import fetch
from tests.suites.peers import PEERS, Peer


def test_files(peer: Peer) -> list[Path]:
    """Every test file of the peer, in a fixed order."""
    files = [f for folder in peer.tests for f in (peer.work / folder).rglob("test_*.py")]
    return sorted(files)


def function_ids(peer: Peer) -> list[str]:
    """Ids of all test functions as they stand in the files."""
    ids = []
    for path in test_files(peer):
        name = path.relative_to(peer.work).as_posix()
        ids += [f"{name}::{found}" for found in _functions(ast.parse(path.read_text()).body)]
    return ids


def _functions(body: list[ast.stmt], prefix: str = "") -> list[str]:
    found: list[str] = []
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            found.append(prefix + node.name)
        elif isinstance(node, ast.ClassDef):
            found += _functions(node.body, f"{prefix}{node.name}::")
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            found += _functions(node.body, prefix)
    return list(dict.fromkeys(found))


def item_ids(peer: Peer) -> list[str]:
    """Ids that pytest collects over the aliases."""
    from tests.suites.run import private_python, pytest_command, suite_environment

    done = subprocess.run(
        pytest_command(peer, private_python(peer))
        + ["--collect-only", "-q"]
        + [str(f.relative_to(peer.work)) for f in test_files(peer)],
        cwd=peer.work,
        env=suite_environment(peer, "cpu"),
        capture_output=True,
        text=True,
    )
    ids = [line for line in done.stdout.splitlines() if "::" in line]
    if done.returncode != 0 or not ids:
        raise SystemExit(f"collection failed:\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
    return ids


def main() -> int:
    peer = PEERS[sys.argv[1]]
    fetch(peer)
    ids = function_ids(peer) if peer.level == "function" else item_ids(peer)
    releases = ", ".join(f"{a.package} {a.version}" for a in peer.archives)
    peer.ids_file.write_text(f"# {len(ids)} {peer.level}s of {releases}\n" + "\n".join(ids) + "\n")
    print(f"{peer.ids_file.name}: {len(ids)} ids")
    return 0


if __name__ == "__main__":
    sys.exit(main())
