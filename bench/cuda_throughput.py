"""Bytes per second of array functions on one GPU, Trilane beside CuPy, and of raw kernel variants.

    python bench/cuda_throughput.py [--only NAME] [--json FILE] [--rows WORD]
    python bench/cuda_throughput.py --variants [--rows WORD] [--all]

The first form measures each library in a process of its own. The second times CUDA C variants of
the element-wise and reduction kernels (width of a load, loads in flight, threads of a block, blocks)
so that the constants of the generators can be read off; `--all` prints every variant, not the best
twelve of each family. Times are device events around batches of calls; the best batch counts.
`TRILANE_THROUGHPUT_BITS` makes the arrays smaller (28: 2^28 elements).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parent.parent
BITS = int(os.environ.get("TRILANE_THROUGHPUT_BITS", "28"))
N = 1 << BITS
SIDE = 1 << (BITS // 2)
LIMIT = 4090.0  # GB/s of a copy on the device, H200


def best_seconds(cp, function: Callable[[], object], batches: int = 4, calls: int = 3) -> float:  # noqa: ANN001
    """Best mean over batches of one call, by device events."""
    function()
    times = []
    for _ in range(batches):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        for _ in range(calls):
            function()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end) / calls / 1e3)
    return min(times)


# --- functions of the libraries


def elementwise_rows(cp) -> Iterator[tuple[str, Callable[[], object], int]]:  # noqa: ANN001
    a, b = cp.random.rand(N // 4, dtype="f").repeat(4), cp.ones(N, "f")
    c = cp.empty_like(a)
    yield "copy (b[...] = a)", lambda: cp.copyto(c, a), 8 * N
    yield "add(a, b, out=c)", lambda: cp.add(a, b, out=c), 12 * N
    yield "add(a, b)", lambda: cp.add(a, b), 12 * N
    yield "add(a, b, out=a)", lambda: cp.add(c, b, out=c), 12 * N
    yield "add, views at element 1", lambda: cp.add(a[1:], b[1:], out=c[1:]), 12 * N
    yield "multiply(a, 2, out=c)", lambda: cp.multiply(a, numpy.float32(2), out=c), 8 * N
    for name in ("exp", "sqrt", "sin", "tanh"):
        yield name, lambda f=name: getattr(cp, f)(a, out=c), 8 * N
    saxpy = cp.ElementwiseKernel("T x, T y, T s", "T z", "z = s * x + y", "saxpy")
    yield "ElementwiseKernel saxpy", lambda: saxpy(a, b, numpy.float32(2), c), 12 * N
    b.fill(1)
    d, e = cp.ones(N, "f"), cp.ones(N, "f")
    yield "a*b + c*d - 0.5*a (5 streams)", lambda: a * b + d * e - 0.5 * a, 20 * N
    yield "greater(a, b)", lambda: cp.greater(a, b), 9 * N
    yield "where(a > .5, a, b)", lambda m=a > 0.5: cp.where(m, a, b), 13 * N
    square, other = a.reshape(SIDE, -1), c.reshape(SIDE, -1)
    yield "square + row", lambda: cp.add(square, b[: square.shape[1]], out=other), 8 * N
    yield "square + column", lambda: cp.add(square, b[:SIDE, None], out=other), 8 * N
    yield "transpose copy", lambda: cp.ascontiguousarray(square.T), 8 * N
    yield "add(square, square.T)", lambda: cp.add(square, square.T, out=other), 12 * N
    half, double = a.astype("e"), a[: N // 2].astype("d")
    yield "astype f32 -> f16", lambda: a.astype("e"), 6 * N
    yield "astype f32 -> f64", lambda: a[: N // 2].astype("d"), 12 * (N // 2)
    yield "astype f64 -> f32", lambda: double.astype("f"), 12 * (N // 2)
    yield "add f16", lambda: cp.add(half, half), 4 * N
    yield "add f64", lambda: cp.add(double, double), 16 * (N // 2)
    small = a[: N // 2].astype("b")
    yield "add int8", lambda: cp.add(small, small), 2 * (N // 2)


def reduction_rows(cp) -> Iterator[tuple[str, Callable[[], object], int]]:  # noqa: ANN001
    whole = cp.random.rand(N // 4, dtype="f").repeat(4)
    for code in "fdei":
        count = N // 2 if code == "d" else N
        a = whole[:count].astype(code)
        square = a.reshape(SIDE, -1)
        size = a.nbytes
        name = a.dtype.name
        yield f"sum {name}", lambda a=a: a.sum(), size
        for axis in (0, 1):
            yield (f"sum(axis={axis}) {name}", lambda a=square, x=axis: a.sum(axis=x), size)
    a = whole
    square, tall, flat = a.reshape(SIDE, -1), a.reshape(-1, 64), a.reshape(64, -1)
    cube = a.reshape(64, -1, 256)
    yield "sum(axis=0), n x 64", lambda: tall.sum(axis=0), 4 * N
    yield "sum(axis=1), n x 64", lambda: tall.sum(axis=1), 4 * N
    yield "sum(axis=0), 64 x n", lambda: flat.sum(axis=0), 4 * N
    yield "sum(axis=1), 64 x n", lambda: flat.sum(axis=1), 4 * N
    yield "sum(axis=1), 64 x n x 256", lambda: cube.sum(axis=1), 4 * N
    yield "sum(axis=(0, 2)), 64 x n x 256", lambda: cube.sum(axis=(0, 2)), 4 * N
    yield "sum, view at element 1", lambda: a[1:].sum(), 4 * N
    yield "max", lambda: a.max(), 4 * N
    yield "max(axis=0)", lambda: square.max(axis=0), 4 * N
    yield "argmax", lambda: a.argmax(), 4 * N
    yield "argmax(axis=1)", lambda: square.argmax(axis=1), 4 * N
    yield "mean", lambda: a.mean(), 4 * N
    yield "var (1 read needed)", lambda: a.var(), 4 * N
    yield "count_nonzero", lambda: cp.count_nonzero(a), 4 * N
    yield "(a > .5).all()", lambda m=a > 0.5: m.all(), N
    counts = square.astype("i")
    yield "cumsum float32", lambda: cp.cumsum(a), 8 * N
    yield "cumsum int32 -> int64", lambda: cp.cumsum(counts), 12 * N
    yield "cumsum(axis=1)", lambda: cp.cumsum(square, axis=1), 8 * N
    yield "cumsum(axis=0)", lambda: cp.cumsum(square, axis=0), 8 * N
    quarter = a[: N // 4]
    yield "a[a > .5], 2^26 (2 reads, half written)", lambda: quarter[quarter > 0.5], 10 * (N // 4)

    def softmax() -> object:
        e = cp.exp(square - square.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    yield "softmax, plain syntax (2 streams)", softmax, 8 * N


def measure(who: str, wanted: str) -> dict[str, list[float]]:
    """Figures of one library, in this process: GB/s and milliseconds."""
    if who == "trilane":
        import trilane.cupy as cp
    else:
        import cupy as cp
    rows: dict[str, list[float]] = {}
    for family in (elementwise_rows, reduction_rows):
        began = time.perf_counter()
        for name, function, size in family(cp):
            if wanted and wanted not in name:
                continue
            try:
                seconds = best_seconds(cp, function)
                rows[name] = [size / seconds / 1e9, seconds * 1e3]
            except Exception as error:  # noqa: BLE001
                print(f"{who}: {name}: {type(error).__name__}: {error}", file=sys.stderr)
            if time.perf_counter() - began > 60:
                print(f"{who}: out of time after {name}", file=sys.stderr)
                break
        cp.get_default_memory_pool().free_all_blocks()
    return rows


# --- raw variants

VECTOR = """
template <int V> struct alignas(4 * V) pack {{ float x[V]; }};
"""
ELEMENTWISE = (
    VECTOR
    + """
