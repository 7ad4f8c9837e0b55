"""Trilane beside CuPy, numba-cuda and PyTorch on one GPU, in one run.

    python bench/cuda_peers.py [--json FILE] [--launch-bench PROGRAM]

Every peer is measured in a process of its own, one after the other, twice; the better figure counts.
A peer that is not installed, or that fails, is left out with its reason. `--launch-bench` is the
program `cuda_launch` (bench/cuda_launch.cpp), whose raw driver launch is the limit of the launches.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ADD = """
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
# How it is better: lower is better for us and ms, higher for GB/s.
RATES = ("GB/s",)


def per_call_us(function: Callable[[], object], wait: Callable[[], object], calls: int) -> float:
    """Median over rounds of the mean time of one asynchronous call, in microseconds."""
    for _ in range(50):
        function()
    wait()
    rounds = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        rounds.append((time.perf_counter() - start) / calls * 1e6)
        wait()
    return statistics.median(rounds)


def once_ms(function: Callable[[], object], wait: Callable[[], object]) -> float:
    wait()
    start = time.perf_counter()
    function()
    wait()
    return (time.perf_counter() - start) * 1e3


def best_gb_per_s(function: Callable[[], object], wait: Callable[[], object], nbytes: int) -> float:
    once_ms(function, wait)
    return nbytes / min(once_ms(function, wait) for _ in range(7)) / 1e6


def cupy_rows(cp, numpy) -> dict[str, tuple[float, str]]:  # noqa: ANN001
    wait = cp.cuda.Device(0).synchronize
    kernel = cp.RawKernel(ADD, "add")
    a, b, c = (cp.zeros(400, cp.float32) for _ in range(3))
    count = numpy.int32(400)
    rows = {
        "launch, 3 arrays + int (RawKernel)": (
            per_call_us(lambda: kernel((2,), (256,), (a, b, c, count)), wait, 1000), "us"),
        "a + b, 400 elements": (per_call_us(lambda: a + b, wait, 1000), "us"),
        "a[10:20]": (per_call_us(lambda: a[10:20], wait, 1000), "us"),
        "empty(400)": (per_call_us(lambda: cp.empty(400), wait, 1000), "us"),
        "asnumpy, 400 elements": (per_call_us(lambda: cp.asnumpy(a), wait, 300), "us"),
    }  # fmt: skip
    new = iter(range(int(time.time() * 1000) % 10**9, 10**12))
    fresh = lambda: cp.RawKernel(ADD.replace("a[i] +", f"a[i] + {next(new)} +"), "add")(  # noqa: E731
        (2,), (256,), (a, b, c, count)
    )
    rows["new kernel, warm process"] = (min(once_ms(fresh, wait) for _ in range(5)), "ms")
    elementwise = lambda: cp.ElementwiseKernel(  # noqa: E731
        "float32 x, float32 y", "float32 z", f"z = x * y + {next(new)}", "fresh"
    )(a, b)
    rows["new elementwise kernel"] = (min(once_ms(elementwise, wait) for _ in range(5)), "ms")
    host = numpy.ones(64 << 20, numpy.float32)
    device = cp.asarray(host)
    rows["256 MB pageable to device"] = (
        best_gb_per_s(lambda: device.set(host), wait, host.nbytes), "GB/s")  # fmt: skip
    rows["256 MB device to pageable"] = (
        best_gb_per_s(lambda: device.get(out=host), wait, host.nbytes), "GB/s")  # fmt: skip
    x, y = cp.ones(1 << 28, cp.float32), cp.ones(1 << 28, cp.float32)
    z = cp.empty_like(x)
    rows["add(a, b, out=c), 2^28 float32"] = (
        best_gb_per_s(lambda: cp.add(x, y, out=z), wait, 3 * x.nbytes), "GB/s")  # fmt: skip
    rows["sum, 2^28 float32"] = (best_gb_per_s(lambda: x.sum(), wait, x.nbytes), "GB/s")
    square = x.reshape(1 << 14, 1 << 14)
    for axis in (0, 1):
        rows[f"sum(axis={axis}), 16384^2 float32"] = (
            best_gb_per_s(lambda axis=axis: square.sum(axis=axis), wait, x.nbytes), "GB/s")  # fmt: skip
    rows["exp, 2^28 float32"] = (
        best_gb_per_s(lambda: cp.exp(x, out=z), wait, 2 * x.nbytes), "GB/s")  # fmt: skip
    return rows


def numba_rows(cuda, numpy) -> dict[str, tuple[float, str]]:  # noqa: ANN001
    @cuda.jit
    def add(a, b, c, n):
        i = cuda.grid(1)
        if i < n:
            c[i] = a[i] + b[i]

    host = [numpy.ones(400, numpy.float32) for _ in range(3)]
    a, b, c = map(cuda.to_device, host)
    launch = add[2, 256]
    rows = {
        "launch, 3 device arrays + int (@cuda.jit)": (
            per_call_us(lambda: launch(a, b, c, 400), cuda.synchronize, 1000), "us"),
        "@cuda.jit, 3 NumPy arrays of 400": (
            per_call_us(lambda: launch(*host, 400), cuda.synchronize, 200), "us"),
    }  # fmt: skip

    def fresh() -> None:
        value = time.perf_counter_ns() % 10**9

        @cuda.jit
        def kernel(x):
            x[0] = value

        kernel[1, 1](a)

    rows["new @cuda.jit kernel"] = (min(once_ms(fresh, cuda.synchronize) for _ in range(4)), "ms")
    return rows


