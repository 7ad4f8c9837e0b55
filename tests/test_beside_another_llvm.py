"""The cpu device's LLVM is its own: another one in the process is not met."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import trilane
from trilane.testing.child import child_environment

pytestmark = pytest.mark.cpu_only(reason="the library with LLVM inside is the cpu device's")
PACKAGE = Path(trilane.__file__).resolve().parent

OTHER = """
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
def other():
    module = llvm.parse_assembly("define i32 @f(i32 %x) { %r = mul i32 %x, 3 ret i32 %r }")
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    import ctypes
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(engine.get_function_address("f"))(14)
"""
OURS = """
import numpy as np
from trilane import _core
def ours():
    text = 'extern "C" __global__ void f(int *a) { a[threadIdx.x] = 3 * threadIdx.x; }'
    buffer = _core.Buffer.allocate(4 * 32)
    _core.Module.compile(text).function("f").launch(1, 32, (buffer,))
    out = np.empty(32, np.int32)
    _core.copy_to_host(out, buffer)
    return int(out[14])
"""


@pytest.mark.parametrize("order", ["ours(), other(), ours()", "other(), ours(), other()"])
@pytest.mark.parametrize("first", ["other", "ours"])
def test_both_compile_in_one_process(first, order):
    pytest.importorskip("llvmlite", reason="it is the other LLVM; bin/setup.sh installs it")
    code = textwrap.dedent(OTHER + OURS if first == "other" else OURS + OTHER)
    done = subprocess.run(
        [sys.executable, "-c", code + f"\nprint({order})"],
        env=child_environment(TRILANE_DEVICE="cpu", TRILANE_CACHE="0"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "42 42 42", done.stderr


def test_the_cpu_library_exports_its_entry_points_only():
    library = PACKAGE / "libtrilane_cpu.so"
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    # Weak type information of the C++ library's exceptions has to be common to the process.
    assert {n for n in names if not n.startswith(("_ZTI", "_ZTS"))} == {
        "trilane_cpu_abi",
        "trilane_cpu_create",
    }


def test_the_cpu_library_needs_the_system_libraries_only():
    library = PACKAGE / "libtrilane_cpu.so"
    listed = subprocess.run(
        ["readelf", "-d", str(library)], capture_output=True, text=True, check=True
    )
    needed = {
        line.split("[")[1].rstrip("]") for line in listed.stdout.splitlines() if "NEEDED" in line
    }
    assert needed <= {
        "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2",
    }  # fmt: skip
