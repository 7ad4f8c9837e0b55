"""The command: exit statuses, arguments, what a program sees when it is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import trilane
from trilane.testing.child import child_environment

PACKAGE_ROOT = str(Path(trilane.__file__).resolve().parent.parent)


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trilane", *arguments],
        env=child_environment(**environment),
        capture_output=True,
        text=True,
        timeout=120,
    )


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_no_command_prints_help_and_fails():
    done = command()
    assert done.returncode == 2
    assert "run" in done.stderr and "info" in done.stderr


def test_version():
    assert command("--version").stdout.strip() == f"trilane {trilane.__version__}"


def test_a_script_sees_its_own_arguments_and_name(tmp_path):
    script = write(
        tmp_path / "show.py",
        "import sys, os\nprint(__name__, os.path.basename(__file__), sys.argv[1:], sys.path[0])\n",
    )
    done = command("run", script, "--device", "x", "-m", "1")
    assert done.stdout.strip() == f"__main__ show.py ['--device', 'x', '-m', '1'] {tmp_path}"


def test_a_missing_script_is_told():
    done = command("run", "nowhere.py")
    assert done.returncode == 2
    assert "no such file: nowhere.py" in done.stderr


def test_exceptions_and_exit_statuses_pass_through(tmp_path):
    failing = command("run", write(tmp_path / "fails.py", "raise ValueError('wrong')\n"))
    assert failing.returncode == 1
    assert "ValueError: wrong" in failing.stderr and "fails.py" in failing.stderr
    assert "trilane" not in failing.stderr, "the launcher's own frames are of no use to anybody"
    broken = command("run", write(tmp_path / "broken.py", "if True print(1)\n"))
    assert broken.returncode == 1 and "SyntaxError" in broken.stderr
    assert command("run", write(tmp_path / "exits.py", "raise SystemExit(7)\n")).returncode == 7


def test_a_module_and_a_string_run():
    assert command("run", "-c", "import sys; print(sys.argv)", "a").stdout.strip() == "['-c', 'a']"
    assert "February 2024" in command("run", "-m", "calendar", "2024", "2").stdout


def test_info_names_the_device_and_the_cache(tmp_path, device_kind):
    done = command("info", TRILANE_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert "Device 0" in done.stdout and str(tmp_path / "cache") in done.stdout
    data = json.loads(command("info", "--json").stdout)
    assert data["trilane"] == trilane.__version__
    assert data["devices"][0]["type"] == device_kind
    assert data["faces"]["numba"].startswith("numba-cuda ")
    assert data["environment"].get("TRILANE_DEVICE") == os.environ.get("TRILANE_DEVICE")


def test_info_tells_compilers_versions_and_the_cache_in_use(tmp_path):
    cache = str(tmp_path / "cache")
    source = "from trilane import _core; _core.Module.compile('__global__ void f() {}')"
    assert command("run", "-c", source, TRILANE_CACHE_DIR=cache).returncode == 0
    data = json.loads(command("info", "--json", TRILANE_CACHE_DIR=cache).stdout)
    device = data["devices"][0]
    assert device["compiler"] and device["name"]
    assert {"memory", "compute capability", "multiprocessors", "code for"} <= set(device)
    assert data["cache"]["files"] > 0 and data["cache"]["bytes"] > 0
    assert "numpy" in data["packages"] and "glibc" in data["system"]


def test_cache_is_shown_and_cleared_but_nothing_else_goes(tmp_path):
    cache = tmp_path / "cache"
    source = "from trilane import _core; _core.Module.compile('__global__ void f() {}')"
    chosen = {"TRILANE_CACHE_DIR": str(cache), "TRILANE_CACHE_MIB": "3"}
    assert command("run", "-c", source, **chosen).returncode == 0
    mine = cache / "images-2" / "notes.txt"
    mine.write_text("not the cache's")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.image").write_text("")
    (cache / "images-link").symlink_to(elsewhere)

    shown = command("cache", **chosen).stdout
    assert str(cache) in shown and "3 MiB (TRILANE_CACHE_MIB)" in shown
    data = json.loads(command("info", "--json", **chosen).stdout)["cache"]
    assert data["files"] > 0 and data["limit"] == 3 << 20
    assert f"{data['files']} files" in shown

    cleared = command("cache", "--clear", **chosen)
    assert cleared.returncode == 0 and f"{data['files']} files removed" in cleared.stdout
    assert [p for p in cache.rglob("*.image") if not p.is_relative_to(cache / "images-link")] == []
    assert mine.exists() and (elsewhere / "kept.image").exists()
    assert "\n0 files" in command("cache", **chosen).stdout
    assert command("run", "-c", source, **chosen).returncode == 0  # and it fills again


def test_info_says_what_is_missing_and_how_to_get_it(tmp_path):
    nowhere = {"TRILANE_CUDA_LIBRARY": str(tmp_path / "libcuda.so.1"), "TRILANE_DEVICE": "cuda"}
    done = subprocess.run(
        [sys.executable, "-m", "trilane", "info"],
        env=child_environment(**nowhere),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stdout
    told = done.stdout[done.stdout.index("Not available") :]
    assert "cuda: " in told and "TRILANE_CUDA_LIBRARY" in told
