"""Steps of the wave equation, captured once as a CUDA graph and replayed: two streams, temporaries
of CuPy's, a kernel of the user's and one of Numba's; then a capture that fails and is done again."""

import cupy as cp
import numpy as np
from numba import cuda

N, STEPS = 400, 60

edges = cp.RawKernel(
    r"""
    extern "C" __global__ void edges(double* u, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i == 0) u[0] = 0;
        if (i == n - 1) u[n - 1] = 0;
    }
    """,
    "edges",
)


@cuda.jit
def energy(u, v, total):
    i = cuda.grid(1)
    if i < u.size:
        cuda.atomic.add(total, 0, u[i] * u[i] + v[i] * v[i])


def step(u, v, c):
    """One step in place."""
    v[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    u += v
    edges((N // 128 + 1,), (128,), (u, np.int32(N)))


def reference(u, v, c):
    energies = []
    for _ in range(STEPS):
        v[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
        u += v
        u[0] = u[-1] = 0
        energies.append((u * u + v * v).sum())
    return energies


start = np.exp(-((np.arange(N) - N / 3) ** 2) / 50.0)
u, v = cp.asarray(start), cp.zeros(N)
c, total = cp.full((), 0.2), cp.zeros(1)
stream, side = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
done, seen = cp.cuda.Event(disable_timing=True), cp.cuda.Event(disable_timing=True)
cp.cuda.Stream.null.synchronize()
energy[1, 512, stream](u, v, total)  # compiled before

with stream:
    stream.begin_capture()
    total.fill(0)
    step(u, v, c)
    done.record()
    side.wait_event(done)
    energy[1, 512, side](u, v, total)
    seen.record(side)
    stream.wait_event(seen)
    graph = stream.end_capture()

energies = []
for _ in range(STEPS):
    graph.launch(stream)
    stream.synchronize()
    energies.append(float(total[0]))

expected_u, expected_v = start.copy(), np.zeros(N)
expected = reference(expected_u, expected_v, 0.2)
np.testing.assert_allclose(u.get(), expected_u, rtol=1e-10, atol=1e-12)
np.testing.assert_allclose(energies, expected, rtol=1e-10)

# Another speed, the same graph: it reads `c` at each launch.
c.fill(0.1)
u.set(start)
v.fill(0)
cp.cuda.Stream.null.synchronize()
for _ in range(STEPS):
    graph.launch(stream)
stream.synchronize()
expected_u, expected_v = start.copy(), np.zeros(N)
reference(expected_u, expected_v, 0.1)
np.testing.assert_allclose(u.get(), expected_u, rtol=1e-10, atol=1e-12)

# Something that waits does not belong into a capture.
with stream:
    stream.begin_capture()
    doubled = u * 2
    try:
        stream.synchronize()
        raise SystemExit("a wait was captured")
    except cp.cuda.runtime.CUDARuntimeError as error:
        assert "cudaErrorStreamCaptureUnsupported" in str(error), error
    try:
        stream.end_capture()
        raise SystemExit("a lost capture gave a graph")
    except cp.cuda.runtime.CUDARuntimeError as error:
        assert "cudaErrorStreamCaptureInvalidated" in str(error), error
    stream.begin_capture()
    doubled = u * 2
    last = stream.end_capture()
    last.launch()
    del last, graph
stream.synchronize()
np.testing.assert_allclose(doubled.get(), 2 * expected_u, rtol=1e-10, atol=1e-12)
print("ok")
