"""What a launch costs from Python beside the driver's own, all in one process and by turns.

    TRILANE_DEVICE=cuda python bench/cuda_dispatch.py [--programs] [--json FILE]

Blocks of launches of every way are taken in turns, with a wait between them, so that drift of the
machine hits all alike and the driver's queue never fills. Shown are the median and the best block of
each way, in microseconds per launch, and the median over the rounds of what it takes beyond the raw
launch of the same round. `--programs` adds the vector-addition examples as whole processes.

Needs an extension with its tests (TRILANE_TESTS=ON). With `--fake FOLDER`, the folder of
libfake_cuda.so and libfake_nvrtc.so, it runs without a GPU: what is left is our own share.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = """
extern "C" __global__ void dispatch(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
SIZE = 400
# Limits of the issue, as multiples of the raw launch.
LIMITS = {
    "RawKernel": 1.2,
    "PyCUDA call": 1.2,
    "@cuda.jit, configured": 1.35,
    "@cuda.jit, kernel[grid, block]": 1.35,
    "cupy a + b": 1.6,
}


def per_call_ns(function: Callable[[], object], calls: int) -> float:
    """Mean time of one call in a block of `calls`, without the loop's own."""
    nothing = itertools.repeat(None, calls)
    start = time.perf_counter_ns()
    for _ in nothing:
        function()
    return (time.perf_counter_ns() - start) / calls


def of_cpp(function: object, arguments: tuple, way: str) -> Callable[[int], float]:
    from trilane import _core

    return lambda calls: _core.testing.time_launches(function, (2,), (256,), arguments, calls, way)


def ways() -> dict[str, Callable[[int], float]]:
    """Nanoseconds per launch in a block of so many, by way."""
    import numpy

    import trilane.cupy as cp
    from trilane.numba import cuda
    from trilane.pycuda import autoprimaryctx, compiler, driver, gpuarray  # noqa: F401

    count = numpy.int32(SIZE)
    a, b, c = (cp.zeros(SIZE, cp.float32) for _ in range(3))
    raw_kernel = cp.RawKernel(SOURCE, "dispatch")
    core = raw_kernel.kernel

    @cuda.jit
    def dispatch_jit(a, b, c, n):
        i = cuda.grid(1)
        if i < n:
            c[i] = a[i] + b[i]

    host = [numpy.ones(SIZE, numpy.float32) for _ in range(3)]
    x, y, z = (cuda.to_device(h) for h in host)
    configured = dispatch_jit[2, 256]
    function = compiler.SourceModule(SOURCE, no_extern_c=True).get_function("dispatch")
    p, q, r = (driver.mem_alloc(4 * SIZE) for _ in range(3))
    prepared = compiler.SourceModule(SOURCE, no_extern_c=True).get_function("dispatch")
    prepared.prepare("PPPi")
    g, h = gpuarray.to_gpu(host[0]), gpuarray.to_gpu(host[1])
    grid, block, whole = (2,), (256,), (256, 1, 1)
    arguments = (a, b, c, count)
    python = {
        "Function.launch": lambda: core.launch(grid, block, arguments),
        "RawKernel": lambda: raw_kernel(grid, block, (a, b, c, count)),
        "RawKernel, Python int": lambda: raw_kernel((2,), (256,), (a, b, c, 400)),
        "@cuda.jit, configured": lambda: configured(x, y, z, 400),
        "@cuda.jit, kernel[grid, block]": lambda: dispatch_jit[2, 256](x, y, z, 400),
        "@cuda.jit of cupy arrays": lambda: configured(a, b, c, 400),
        "PyCUDA call": lambda: function(p, q, r, count, block=(256, 1, 1), grid=(2, 1)),
        "PyCUDA call of GPUArrays": lambda: function(g, h, g, count, block=whole, grid=(2, 1)),
        "PyCUDA prepared_call": lambda: prepared.prepared_call((2, 1), whole, p, q, r, 400),
        "cupy a + b": lambda: a + b,
        "gpuarray x + y": lambda: g + h,
        "@cuda.jit of 3 NumPy arrays": lambda: configured(*host, 400),
    }
    found = {
        f"C++: {label}": of_cpp(core, arguments, way)
        for label, way in (
            ("raw cuLaunchKernel", "raw"),
            ("raw, GIL released each time", "raw unlocked"),
            ("core::launch_packed", "packed"),
            ("core::launch", "checked"),
        )
    }
    for name, call in python.items():
        found[name] = lambda calls, call=call: per_call_ns(call, calls)
    found["a Python call of nothing"] = lambda calls: per_call_ns(lambda: None, calls)
    return found


def measure(calls: int, rounds: int) -> dict[str, dict[str, float]]:
    """Median, best and excess over the raw launch of every way, in microseconds."""
    from trilane import _core

    blocks = ways()
    times: dict[str, list[float]] = {name: [] for name in blocks}
    for round_index in range(rounds + 2):  # two to warm up
        for name, block in blocks.items():
            _core.current_context().synchronize()
            took = block(min(calls, 100) if "NumPy" in name else calls)
            if round_index >= 2:
                times[name].append(took / 1e3)
    _core.current_context().synchronize()
    raw = times["C++: raw cuLaunchKernel"]
    return {
        name: {
            "median": statistics.median(found),
            "best": min(found),
            "beyond raw": statistics.median(a - b for a, b in zip(found, raw, strict=True)),
            "ratio": statistics.median(found) / statistics.median(raw),
        }
        for name, found in times.items()
    }


def installed_environment(folder: str) -> dict[str, str]:
    """The environment of a program of an installed Trilane: its bytecode is there.

    A tree in development may be told to keep none, and pays 60 ms for it in each process.
    """
    kept = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder}


