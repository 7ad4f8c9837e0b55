"""Ctrl-C stops a kernel of the cpu device, through every face; the program then goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from trilane.testing.child import child_environment

HEAD = """
import signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores it
import numpy as np
def say(text):
    print(text, flush=True)
"""

PYCUDA = """
import trilane.pycuda.autoinit
import trilane.pycuda.driver as drv
from trilane.pycuda.compiler import SourceModule
module = SourceModule('''
__global__ void spin(volatile int *flag) { while (flag[0] == 0) { } }
__global__ void loop(unsigned *p) {
    unsigned x = threadIdx.x;
    while (p[threadIdx.x] != 1u) { x = x * 2654435761u | 2u; p[threadIdx.x] = x; }
}
__global__ void barrier(unsigned *p) { while (true) { __syncthreads(); p[threadIdx.x] += 1; } }
__global__ void slow(unsigned *p) {
    unsigned x = p[0];
    for (int i = 0; i < 1000000; ++i) { x = x * 3u + 1u; x ^= x >> 7; }
    p[threadIdx.x] = x;
}
__global__ void quick(unsigned *p) { p[threadIdx.x] = threadIdx.x; }
''')
p = drv.mem_alloc(4096)
drv.memset_d8(p, 0, 4096)
def launch(name, grid=(1, 1)):
    module.get_function(name)(p, block=(32, 1, 1), grid=grid)
def works():
    launch("quick")
    result = np.empty(32, np.uint32)
    drv.memcpy_dtoh(result, p)
    assert (result == np.arange(32)).all()
"""

WAIT = """
works()
drv.memset_d8(p, 0, 4096)
for round in range(2):
    say("ready")
    try:
        {launch}
        say("not stopped")
    except KeyboardInterrupt:
        say("stopped")
    drv.memset_d8(p, 0, 4096)
    works()
    drv.memset_d8(p, 0, 4096)
say("done")
"""


@pytest.fixture(autouse=True)
def on_cpu(device):
    if device != "cpu":
        pytest.skip("a kernel on a GPU cannot be stopped")


class Program:
    """A child process that says where it is, line by line."""

    def __init__(self, text: str, **environment: str) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-c", HEAD + text],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=child_environment(TRILANE_DEVICE="cpu", **environment),
        )

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.communicate()

    def line(self) -> str:
        assert self.child.stdout and self.child.stderr
        return self.child.stdout.readline().strip() or self.child.stderr.read()[-3000:]

    def interrupt(self) -> float:
        """Send SIGINT once the kernel runs; seconds until the next line."""
        time.sleep(0.5)
        start = time.perf_counter()
        self.child.send_signal(signal.SIGINT)
        self.next = self.line()
        return time.perf_counter() - start


LAUNCHES = {
    "a spin on a volatile": 'launch("spin")',
    "spins of many blocks": 'launch("spin", (64, 1))',
    "arithmetic": 'launch("loop")',
    "arithmetic of many blocks": 'launch("loop", (64, 1))',
    "barriers": 'launch("barrier")',
    "a grid without end": 'launch("slow", (2147483647, 1))',
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_ctrl_c_stops(name):
    with Program(PYCUDA + WAIT.format(launch=LAUNCHES[name])) as program:
        for _ in range(2):
            assert program.line() == "ready"
            seconds = program.interrupt()
            assert program.next == "stopped"
            assert seconds < 10
        assert program.line() == "done"


def test_ctrl_c_stops_a_checked_kernel():
    text = PYCUDA + WAIT.format(launch=LAUNCHES["arithmetic"])
    with Program(text, TRILANE_CHECK="1") as program:
        for _ in range(2):
            assert program.line() == "ready"
            assert program.interrupt() < 10 and program.next == "stopped"
        assert program.line() == "done"


GRAPH = """
import trilane.cupy as cp
stream = cp.cuda.Stream(non_blocking=True)
quick, spin = module.get_function("quick"), module.get_function("spin")
stream.begin_capture()
for function in kernels:
    function(p, block=(32, 1, 1), stream=stream)
