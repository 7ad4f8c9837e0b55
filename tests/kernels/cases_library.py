"""The headers: half, bfloat16, complex, cooperative groups, random numbers, standard pieces."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.kernels.case import kernel

N = 32
T = np.arange(N)
_T = "const int t = threadIdx.x;"
Z = np.zeros(N, "int32")
_HALF = (
    "#include <cuda_fp16.h>\n__device__ half h(unsigned short b) { return __ushort_as_half(b); }\n"
    "__device__ unsigned short u(half v) { return __half_as_ushort(v); }"
)
_BF16 = (
    "#include <cuda_bf16.h>\n__device__ __nv_bfloat16 h(unsigned short b) { return __ushort_as_bfloat16(b); }\n"
    "__device__ unsigned short u(__nv_bfloat16 v) { return __bfloat16_as_ushort(v); }"
)


def _patterns(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 0x7C00 if dtype == np.float16 else 0x7F80, (2, 256)).astype(np.uint16)
    a[::3] |= 0x8000
    b[::5] |= 0x8000
    a[:4], b[:4] = [0x0000, 0x8000, 0x0001, 0x7BFF], [0x8000, 0x0000, 0x0001, 0x7BFF]
    return a, b


with np.errstate(all="ignore"):
    for _name, _head, _dt in (("half", _HALF, np.float16), ("bf16", _BF16, ml_dtypes.bfloat16)):
        _a, _b = _patterns(_dt)
        _fa, _fb = _a.view(_dt).astype("float32"), _b.view(_dt).astype("float32")
        for _op, _call, _exact in (
            ("add", "x + y", _fa + _fb),
            ("sub", "x - y", _fa - _fb),
            ("mul", "x * y", _fa * _fb),
            ("div", "x / y", _fa / _fb),
        ):
            _want = _exact.astype(_dt)
            _ok = np.isfinite(_want.astype("float32"))
            kernel(
                f"{_name}_{_op}",
                f"const int t = threadIdx.x; auto x = h(p1[t]), y = h(p2[t]); p0[t] = u({_call});",
                [np.zeros(int(_ok.sum()), "uint16"), _a[_ok], _b[_ok]],
                _want[_ok].view("uint16"),
                head=_head,
                block=(int(_ok.sum()),),
            )
        kernel(
            f"{_name}_compare",
            f"{_T} auto x = h(p1[t]), y = h(p2[t]); p0[t] = (x < y) | (x == y) << 1 | __hge(x, y) << 2 | (x != y) << 3;",
            [Z, _a[:N], _b[:N]],
            (_fa < _fb)[:N]
            | ((_fa == _fb)[:N] << 1)
            | ((_fa >= _fb)[:N] << 2)
            | ((_fa != _fb)[:N] << 3),
            head=_head,
        )
        _f = np.array(
            [
                1.0,
                1 + 2**-11,
                1 + 3 * 2**-11,
                65519.9,
                65520.0,
                1e-8,
                2.0**-25,
                1 + 2**-9,
                1 + 3 * 2**-9,
                3e38,
                np.inf,
            ],
            "float32",
        )
        kernel(
            f"{_name}_from_float",
            f"{_T} p0[t] = u(__float2{'half' if _name == 'half' else 'bfloat16'}(p1[t]));",
            [np.zeros(len(_f), "uint16"), _f],
            _f.astype(_dt).view("uint16"),
            head=_head,
            block=(len(_f),),
        )

kernel(
    "half_nan_is_canonical",
    "p0[0] = u(__float2half(__int_as_float(0x7fc12345))); p0[1] = u(h(0x7e01) + h(0x3c00));",
    [np.zeros(2, "uint16")],
    np.array([0x7FFF, 0x7FFF]),
    head=_HALF,
    block=(1,),
)
kernel(
    "half_rounding_modes",
    "float v = 1.0f + p1[0]; p0[0] = u(__float2half_rz(v)); p0[1] = u(__float2half_ru(v)); p0[2] = u(__float2half_rd(-v)); "
    "p0[3] = u(__float2half_rn(v)); p0[4] = u(__float2half_rz(1e6f * v));",
    [np.zeros(5, "uint16"), np.array([2.0**-11], "float32")],
    np.array([0x3C00, 0x3C01, 0xBC01, 0x3C00, 0x7BFF]),
    head=_HALF,
    block=(1,),
)
kernel(
    "half_fma_rounds_once",
    "p0[0] = u(__hfma(h(0x3c01), h(0x3c01), h(0x8400))); p0[1] = u(__hfma(h(0x3c01), h(0x3bff), h(0xbc00)));",
    [np.zeros(2, "uint16")],
    np.array(
        [np.float16(1.0009765625**2 - 2.0**-14), np.float16(1.0009765625 * 0.99951171875 - 1)],
        "float16",
    ).view("uint16"),
    head=_HALF,
    block=(1,),
)
kernel(
    "half_to_integer",
    "p0[0] = __half2int_rn(h(0x4100)); p0[1] = __half2int_rz(h(0xc100)); p0[2] = __half2int_ru(h(0x4100)); p0[3] = __half2int_rd(h(0xc100)); "
    "p0[4] = (int)(float)__int2half_rn(2049);",
    [np.zeros(5, "int32")],
    np.array([2, -2, 3, -3, 2048]),
    head=_HALF,
    block=(1,),
)
kernel(
    "half2_operations",
    "half2 a = __floats2half2_rn(1, 2), b = __float2half2_rn(3); half2 c = __hfma2(a, b, a); p0[0] = __low2float(c); p0[1] = __high2float(c); "
    "float2 f = __half22float2(__hadd2(c, b)); p0[2] = f.x; p0[3] = f.y; p0[4] = __hbgt2(b, a); p0[5] = __low2float(__lowhigh2highlow(a));",
    [np.zeros(6, "float32")],
    np.array([4, 8, 7, 11, 1, 2]),
    head=_HALF,
    block=(1,),
)
kernel(
    "half_min_max_nan",
    "half n = h(0x7e00), o = h(0x3c00); p0[0] = u(__hmax(n, o)); p0[1] = u(__hmin_nan(n, o)); p0[2] = u(__hmin(h(0x8000), h(0)));",
    [np.zeros(3, "uint16")],
    np.array([0x3C00, 0x7FFF, 0x8000]),
    head=_HALF,
    block=(1,),
)
kernel(
    "half_shuffle_and_atomic",
    f"{_T} half v = __int2half_rn(t); v = __shfl_xor_sync(0xffffffffu, v, 1); p0[t] = (int)(float)v; "
    "if (t < 4) atomicAdd((half*)p1, __float2half(0.5f));",
    [Z, np.zeros(2, "uint16")],
    {0: T ^ 1, 1: np.array([0x4000, 0])},
    head=_HALF,
)
kernel(
    "half_math",
    "p0[0] = (float)hsqrt(h(0x4400)); p0[1] = (float)hexp(h(0)); p0[2] = (float)hrcp(h(0x4000)); p0[3] = (float)hfloor(h(0xbe00)); p0[4] = (float)h2sqrt(__float2half2_rn(9)).y;",
    [np.zeros(5, "float32")],
    np.array([2, 1, 0.5, -2, 3]),
    head=_HALF,
    block=(1,),
)

kernel(
    "cu_complex",
    "cuFloatComplex a = make_cuFloatComplex(1, 2), b = make_cuFloatComplex(3, -1); cuFloatComplex c = cuCmulf(a, b), d = cuCdivf(c, b); "
    "p0[0] = cuCrealf(c); p0[1] = cuCimagf(c); p0[2] = d.x; p0[3] = d.y; p0[4] = cuCabsf(make_cuFloatComplex(3, 4)); p0[5] = cuConjf(a).y;",
    [np.zeros(6, "float32")],
    np.array([5, 5, 1, 2, 5, -2]),
    head="#include <cuComplex.h>",
    block=(1,),
    tolerance=1e-6,
)
kernel(
    "standard_pieces",
    f"{_T} p0[t] = std::numeric_limits<short>::max() - t;",
    [Z],
    32767 - T,
    head='#ifdef __TRILANE__\n#include <limits>\n#include <type_traits>\n#include <utility>\nstatic_assert(std::is_same<std::conditional<true, int, char>::type, int>::value, "");\n'
    "#else\n#include <cuda/std/limits>\nnamespace std { using cuda::std::numeric_limits; }\n#endif",
)

_CG = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;"
kernel(
    "cg_block",
    f"{_T} auto b = cg::this_thread_block(); __shared__ int s[64]; s[b.thread_rank()] = t; b.sync(); p0[t] = s[63 - t] * 100 + b.size();",
    [np.zeros(64, "int32")],
    (63 - np.arange(64)) * 100 + 64,
    head=_CG,
    block=(64,),
)
for _n in (2, 8, 32):
    kernel(
        f"cg_tile_{_n}",
        f"{_T} auto w = cg::tiled_partition<{_n}>(cg::this_thread_block()); int v = t; for (int k = w.size() / 2; k > 0; k /= 2) v += w.shfl_down(v, k); "
        "p0[t] = w.thread_rank() == 0 ? v : -(int)w.meta_group_rank() - 1;",
        [np.zeros(64, "int32")],
        np.array([sum(range(t, t + _n)) if t % _n == 0 else -(t // _n) - 1 for t in range(64)]),
        head=_CG,
        block=(64,),
    )
kernel(
    "cg_tile_votes",
    f"{_T} auto w = cg::tiled_partition<8>(cg::this_thread_block()); p0[t] = w.ballot(t & 1) * 4 + w.any(t == 9) * 2 + w.all(t < 16);",
    [Z],
    0xAA * 4 + np.where(T // 8 == 1, 2, 0) + (T // 8 < 2),
    head=_CG,
)
kernel(
    "cg_reduce",
    f"{_T} auto w = cg::tiled_partition<16>(cg::this_thread_block()); p0[t] = cg::reduce(w, t, cg::plus<int>()) * 100 + cg::reduce(w, t, cg::greater<int>());",
    [Z],
    np.where(T < 16, 120, 376) * 100 + np.where(T < 16, 15, 31),
    head=_CG,
)
for _n in (64, 128):
    kernel(
        f"cg_tile_{_n}",
        f"{_T} auto w = cg::tiled_partition<{_n}>(cg::this_thread_block()); __shared__ int s[256]; s[t] = t; if (w.meta_group_rank() == 1) w.sync(); "
        "int sum = cg::reduce(w, t * 1.0f, cg::plus<float>()); int most = cg::reduce(w, t, cg::greater<int>()); "
        "p0[t] = sum * 8 + w.any(t == 70) * 4 + w.all(t < 128) * 2 + (w.shfl(t, 5) == most - (int)w.size() + 6) + w.thread_rank() * 1000000;",
        [np.zeros(256, "int32")],
        np.array(
            [
                sum(range(t // _n * _n, t // _n * _n + _n)) * 8
                + (t // _n == 70 // _n) * 4
                + ((t // _n + 1) * _n <= 128) * 2
                + 1
                + t % _n * 1000000
                for t in range(256)
            ]
        ),
        head=_CG,
        block=(256,),
    )
kernel(
    "cg_coalesced",
    f"{_T} p0[t] = -1; if (t % 3 == 0) {{ auto g = cg::coalesced_threads(); p0[t] = g.size() * 10000 + g.thread_rank() * 100 + g.shfl(t, 2); }}",
    [Z],
    np.where(T % 3 == 0, 110000 + T // 3 * 100 + 6, -1),
    head=_CG,
)
kernel(
    "cg_scan",
    f"{_T} auto w = cg::tiled_partition<32>(cg::this_thread_block()); p0[t] = cg::inclusive_scan(w, t) * 1000 + cg::exclusive_scan(w, 1);",
    [Z],
    np.cumsum(T) * 1000 + T,
    head=_CG + "\n#include <cooperative_groups/scan.h>",
)
kernel(
    "cg_labeled_partition",
    f"{_T} auto w = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::labeled_partition(w, t % 3); p0[t] = g.size() * 100 + g.thread_rank();",
    [Z],
    np.array([11, 11, 10])[T % 3] * 100 + T // 3,
    head=_CG,
)
