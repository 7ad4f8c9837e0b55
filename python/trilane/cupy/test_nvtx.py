"""Ranges and marks: a program under a profiler tells it what it does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trilane.testing.child import child_environment

PROGRAM = """
import trilane.cupy as cp
from trilane.cupyx import profiler
nvtx = cp.cuda.nvtx
print(nvtx.available, "available" in dir(nvtx))
nvtx.Mark("one")
nvtx.MarkC("two", 0xff112233)
nvtx.RangePush("out\\u00e9r")
nvtx.RangePushC("inner", 0x80ffffff)
assert nvtx.RangePop() is None
nvtx.RangePop()
first, second = nvtx.RangeStart("first", None), nvtx.RangeStart("second", 0xff000001)
nvtx.RangeEnd(first)
nvtx.RangeEnd(second)
with profiler.time_range("block", argb_color=0xff445566, sync=True):
    nvtx.Mark("inside")

@profiler.time_range()
def work(n):
    return recurse(n)

@profiler.time_range("named")
def recurse(n):
    if n == 0:
        raise KeyError(n)
    return recurse(n - 1)

try:
    work(1)
except KeyError:
    nvtx.Mark("left")
nvtx.Mark("colour", 1)
nvtx.Mark("the same", 1 + 8 * 3)
"""
HEARD = """mark 'one'
mark 'two' ff112233
push 'outér'
push 'inner' 80ffffff
pop 1
pop 0
start 'first'
start 'second' ff000001
end 1
end 2
push 'block' ff445566
mark 'inside'
pop 0
push 'work'
push 'named'
push 'named'
pop 2
pop 1
pop 0
mark 'left'
"""


def run(tmp_path, **variables) -> tuple[str, list[str]]:
    log = tmp_path / "heard"
    log.touch()
    environment = child_environment(TRILANE_FAKE_NVTX_LOG=str(log), **variables)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, log.read_text(encoding="utf-8").splitlines()


def test_a_profiler_hears_everything(tmp_path):
    tool = Path(__file__).parents[3] / "build" / "dev" / "src" / "libfake_nvtx_tool.so"
    if not tool.exists():
        pytest.skip("no fake profiler: the C++ tests are not built here")
    said, heard = run(tmp_path, NVTX_INJECTION64_PATH=str(tool))
    assert said == "True True\n"
    assert heard[:-2] == HEARD.splitlines()
    colour, same = heard[-2:]
    assert colour.startswith("mark 'colour' ff") and colour[-8:] == same[-8:]


def test_without_a_profiler_nothing_happens(tmp_path):
    assert run(tmp_path, NVTX_INJECTION64_PATH="") == ("False True\n", [])


def test_what_cannot_be_is_refused():
    from trilane.cupyx import profiler

    with pytest.raises(ValueError, match="color"):
        profiler.time_range("x", color_id=1, argb_color=2)
    with pytest.raises(ValueError, match="message argument cannot be None"), profiler.time_range():
        pass
