"""The foundation's benchmarks on the device at hand, printed beside the goals.

    python bench/run.py [--json FILE] [--only NAME]

Every figure is the median of several rounds, beside it the fastest round: the distance is the
machine's noise. What is compared (faces with the core, imports with NumPy's, a kernel with C++) takes
turns round by round, so that a load of the machine falls on both.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON_ROOT = str(HERE.parent / "python")


@dataclass
class Row:
    """One figure: `goal` and `floor` (what the foundation must reach) are in the same unit."""

    name: str
    value: float
    fastest: float
    unit: str
    floor: str
    goal: str
    note: str = ""


@dataclass(frozen=True)
class Sample:
    """Figures of several rounds of one thing."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def fastest(self) -> float:
        return min(self.values)

    def row(self, name: str, unit: str, floor: str = "", goal: str = "", note: str = "") -> Row:
        return Row(name, self.median, self.fastest, unit, floor, goal, note)


def take_turns(functions: dict[str, Callable[[], float]], rounds: int) -> dict[str, Sample]:
    """Call each function once a round; each returns a figure."""
    figures: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            figures[name].append(function())
    return {name: Sample(tuple(values)) for name, values in figures.items()}


def per_call_us(
    functions: dict[str, Callable[[], object]], calls: int = 100, rounds: int = 101
) -> dict[str, Sample]:
    """Mean time of one call in each round, in microseconds; rounds are shorter than a time slice."""

    def one_round(function: Callable[[], object]) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - start) / calls * 1e6

    for function in functions.values():
        function()
    return take_turns(
        {name: lambda f=function: one_round(f) for name, function in functions.items()}, rounds
    )


