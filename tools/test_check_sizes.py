"""Tests of tools/check_sizes.py: the tree is clean, and long files are found."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location("check_sizes", HERE / "check_sizes.py")
check_sizes = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_sizes)


def put(root: Path, name: str, lines: int) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x\n" * lines)


def test_this_tree_is_clean() -> None:
    faults, _ = check_sizes.check()
    assert faults == []


def test_lengths(tmp_path: Path) -> None:
    put(tmp_path, "src/ok.cpp", 600)
    put(tmp_path, "src/long.cpp", 601)
    put(tmp_path, "src/too_long.py", 801)
    put(tmp_path, "src/data.bin", 5000)
    put(tmp_path, "tests/suites/ids/cupy.txt", 5000)
    faults, listed = check_sizes.check(tmp_path)
    assert faults == [
        "src/too_long.py: 801 lines, 800 are the most: split it",
        "src/long.cpp: 601 lines: split it or give the reason in tools/large_files.txt",
    ]
    assert listed == []


def test_a_reason_allows_up_to_800(tmp_path: Path) -> None:
    put(tmp_path, "src/long.cpp", 700)
    put(tmp_path, "src/too_long.cpp", 900)
    reasons = tmp_path / "tools" / "large_files.txt"
    reasons.parent.mkdir()
    reasons.write_text(
        "# comment\nsrc/long.cpp: one table\nsrc/too_long.cpp: no\nsrc/gone.cpp: was long\n"
    )
    faults, listed = check_sizes.check(tmp_path)
    assert listed == ["src/long.cpp: 700 lines: one table"]
    assert [fault.split(":")[0] for fault in faults] == [
        "src/too_long.cpp",
        "tools/large_files.txt",
    ]
    assert "src/gone.cpp needs no reason" in faults[1]


def test_the_program_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    put(tmp_path, "src/too_long.cpp", 900)
    monkeypatch.setattr("sys.argv", ["check_sizes.py", "--root", str(tmp_path)])
    assert check_sizes.main() == 1
    assert "900 lines" in capsys.readouterr().out
