"""Atomics: each operation and type, on global and shared memory, with the value returned."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import C_TYPES, kernel

THREADS, BLOCKS = 64, 4
TOTAL = THREADS * BLOCKS
_ID = "const int t = blockIdx.x * blockDim.x + threadIdx.x;"
_SIZE = {"grid": (BLOCKS,), "block": (THREADS,)}


def _one(name: str, call: str, dtype: str, start: object, end: object) -> None:
    """All threads on one word, in global memory and, per block, in shared memory."""
    kernel(
        f"{name}_{dtype}_global",
        f"{_ID} {call.format(p='p0')};",
        [np.array([start], dtype)],
        np.array([end], dtype),
        **_SIZE,
    )


for _t in ("int32", "uint32", "uint64", "float32", "float64"):
    _one("atomic_add", "atomicAdd({p}, t % 7)", _t, 5, 5 + sum(t % 7 for t in range(TOTAL)))
for _t in ("int32", "uint32"):
    _one("atomic_sub", "atomicSub({p}, t)", _t, 2**31 - 1, (2**31 - 1 - sum(range(TOTAL))))
for _t, _low, _high in (
    ("int32", -(2**31), 2**31 - 1),
    ("uint32", 0, 2**32 - 1),
    ("int64", -(2**63), 2**63 - 1),
    ("uint64", 0, 2**64 - 1),
):
    _one(
        "atomic_max",
        f"atomicMax({{p}}, ({C_TYPES[_t]})t - 100)",
        _t,
        _low,
        155 if _t[0] == "i" else _high,
    )
    _one(
        "atomic_min",
        f"atomicMin({{p}}, ({C_TYPES[_t]})t - 100)",
        _t,
        _high,
        -100 if _t[0] == "i" else 0,
    )
for _t, _all in (("int32", -1), ("uint32", 2**32 - 1), ("uint64", 2**64 - 1)):
    _c = C_TYPES[_t]
    _one(
        "atomic_and",
        f"atomicAnd({{p}}, ~(({_c})1 << (t % 31)))",
        _t,
        _all,
        -(2**31) if _t == "int32" else _all - (2**31 - 1),
    )
    _one("atomic_or", f"atomicOr({{p}}, ({_c})1 << (t % 31))", _t, 0, 2**31 - 1)
    _one("atomic_xor", f"atomicXor({{p}}, ({_c})t)", _t, 12, 12)

kernel(
    "atomic_inc_wraps",
    f"{_ID} atomicInc(p0, 9);",
    [np.array([0], "uint32")],
    np.array([TOTAL % 10], "uint32"),
    **_SIZE,
)
kernel(
    "atomic_inc_above_limit",
    "p1[0] = atomicInc(p0, 5);",
    [np.array([7], "uint32"), np.zeros(1, "uint32")],
    {0: np.array([0]), 1: np.array([7])},
    block=(1,),
)
kernel(
    "atomic_dec_wraps",
    f"{_ID} atomicDec(p0, 9);",
    [np.array([0], "uint32")],
    np.array([(10 - TOTAL % 10) % 10], "uint32"),
    **_SIZE,
)
kernel(
    "atomic_dec_above_limit",
    "p1[0] = atomicDec(p0, 5);",
    [np.array([9], "uint32"), np.zeros(1, "uint32")],
    {0: np.array([5]), 1: np.array([9])},
    block=(1,),
)
kernel(
    "atomic_dec_zero_limit",
    "p1[0] = atomicDec(p0, 0) + atomicInc(p0 + 1, 0);",
    [np.array([3, 4], "uint32"), np.zeros(1, "uint32")],
    {0: np.array([0, 0]), 1: np.array([7])},
    block=(1,),
)
kernel(
    "atomic_returns_each_old_value",
    f"{_ID} p1[atomicAdd(p0, 1)] = 1;",
    [np.array([0], "int32"), np.zeros(TOTAL, "int32")],
    {0: np.array([TOTAL]), 1: np.ones(TOTAL)},
    **_SIZE,
)
kernel(
    "atomic_exch_loses_nothing",
    f"{_ID} int v = t + 1; for (int i = 0; i < 3; ++i) v = atomicExch(p0, v); atomicAdd(p1, v);\n"
    "__threadfence(); if (atomicAdd(p2, 1) == gridDim.x * blockDim.x - 1) p1[0] += p0[0];",
    [np.array([0], "int32"), np.zeros(1, "int32"), np.zeros(1, "int32")],
    {1: np.array([TOTAL * (TOTAL + 1) // 2])},
    **_SIZE,
)
kernel(
    "atomic_exch_float",
    "p1[0] = atomicExch(p0, 2.5f);",
    [np.array([1.5], "float32"), np.zeros(1, "float32")],
    {0: np.array([2.5]), 1: np.array([1.5])},
    block=(1,),
)
kernel(
    "atomic_exch_64",
    "p1[0] = atomicExch(p0, 1ull << 40);",
    [np.array([3], "uint64"), np.zeros(1, "uint64")],
    {0: np.array([1 << 40]), 1: np.array([3])},
    block=(1,),
)
for _t in ("int32", "uint32", "uint64"):
    kernel(
        f"atomic_cas_{_t}",
        "p1[0] = atomicCAS(p0, 5, 6); p1[1] = atomicCAS(p0, 5, 7); p1[2] = atomicCAS(p0, 6, 8);",
        [np.array([5], _t), np.zeros(3, _t)],
        {0: np.array([8]), 1: np.array([5, 6, 6])},
        block=(1,),
    )
kernel(
    "atomic_cas_u16",
    "p1[0] = atomicCAS(p0 + 1, (unsigned short)5, (unsigned short)6);",
    [np.array([1, 5, 2], "uint16"), np.zeros(1, "uint16")],
    {0: np.array([1, 6, 2]), 1: np.array([5])},
    block=(1,),
)
kernel(
    "atomic_cas_loop_double",
    f"""{_ID} unsigned long long* a = (unsigned long long*)p0; unsigned long long old = *a, seen;
       do {{ seen = old; old = atomicCAS(a, seen, __double_as_longlong(fmax(__longlong_as_double(seen), (double)(t % 50))));
       }} while (seen != old);""",
    [np.array([-1.0], "float64")],
    np.array([49.0]),
    **_SIZE,
)
kernel(
    "atomic_shared_histogram",
    """__shared__ unsigned int h[16]; if (threadIdx.x < 16) h[threadIdx.x] = 0; __syncthreads();
       atomicAdd(&h[p1[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1u); __syncthreads();
       if (threadIdx.x < 16) atomicAdd(&p0[threadIdx.x], h[threadIdx.x]);""",
    [np.zeros(16, "uint32"), np.arange(TOTAL, dtype="int32") ** 2 % 23],
    np.bincount((np.arange(TOTAL) ** 2 % 23) & 15, minlength=16),
    **_SIZE,
)
for _t in ("int32", "uint32", "uint64", "float32", "float64"):
    kernel(
        f"atomic_add_{_t}_shared",
        f"""__shared__ {C_TYPES[_t]} s; if (threadIdx.x == 0) s = 3; __syncthreads();
           atomicAdd(&s, threadIdx.x); __syncthreads(); if (threadIdx.x == 0) p0[blockIdx.x] = s;""",
        [np.zeros(BLOCKS, _t)],
        np.full(BLOCKS, 3 + sum(range(THREADS))),
        **_SIZE,
    )
kernel(
    "atomic_min_shared_64",
    """__shared__ long long s; if (threadIdx.x == 0) s = 1ll << 50; __syncthreads();
       atomicMin(&s, (long long)threadIdx.x * -(1ll << 40)); __syncthreads(); if (threadIdx.x == 0) p0[blockIdx.x] = s;""",
    [np.zeros(BLOCKS, "int64")],
    np.full(BLOCKS, -63 * 2**40),
    **_SIZE,
)
kernel(
    "atomic_block_and_system_forms",
    f"{_ID} atomicAdd_block(p0 + blockIdx.x, 1); atomicMax_system(p0 + 4, t); atomicCAS_block(p0 + 5, 0, 9);",
    [np.zeros(6, "int32")],
    np.array([THREADS] * 4 + [TOTAL - 1, 9]),
    **_SIZE,
)
kernel(
    "atomic_subnormal_float_kept_in_shared",
    """__shared__ float s; if (threadIdx.x == 0) { s = 0; } __syncthreads();
       if (threadIdx.x < 2) atomicAdd(&s, 1e-45f); __syncthreads(); if (threadIdx.x == 0) p0[0] = s;""",
    [np.zeros(1, "float32")],
    np.array([2.0**-148], "float32"),
)
kernel(
    "lock_by_cas_and_exch",
    """for (int i = 0; i < 3; ++i) { bool done = false;
       while (!done) { if (atomicCAS(p0, 0, 1) == 0) { p1[0] += 1; __threadfence(); atomicExch(p0, 0); done = true; } } }""",
    [np.zeros(1, "int32"), np.zeros(1, "int32")],
    {0: np.zeros(1), 1: np.array([3 * TOTAL])},
    **_SIZE,
)
kernel(
    "last_block_done",
    """__shared__ bool last; p1[blockIdx.x] = (blockIdx.x + 1) * 10; __threadfence();
       if (threadIdx.x == 0) last = atomicAdd(p0, 1) == gridDim.x - 1; __syncthreads();
       if (last && threadIdx.x == 0) { int s = 0; for (int b = 0; b < gridDim.x; ++b) s += ((volatile int*)p1)[b]; p2[0] = s; }""",
    [np.zeros(1, "int32"), np.zeros(8, "int32"), np.zeros(1, "int32")],
    {2: np.array([360])},
    grid=(8,),
    block=(32,),
)
