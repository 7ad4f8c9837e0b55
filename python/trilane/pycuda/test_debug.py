"""`python -m trilane.pycuda.debug`: checks on, the program's own arguments, exit status."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from trilane.aliases import ALIAS_DIRECTORY

GOOD = "import sys; import pycuda.autoinit; print('arguments', sys.argv[1:])"
BAD = """
import numpy as np
import pycuda.autoinit
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

past = SourceModule('''
__global__ void past(float *a) {
  a[threadIdx.x] = 0;
}
''').get_function("past")
past(gpuarray.zeros(30, np.float32), block=(32, 1, 1))
"""


# The checker is the cpu device, whatever the program would run on.
pytestmark = pytest.mark.cpu_only(reason="pycuda.debug runs programs on the cpu device, checked")


def debug(*arguments, module="trilane.pycuda.debug"):
    environment = {k: v for k, v in os.environ.items() if k not in ("TRILANE_DEVICE",)}
    path = [ALIAS_DIRECTORY, *sys.path]
    environment["PYTHONPATH"] = os.pathsep.join(path)
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )


@pytest.mark.parametrize("module", ["trilane.pycuda.debug", "pycuda.debug"])
def test_a_program_without_faults_runs_as_it_is(tmp_path, module):
    script = tmp_path / "good.py"
    script.write_text(GOOD)
    done = debug(str(script), "-x", "3", module=module)
    assert (done.returncode, done.stdout) == (0, "arguments ['-x', '3']\n"), done.stderr
    assert "nothing found" in done.stderr


def test_an_access_past_the_end_is_named(tmp_path):
    script = tmp_path / "bad.py"
    script.write_text(BAD)
    done = debug(str(script))
    assert done.returncode != 0
    assert "past" in done.stderr and "kernel.cu:3" in done.stderr, done.stderr


def test_misuse(tmp_path):
    assert "usage" in debug().stderr
    missing = debug(str(tmp_path / "missing.py"))
    assert missing.returncode == 1 and "does not exist" in missing.stdout