extern "C" __global__ void __launch_bounds__({B}) run(const float* __restrict__ a,
        const float* __restrict__ b, float* __restrict__ c, long long n) {{
    const pack<{V}>* pa = (const pack<{V}>*)a;
    const pack<{V}>* pb = (const pack<{V}>*)b;
    pack<{V}>* pc = (pack<{V}>*)c;
    const {I} packs = ({I})(n / {V});
    const {I} step = ({I})gridDim.x * {B} * {U};
    for ({I} j = ({I})blockIdx.x * {B} * {U} + threadIdx.x; j < packs; j += step) {{
        pack<{V}> x[{U}], y[{U}];
        #pragma unroll
        for (int u = 0; u < {U}; ++u) if (j + u * {B} < packs) {{
            x[u] = pa[j + u * {B}];
            {LOADB}
        }}
        #pragma unroll
        for (int u = 0; u < {U}; ++u) if (j + u * {B} < packs) {{
            pack<{V}> z;
            #pragma unroll
            for (int k = 0; k < {V}; ++k) z.x[k] = {BODY};
            pc[j + u * {B}] = z;
        }}
        {ONCE}
    }}
}}
"""
)
REDUCE_TAIL = """
    __shared__ float tree[{B}];
    tree[threadIdx.x] = total;
    for (int half = {B} / 2; half > 0; half /= 2) {{
        __syncthreads();
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    }}
    if (threadIdx.x == 0) out[blockIdx.x] = tree[0];
}}
"""
# A block sums a contiguous piece of `length` elements: also a row of a matrix.
PIECES = (
    VECTOR
    + """
