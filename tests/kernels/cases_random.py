"""curand_kernel.h: sequences equal to those that cuRAND's own header gives on an H200 (recorded)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.kernels.case import Case, add

RECORDED = Path(__file__).with_name("recorded_h200.json")
# seed, subsequence, offset
STARTS = np.array(
    [[0, 0, 0], [1234, 0, 0], [1234, 1, 0], [1234, 77, 5], [2**40 + 3, 1000003, 2**33 + 1],
     [42, 2**20, 13], [7, 0, 3], [2**64 - 1, 2**50 + 9, 2**60 + 2]], dtype=np.uint64,
)  # fmt: skip
_COUNT = len(STARTS)

_HEAD = """#include <curand_kernel.h>
struct Out { unsigned* o; float* f; double* d; };
template <class S> __device__ void draw(Out to, unsigned long long seed, unsigned long long sequence, unsigned long long offset) {
    S s;
    curand_init(seed, sequence, offset, &s);
    for (int i = 0; i < 9; ++i) to.o[i] = curand(&s);
    for (int i = 0; i < 6; ++i) to.f[i] = curand_uniform(&s);
    for (int i = 6; i < 11; ++i) to.f[i] = curand_normal(&s);
    to.f[11] = curand_log_normal(&s, 0.5f, 0.25f);
    float2 n = curand_normal2(&s);
    to.f[12] = n.x;
    to.f[13] = n.y;
    for (int i = 0; i < 4; ++i) to.d[i] = curand_uniform_double(&s);
    for (int i = 4; i < 7; ++i) to.d[i] = curand_normal_double(&s);
    double2 q = curand_normal2_double(&s);
    to.d[7] = q.x;
    to.d[8] = q.y;
    skipahead(12345ull, &s);
    to.o[9] = curand(&s);
    skipahead_sequence(3ull, &s);
    to.o[10] = curand(&s);
    to.o[11] = sizeof(S);
    to.f[14] = curand_normal(&s);
    to.f[15] = curand_log_normal(&s, 0.5f, 0.25f);
    to.f[16] = curand_log_normal(&s, 9.0f, 0.25f);
    to.f[17] = curand_log_normal(&s, 0.1f, 0.25f);
    to.f[18] = curand_normal(&s);
    to.f[19] = curand_normal(&s);
    to.d[9] = curand_log_normal_double(&s, 0.5, 0.25);
    to.d[10] = curand_log_normal_double(&s, 9.0, 0.25);
    to.d[11] = curand_normal_double(&s);
    to.o[16] = curand(&s);
}
"""
_FOUR = """    curandStatePhilox4_32_10_t s;
    curand_init(p3[3 * t], p3[3 * t + 1], p3[3 * t + 2], &s);
    uint4 w = curand4(&s);
    to.o[12] = w.x; to.o[13] = w.y; to.o[14] = w.z; to.o[15] = w.w;
    float4 u = curand_uniform4(&s), n = curand_normal4(&s);
    to.f[20] = u.x; to.f[21] = u.w; to.f[22] = n.x; to.f[23] = n.w;
    double2 v = curand_uniform2_double(&s);
    to.d[12] = v.x; to.d[13] = v.y;
    to.o[17] = curand(&s);
"""


def _recorded(name: str, arrays: list[np.ndarray]) -> dict[int, np.ndarray]:
    if not RECORDED.exists():
        return {}
    stored = json.loads(RECORDED.read_text())["cases"].get(name)
    if stored is None:
        return {}
    return {i: np.frombuffer(bytes.fromhex(stored[i]), a.dtype) for i, a in enumerate(arrays[:3])}


def _generator(name: str, state: str, more: str) -> None:
    arrays = [
        np.zeros(20 * _COUNT, np.uint32), np.zeros(24 * _COUNT, np.float32),
        np.zeros(16 * _COUNT, np.float64), STARTS.ravel().copy(),
    ]  # fmt: skip
    source = (
        f'{_HEAD}extern "C" __global__ void f(unsigned* p0, float* p1, double* p2, '
        "const unsigned long long* p3) {\n    const int t = threadIdx.x;\n"
        "    Out to = {p0 + 20 * t, p1 + 24 * t, p2 + 16 * t};\n"
        f"    draw<{state}>(to, p3[3 * t], p3[3 * t + 1], p3[3 * t + 2]);\n{more}}}\n"
    )
    # the words are exact; the logarithms and sines of the normals are each device's own
    add(
        Case(
            name,
            source,
            arrays,
            _recorded(name, arrays),
            block=(_COUNT,),
            tolerance=2e-5,
            absolute=2e-6,
        )
    )


_generator("curand_xorwow", "curandStateXORWOW_t", "")
_generator("curand_philox", "curandStatePhilox4_32_10_t", _FOUR)
