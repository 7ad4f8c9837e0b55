"""The aliases: same module objects, child processes, a genuine numba beside ours."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from trilane import _core, aliases
from trilane.testing.child import child_environment

PACKAGE_ROOT = str(Path(aliases.__file__).resolve().parent.parent)


def run_program(code: str, *, extra_path: str = "", launcher: bool = True) -> str:
    environment = child_environment(PACKAGE_ROOT, *([extra_path] if extra_path else []))
    start = ["-m", "trilane", "run", "-c"] if launcher else ["-c"]
    done = subprocess.run(
        [sys.executable, *start, textwrap.dedent(code)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_the_launcher_the_names_are_not_taken():
    code = "import trilane, sys; print(any('_aliases' in p for p in sys.path))"
    assert run_program(code, launcher=False) == "False"


@pytest.mark.parametrize("alias", ["pycuda", "cupy", "cupyx", "numba"])
def test_alias_and_face_are_the_same_module(alias):
    if alias == "numba" and importlib.util.find_spec("numba") is not None:
        pytest.skip("a genuine numba is installed here: only numba.cuda is ours")
    code = f"""
        import {alias}, trilane.{alias}
        print({alias} is trilane.{alias}, {alias}.__name__, {alias}.__spec__.name)
    """
    assert run_program(code) == f"True trilane.{alias} trilane.{alias}"


def test_the_modules_of_cupy_backends_are_those_of_cupy():
    code = """
        from cupy_backends.cuda.api import runtime, driver
        import cupy_backends.cuda.api.runtime as by_import
        import cupy_backends.cuda.stream as stream
        from cupy_backends.cuda.libs import nvrtc
        import cupy.cuda, cupy.cuda.cutensor
        print(runtime is cupy.cuda.runtime is by_import, driver is cupy.cuda.driver)
        print(stream.get_current_stream_ptr(), stream.get_default_stream_ptr())
        print(nvrtc is cupy.cuda.nvrtc, cupy.cuda.cutensor.available)
        try:
            nvrtc.getVersion()
        except NotImplementedError as error:
            print(error)
    """
    assert run_program(code).splitlines() == [
        "True True",
        "0 1",
        "True False",
        "cupy.cuda.nvrtc.getVersion is not implemented in trilane.cupy",
    ]


@pytest.mark.parametrize("name", ["pycuda.driver", "numba.cuda", "cupy.cuda", "pycuda.compiler"])
def test_submodules_are_not_loaded_twice(name):
    code = f"""
        import {name} as by_alias
        import trilane.{name} as by_face
        print(by_alias is by_face, by_face.__spec__.name)
    """
    assert run_program(code) == f"True trilane.{name}"


def test_a_face_imported_first_is_what_the_alias_gives():
    code = """
        import trilane.pycuda.driver as face
        import pycuda.driver as alias
        from pycuda import driver
        print(alias is face, driver is face)
    """
    assert run_program(code) == "True True"


def test_a_missing_submodule_is_a_module_not_found_error():
    code = """
        try:
            import cupy.no_such_module
        except ModuleNotFoundError as error:
            print(error)
    """
    assert "cupy.no_such_module" in run_program(code)


def test_child_processes_find_the_aliases():
    code = """
        import subprocess, sys
        inner = "import cupy, trilane.cupy; print(cupy is trilane.cupy)"
        print(subprocess.run([sys.executable, "-c", inner], capture_output=True, text=True).stdout)
    """
    assert run_program(code) == "True"


_WORKERS = """
import multiprocessing, sys
import numpy as np
def work(n):
    import cupy, trilane.cupy
    from numba import cuda
    @cuda.jit
    def double(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= 2
    a = cupy.arange(n, dtype=np.float32)
    double[1, 32](a)
    return cupy is trilane.cupy, a
if __name__ == "__main__":
    if sys.argv[2] == "used":
        import cupy
        before = cupy.ones(1 << 20, dtype=np.float32) * 2
        assert float(before.sum()) == 1 << 21
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        for same, array in pool.map(work, [3, 4]):
            print(same, array.tolist())
"""


@pytest.mark.parametrize("state", ["unused", "used"])
@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_workers_of_multiprocessing_run_kernels_through_the_aliases(
    tmp_path, method, state, device_kind
):
    # CUDA cannot be used on both sides of a fork.
    device = "cpu" if (method, state) == ("fork", "used") else device_kind
    if not any(kind == device and count for kind, count, _ in _core.device_types()):
        pytest.skip(f"no {device} device in this build")
    script = tmp_path / "workers.py"
    script.write_text(_WORKERS)
    done = subprocess.run(
        [sys.executable, "-m", "trilane", "run", str(script), method, state],
        env=child_environment(TRILANE_DEVICE=device),
        capture_output=True,
        text=True,
        timeout=120,
    )
    expected = ["True [0.0, 2.0, 4.0]", "True [0.0, 2.0, 4.0, 6.0]"]
    assert done.stdout.splitlines() == expected, done.stderr


def test_programs_started_by_programs_find_the_aliases(tmp_path):
    code = f"""
        import os, subprocess, sys
        inner = "import subprocess, sys; print(subprocess.run([sys.executable, '-c', " \
            "'import pycuda.driver as d, trilane.pycuda.driver as t; print(d is t)'], " \
            "capture_output=True, text=True).stdout.strip())"
        os.chdir({str(tmp_path)!r})
        print(subprocess.run([sys.executable, "-c", inner], capture_output=True, text=True).stdout)
        with open("script.py", "w") as file:
            file.write("from numba import cuda; print(cuda.__name__)")
        print(subprocess.run([sys.executable, "script.py"], capture_output=True, text=True).stdout)
    """
    assert run_program(code).split() == ["True", "trilane.numba.cuda"]


def test_a_genuine_numba_keeps_everything_but_cuda(tmp_path):
    genuine = tmp_path / "numba"
    (genuine / "cuda").mkdir(parents=True)
    (genuine / "__init__.py").write_text("njit = 'genuine'\nfrom numba import core\n")
    (genuine / "core.py").write_text("name = __name__\n")
    (genuine / "cuda" / "__init__.py").write_text("raise ImportError('must not be loaded')\n")
    code = """
        import numba, numba.cuda, numba.core, trilane.numba.cuda
        from numba import cuda
        print(numba.njit, numba.core.name, cuda is trilane.numba.cuda is numba.cuda)
    """
    assert run_program(code, extra_path=str(tmp_path)) == "genuine numba.core True"


# The classes by which a genuine numba's types are told, in short.
_GENUINE = {
    "__init__.py": "print('loaded')\nfrom numba.core.types import *\nnjit = 'genuine'\n",
    "core/__init__.py": "",
    "core/typing/__init__.py": "",
    "core/typing/templates.py": """
class Signature:
    def __init__(self, return_type, args):
        self.return_type, self.args = return_type, args
""",
    "core/types/abstract.py": "class Type:\n    pass\n",
    "core/types/__init__.py": """
from numba.core.types.abstract import Type
from numba.core.typing.templates import Signature
class _Number(Type):
    def __init__(self, bitwidth, signed=True):
        self.bitwidth, self.signed = bitwidth, signed
    def __call__(self, *args):
        return Signature(self, args)
    def __getitem__(self, key):
        return Array(self)
class Integer(_Number): pass
class Float(_Number): pass
class Complex(_Number): pass
class Boolean(Type): pass
class Odd(Type): pass
class NoneType(_Number): pass
class Array(Type):
    def __init__(self, dtype):
        self.dtype, self.ndim, self.layout, self.mutable = dtype, 1, "A", True
int32, uint8, float32, float64 = Integer(32), Integer(8, False), Float(32), Float(64)
complex64, boolean, void, odd = Complex(64), Boolean(), NoneType(0), Odd()
""",
}


@pytest.fixture
def genuine_types(tmp_path):
    for name, text in _GENUINE.items():
        path = tmp_path / "numba" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(tmp_path)


def test_a_genuine_numba_is_not_loaded_for_what_is_ours(genuine_types):
    code = """
        from numba import cuda, float32, types
        import numba, numba.cuda.random
        print(float32, types.int8, numba.void)
        print(numba.njit)
        print(numba.cuda is cuda, type(numba.float32).__module__)
    """
    told = run_program(code, extra_path=genuine_types).splitlines()
    assert told == ["float32 int8 none", "loaded", "genuine", "True numba.core.types"]


def test_types_of_a_genuine_numba_are_taken_everywhere(genuine_types):
    code = """
        import numpy as np
        from numba import njit, cuda, boolean, complex64, float32, float64, int32, odd, uint8, void

        @cuda.jit(void(float32[:], int32))
        def declared(out, n):
            tile = cuda.shared.array(4, float64)
            own = cuda.local.array(2, dtype=uint8)
            i = cuda.grid(1)
            own[0] = 300
            tile[i] = float32(n) / int32(2.9)
            out[i] = tile[i] + own[0]

        @cuda.jit((float32[:],))
        def listed(out):
            out[cuda.grid(1)] += 1

        out = np.zeros(4, np.float32)
        declared[1, 4](out, 7)
        listed[1, 4](out)
        print(out.tolist())
        from trilane.numba import types
        print(types.float32 == float32, types.complex64 == complex64, types.boolean == boolean)
        try:
            cuda.jit((odd,))(lambda x: None)
        except NotImplementedError as error:
            print("Odd" in str(error))
    """
    told = run_program(code, extra_path=genuine_types).splitlines()
    assert told == ["loaded", "[48.5, 48.5, 48.5, 48.5]", "True True True", "True"]


# What numba-cuda's wheel puts first among the finders, in short: every name with "numba.cuda" in it
# is looked for under another path, by all finders, itself among them.
GREEDY_FINDER = """
import sys

class NumbaCudaFinder:
    def find_spec(self, name, path, target=None):
        if "numba.cuda" not in name or any("elsewhere" in p for p in path):
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, [p.replace("no such part", "elsewhere") for p in path], target)
            if spec is not None:
                return spec

sys.meta_path.insert(0, NumbaCudaFinder())
"""


@pytest.mark.parametrize("launcher", [True, False])
def test_a_finder_that_takes_every_numba_cuda_for_its_own(launcher, tmp_path):
    (tmp_path / "greedy_finder.py").write_text(GREEDY_FINDER)
    name = "numba" if launcher else "trilane.numba"
    code = f"""
        import greedy_finder
        from {name} import cuda
        import {name}.cuda.random
        print(cuda.jit.__module__.startswith("trilane.numba.cuda"))
        try:
            import {name}.cuda.no_such_module
        except ModuleNotFoundError as error:
            print(error.name)
    """
    told = run_program(code, extra_path=str(tmp_path), launcher=launcher)
    assert told.split() == ["True", f"{name}.cuda.no_such_module"]
