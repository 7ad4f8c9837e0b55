"""Cutting device text out of files, the table of programs, and the ledger, on texts of our own."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.outside.__main__ import lanes_told
from tests.outside.extract import device_text, split
from tests.outside.ledger import ledger_text
from tests.outside.program import Program, Run, WrongResult, read_source, source_of

MIXED = r"""
#include <stdio.h>
#include <cooperative_groups.h>
#include "sizes.h"
#define TILE 16 /* a macro \
   of two lines } */
struct Pair { int a; float b; };
typedef struct { int x[3]; } Three;
const int kWidth = 4;
static float table[] = { 1.0f, 2.0f };   // of the host: }
__constant__ float weights[4] = { 1, 2, 3, 4 };
__device__ inline int twice(int v) { return 2 * v; }
template <typename T, int N = (3 > 2 ? 1 : 2)>
__global__ void scale(T* p, T by)
{
    const char* s = "} not a brace {";
    if (p[0] != '}') { p[threadIdx.x] *= by; }
#ifdef NEVER
    p[0] = 0;
#endif
}
template <typename T> T host_square(T v) { return v * v; }
void report(const char* text) { printf("{ %s\n", text); }
namespace inner {
enum Kind { kOne, kTwo };
__device__ int kind() { return kTwo; }
int host_kind() { return kOne; }
}
extern "C" {
__global__ void plain(int* p) { p[threadIdx.x] = inner::kind() + twice(TILE) + kWidth; }
void host_plain();
}
int main() { report("x"); return 0; }
"""


def test_split_loses_nothing() -> None:
    assert "".join(chunk.text for chunk in split(MIXED)) == MIXED


def test_host_code_goes_and_lines_stay() -> None:
    cut = device_text(MIXED)
    assert cut.count("\n") == MIXED.count("\n")
    for gone in ("stdio", "sizes.h", "table", "host_square", "report", "host_kind", "main"):
        assert gone not in cut
    assert "host_plain" not in cut
    for kept in ("cooperative_groups", "TILE", "Pair", "Three", "kWidth", "weights", "twice"):
        assert kept in cut
    at = MIXED.splitlines().index("__global__ void scale(T* p, T by)")
    assert cut.splitlines()[at] == "__global__ void scale(T* p, T by)"
    assert "inner" in cut and "kOne, kTwo" in cut and 'extern "C" {' in cut


def test_keep_drop_and_headers() -> None:
    cut = device_text(
        MIXED, keep=["host_square"], drop=["weights", r"define TILE"], headers=["sizes.h"]
    )
    assert "host_square" in cut and "sizes.h" in cut
    assert "weights" not in cut and "of two lines" not in cut


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("int n;\n__device__ int m;\n", "__device__ int m;"),
        ("static const float e[2] = {1, 2};", "static const float e[2] = {1, 2};"),
        ("using T = float;", None),
        ("namespace cg = cooperative_groups;", None),
        ("struct __align__(8) Q { int a, b; };", None),
        ("using namespace std;", ""),
        ("static constexpr int f(int v) { return v; }", None),
        ("void g() { int a[] = {1, 2}; }\nunion U { int a; };", "union U { int a; };"),
        ("const char* name(int k) { return 0; }", ""),
        ("__launch_bounds__(32) __global__ void k() { }", None),
        ("template <int N> struct S { enum { v = N }; };", None),
        ("struct P make(int a) { struct P p = {a}; return p; }\n__device__ int z;", "__device__ int z;"),
    ],
)  # fmt: skip
def test_declarations(text: str, kept: str | None) -> None:
    assert device_text(text).strip() == (text if kept is None else kept)


@pytest.mark.parametrize("text", ["void f() { ", "}", "namespace a {"])
def test_braces_that_do_not_match(text: str) -> None:
    with pytest.raises(ValueError, match="split"):
        device_text(text)


def drive_scale(run: Run) -> None:
    values = run.put(np.arange(32), "f4")
    run.launch("scale<float>", 1, 32, values, 3.0)
    run.compare("values", values, np.arange(32) * 3)


def test_a_program_runs(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.cu").write_text(MIXED)
    run = Run(Program("mine/a", ["mine:a.cu"], ["scale<float>", "plain"], drive_scale), tmp_path)
    run.compile()
    run.wanted.drive(run)
    out = run.zeros(4, "i4")
    run.launch("plain", 1, 4, out)
    run.compare("plain", out, [1 + 32 + 4] * 4)
    assert (run.launches, run.threads) == (2, 36)
    with pytest.raises(WrongResult, match=r"again: 1 of 4 wrong, first at \(0,\)"):
        run.compare("again", out, [0, 37, 37, 37])
    with pytest.raises(ValueError, match="two results are called plain"):
        run.compare("plain", out, [37] * 4)


def test_sources_come_from_a_folder_or_from_git(tmp_path: Path) -> None:
    work = tmp_path / "tree"
    work.mkdir()
    (work / "k.cu").write_text("__device__ int a;\n")
    git = ["git", "-C", str(work), "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "k.cu"], ["commit", "-q", "-m", "k"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(work), str(tmp_path / "bare")], check=True)
    assert read_source(tmp_path, "tree:k.cu") == read_source(tmp_path, "bare:k.cu")
    with pytest.raises(FileNotFoundError, match="bare:other.cu"):
        read_source(tmp_path, "bare:other.cu")
    wanted = Program("t", ["bare:k.cu"], [], drive_scale, head="H", replace=[("int a", "int b")])
    assert source_of(wanted, tmp_path).startswith("H\n#line 1")
    assert "__device__ int b;" in source_of(wanted, tmp_path)
    wanted.replace = [("not there", "")]
    with pytest.raises(ValueError, match="nothing to replace"):
        source_of(wanted, tmp_path)


@dataclass
class Line:
    name: str
    kernels: int
    reason: str
    lanes: str


def test_ledger_and_lanes() -> None:
    lines = [Line("b/y", 2, "W=1: no end", ""), Line("a/x", 3, "", "loop/16")]
    text = ledger_text(lines, "2026-01-02", "abc")
    assert "2026-01-02, at abc" in text and "1 of 2 pass, with 3 kernels" in text
    assert text.splitlines()[-2:] == ["a/x 3 pass [loop/16]", "b/y 2 fails: W=1: no end"]
    told = "noise\ntrilane: lanes: _Z5firstIfEvv coroutine 1\ntrilane: lanes: other loop 16\n"
    assert lanes_told(told, ["a::first<float>", "other"]) == "coroutine/1 loop/16"
    assert lanes_told(told, ["other"]) == "loop/16"
