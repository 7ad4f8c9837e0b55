"""Rows of lanes whose first lane takes no part."""

from __future__ import annotations

import numpy as np
import pytest

import trilane.cupy as cp

PARTS = {
    "plain": ("if (t % 2 == 0) out[t] = a[t + 1];", lambda a, t: np.where(t % 2 == 0, a[t + 1], 0)),
    "barrier": (
        "__shared__ int s[512]; s[t] = a[t]; __syncthreads();"
        "int x = t % 2 == 0 && t + 1 < size ? s[t + 1] : 0; __syncthreads(); out[t] = s[t] + x;",
        lambda a, t: a[t] + np.where((t % 2 == 0) & (t + 1 < t.size), a[t + 1], 0),
    ),
}


@pytest.mark.parametrize("block", [(11, 5), (7, 3, 2), (33,), (8, 4)])
@pytest.mark.parametrize("part", PARTS)
def test_neighbours_of_even_threads(part, block):
    body, expected = PARTS[part]
    text = f"""extern "C" __global__ void f(int* out, const int* a) {{
        int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        int size = blockDim.x * blockDim.y * blockDim.z;
        {body}
    }}"""
    t = np.arange(np.prod(block))
    a = np.arange(t.size + 1, dtype=np.int32) * 7 + 1
    out = cp.zeros(t.size, dtype=np.int32)
    cp.RawKernel(text, "f")((1,), block, (out, cp.asarray(a)))
    np.testing.assert_array_equal(cp.asnumpy(out), expected(a, t))
