"""The foundation's benchmarks on the device at hand, printed beside the goals.

    python bench/run.py [--json FILE] [--only NAME]

Every figure is the median of several runs in this process or of fresh processes; the machine's noise
is shown as the spread between the fastest run and the median. Ratios to hand-written C++ come from
one run, one process each, alternating.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
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
    unit: str
    floor: str
    goal: str
    note: str = ""


def median_of(function: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Median and minimum of `rounds` calls that each return a figure."""
    values = sorted(function() for _ in range(rounds))
    return statistics.median(values), values[0]


def per_call_us(function: Callable[[], object], calls: int = 2000, rounds: int = 9) -> float:
    """Median over rounds of the mean time of one call, in microseconds."""
    function()

    def one_round() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - start) / calls * 1e6

    return median_of(one_round, rounds)[0]


def fresh_process_ms(
    code: str, environment: dict[str, str] | None = None, rounds: int = 7
) -> float:
    """Median of a figure (ms) that a fresh process prints as its last line."""
    settings = {**os.environ, "PYTHONPATH": PYTHON_ROOT, **(environment or {})}

    def once() -> float:
        done = subprocess.run(
            [sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True
        )
        return float(done.stdout.split()[-1])

    return median_of(once, rounds)[0]


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
    from trilane import cupy
    from trilane.numba import cuda
    from trilane.pycuda.compiler import SourceModule

    n = 400
    arrays = [cupy.ones(n, cupy.float32) for _ in range(3)]
    raw = cupy.RawKernel(VECTOR_ADD % 1, "add_vectors")
    function = SourceModule(VECTOR_ADD % 1, no_extern_c=True).get_function("add_vectors")
    pointers = [driver.mem_alloc(4 * n) for _ in range(3)]
    host = [np.ones(n, np.float32) for _ in range(3)]
    count = np.int32(n)

    @cuda.jit
    def add_vectors(a, b, c):
        i = cuda.grid(1)
        if i < a.size:
            c[i] = a[i] + b[i]

    device = [cuda.to_device(x) for x in host]
    configured = add_vectors[2, 256]
    function.prepare("PPPi")
    return [
        Row("cupy RawKernel, 3 arrays + int", per_call_us(lambda: raw((2,), (256,), (*arrays, n))), "us", "", "1.15 x raw"),
        Row("pycuda call, 3 pointers + int", per_call_us(lambda: function(*pointers, count, block=(256, 1, 1), grid=(2, 1))), "us", "", "1.15 x raw"),
        Row("pycuda prepared_call", per_call_us(lambda: function.prepared_call((2, 1), (256, 1, 1), *map(int, pointers), n)), "us", "", "1.15 x raw"),
        Row("numba kernel, 3 device arrays", per_call_us(lambda: configured(*device)), "us", "", "1.25 x raw"),
        Row("numba kernel, 3 NumPy arrays of 400", per_call_us(lambda: configured(*host), 500), "us", "", "40"),
    ]  # fmt: skip


def small_arrays() -> list[Row]:
    import numpy as np

    from trilane import cupy

    a, b = cupy.ones(400, cupy.float32), cupy.ones(400, cupy.float32)
    x, y = np.ones(400, np.float32), np.ones(400, np.float32)
    numpy_us = per_call_us(lambda: x + y)
    return [
        Row("cupy a + b, 400 elements", per_call_us(lambda: a + b), "us", "", "2", f"NumPy {numpy_us:.2f}"),
        Row("cupy a[10:20] view", per_call_us(lambda: a[10:20]), "us", "", "0.3"),
        Row("cupy empty(400)", per_call_us(lambda: cupy.empty(400)), "us", "", "0.4"),
        Row("cupy asnumpy, 400 elements", per_call_us(lambda: cupy.asnumpy(a)), "us", "", "10"),
    ]  # fmt: skip


_FIRST_CALL = """
import time, sys
from trilane import _core
text = '''%s'''
context = _core.current_context()
if %d:
    _core.Module.compile("extern \\"C\\" __global__ void warm(int *p) { *p = 1; }").function("warm")
start = time.perf_counter()
_core.Module.compile(text).function("add_vectors")
print((time.perf_counter() - start) * 1e3)
"""


def first_calls() -> list[Row]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        no_disk = {"TRILANE_CACHE": "0"}
        disk = {"TRILANE_CACHE_DIR": folder}
        cold = fresh_process_ms(_FIRST_CALL % (VECTOR_ADD % 2, 0), no_disk)
        warm = fresh_process_ms(_FIRST_CALL % (VECTOR_ADD % 3, 1), no_disk)
        fresh_process_ms(_FIRST_CALL % (VECTOR_ADD % 4, 1), disk, 1)
        cached = fresh_process_ms(_FIRST_CALL % (VECTOR_ADD % 4, 1), disk)
        rows.append(Row("new kernel, cold process", cold, "ms", "", "60", "compiler's own start"))
        rows.append(Row("new kernel, warm process", warm, "ms", "80", "60"))
        rows.append(Row("same kernel from the disk cache", cached, "ms", "5", "5"))
    return rows


def imports() -> list[Row]:
    code = "import time; s = time.perf_counter(); import {}; print((time.perf_counter() - s) * 1e3)"
    numpy_ms = fresh_process_ms(code.format("numpy"), rounds=11)
    rows = [Row("import numpy", numpy_ms, "ms", "", "")]
    for module in ("trilane.cupy", "trilane.numba.cuda", "trilane.pycuda.driver"):
        value = fresh_process_ms(code.format(module), rounds=11) - numpy_ms
        rows.append(Row(f"import {module}, above NumPy", value, "ms", "100", "60"))
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
            ours, theirs = [], []
            for _ in range(5):
                theirs.append(
                    float(subprocess.check_output([program, str(n), str(threads)], text=True))
                )
                ours.append(fresh_process_ms(code, settings, 1))
            ratio = statistics.median(theirs) / statistics.median(ours)
            note = (
                f"{statistics.median(ours):.2f} ms, {compiler} {statistics.median(theirs):.2f} ms"
            )
            name = f"vector add 2^{n.bit_length() - 1}, {threads} thread(s), C++ time / ours"
            rows.append(Row(name, ratio, "", "0.5", "0.9", note))
    return rows


def _has(program: str) -> bool:
    import shutil

    return shutil.which(program) is not None


GROUPS: dict[str, Callable[[], list[Row]]] = {
    "launches": launches,
    "small_arrays": small_arrays,
    "first_calls": first_calls,
    "imports": imports,
    "vector_add": vector_add,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", choices=sorted(GROUPS))
    options = parser.parse_args()
    sys.path.insert(0, PYTHON_ROOT)
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    )
    print(f"{'what':<52}{'value':>10}      {'at least':>9} {'goal':>11}")
    rows = []
    for name, group in GROUPS.items():
        if options.only in (None, name):
            for row in group():
                rows.append(row)
                print(f"{row.name:<52}{row.value:>10.2f} {row.unit:<4} {row.floor:>9} {row.goal:>11}  {row.note}", flush=True)  # fmt: skip
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
