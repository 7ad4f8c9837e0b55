"""Floating point: NaN rules, signed zeros, roundings, fma, special values, classification."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import bits32, bits64, each, kernel

I32, U32, F32, F64 = "int32", "uint32", "float32", "float64"
NAN, INF = np.nan, np.inf
TINY32, TINY64 = 2.0**-149, 2.0**-1074
MAX_F32 = 3.4028234663852886e38

# --- min and max: NaN loses, -0 < +0 --------------------------------------------------------------
for _name, _type, _bits in (("f32", F32, bits32), ("f64", F64, bits64)):
    _zero, _minus = (0, 0x80000000) if _type == F32 else (0, 1 << 63)
    _one = 0x3F800000 if _type == F32 else 0x3FF0000000000000
    _x = _bits(_zero, _minus, _zero, _minus)
    each(
        f"fmin_zeros_{_name}",
        "fmin(x, y)",
        _type,
        _bits(_minus, _minus, _zero, _minus),
        x=(_type, _x),
        y=(_type, _bits(_minus, _zero, _zero, _minus)),
    )
    each(
        f"fmax_zeros_{_name}",
        "fmax(x, y)",
        _type,
        _bits(_zero, _zero, _zero, _minus),
        x=(_type, _x),
        y=(_type, _bits(_minus, _zero, _zero, _minus)),
    )
    each(
        f"fmin_nan_{_name}",
        "fmin(x, y)",
        _type,
        [1, 1, NAN, -INF],
        x=(_type, [NAN, 1, NAN, -INF]),
        y=(_type, [1, NAN, NAN, NAN]),
    )
    each(
        f"fmax_nan_{_name}",
        "fmax(x, y)",
        _type,
        [1, 1, NAN, -INF],
        x=(_type, [NAN, 1, NAN, -INF]),
        y=(_type, [1, NAN, NAN, NAN]),
    )
    each(
        f"min_overload_{_name}",
        "min(x, y) + max(x, y)",
        _type,
        [3, NAN - 0],
        x=(_type, [1, NAN]),
        y=(_type, [2, NAN]),
    )
each("min_float_double", "min(x, y)", F64, [0.1, 0.5], x=(F32, [0.5, 0.5]), y=(F64, [0.1, NAN]))
each("fmin_of_signalling_nan", "fminf(x, y)", F32, [1], x=(F32, bits32(0x7FA00000)), y=(F32, [1]))

# --- comparison and NaN ---------------------------------------------------------------------------
_COMPARE = "(x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x >= y) << 4 | (x > y) << 5"
each(
    "compare_f32",
    _COMPARE,
    I32,
    [0b001011, 0b011110 & ~8, 0b111000 & ~0, 8, 8, 0b010110],
    x=(F32, [1, 1, 2, NAN, NAN, 0.0]),
    y=(F32, [2, 1, 1, 1, NAN, -0.0]),
)
each(
    "compare_f64",
    _COMPARE,
    I32,
    [0b001011, 0b010110, 0b111000, 8, 8],
    x=(F64, [1, 1, 2, NAN, NAN]),
    y=(F64, [2, 1, 1, 1, NAN]),
)
each("inf_minus_inf", "isnan(x - x)", I32, [1, 0], x=(F32, [INF, 1]))
each(
    "zero_over_zero",
    "x / y",
    F32,
    [NAN, INF, -INF, 0],
    x=(F32, [0, 1, -1, 1]),
    y=(F32, [0, 0, 0, INF]),
)
each(
    "nan_payload_of_double",
    "__double_as_longlong(x + 1.0)",
    "int64",
    [-0x0007FFFFFFFFFFFF],
    x=(F64, bits64(0xFFF8000000000001)),
)
each(
    "classify_f32",
    "isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | signbit(x) << 3",
    I32,
    [1, 2, 10, 4, 12, 4, 4],
    x=(F32, [NAN, INF, -INF, 0, -0.0, 1, TINY32]),
)
each(
    "classify_f64",
    "isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | signbit(x) << 3",
    I32,
    [1, 2, 10, 4, 12, 4, 4],
    x=(F64, [NAN, INF, -INF, 0, -0.0, 1, TINY64]),
)

each(
    "isnormal",
    "isnormal(x) * 10 + isnormal((float)x)",
    I32,
    [0, 0, 0, 11, 10, 0],
    x=(F64, [NAN, INF, 0, 1, TINY32, TINY64]),
    head="#include <math.h>",
)

# --- arithmetic rounds to nearest, keeps subnormals -------------------------------------------------
each(
    "subnormal_kept",
    "x * y",
    F32,
    [2.0**-148, TINY32, 0],
    x=(F32, [TINY32, 2.0**-126, TINY32]),
    y=(F32, [2, 2.0**-23, 0.5]),
)
each(
    "no_contraction",
    "x * y + z",
    F32,
    [0],
    x=(F32, [1 + 2.0**-12]),
    y=(F32, [1 + 2.0**-12]),
    z=(F32, [-1 - 2.0**-11]),
)
each(
    "fma_single_rounding",
    "fmaf(x, y, z)",
    F32,
    [2.0**-24, INF, NAN],
    x=(F32, [1 + 2.0**-12, MAX_F32, INF]),
    y=(F32, [1 + 2.0**-12, 2, 0]),
    z=(F32, [-1 - 2.0**-11, 0, 1]),
)
each(
    "fma_double",
    "fma(x, y, z)",
    F64,
    [-(2.0**-60)],
    x=(F64, [1 + 2.0**-30]),
    y=(F64, [1 - 2.0**-30]),
    z=(F64, [-1]),
)
each(
    "fma_no_overflow_inside",
    "fmaf(x, y, z)",
    F32,
    [MAX_F32],
    x=(F32, [MAX_F32]),
    y=(F32, [2]),
    z=(F32, [-MAX_F32]),
)
each(
    "division_is_rounded",
    "x / y",
    F32,
    bits32(0x3EAAAAAB, 0x00000001),
    x=(F32, [1, TINY32]),
    y=(F32, [3, 1.5]),
)
each(
    "sqrt_is_rounded",
    "sqrtf(x)",
    F32,
    bits32(0x3FB504F3, 0x80000000, 0x1A3504F3),
    x=(F32, [2, -0.0, TINY32]),
)
each("sqrt_of_negative", "sqrt(x)", F64, [NAN, INF, 0], x=(F64, [-1, INF, 0]))

# --- stated roundings -------------------------------------------------------------------------------
_A, _B = [1, 1, -1, MAX_F32, 1], [2.0**-30, -(2.0**-30), -(2.0**-30), MAX_F32, -1]
each(
    "fadd_rz",
    "__fadd_rz(x, y)",
    F32,
    bits32(0x3F800000, 0x3F7FFFFF, 0xBF800000, 0x7F7FFFFF, 0),
    x=(F32, _A),
    y=(F32, _B),
)
each(
    "fadd_ru",
    "__fadd_ru(x, y)",
    F32,
    bits32(0x3F800001, 0x3F800000, 0xBF800000, 0x7F800000, 0),
    x=(F32, _A),
    y=(F32, _B),
)
each(
    "fadd_rd",
    "__fadd_rd(x, y)",
    F32,
    bits32(0x3F800000, 0x3F7FFFFF, 0xBF800001, 0x7F7FFFFF, 0x80000000),
    x=(F32, _A),
    y=(F32, _B),
)
each(
    "fsub_rd",
    "__fsub_rd(x, y)",
    F32,
    bits32(0x3F7FFFFF, 0x80000000),
    x=(F32, [1, 3]),
    y=(F32, [2.0**-40, 3]),
)
_P = 1 + 2.0**-23
each(
    "fmul_modes",
    "(__fmul_ru(x, y) - __fmul_rd(x, y)) * (__fmul_rz(x, y) == __fmul_rd(x, y) ? 1 : -1)",
    F32,
    [2.0**-23, -(2.0**-23), 0],
    x=(F32, [_P, -_P, 2]),
    y=(F32, [_P, _P, 3]),
)
each(
    "fmul_tiny",
    "__fmul_ru(x, y)",
    F32,
    bits32(1, 0x80000000),
    x=(F32, [TINY32, -TINY32]),
    y=(F32, [TINY32] * 2),
)
each(
    "fdiv_modes",
    "__fdiv_ru(x, y) - __fdiv_rd(x, y)",
    F32,
    [2.0**-25, 0, TINY32],
    x=(F32, [1, 6, TINY32]),
    y=(F32, [3, 3, 2]),
)
each("frcp_rz", "__frcp_rz(x)", F32, bits32(0x3EAAAAAA, 0x7F800000), x=(F32, [3, 0]))
each("fsqrt_modes", "__fsqrt_ru(x) - __fsqrt_rd(x)", F32, [2.0**-23, 0], x=(F32, [2, 4]))
each("frsqrt_rn", "__frsqrt_rn(x)", F32, bits32(0x3F3504F3, 0x7F800000, 0), x=(F32, [2, 0, INF]))
each(
    "fmaf_rd_ru",
    "__fmaf_ru(x, y, z) - __fmaf_rd(x, y, z)",
    F32,
    [2.0**-23, 0],
    x=(F32, [TINY32, 2]),
    y=(F32, [1, 3]),
    z=(F32, [1, 4]),
)
each(
    "dadd_rz_ru",
    "__dadd_ru(x, y) - __dadd_rz(x, y)",
    F64,
    [2.0**-52, 0],
    x=(F64, [1, 1]),
    y=(F64, [1e-300, 1]),
)
each(
    "dadd_rd_zero",
    "__dadd_rd(x, y)",
    F64,
    bits64(1 << 63, 0, 0x7FEFFFFFFFFFFFFF),
    x=(F64, [1, 0, 1.7e308]),
    y=(F64, [-1, 0, 1.7e308]),
)
each(
    "dmul_modes",
    "__dmul_ru(x, y) - __dmul_rd(x, y)",
    F64,
    [2.0**-52, TINY64, 0],
    x=(F64, [1 + 2.0**-52, 1e-200, 2]),
    y=(F64, [1 + 2.0**-52, 1e-200, 3]),
)
each(
    "ddiv_modes",
    "__ddiv_ru(x, y) - __ddiv_rd(x, y)",
    F64,
    [2.0**-54, 0, TINY64, TINY64],
    x=(F64, [1, 6, TINY64, 1e-300]),
    y=(F64, [3, 3, 2, 1e300]),
)
each("dsqrt_modes", "__dsqrt_ru(x) - __dsqrt_rd(x)", F64, [2.0**-52, 0], x=(F64, [2, 9]))
each(
    "dfma_modes",
    "__fma_ru(x, y, z) - __fma_rd(x, y, z)",
    F64,
    [2.0**-52, 0, 2.0**-52],
    x=(F64, [1e-300, 2, 1 + 2.0**-52]),
    y=(F64, [1, 3, 1 + 2.0**-52]),
    z=(F64, [1, 4, 0]),
)

# --- functions at their corners ---------------------------------------------------------------------
each(
    "saturate",
    "__saturatef(x)",
    F32,
    bits32(0, 0x3F800000, 0x3F000000, 0, 0),
    x=(F32, [NAN, 2, 0.5, -1, -0.0]),
)
each(
    "round_half_away",
    "roundf(x) * 100 + rintf(x)",
    F32,
    [302, -302, 0, 404],
    x=(F32, [2.5, -2.5, 0.49999997, 3.5]),
)
each("trunc_keeps_sign", "truncf(x)", F32, bits32(0x80000000, 0x3F800000), x=(F32, [-0.5, 1.5]))
each("floor_ceil", "floor(x) * 10 + ceil(x)", F64, [-21, 12], x=(F64, [-1.5, 1.5]))
each(
    "fmod_signs",
    "fmodf(x, y)",
    F32,
    bits32(0x3F800000, 0xBF800000, 0x80000000, 0x7FC00000),
    x=(F32, [7, -7, -6, 1]),
    y=(F32, [3, 3, 3, 0]),
)
each(
    "remainder_ties",
    "remainder(x, y)",
    F64,
    [-1, 1, -2, 2],
    x=(F64, [5, 7, 6, 10]),
    y=(F64, [3, 3, 4, 4]),
)
each(
    "copysign_of_nan",
    "copysignf(x, y)",
    F32,
    bits32(0xBF800000, 0x3F800000),
    x=(F32, [1, -1]),
    y=(F32, bits32(0xFFC00000, 0x7FC00000)),
)
each(
    "pow_corners",
    "powf(x, y)",
    F32,
    [1, 1, INF, -0.0, -8, NAN, 1, INF],
    x=(F32, [0, NAN, 0, -INF, -2, -2, -1, -0.0]),
    y=(F32, [0, 0, -1, -3, 3, 0.5, INF, -2]),
)
each("pow_mixed", "pow(x, y)", F64, [8, 0.25], x=(F32, [2, 2]), y=(I32, [3, -2]))
each("pow_ints", "pow(x, 2)", F64, [9, 4], x=(I32, [-3, 2]))
each("exp_corners", "expf(x)", F32, [INF, 0, 1, INF, 0], x=(F32, [89, -104, 0, INF, -INF]))
each("log_corners", "logf(x)", F32, [-INF, NAN, 0, INF], x=(F32, [0, -1, 1, INF]))
each("log2_of_subnormal", "log2f(x)", F32, [-149, 10], x=(F32, [TINY32, 1024]))
each(
    "log10_of_powers",
    "log10(x)",
    F64,
    [0, 1, 2, 3, 15, 22, -INF],
    x=(F64, [1, 10, 100, 1e3, 1e15, 1e22, 0]),
)
each("exp10_of_wholes", "exp10(x)", F64, [1, 10, 1000, INF, 0], x=(F64, [0, 1, 3, 400, -400]))
each("sin_of_inf", "sinf(x)", F32, [NAN, NAN, 0], x=(F32, [INF, NAN, 0]))
each(
    "sinpi_exact",
    "sinpi(x)",
    F64,
    [0, 1, 0, -1, 0.5, -0.0],
    x=(F64, [0, 0.5, 1, 1.5, 1 / 6 * 1.0, -1]),
    tolerance=1e-15,
)
each("cospi_exact", "cospif(x)", F32, [1, 0, -1, 0, 1], x=(F32, [0, 0.5, 1, 1.5, 2e7]))
each(
    "atan2_quadrants",
    "atan2f(x, y)",
    F32,
    bits32(0, 0x40490FDB, 0x80000000, 0xC0490FDB, 0x3F490FDB),
    x=(F32, [0.0, 0.0, -0.0, -0.0, INF]),
    y=(F32, [1, -1, 1, -1, INF]),
    tolerance=2e-7,
)
each(
    "hypot_of_inf_and_nan",
    "hypotf(x, y)",
    F32,
    [INF, 5, INF],
    x=(F32, [INF, 3, NAN]),
    y=(F32, [NAN, 4, -INF]),
)
each("cbrt_of_negative", "cbrt(x)", F64, [-3, 2, 0], x=(F64, [-27, 8, 0]))
each("rsqrt_corners", "rsqrtf(x)", F32, [INF, 0.5, NAN, 0], x=(F32, [0, 4, -1, INF]))
each(
    "nextafter_steps",
    "nextafterf(x, y)",
    F32,
    bits32(1, 0x80000001, 0x3F800001, 0x7F800000),
    x=(F32, [0, 0, 1, MAX_F32]),
    y=(F32, [1, -1, 2, INF]),
)
each(
    "ldexp_gradual",
    "ldexpf(x, n)",
    F32,
    [TINY32, 0, INF, 6],
    x=(F32, [1, 1, 1, 3]),
    n=(I32, [-149, -151, 128, 1]),
)
each(
    "frexp_parts",
    "parts(x)",
    F32,
    [500 + 1, 750 + 3, 500 - 148],
    x=(F32, [1, 6, TINY32]),
    head="__device__ float parts(float x) { int e; float m = frexpf(x, &e); return m * 1000 + e; }",
)
each(
    "modf_parts",
    "parts(x)",
    F32,
    [25 + 3, -25 - 3],
    x=(F32, [3.25, -3.25]),
    head="__device__ float parts(float x) { float w, r = modff(x, &w); return r * 100 + w; }",
)
each(
    "ilogb_values",
    "ilogbf(x)",
    I32,
    [0, 1, -149, 2**31 - 1, -(2**31), -(2**31)],
    x=(F32, [1, 3, TINY32, INF, 0, NAN]),
)
each("logb_values", "logbf(x)", F32, [0, 1, -149, INF, -INF], x=(F32, [1, 3, TINY32, INF, 0]))
each(
    "remquo_bits",
    "parts(x, y)",
    F32,
    [-8, -6],
    x=(F32, [5, 7]),
    y=(F32, [3, 2]),
    head="__device__ float parts(float x, float y) { int q; float r = remquof(x, y, &q); return r * 10 + (q & 7); }",
)
each("fdim_values", "fdimf(x, y)", F32, [2, 0, NAN], x=(F32, [3, 1, NAN]), y=(F32, [1, 3, 1]))
each("erfinv_ends", "erfinvf(x)", F32, [INF, -INF, 0, NAN], x=(F32, [1, -1, 0, 2]))
each("normcdf_ends", "normcdf(x)", F64, [0, 0.5, 1], x=(F64, [-50, 0, 50]))
each("gamma_ends", "tgammaf(x)", F32, [24, INF, NAN, INF], x=(F32, [5, 0, -1, INF]), tolerance=1e-6)
each(
    "norm3d_no_overflow",
    "norm3df(x, y, 0)",
    F32,
    [5e30, INF],
    x=(F32, [3e30, INF]),
    y=(F32, [4e30, NAN]),
    tolerance=2e-7,
)
each("abs_of_minus_zero", "fabsf(x)", F32, bits32(0, 0x7F800000), x=(F32, [-0.0, -INF]))
each(
    "std_names",
    "std::sqrt(x) + std::abs(x) + std::max(x, 2.0f) + std::pow(x, 2.0f)",
    F32,
    [26],
    x=(F32, [4]),
    head="#include <cmath>",
)
each("double_literals_promote", "x * 0.1", F64, [float(np.float32(0.1)) * 0.1], x=(F32, [0.1]))
each(
    "fast_forms_of_whole_values",
    "__expf(x) + __logf(x + 1) + __fdividef(x, 1) + __powf(x + 2, 1)",
    F32,
    [3],
    x=(F32, [0]),
    tolerance=1e-6,
)
# x y + z loses most of x y and what is left is exact, so no rounding may move it.
each(
    "dfma_small_product_cancelled",
    "__fma_ru(x, y, z) - __fma_rd(x, y, z)",
    F64,
    [0, 0],
    x=(F64, [-6.95158373742329e-132, 3.3967133878212785e-145]),
    y=(F64, [3.349879872786059e-151, -1.0547716996925768e-130]),
    z=(F64, [2.328697044598117e-282, 3.582757153440781e-275]),
)
# What is below the normal floats is 0 to arithmetic, with its sign; bits and doubles stay.
_SMALL = np.array([0, -0.0, 0, 2**-126, 0, -0.0, 1e-40, 0, 0, 2, 0, 0, 0], "float32")
_SMALL[7:8] = (_SMALL[6:7].view("int32") + 1).view("float32")
for _option in ("--use_fast_math", "-ftz=true"):
    kernel(
        f"small_floats_are_zero{_option.replace('-', '_').replace('=', '_')}",
        """const float tiny = p1[0], least = p1[1], two = p1[2]; const double d = p2[0];
           p0[0] = tiny + tiny; p0[1] = -tiny * two; p0[2] = least * 0.5f; p0[3] = least - tiny; p0[4] = fmaf(tiny, two, 0.0f);
           p0[5] = fminf(-tiny, two); p0[6] = tiny; p0[7] = __int_as_float(__float_as_int(tiny) + 1); p0[8] = (float)(d * 1e-40);
           p0[9] = tiny > 0.0f ? 1.0f : 2.0f; p0[10] = (double)tiny != 0.0; p0[11] = ceilf(tiny); p0[12] = sqrtf(tiny);
           p2[0] = d * 1e-310; p2[1] = (double)two * 1e-310;""",
        [
            np.full(13, 9, "float32"),
            np.array([1e-40, 2**-126, 2], "float32"),
            np.array([3.0, 0.0]),
        ],
        {
            0: _SMALL,
            2: np.array([3e-310, 2e-310]),
        },
        options=(_option, "--std=c++17"),
        block=(1,),
    )  # fmt: skip