extern "C" __global__ void __launch_bounds__({B}) run(const float* __restrict__ a, float* out,
        long long length) {{
    const pack<{V}>* p = (const pack<{V}>*)(a + blockIdx.x * length);
    const unsigned packs = (unsigned)(length / {V});
    float part[{U}][{V}] = {{}};
    unsigned j = threadIdx.x;
    for (; j + ({U} - 1) * {B} < packs; j += {U} * {B}) {{
        pack<{V}> x[{U}];
        #pragma unroll
        for (int u = 0; u < {U}; ++u) x[u] = p[j + u * {B}];
        #pragma unroll
        for (int u = 0; u < {U}; ++u)
            #pragma unroll
            for (int k = 0; k < {V}; ++k) part[u][k] += x[u].x[k];
    }}
    for (; j < packs; j += {B}) {{
        const pack<{V}> x = p[j];
        #pragma unroll
        for (int k = 0; k < {V}; ++k) part[0][k] += x.x[k];
    }}
    float total = 0;
    for (int u = 0; u < {U}; ++u) for (int k = 0; k < {V}; ++k) total += part[u][k];
"""
    + REDUCE_TAIL
)
# All blocks stride over the whole array together.
STRIDED = PIECES.replace("(a + blockIdx.x * length)", "a").replace(
    "unsigned j = threadIdx.x", "unsigned j = blockIdx.x * {B} + threadIdx.x"
)
for old, new in (
    ("j + ({U} - 1) * {B} < packs; j += {U} * {B}", "j + ({U} - 1) * S < packs; j += {U} * S"),
    ("p[j + u * {B}]", "p[j + u * S]"),
    ("for (; j < packs; j += {B})", "for (; j < packs; j += S)"),
    ("float part[", "const unsigned S = gridDim.x * {B};\n    float part["),
):
    STRIDED = STRIDED.replace(old, new)
# A thread sums V neighbouring columns over `rows` rows, U rows in flight.
COLUMNS = (
    VECTOR
    + """
extern "C" __global__ void __launch_bounds__({B}) run(const float* __restrict__ a,
        float* __restrict__ out, int columns, int rows) {{
    const int x = (blockIdx.x * {B} + threadIdx.x) * {V};
    if (x >= columns) return;
    const float* p = a + (long long)blockIdx.y * rows * columns + x;
    float part[{P}][{V}] = {{}};
    for (int j = 0; j < rows; j += {U}) {{
        pack<{V}> x[{U}];
        #pragma unroll
        for (int u = 0; u < {U}; ++u) x[u] = *(const pack<{V}>*)(p + (long long)(j + u) * columns);
        #pragma unroll
        for (int u = 0; u < {U}; ++u)
            #pragma unroll
            for (int k = 0; k < {V}; ++k) part[u % {P}][k] += x[u].x[k];
    }}
    for (int u = 1; u < {P}; ++u) for (int k = 0; k < {V}; ++k) part[0][k] += part[u][k];
    for (int k = 0; k < {V}; ++k) out[(long long)blockIdx.y * columns + x + k] = part[0][k];
}}
"""
)
TRANSPOSE = """
extern "C" __global__ void run(const float* __restrict__ a, float* __restrict__ c, int side) {{
    __shared__ float tile[{T}][{T} + 1];
    const int x0 = blockIdx.x * {T}, y0 = blockIdx.y * {T};
    #pragma unroll
    for (int y = threadIdx.y; y < {T}; y += {Y})
        #pragma unroll
        for (int x = threadIdx.x; x < {T}; x += 32)
            tile[y][x] = a[(long long)(y0 + y) * side + x0 + x];
    __syncthreads();
    #pragma unroll
    for (int y = threadIdx.y; y < {T}; y += {Y})
        #pragma unroll
        for (int x = threadIdx.x; x < {T}; x += 32)
            c[(long long)(x0 + y) * side + y0 + x] = tile[x][y];
}}
"""


class Variants:
    """Runs the families of raw kernels and keeps their times."""

    def __init__(self, cp, everything: bool) -> None:  # noqa: ANN001
        self.cp, self.everything = cp, everything
        self.a, self.c = cp.ones(N, "f"), cp.empty(N, "f")
        self.b = cp.ones(N, "f")
        self.out = cp.zeros(1 << 24, "f")
        properties = cp.cuda.Device(0).attributes
        self.processors = int(properties["MultiProcessorCount"])
        self.rows: list[tuple[float, str]] = []

    def time(
        self, label: str, text: str, grid: tuple, block: tuple, args: tuple, size: int
    ) -> None:
        kernel = self.cp.RawKernel(text, "run", options=("--std=c++17",))
        seconds = best_seconds(self.cp, lambda: kernel(grid, block, args), 3, 3)
        self.rows.append((size / seconds / 1e9, label))

    def report(self, title: str) -> None:
        rows = sorted(self.rows, reverse=True)
        print(f"## {title}: {len(rows)} variants, GB/s (limit {LIMIT:.0f})")
        for rate, label in rows if self.everything else rows[:12] + rows[-2:]:
            print(f"{rate:9.1f}  {label}")
        sys.stdout.flush()
        self.rows = []

    def elementwise(self, name: str) -> None:
        reads_b = name == "add"
        size = (12 if reads_b else 8) * N
        shapes = [(v, u, b, 0) for v in (1, 2, 4, 8) for u in (1, 2, 4) for b in (128, 256, 512)]
        shapes += [(4, u, b, w) for u in (1, 2, 4) for b in (256, 512) for w in (1, 2, 4)]
        for v, u, block, waves in shapes:
            if v * u > 16:
                continue
            blocks = -(-N // (block * v * u))
            if waves:
                blocks = min(blocks, self.processors * 2048 // block * waves)
            for index in ("unsigned", "long long"):
                text = ELEMENTWISE.format(
                    V=v, U=u, B=block, I=index, BODY="x[u].x[k] + y[u].x[k]" if reads_b else
                    "expf(x[u].x[k])", LOADB=f"y[u] = pb[j + u * {block}];" if reads_b else "",
                    ONCE="" if waves else "break;",
                )  # fmt: skip
                label = f"V={v} U={u} block={block} {index} waves={waves or 'one pass'}"
                args = (self.a, self.b, self.c, numpy.int64(N))
                self.time(label, text, (blocks,), (block,), args, size)
        self.report(f"{name} float32, {N} elements")

    def sums(self) -> None:
        shapes = [(v, u, b) for v in (1, 4) for u in (1, 2, 4, 8) for b in (128, 256, 512)]
        for v, u, block in shapes:
            for pieces in (2048, 4096, 8192, 16384, 32768):
                text = PIECES.format(V=v, U=u, B=block)
                label = f"pieces={pieces} V={v} U={u} block={block}"
                args = (self.a, self.out, numpy.int64(N // pieces))
                self.time(label, text, (pieces,), (block,), args, 4 * N)
            for waves in (1, 2, 4):
                blocks = self.processors * 2048 // block * waves
                text = STRIDED.format(V=v, U=u, B=block)
                label = f"strided V={v} U={u} block={block} waves={waves} blocks={blocks}"
                self.time(label, text, (blocks,), (block,), (self.a, self.out, numpy.int64(N)), 4 * N)  # fmt: skip
        self.report("sum of all, first stage (pieces = 16384: also rows of 16384)")

    def columns(self) -> None:
        for v in (1, 2, 4):
            for u, sums in ((1, 1), (2, 2), (4, 4), (8, 4), (16, 4)):
                for block in (32, 64, 128, 256):
                    for cuts in (8, 16, 32, 64, 128, 256):
                        if SIDE // cuts % u or block * v > SIDE:
                            continue
                        text = COLUMNS.format(V=v, U=u, P=sums, B=block)
                        label = f"V={v} U={u} block={block} cuts={cuts}"
                        args = (self.a, self.out, numpy.int32(SIDE), numpy.int32(SIDE // cuts))
                        grid = (SIDE // (block * v), cuts)
                        self.time(label, text, grid, (block,), args, 4 * SIDE * SIDE)
        self.report(f"sum(axis=0) of {SIDE}^2, first stage")

    def transposes(self) -> None:
        for tile in (32, 64):
            for rows in (4, 8, 16, 32):
                text = TRANSPOSE.format(T=tile, Y=rows)
                args = (self.a, self.c, numpy.int32(SIDE))
                grid = (SIDE // tile, SIDE // tile)
                self.time(f"tile={tile} block=32x{rows}", text, grid, (32, rows), args, 8 * SIDE**2)
        self.report(f"transpose copy of {SIDE}^2")


def run_variants(wanted: str, everything: bool) -> None:
    import trilane.cupy as cp

    variants = Variants(cp, everything)
    began = time.perf_counter()
    families = {
        "sum": variants.sums,
        "columns": variants.columns,
        "add": lambda: variants.elementwise("add"),
        "exp": lambda: variants.elementwise("exp"),
        "transpose": variants.transposes,
    }
    for name, family in families.items():
        if wanted in name:
            family()
            print(f"# {name}: {time.perf_counter() - began:.0f} s so far")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--rows", default="")
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.variants:
        run_variants(given.rows, given.all)
        return 0
    if given.child:
        print(json.dumps(measure(given.child, given.rows)))
        return 0
    figures: dict[str, dict[str, list[float]]] = {}
    for who in [given.only] if given.only else ["trilane", "cupy"]:
        command = [sys.executable, __file__, "--child", who, "--rows", given.rows]
        environment = {"TRILANE_DEVICE": "cuda", **os.environ}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
        print(done.stderr, end="", file=sys.stderr)
        if done.returncode == 0:
            for name, value in json.loads(done.stdout.splitlines()[-1]).items():
                figures.setdefault(name, {})[who] = value
    names = [*dict.fromkeys(who for row in figures.values() for who in row)]
    print(f"{'GB/s':42}" + "".join(f"{name:>10}" for name in names) + f"{'of limit':>10}      ms")
    for name, row in figures.items():
        cells = "".join(f"{row[who][0]:10.0f}" if who in row else f"{'':10}" for who in names)
        first = next(iter(row.values()))
        print(f"{name:42}{cells}{first[0] / LIMIT:10.2f}{first[1]:8.3f}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
