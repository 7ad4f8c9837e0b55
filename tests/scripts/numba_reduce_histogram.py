"""Numba: reductions in shared memory, atomics, a histogram, cuda.reduce, streams and events."""

import numpy as np
from numba import cuda, int32

THREADS = 128


@cuda.jit
def block_sum(data, out):
    tile = cuda.shared.array(THREADS, int32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[tid] = data[i] if i < data.size else 0
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if tid < s:
            tile[tid] += tile[tid + s]
        cuda.syncthreads()
        s //= 2
    if tid == 0:
        cuda.atomic.add(out, 0, tile[0])


@cuda.jit
def histogram(x, xmin, xmax, counts):
    nbins = counts.shape[0]
    width = (xmax - xmin) / nbins
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.shape[0], stride):
        bin_number = np.int32((x[i] - xmin) / width)
        if bin_number >= 0 and bin_number < nbins:
            cuda.atomic.add(counts, bin_number, 1)


@cuda.jit
def extremes(x, result):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(result, 0, x[i])
        cuda.atomic.min(result, 1, x[i])


@cuda.reduce
def sum_reduce(a, b):
    return a + b


data = np.arange(1000, dtype=np.int32)
out = np.zeros(1, np.int32)
block_sum[8, THREADS](data, out)
assert out[0] == data.sum()

rng = np.random.default_rng(0)
x = rng.normal(size=10000).astype(np.float32)
stream = cuda.stream()
with cuda.pinned(x):
    x_d = cuda.to_device(x, stream=stream)
counts = cuda.to_device(np.zeros(10, np.int32), stream=stream)
before, after = cuda.event(), cuda.event()
before.record(stream)
histogram[16, 64, stream](x_d, np.float32(-4.0), np.float32(4.0), counts)
after.record(stream)
after.synchronize()
assert cuda.event_elapsed_time(before, after) >= 0
np.testing.assert_array_equal(
    counts.copy_to_host(stream=stream), np.histogram(x, bins=10, range=(-4, 4))[0]
)
limits = np.array([-np.inf, np.inf])
extremes[4, 64](x.astype(np.float64), limits)
assert limits[0] == x.max() and limits[1] == x.min()
assert sum_reduce(np.arange(1234, dtype=np.int64)) == 1234 * 1233 // 2
print("ok")