graph = stream.end_capture()
"""


@pytest.mark.parametrize("kernels", ["[quick, spin, quick]", "[quick] * 300_000"])
def test_ctrl_c_stops_a_graph_in_a_kernel_and_between_kernels(kernels):
    # The first word of `quick` is 0: what it writes does not end `spin`.
    text = PYCUDA + GRAPH.replace("kernels", kernels) + WAIT.format(launch="graph.launch()")
    if "300_000" in kernels:
        text = text.replace("graph.launch()", "while True: graph.launch(stream)")
    with Program(text) as program:
        for _ in range(2):
            assert program.line() == "ready"
            assert program.interrupt() < 10 and program.next == "stopped"
        assert program.line() == "done"


def test_an_uncaught_one_ends_the_process():
    with Program(PYCUDA + 'works()\nsay("ready")\nlaunch("spin")') as program:
        assert program.line() == "ready"
        program.interrupt()
        assert program.next.rstrip().endswith("KeyboardInterrupt")
        assert program.child.wait(5) in (130, -signal.SIGINT)


def test_a_handler_of_the_programs_own_runs_and_a_second_signal_stops():
    text = """
count = 0
def handler(number, frame):
    global count
    count += 1
works()
signal.signal(signal.SIGINT, handler)
drv.memset_d8(p, 0, 4096)
say("ready")
try:
    launch("spin")
except KeyboardInterrupt:
    say(f"stopped {count > 0}")
signal.signal(signal.SIGINT, signal.default_int_handler)
works()
say("done")
"""
    with Program(PYCUDA + text) as program:
        assert program.line() == "ready"
        time.sleep(0.5)
        program.child.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert program.child.poll() is None
        program.interrupt()
        assert program.next == "stopped True"
        assert program.line() == "done"


def test_a_handler_set_after_the_first_launch_is_kept():
    text = """
works()
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
works()
signal.raise_signal(signal.SIGINT)
works()
say(len(seen))
"""
    with Program(PYCUDA + text) as program:
        assert program.line() == "1"


def test_kernels_of_other_threads_go_on():
    text = """
works()
drv.memset_d8(p, 0, 4096)
finished = []
def other():
    launch("spin")
    finished.append(1)
def wait():
    while not finished:
        time.sleep(0.01)
threading.Thread(target=other).start()
say("ready")
try:
    wait()
except KeyboardInterrupt:
    say(f"stopped {not finished}")
stream = drv.Stream()
one = np.ones(1, np.uint32)
drv.memcpy_htod_async(p, one, stream)
wait()
works()
say("done")
"""
    with Program(PYCUDA + text) as program:
        assert program.line() == "ready"
        program.interrupt()
        assert program.next == "stopped True"
        assert program.line() == "done"


NUMBA = """
from trilane.numba import cuda
@cuda.jit
def spin(a):
    while a[0] != 5:
        a[0] = (a[0] * 3 + 1) % 5
@cuda.jit
def add(a):
    a[cuda.threadIdx.x] += 1
a = np.full(32, 5)
spin[1, 1](a)  # compiled before the clock runs; it ends at once
add[1, 32](a)
say("ready")
try:
    spin[1, 1](a)
except KeyboardInterrupt:
    say("stopped")
a[:] = 0
add[1, 32](a)
assert (a == 1).all()
say("done")
"""

CUPY = """
import trilane.cupy as cp
spin = cp.ElementwiseKernel("raw int32 f", "int32 z", "while (*(volatile int*)&f[0] == 0) { }", "spin")
spin(cp.ones(1, cp.int32), size=64)  # compiled before the clock runs; it ends at once
f = cp.zeros(1, cp.int32)
assert int((f + 1).sum()) == 1
say("ready")
try:
    spin(f, size=64)
except KeyboardInterrupt:
    say("stopped")
