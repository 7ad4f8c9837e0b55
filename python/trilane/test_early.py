"""Starting the device early: which programs, and that nobody can tell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trilane._early import is_harmless
from trilane.testing.child import child_environment

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("face", ["cupy", "numba", "pycuda"])
def test_the_examples_are_harmless(face):
    script = EXAMPLES / f"vector_add_{face}.py"
    assert is_harmless(script.read_bytes(), str(EXAMPLES))


@pytest.mark.parametrize(
    "line",
    [
        "import os", "import multiprocessing", "import torch", "import numpy, subprocess",
        "from concurrent.futures import ProcessPoolExecutor", "def f():\n    import os",
        "from . import helper", "import helper", "exec('import os')", "eval('1')", "compile('', '', 'exec')",
        "__import__('os')", "getattr(numpy, 'o' + 's')", "numpy.testing.assert_equal(1, 1)",
        "random._os.fork()", "import numpy.ctypeslib", "from random import _os", "__builtins__",
        "from numba import njit", "from numba import jit", "import numba\nnumba.jit", "syntax error",
        "().__class__.__base__.__subclasses__()",
    ],
)  # fmt: skip
def test_others_are_not(line, tmp_path):
    assert is_harmless("import cupy, numpy, random, re\nre.compile('')", str(tmp_path))
    assert not is_harmless(f"import cupy, numpy, random, re\n{line}", str(tmp_path))


def test_without_a_face_nothing_is_started(tmp_path):
    assert not is_harmless("import numpy", str(tmp_path))
    assert not is_harmless("import os", str(tmp_path))


def test_a_file_of_the_program_may_stand_for_a_module(tmp_path):
    (tmp_path / "random.py").write_text("import os")
    assert not is_harmless("import cupy, random", str(tmp_path))
    assert is_harmless("import cupy, math", str(tmp_path))


PROGRAM = """
import pycuda.autoinit
import pycuda.driver as cuda
import numpy as np
import cupy
a = cuda.mem_alloc(400)
assert (cupy.arange(5) + 1).sum() == 15
print("ok")
"""


def run(tmp_path, text, *arguments, **environment):
    script = tmp_path / "program.py"
    script.write_text(text)
    return subprocess.run(
        [sys.executable, *arguments, str(script)], env=child_environment(**environment),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("early", ["0", "1"])
def test_programs_run_as_before(early, tmp_path):
    done = run(tmp_path, PROGRAM, "-m", "trilane", "run", TRILANE_EARLY=early)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


@pytest.mark.parametrize("early", ["0", "1"])
def test_what_is_wrong_is_told_at_the_first_use(early, tmp_path):
    text = "import cupy\nprint('imported', flush=True)\ncupy.zeros(3)"
    for value, word in (("gpu", "TRILANE_DEVICE: bad value"), ("fake", "no device")):
        done = run(
            tmp_path, text, "-m", "trilane", "run", TRILANE_EARLY=early, TRILANE_DEVICE=value
        )
        assert (done.returncode, done.stdout) == (1, "imported\n")
        assert word in done.stderr


def test_a_program_that_never_uses_the_device_ends_quietly(tmp_path):
    for text in ("import cupy", "import cupy\nraise SystemExit(3)"):
        done = run(tmp_path, text, "-m", "trilane", "run")
        assert done.stdout == done.stderr == ""
        assert done.returncode == (3 if "Exit" in text else 0)


def test_only_a_gpu_is_started_and_only_where_it_was_asked_for(tmp_path, device_kind):
    text = "{}\nprint(_core.live_contexts() != [])"
    plain = run(tmp_path, text.format("from trilane import _core"))
    assert plain.stdout == "False\n", plain.stderr
    wanted = "from trilane import _early; _early.open_extension(); from trilane import _core\n"
    # The count waits for a start that is under way, the list for the context being made.
    wait = "import time\nfor _ in range(300):\n    if _core.live_contexts(): break\n    time.sleep(0.01)"
    early = run(tmp_path, text.format(wanted + wait))
    assert early.stdout == f"{device_kind == 'cuda'}\n", early.stderr
    off = run(tmp_path, text.format(wanted), TRILANE_EARLY="0")
    assert off.stdout == "False\n", off.stderr


@pytest.mark.parametrize("face", ["cupy", "numba", "pycuda"])
def test_running_a_program_imports_little(face, tmp_path):
    text = f"import {face}.cuda" if face == "numba" else f"import {face}"
    text += "; import pycuda.driver, pycuda.compiler" if face == "pycuda" else ""
    text += "\nimport sys\nprint(*sorted(sys.modules))"
    start = "import numpy, sys; before = set(sys.modules)\nfrom trilane.cli import main\n"
    start += f"main(['run', {str(tmp_path / 'program.py')!r}])\nprint(*before)"
    (tmp_path / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", start], env=child_environment(), capture_output=True, text=True
    )
    after, before = (set(line.split()) for line in done.stdout.splitlines())
    heavy = {"argparse", "pathlib", "rich", "typer", "tempfile", "inspect", "importlib.metadata"}
    assert after > before, done.stderr
    assert not (after - before) & heavy


@pytest.mark.parametrize("module", ["autoinit", "autoprimaryctx"])
def test_the_environment_is_as_before(module, tmp_path):
    text = f"import os\nbefore = dict(os.environ)\nimport trilane.pycuda.{module}\n"
    done = run(tmp_path, text + "print(before == dict(os.environ))")
    assert done.stdout == "True\n", done.stderr


def test_the_program_itself_is_collected_as_ever(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import cupy\n"
        "class Node:\n"
        "    def __del__(self):\n"
        "        print('gone', flush=True)\n"
        "first, last = Node(), Node()\n"
        "first.self, last.self = first, last\n"
        "first = None\n"
        "print('end', flush=True)\n"
    )
    assert is_harmless(script.read_bytes(), str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "trilane", "run", str(script)],
        env=child_environment(), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == ["end", "gone", "gone"], done.stderr
