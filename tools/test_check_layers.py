"""Tests of tools/check_layers.py: the tree is clean, and each rule finds its violation."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location("check_layers", HERE / "check_layers.py")
check_layers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_layers)


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_this_tree_is_clean() -> None:
    assert check_layers.violations() == []


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("src/core/a.cpp", '"array/array.h"'),
        ("src/core/a.cpp", '"devices/cpu/device.h"'),
        ("src/core/a.cpp", "<Python.h>"),
        ("src/core/a.cpp", "<cuda.h>"),
        ("src/core/a.cpp", "<llvm/IR/Module.h>"),
        ("src/core/a.cpp", "<core/error.h>"),
        ("src/core/a.cpp", "<gtest/gtest.h>"),
        ("src/core/a.cpp", '"core/testing/fake_device.h"'),
        ("src/array/a.cpp", '"jit/types.h"'),
        ("src/array/a.h", '"bindings/bindings.h"'),
        ("src/jit/a.cpp", '"array/array.h"'),
        ("src/jit/a.cpp", "<nanobind/nanobind.h>"),
        ("src/devices/cuda/a.cpp", '"devices/cpu/entry.h"'),
        ("src/devices/cuda/a.cpp", '"clang/AST/Decl.h"'),
        ("src/devices/cpu/a.cpp", '"array/array.h"'),
        ("src/devices/cpu/a.cpp", "  <cuda_runtime.h>"),
        ("src/bindings/array.cpp", '"devices/cpu/entry.h"'),
        ("src/bindings/extension.cpp", '"devices/cpu/device.h"'),
        ("src/somewhere/a.cpp", '"core/error.h"'),
        ("device_lib/cpu/a.h", "<iostream>"),
    ],
)
def test_a_forbidden_include_is_found(tmp_path: Path, name: str, include: str) -> None:
    put(tmp_path, name, f"// A file.\n#include {include}\n")
    (found,) = check_layers.violations(tmp_path)
    assert found.startswith(f"{name}:2: ")


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("src/core/a.cpp", '"core/error.h"'),
        ("src/core/a.cpp", "<vector>"),
        ("src/core/a.cpp", "<xxhash.h>"),
        ("src/core/a_test.cpp", "<gtest/gtest.h>"),
        ("src/core/a_test.cpp", '"core/testing/fake_device.h"'),
        ("src/array/a.cpp", '"core/buffer.h"'),
        ("src/jit/a.cpp", '"jit/types.h"'),
        ("src/devices/cpu/lower/a.cpp", "<llvm/IR/Module.h>"),
        ("src/devices/cpu/lower/a.cpp", '"devices/cpu/entry.h"'),
        ("src/devices/cuda/a.cpp", "<cuda.h>"),
        ("src/bindings/a.cpp", "<nanobind/nanobind.h>"),
        ("src/bindings/a.cpp", '"jit/types.h"'),
        ("src/bindings/extension.cpp", '"devices/cuda/entry.h"'),
    ],
)
def test_an_allowed_include_is_not(tmp_path: Path, name: str, include: str) -> None:
    put(tmp_path, name, f"// A file.\n#include {include}\n")
    assert check_layers.violations(tmp_path) == []


@pytest.mark.parametrize(
    "statement",
    [
        "import trilane.cupy",
        "from trilane import cupy",
        "from trilane.numba import cuda",
        "from ..cupy import ndarray",
        "from .. import numba",
        "def f():\n    import trilane.cupy.linalg as linalg",
        "from trilane.cli import run",
    ],
)
def test_a_face_that_imports_another_is_found(tmp_path: Path, statement: str) -> None:
    put(tmp_path, "python/trilane/pycuda/driver.py", statement)
    (found,) = check_layers.violations(tmp_path)
    assert found.startswith("python/trilane/pycuda/driver.py:")


def test_what_a_face_may_import(tmp_path: Path) -> None:
    text = (
        "import numpy\nfrom trilane import _core\nfrom . import compiler\nfrom .. import dtypes\n"
    )
    put(tmp_path, "python/trilane/pycuda/driver.py", text)
    put(tmp_path, "python/trilane/cupyx/scipy.py", "import trilane.cupy\n")
    put(tmp_path, "python/trilane/pycuda/test_driver.py", "import trilane.cupy\n")
    put(tmp_path, "python/trilane/cli/run.py", "import trilane.cupy\n")
    assert check_layers.violations(tmp_path) == []


def test_the_device_library_includes_itself(tmp_path: Path) -> None:
    put(tmp_path, "device_lib/cpu/types.h", "")
    put(tmp_path, "device_lib/include/cmath", "")
    put(tmp_path, "device_lib/cpu/a.h", '#include "types.h"\n#include <cmath>\n')
    assert check_layers.violations(tmp_path) == []


def test_the_program_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    put(tmp_path, "src/core/a.cpp", "#include <Python.h>\n")
    monkeypatch.setattr("sys.argv", ["check_layers.py", "--root", str(tmp_path)])
    assert check_layers.main() == 1
    out = capsys.readouterr().out
    assert "src/core/a.cpp:1: Python may be included only below bindings: Python.h" in out
    assert "1 violations" in out
