"""Vector types, hinted loads and stores, and messages of wrong shapes, in kernels."""

from __future__ import annotations

import numpy as np
import pytest

from trilane.numba import cuda
from trilane.numba.core.errors import TypingError


def test_vectors_of_numbers_and_vectors():
    @cuda.jit
    def kernel(o, x):
        a = cuda.float32x2(x, 2)
        b = cuda.float4(a, cuda.float1(3), x)
        c = cuda.longlong3(b.w, a)
        o[0], o[1], o[2], o[3] = b.x, b.y, b.z, b.w
        o[4], o[5], o[6] = c.x, c.y, c.z

    o = np.zeros(7)
    kernel[1, 1](o, 1.5)
    assert o.tolist() == [1.5, 2, 3, 1.5, 1, 1, 2]


def test_a_vector_of_too_many_parts():
    @cuda.jit
    def kernel(o):
        o[0] = cuda.int2(1, 2, 3).x

    with pytest.raises(TypingError, match="int32x2"):
        kernel[1, 1](np.zeros(1))


def test_hinted_loads_and_stores():
    @cuda.jit
    def kernel(o, x):
        for i in range(len(x)):
            cuda.stcs(o, i, cuda.ldcg(x, i) + cuda.ldlu(x, 0))

    x = np.arange(1.0, 5.0)
    o = np.zeros(4)
    kernel[1, 1](o, x)
    assert o.tolist() == (x + 1).tolist()


def test_a_shape_that_is_not_known():
    @cuda.jit
    def kernel(a):
        held = cuda.shared.array((1, a[0]), np.float32)
        a[0] = held[0, 0]

    with pytest.raises(TypingError, match=r"shape=Tuple\(Literal\[int\]\(1\), float64\), dtype="):
        kernel[1, 1](np.zeros(1))