assert int((f + 1).sum()) == 1
say("done")
"""


@pytest.mark.parametrize("text", [NUMBA, CUPY], ids=["numba", "cupy"])
def test_the_other_faces(text):
    with Program(text) as program:
        assert program.line() == "ready"
        assert program.interrupt() < 10
        assert program.next == "stopped"
        assert program.line() == "done"


# The text is there to take long: nothing for a folder of texts that another compiler is to take.
COMPILE = """
import os
os.environ.pop("TRILANE_DUMP", None)
from trilane import _core
lines = [f"x = x * {2 * i + 3}u + (x >> {i % 31}); if (x % {i + 5}u == 3u) p[x & 31u] = x;"
         for i in range({count})]
source = 'extern "C" __global__ void f(unsigned *p) { unsigned x = p[0]; ' + ''.join(lines) + '}'
{before}
say("ready")
start = time.perf_counter()
try:
    {compile}
    say("not stopped")
except {error}:
    say("stopped")
left = time.perf_counter() - start
{compile}  # as far as it had come
whole = time.perf_counter() - start
statistics = _core.current_context().cache_statistics()
say(f"{left < whole - 0.5} {statistics['compiled']} {statistics['disk_writes']}")
"""
COMPILES = {
    "core": ("", "_core.Module.compile(source)"),
    "cupy": ("import trilane.cupy as cp", 'cp.RawModule(code=source).get_function("f")'),
}


@pytest.mark.parametrize("face", COMPILES)
def test_ctrl_c_leaves_a_compile_which_goes_on(face, tmp_path):
    before, call = COMPILES[face]
    text = COMPILE.replace("{count}", "1000").replace("{before}", before).replace("{compile}", call)
    cache = str(tmp_path / "cache")
    with Program(text.replace("{error}", "KeyboardInterrupt"), TRILANE_CACHE_DIR=cache) as program:
        assert program.line() == "ready"
        assert program.interrupt() < 10 and program.next == "stopped"
        assert program.line() == "True 1 1"


def test_a_handler_of_the_programs_own_runs_during_a_compile(tmp_path):
    before = """
import trilane.cupy
class Enough(Exception):
    pass
def handler(number, frame):
    raise Enough
signal.signal(signal.SIGINT, handler)
"""
    text = (
        COMPILE.replace("{count}", "1000")
        .replace("{before}", before)
        .replace("{compile}", "_core.Module.compile(source)")
    )
    cache = str(tmp_path / "cache")
    with Program(text.replace("{error}", "Enough"), TRILANE_CACHE_DIR=cache) as program:
        assert program.line() == "ready"
        assert program.interrupt() < 10 and program.next == "stopped"
        assert program.line() == "True 1 1"


def test_a_process_that_ends_during_a_compile_ends_well(tmp_path):
    text = COMPILE[: COMPILE.index("start = ")].replace("{before}", "").replace("{count}", "1000")
    text += "_core.Module.compile(source)"
    with Program(text, TRILANE_CACHE_DIR=str(tmp_path / "cache")) as program:
        assert program.line() == "ready"
        program.interrupt()
        assert program.next.rstrip().endswith("KeyboardInterrupt")
        assert program.child.wait(60) in (130, -signal.SIGINT)


def test_a_second_ctrl_c_does_not_wait_for_the_compile(tmp_path):
    text = COMPILE[: COMPILE.index("start = ")].replace("{before}", "").replace("{count}", "2500")
    text += """
import atexit
atexit.register(say, "ends")  # after the import of trilane: runs before its own
try:
    _core.Module.compile(source)
except KeyboardInterrupt:
    raise SystemExit(3)
"""
    with Program(text, TRILANE_CACHE_DIR=str(tmp_path / "cache")) as program:
        assert program.line() == "ready"
        program.interrupt()
        assert program.next == "ends"
        time.sleep(0.5)
        assert program.child.poll() is None  # waits for the compiler
        program.child.send_signal(signal.SIGINT)
        assert program.child.wait(2) == -signal.SIGINT
