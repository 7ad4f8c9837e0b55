"""Conversions between numbers: saturation, NaN, roundings, bits."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import bits32, bits64, each

I32, U32, I64, U64, F32, F64 = "int32", "uint32", "int64", "uint64", "float32", "float64"
MIN32, MAX32, MIN64, MAX64 = -(2**31), 2**31 - 1, -(2**63), 2**63 - 1
ALL32, ALL64 = 2**32 - 1, 2**64 - 1
NAN, INF = np.nan, np.inf

# --- float to integer: truncates, saturates; NaN is 0, or the sign bit where a side has 64 bits ---
each(
    "f32_to_s32",
    "(int)x",
    I32,
    [MAX32, MIN32, 0, MAX32, MIN32, -3, 2147483520],
    x=(F32, [3e9, -3e9, NAN, INF, -INF, -3.9, 2147483520.0]),
)
each(
    "f32_to_u32",
    "(unsigned int)x",
    U32,
    [0, ALL32, 0, ALL32, 0, 3, 3000000000],
    x=(F32, [-1, 5e9, NAN, INF, -INF, 3.9, 3e9]),
)
each(
    "f32_to_s64",
    "(long long)x",
    I64,
    [MAX64, MIN64, MIN64, 1 << 40, -2],
    x=(F32, [1e30, -1e30, NAN, 2.0**40, -2.5]),
)
each(
    "f32_to_u64",
    "(unsigned long long)x",
    U64,
    [0, ALL64, 1 << 63, 1 << 40],
    x=(F32, [-5, 1e30, NAN, 2.0**40]),
)
each(
    "f64_to_s32",
    "(int)x",
    I32,
    [MAX32, MIN32, MIN32, MAX32, -3],
    x=(F64, [3e9, -3e9, NAN, INF, -3.9]),
)
each("f64_to_u32", "(unsigned int)x", U32, [0, ALL32, 1 << 31, 3], x=(F64, [-1, 5e9, NAN, 3.9]))
each(
    "f64_to_s64",
    "(long long)x",
    I64,
    [MAX64, MIN64, MIN64, MAX64, 2**53 + 2],
    x=(F64, [1e30, -1e30, NAN, INF, 2.0**53 + 2]),
)
each(
    "f64_to_u64",
    "(unsigned long long)x",
    U64,
    [0, ALL64, 1 << 63, 1 << 63, 0],
    x=(F64, [-5, 1e30, NAN, 2.0**63, -0.5]),
)
each(
    "float2int_rn",
    "__float2int_rn(x)",
    I32,
    [2, 4, -2, 2, MAX32, 0],
    x=(F32, [2.5, 3.5, -2.5, 1.5, 3e9, NAN]),
)
each(
    "float2int_rz_ru_rd",
    "__float2int_rz(x) * 100 + __float2int_ru(x) * 10 + __float2int_rd(x)",
    I32,
    [232 - 0, -2 * 100 - 2 * 10 - 3],
    x=(F32, [2.5, -2.5]),
)
each(
    "float2uint",
    "__float2uint_rn(x) + __float2uint_ru(x)",
    U32,
    [5, 0, 1],
    x=(F32, [2.5, -0.7, 0.5]),
)
each("float2ll", "__float2ll_rn(x)", I64, [2, MIN64, MAX64], x=(F32, [2.5, NAN, 1e20]))
each("double2int", "__double2int_rn(x)", I32, [2, 4, -2, MAX32], x=(F64, [2.5, 3.5, -2.5, 1e10]))
each("double2ull", "__double2ull_rd(x)", U64, [2, 0, ALL64], x=(F64, [2.9, -2.5, 1e20]))
each(
    "lrint_lround",
    "llrintf(x) * 100 + llroundf(x)",
    I64,
    [203, -203, 404],
    x=(F32, [2.5, -2.5, 3.5]),
)

# --- integer to float, all roundings ------------------------------------------------------------
each(
    "int2float_rn",
    "__int2float_rn(x)",
    F32,
    [16777216, 16777220, -16777216],
    x=(I32, [16777217, 16777219, -16777217]),
)
each(
    "int2float_rz",
    "__int2float_rz(x)",
    F32,
    [16777216, 16777218, -16777216, 2147483520],
    x=(I32, [16777217, 16777219, -16777217, MAX32]),
)
each(
    "int2float_ru",
    "__int2float_ru(x)",
    F32,
    [16777218, 16777220, -16777216, 2147483648],
    x=(I32, [16777217, 16777219, -16777217, MAX32]),
)
each(
    "int2float_rd",
    "__int2float_rd(x)",
    F32,
    [16777216, 16777218, -16777218, -2147483648],
    x=(I32, [16777217, 16777219, -16777217, MIN32]),
)
each("uint2float", "__uint2float_rz(x)", F32, [4294967040.0, 1], x=(U32, [ALL32, 1]))
each(
    "ll2float",
    "__ll2float_rz(x) - __ll2float_ru(x)",
    F32,
    [-(2.0**39), 0, -2.0],
    x=(I64, [MAX64, 5, 16777217]),
)
each(
    "ll2double_rd",
    "__ll2double_rd(x)",
    F64,
    [2.0**53, -(2.0**53) - 2, 9223372036854774784.0],
    x=(I64, [2**53 + 1, -(2**53) - 1, MAX64]),
)
each(
    "ull2double_ru",
    "__ull2double_ru(x)",
    F64,
    [2.0**64, 2.0**53 + 2, 7],
    x=(U64, [ALL64, 2**53 + 1, 7]),
)
each(
    "ull_to_double",
    "(double)x",
    F64,
    [2.0**64, 2.0**63, 2.0**53],
    x=(U64, [ALL64, 2**63, 2**53 + 1]),
)
each("ull_to_float", "(float)x", F32, [2.0**64, 2.0**63, 1], x=(U64, [ALL64, 2**63, 1]))
each("bool_of_float", "(int)(bool)x", I32, [1, 0, 0, 1, 1], x=(F32, [0.1, 0.0, -0.0, NAN, 1e-45]))

# --- double to float ----------------------------------------------------------------------------
_TIE = 1 + 2.0**-24
each(
    "double2float_rn",
    "__double2float_rn(x)",
    F32,
    np.array([1, INF, -INF, 0, 2**-149], np.float32),
    x=(F64, [_TIE, 1e39, -1e39, 2.0**-150, 1.1 * 2.0**-150]),
)
each(
    "double2float_rz",
    "__double2float_rz(x)",
    F32,
    bits32(0x3F800000, 0x7F7FFFFF, 0xFF7FFFFF, 0, 0x80000000),
    x=(F64, [_TIE, 1e39, -1e39, 2.0**-149 * 0.9, -(2.0**-149) * 0.9]),
)
each(
    "double2float_ru",
    "__double2float_ru(x)",
    F32,
    bits32(0x3F800001, 0x7F800000, 0xFF7FFFFF, 1, 0x80000000),
    x=(F64, [_TIE, 1e39, -1e39, 1e-300, -1e-300]),
)
each(
    "double2float_rd",
    "__double2float_rd(x)",
    F32,
    bits32(0x3F800000, 0x7F7FFFFF, 0xFF800000, 0, 0x80000001),
    x=(F64, [_TIE, 1e39, -1e39, 1e-300, -1e-300]),
)
each(
    "float_to_double_subnormal",
    "(double)x",
    F64,
    [2.0**-149, -(2.0**-140)],
    x=(F32, [2.0**-149, -(2.0**-140)]),
)

# --- bits ---------------------------------------------------------------------------------------
each(
    "float_as_int",
    "__float_as_int(x)",
    I32,
    [0x3F800000, MIN32, 0x7F800000],
    x=(F32, [1, -0.0, INF]),
)
each(
    "int_as_float",
    "__int_as_float(x)",
    F32,
    bits32(0x3F800000, 0x80000000, 0x00000001),
    x=(I32, [0x3F800000, MIN32, 1]),
)
each(
    "double_as_longlong",
    "__double_as_longlong(x)",
    I64,
    [0x3FF0000000000000, MIN64],
    x=(F64, [1, -0.0]),
)
each(
    "hiloint2double",
    "__hiloint2double(x, y)",
    F64,
    bits64(0x3FF0000000000001, 0xBFF00000FFFFFFFF),
    x=(I32, [0x3FF00000, 0xBFF00000 - 2**32]),
    y=(I32, [1, -1]),
)
each(
    "double2hiint",
    "__double2hiint(x) ^ __double2loint(x)",
    I32,
    [0x3FF00000 ^ 1],
    x=(F64, [1 + 2.0**-52]),
)
each("char_is_signed", "(int)(char)x", I32, [-1, 127], x=(I32, [255, 127]))
each("float_to_uchar_via_int", "(unsigned char)(int)x", I32, [44, 255, 0], x=(F32, [300, -1, NAN]))
