"""Loops strided by the grid in which the threads of a block meet."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp

# Threads that leave early keep a kernel from being cut at its barriers: they take turns.
LEAVE = {"all stay": "", "some leave": "if (threadIdx.x >= 40) return;"}


@pytest.mark.parametrize("leave", LEAVE)
def test_sums_over_a_strided_loop_with_barriers(leave):
    text = f"""extern "C" __global__ void f(int* out, const int* a, int n) {{
        __shared__ int s[64];
        s[threadIdx.x] = 0;
        int sum = 0, width = blockDim.x;
        {LEAVE[leave]}
        for (int base = blockIdx.x * width; base < n; base += width * gridDim.x) {{
            int i = base + threadIdx.x;
            s[threadIdx.x] = i < n ? a[i] : 0;
            __syncthreads();
            sum += s[(threadIdx.x + 1) % width];
            __syncthreads();
        }}
        out[blockIdx.x * width + threadIdx.x] = sum;
    }}"""
    n, width, blocks = 1500, 48, 3
    staying = 40 if LEAVE[leave] else width
    a = np.arange(n, dtype=np.int32)
    expected = np.zeros((blocks, width), dtype=np.int32)
    for block in range(blocks):
        for base in range(block * width, n, width * blocks):
            row = np.zeros(width, dtype=np.int32)
            row[: min(staying, n - base)] = a[base : base + staying]
            expected[block, :staying] += np.roll(row, -1)[:staying]
    out = cp.zeros((blocks, width), dtype=np.int32)
    cp.RawKernel(text, "f")((blocks,), (width,), (out, cp.asarray(a), np.int32(n)))
    np.testing.assert_array_equal(cp.asnumpy(out), expected)