def fresh_process_ms(code: str, environment: dict[str, str] | None = None) -> float:
    """A figure (ms) that a fresh process prints as its last line."""
    settings = {**os.environ, "PYTHONPATH": PYTHON_ROOT, **(environment or {})}
    done = subprocess.run(
        [sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


VECTOR_ADD = """
extern "C" __global__ void add_vectors(const float *a, const float *b, float *c, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) c[i] = a[i] + b[i] * %d.0f;
}
"""


def launches() -> list[Row]:
    import numpy as np

    import trilane.pycuda.autoinit  # noqa: F401
    import trilane.pycuda.driver as driver
    from trilane import _core, cupy
    from trilane.numba import cuda
    from trilane.pycuda.compiler import SourceModule

    n = 400
    arrays = [cupy.ones(n, cupy.float32) for _ in range(3)]
    raw = cupy.RawKernel(VECTOR_ADD % 1, "add_vectors")
    module = SourceModule(VECTOR_ADD % 1, no_extern_c=True)
    function, prepared = (module.get_function("add_vectors") for _ in range(2))
    prepared.prepare("PPPi")
    pointers = [driver.mem_alloc(4 * n) for _ in range(3)]
    addresses = [int(p) for p in pointers]
    host = [np.ones(n, np.float32) for _ in range(3)]
    count = np.int32(n)
    core = _core.Module.compile(VECTOR_ADD % 1).function("add_vectors")
    buffers = (*(_core.Buffer.allocate(4 * n) for _ in range(3)), n)

    @cuda.jit
    def add_vectors(a, b, c):
        i = cuda.grid(1)
        if i < a.size:
            c[i] = a[i] + b[i]

    device = [cuda.to_device(x) for x in host]
    configured = add_vectors[2, 256]
    grid, block = (2, 1), (256, 1, 1)
    samples = per_call_us(
        {
            "core, 3 buffers + int": lambda: core.launch(2, 256, buffers),
            "cupy RawKernel, 3 arrays + int": lambda: raw((2,), (256,), (*arrays, n)),
            "pycuda call, 3 pointers + int": lambda: function(
                *pointers, count, block=block, grid=grid
            ),
            "pycuda prepared_call": lambda: prepared.prepared_call(grid, block, *addresses, n),
            "numba kernel, 3 device arrays": lambda: configured(*device),
            "numba f[grid, block](...), the same": lambda: add_vectors[2, 256](*device),
            "numba kernel, 3 NumPy arrays of 400": lambda: configured(*host),
        }
    )
    base = samples.pop("core, 3 buffers + int")
    rows = [base.row("launch: core, 3 buffers + int", "us", note="one bound call")]
    for name, sample in samples.items():
        goal = "1.25 x core" if "numba" in name else "1.15 x core"
        note = f"{sample.fastest / base.fastest:.2f} x core"
        rows.append(
            sample.row(f"launch: {name}", "us", "", "40 us" if "NumPy" in name else goal, note)
        )
    return rows


def small_arrays() -> list[Row]:
    import numpy as np

    from trilane import cupy

    a, b = cupy.ones(400, cupy.float32), cupy.ones(400, cupy.float32)
    x, y = np.ones(400, np.float32), np.ones(400, np.float32)
    samples = per_call_us(
        {
            "numpy": lambda: x + y,
            "cupy a + b, 400 elements": lambda: a + b,
            "cupy a[10:20] view": lambda: a[10:20],
            "cupy empty(400)": lambda: cupy.empty(400),
            "cupy asnumpy, 400 elements": lambda: cupy.asnumpy(a),
        }
    )
    note = f"NumPy {samples.pop('numpy').median:.2f} us"
    return [
        sample.row(name, "us", "", goal, note if " + " in name else "")
        for (name, sample), goal in zip(samples.items(), ("2 us", "0.3 us", "0.4 us", "10 us"))
    ]


# Compile, load, launch and wait: what a program waits for when it calls a kernel for the first time.
_FIRST_CALL = """
import time
from trilane import _core
context = _core.current_context()
buffers = [_core.Buffer.allocate(1600) for _ in range(3)]
def first_call(text, name, *arguments):
    start = time.perf_counter()
    _core.Module.compile(text).function(name).launch(2, 256, arguments)
    context.synchronize()
    return (time.perf_counter() - start) * 1e3
if {warm}:
    first_call("extern \\"C\\" __global__ void warm(int *p) {{ *p = 1; }}", "warm", buffers[0])
print(first_call({text!r}, "add_vectors", *buffers, 400))
"""

# The same through a face, the second kernel of the process.
_OF_FACE = """
import time
import numpy as np
a, c = np.ones(400, np.float32), np.ones(400, np.float32)
{setup}
def first_call(factor):
    start = time.perf_counter()
    {call}
    return (time.perf_counter() - start) * 1e3
first_call(2)
print(first_call(3))
"""
_PYCUDA = """
import trilane.pycuda.autoinit, trilane.pycuda.driver as drv
from trilane.pycuda.compiler import SourceModule
text = '__global__ void f(const float *a, float *c) { int i = threadIdx.x; c[i] = a[i] * FACTOR; }'
def run(factor):
    function = SourceModule(text.replace('FACTOR', str(factor))).get_function('f')
    function(drv.In(a), drv.Out(c), block=(256, 1, 1))
"""
_NUMBA = """
from trilane.numba import cuda
def run(factor):
    @cuda.jit
    def f(a, c):
        i = cuda.grid(1)
        c[i] = a[i] * factor
    f[1, 256](a, c)
"""
_CUPY = """
from trilane import cupy as cp
x = cp.asarray(a)
def run(factor):
    cp.ElementwiseKernel('float32 x', 'float32 y', f'y = x * {factor}', 'f')(x)
    cp.cuda.runtime.deviceSynchronize()
"""


def first_calls() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:

        def first_call(kernel: int, warm: int, settings: dict[str, str]) -> Callable[[], float]:
            code = _FIRST_CALL.format(text=VECTOR_ADD % kernel, warm=warm)
            return lambda: fresh_process_ms(code, settings)

        def of_face(name: str, setup: str) -> Callable[[], float]:
            # A file: kernels of Python functions are read from their source.
            path = Path(folder) / f"{name}.py"
            path.write_text(_OF_FACE.format(setup=setup, call="run(factor)"))
            code = f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')"
            return lambda: fresh_process_ms(code, no_disk)

        no_disk, disk = {"TRILANE_CACHE": "0"}, {"TRILANE_CACHE_DIR": folder}
        cached = first_call(4, 1, disk)
        cached()
        core = take_turns(
            {
                "new kernel, cold process": first_call(2, 0, no_disk),
                "new kernel, warm process": first_call(3, 1, no_disk),
                "kernel in the disk cache": cached,
            },
            rounds=7,
        )
        faces = take_turns(
            {
                "pycuda SourceModule, warm": of_face("pycuda", _PYCUDA),
                "numba @cuda.jit, warm": of_face("numba", _NUMBA),
                "cupy ElementwiseKernel, warm": of_face("cupy", _CUPY),
            },
            rounds=7,
        )
    rows = []
    for name, sample in {**core, **faces}.items():
        floor, goal = ("5", "5") if "disk" in name else ("" if "cold" in name else "80", "60")
        rows.append(sample.row(f"first call: {name}", "ms", floor, goal))
    return rows


def imports() -> list[Row]:
    # Processor time: what others do on the machine at that moment does not count.
    code = "import time; s = time.process_time(); import {}; print((time.process_time() - s) * 1e3)"
    modules = ("numpy", "trilane.cupy", "trilane.numba.cuda", "trilane.pycuda.driver")
    samples = take_turns(
        {m: lambda m=m: fresh_process_ms(code.format(m)) for m in modules}, rounds=11
    )
    numpy = samples.pop("numpy")
    rows = [numpy.row("import numpy", "ms", note="processor time")]
    for module, sample in samples.items():
        above = Sample((sample.fastest - numpy.fastest, sample.median - numpy.median))
        rows.append(
            Row(
                f"import {module}, above NumPy", above.values[1], above.values[0], "ms", "100", "60"
            )
        )
    return rows


_REFERENCE = """
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
__attribute__((noinline)) void add(const float *__restrict a, const float *__restrict b,
                                   float *__restrict c, long n)
{
    for (long i = 0; i < n; i++) c[i] = a[i] + b[i];
}
int main(int argc, char **argv)
{
    long n = atol(argv[1]), threads = atol(argv[2]), rounds = 31;
    float *p[3];
    for (auto &x : p) { x = static_cast<float *>(aligned_alloc(4096, n * 4)); for (long i = 0; i < n; i++) x[i] = i; }
    double best = 1e30;
    for (long r = 0; r < rounds; r++) {
        auto start = std::chrono::steady_clock::now();
        std::vector<std::thread> pool;
        long part = n / threads;
        for (long t = 1; t < threads; t++) pool.emplace_back(add, p[0] + t * part, p[1] + t * part, p[2] + t * part, part);
        add(p[0], p[1], p[2], part);
        for (auto &t : pool) t.join();
        double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (s < best) best = s;
    }
    printf("%g\\n", best * 1e3 + 0 * p[2][n / 2]);
}
"""

_VECTOR = """
import time
from trilane import _core
n = {n}
context = _core.current_context()
function = _core.Module.compile('''{text}''').function("add_vectors")
import numpy as np
host = np.arange(n, dtype=np.float32)
buffers = [_core.Buffer.allocate(4 * n) for _ in range(3)]
for b in buffers: _core.copy_to_device(b, host)
args = (*buffers, n)
best = 1e30
for _ in range(31):
    start = time.perf_counter()
    function.launch((n + 255) // 256, 256, args)
    context.synchronize()
    best = min(best, time.perf_counter() - start)
out = np.empty_like(host)
_core.copy_to_host(out, buffers[2])
assert np.array_equal(out, host + host)
print(best * 1e3)
"""


def vector_add() -> list[Row]:
    compiler = next(c for c in ("clang++-19", "g++") if _has(c))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "reference.cpp"
        source.write_text(_REFERENCE)
        program = str(Path(folder) / "reference")
        subprocess.run(
            [compiler, "-O3", "-march=native", "-pthread", str(source), "-o", program], check=True
        )
        for n, threads in ((1 << 20, 1), (1 << 24, 1), (1 << 24, 2)):
            text = (VECTOR_ADD % 1).replace(" * 1.0f", "")
            code = _VECTOR.format(n=n, text=text)
            settings = {"TRILANE_DEVICE": "cpu", "TRILANE_CPU_THREADS": str(threads)}
            command = [program, str(n), str(threads)]
            samples = take_turns(
                {
                    "C++": lambda c=command: float(subprocess.check_output(c, text=True)),
                    "ours": lambda c=code, s=settings: fresh_process_ms(c, s),
                },
                rounds=5,
            )
            theirs, ours = samples["C++"], samples["ours"]
            note = f"{ours.median:.2f} ms, {compiler} {theirs.median:.2f} ms"
            name = f"vector add 2^{n.bit_length() - 1}, {threads} thread(s), C++ time / ours"
            ratios = theirs.median / ours.median, theirs.fastest / ours.fastest
            rows.append(Row(name, *ratios, "", "0.5", "0.9", note))
    return rows


def _has(program: str) -> bool:
    return shutil.which(program) is not None


GROUPS: dict[str, Callable[[], list[Row]]] = {
    "launches": launches,
    "small_arrays": small_arrays,
    "first_calls": first_calls,
    "imports": imports,
    "vector_add": vector_add,
}


def circumstances() -> dict[str, str]:
    """What a reader of the figures must know; no names of machines, people or paths."""
    import numpy

    from trilane import _core

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True)
        return done.stdout.strip()

    properties = _core.current_context().properties
    commit = git("rev-parse", "--short", "HEAD") or "unknown"
    changed = git("status", "--porcelain", "--untracked-files=no")
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit + (" with changes" if changed else ""),
        "device": f"{properties.type}: {properties.name}",
        "processors": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}, of other programs on the machine (0: idle)",
        "python": platform.python_version(),
        "numpy": numpy.__version__,
    }


def show(row: Row) -> None:
    """Print one line of the table."""
    print(
        f"{row.name:<52}{row.value:>9.2f}{row.fastest:>9.2f} {row.unit:<3}{row.floor:>9}"
        f"{row.goal:>12}  {row.note}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures and the circumstances")
    parser.add_argument("--only", choices=sorted(GROUPS))
    options = parser.parse_args()
    sys.path.insert(0, PYTHON_ROOT)
    told = circumstances()
    for name, text in told.items():
        print(f"{name:<12}{text}")
    print(f"{'what':<52}{'median':>9}{'fastest':>9}    {'at least':>9}{'goal':>12}")
    rows = []
    for name, group in GROUPS.items():
        if options.only in (None, name):
            for row in group():
                rows.append(row)
                show(row)
    if options.json:
        figures = {"circumstances": told, "rows": [asdict(row) for row in rows]}
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