def programs(rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds of the examples as whole processes, in turns, after a first run of each."""
    with tempfile.TemporaryDirectory() as folder:
        return _programs(rounds, installed_environment(folder))


def _programs(rounds: int, environment: dict[str, str]) -> dict[str, dict[str, float]]:
    times: dict[str, list[float]] = {}
    for round_index in range(rounds + 1):
        for style in ("cupy", "numba", "pycuda"):
            script = str(ROOT / "examples" / f"vector_add_{style}.py")
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "trilane", "run", script],
                check=True, capture_output=True, timeout=120, env=environment,
            )  # fmt: skip
            if round_index:
                times.setdefault(style, []).append((time.perf_counter() - start) * 1e3)
    return {
        f"program vector_add_{style}.py": {"median": statistics.median(found), "best": min(found)}
        for style, found in times.items()
    }


def use_fake(folder: Path) -> None:
    os.environ["TRILANE_DEVICE"] = "cuda"
    os.environ["TRILANE_CUDA_LIBRARY"] = str(folder / "libfake_cuda.so")
    os.environ["TRILANE_NVRTC"] = str(folder / "libfake_nvrtc.so")
    os.environ["TRILANE_CACHE"] = "0"
    os.environ["TRILANE_FAKE_PARAMETERS"] = "dispatch_jit 16 16 16 8"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=800, help="launches in a block")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--programs", type=int, nargs="?", const=9, default=0, metavar="RUNS")
    parser.add_argument("--fake", type=Path, metavar="FOLDER")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.fake:
        use_fake(given.fake.resolve())
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")])
    )
    sys.path.insert(0, str(ROOT / "python"))

    figures = measure(given.calls, given.rounds)
    print(f"{'us per launch':38}{'median':>9}{'best':>9}{'beyond raw':>12}{'ratio':>8}{'limit':>8}")
    for name, row in figures.items():
        limit = f"{LIMITS[name]:8.2f}" if name in LIMITS else ""
        print(
            f"{name:38}{row['median']:9.3f}{row['best']:9.3f}{row['beyond raw']:12.3f}"
            f"{row['ratio']:8.2f}{limit}"
        )
    if given.programs:
        for name, row in programs(given.programs).items():
            figures[name] = row
            print(f"{name:38}{row['median']:9.1f}{row['best']:9.1f} ms (limit 600)")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