def pycuda_rows(drv, compiler, gpuarray, numpy) -> dict[str, tuple[float, str]]:  # noqa: ANN001
    function = compiler.SourceModule(ADD, no_extern_c=True).get_function("add")
    wait = drv.Context.synchronize
    a, b, c = (drv.mem_alloc(1600) for _ in range(3))
    count = numpy.int32(400)
    host = [numpy.ones(400, numpy.float32) for _ in range(3)]
    shape = {"block": (256, 1, 1), "grid": (2, 1)}
    rows = {
        "launch, 3 pointers + int (PyCUDA call)": (
            per_call_us(lambda: function(a, b, c, count, **shape), wait, 1000), "us"),
        "call with In, In, Out of 400 floats": (
            per_call_us(lambda: function(drv.In(host[0]), drv.In(host[1]), drv.Out(host[2]), count,
                                         **shape), wait, 300), "us"),
    }  # fmt: skip
    function.prepare("PPPi")
    rows["prepared_call"] = (
        per_call_us(lambda: function.prepared_call((2, 1), (256, 1, 1), a, b, c, 400), wait, 1000),
        "us")  # fmt: skip
    x, y = gpuarray.to_gpu(host[0]), gpuarray.to_gpu(host[1])
    rows["gpuarray x + y, 400 elements"] = (per_call_us(lambda: x + y, wait, 1000), "us")
    free_before = drv.mem_get_info()[0]
    for _ in range(10000):
        piece = drv.mem_alloc(4096)
        function(a, b, piece, count, **shape)
        piece.free()
    wait()
    lost = free_before - drv.mem_get_info()[0]
    rows["memory lost in 10,000 allocate-launch-free"] = (lost / 2**20, "MiB")
    return rows


def torch_rows(torch) -> dict[str, tuple[float, str]]:  # noqa: ANN001
    a, b = (torch.zeros(400, device="cuda") for _ in range(2))
    wait = torch.cuda.synchronize
    x, y = (torch.ones(1 << 28, device="cuda") for _ in range(2))
    z = torch.empty_like(x)
    return {
        "a + b, 400 elements": (per_call_us(lambda: a + b, wait, 1000), "us"),
        "add(a, b, out=c), 2^28 float32": (
            best_gb_per_s(lambda: torch.add(x, y, out=z), wait, 12 << 28), "GB/s"),
        "sum, 2^28 float32": (best_gb_per_s(lambda: x.sum(), wait, 4 << 28), "GB/s"),
        "exp, 2^28 float32": (best_gb_per_s(lambda: torch.exp(x, out=z), wait, 8 << 28), "GB/s"),
    }  # fmt: skip


def measure(who: str) -> dict[str, tuple[float, str]]:
    """The figures of one library, in this process."""
    import numpy

    if who == "trilane":
        import trilane.cupy as cp
        from trilane.numba import cuda
        from trilane.pycuda import autoprimaryctx, compiler, driver, gpuarray  # noqa: F401

        return {
            **cupy_rows(cp, numpy),
            **numba_rows(cuda, numpy),
            **pycuda_rows(driver, compiler, gpuarray, numpy),
        }
    if who == "cupy":
        import cupy

        return cupy_rows(cupy, numpy)
    if who == "numba-cuda":
        # Numba 0.68 takes a name that NumPy 2.5 no longer has.
        if not hasattr(numpy, "row_stack"):
            numpy.row_stack = numpy.vstack
        from numba import cuda

        return numba_rows(cuda, numpy)
    import torch

    return torch_rows(torch)


def whole_program_ms(style: str, genuine: bool) -> float | None:
    """Second run of an example as a whole process."""
    start = [] if genuine else ["-m", "trilane", "run"]
    command = [sys.executable, *start, str(ROOT / "examples" / f"vector_add_{style}.py")]
    times = []
    for _ in range(4):
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, timeout=120)
        if done.returncode != 0:
            return None
        times.append((time.perf_counter() - began) * 1e3)
    return min(times[1:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--launch-bench", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measure(given.child)))
        return 0

    environment = {**os.environ, "TRILANE_DEVICE": "cuda"}
    figures: dict[str, dict[str, float]] = {}
    units: dict[str, str] = {}
    reasons: dict[str, str] = {}
    libraries = [given.only] if given.only else ["trilane", "cupy", "numba-cuda", "torch"]
    for who in libraries * 2:
        done = subprocess.run(
            [sys.executable, __file__, "--child", who],
            env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        if done.returncode != 0:
            reasons[who] = (done.stderr.strip().splitlines() or ["no output"])[-1]
            continue
        for name, (value, unit) in json.loads(done.stdout.splitlines()[-1]).items():
            units[name] = unit
            row = figures.setdefault(name, {})
            better = max if unit in RATES else min
            row[who] = better(value, row.get(who, value))
    for style in ("cupy", "numba", "pycuda"):
        row = figures.setdefault(f"program vector_add_{style}.py, second run", {})
        units[f"program vector_add_{style}.py, second run"] = "ms"
        for who, genuine in (("trilane", False), (style, True)):
            value = whole_program_ms(style, genuine)
            if value is not None:
                row["numba-cuda" if who == "numba" else who] = value
    if given.launch_bench:
        done = subprocess.run(
            [str(given.launch_bench)], capture_output=True, text=True, timeout=120
        )
        print(done.stdout + done.stderr)
    names = [*dict.fromkeys(who for row in figures.values() for who in row)]
    print(f"{'':52}" + "".join(f"{name:>12}" for name in names) + "   unit")
    for name, row in figures.items():
        cells = "".join(f"{row[who]:12.2f}" if who in row else f"{'':12}" for who in names)
        print(f"{name:52}{cells}   {units[name]}")
    for who, reason in reasons.items():
        print(f"{who}: {reason}")
    if given.json:
        given.json.write_text(
            json.dumps({"figures": figures, "units": units, "left out": reasons}, indent=1)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
