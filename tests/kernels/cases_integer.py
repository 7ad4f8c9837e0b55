"""Integers: shifts, division, bits, high products. Values of an H200 where C++ leaves them open."""

from __future__ import annotations

from tests.kernels.case import each

I32, U32, I64, U64 = "int32", "uint32", "int64", "uint64"
MIN32, MAX32, MIN64, MAX64 = -(2**31), 2**31 - 1, -(2**63), 2**63 - 1
ALL32, ALL64 = 2**32 - 1, 2**64 - 1

# A GPU divides 64-bit numbers that fit 32 bits as such: 7 / 0 is 2^32 - 1 there, so not used here.
BIG = 2**40 + 7

# --- shifts clamp -----------------------------------------------------------------------------
each(
    "shl_u32",
    "x << n",
    U32,
    [0x80000000, 0, 0, 0, 8, 0],
    x=(U32, [1, 1, 1, 5, 1, 1]),
    n=(I32, [31, 32, 33, 40, 3, -1]),
)
each("shl_s32", "x << n", I32, [MIN32, 0, 0, -8], x=(I32, [1, 1, -1, -1]), n=(I32, [31, 32, 64, 3]))
each(
    "shr_s32",
    "x >> n",
    I32,
    [-1, -1, -2, -1, 0],
    x=(I32, [MIN32, MIN32, MIN32, -5, MAX32]),
    n=(I32, [32, 99, 30, 40, 32]),
)
each(
    "shr_u32",
    "x >> n",
    U32,
    [0, 0, 1, 0x40000000],
    x=(U32, [0x80000000] * 4),
    n=(I32, [32, 99, 31, 1]),
)
each(
    "shl_u64", "x << n", U64, [0, 1 << 63, 0, 1 << 40], x=(U64, [1] * 4), n=(I32, [64, 63, 100, 40])
)
each(
    "shr_s64",
    "x >> n",
    I64,
    [-1, -1, -1, 1],
    x=(I64, [MIN64, MIN64, -1, 2**62]),
    n=(I32, [63, 64, 200, 62]),
)
each("shr_u64", "x >> n", U64, [0, 1, 0], x=(U64, [ALL64] * 3), n=(I32, [64, 63, 70]))
each(
    "shift_of_byte_is_of_int",
    "x << n",
    I32,
    [256, (255 << 24) - 2**32],
    x=("uint8", [1, 255]),
    n=(I32, [8, 24]),
)
each("shift_by_byte_amount", "x >> n", I32, [-1, 0], x=(I32, [-7, 7]), n=("uint8", [200, 32]))

# --- division -----------------------------------------------------------------------------------
each(
    "div_s32",
    "x / y",
    I32,
    [-1, -1, MIN32, -2, 2, -1],
    x=(I32, [7, MIN32, MIN32, 7, -7, 0]),
    y=(I32, [0, 0, -1, -3, -3, 0]),
)
each(
    "rem_s32",
    "x % y",
    I32,
    [-1, -1, 0, 1, -1],
    x=(I32, [7, MIN32, MIN32, 7, -7]),
    y=(I32, [0, 0, -1, -3, -3]),
)
each(
    "div_u32",
    "x / y",
    U32,
    [ALL32, ALL32, 1, 0x55555555],
    x=(U32, [7, 0, ALL32, ALL32]),
    y=(U32, [0, 0, ALL32, 3]),
)
each("rem_u32", "x % y", U32, [ALL32, ALL32, 0], x=(U32, [7, 0, ALL32]), y=(U32, [0, 0, 3]))
each(
    "div_s64",
    "x / y",
    I64,
    [-1, MIN64, -1, -(2**62)],
    x=(I64, [BIG, MIN64, MIN64, MIN64]),
    y=(I64, [0, -1, 0, 2]),
)
each(
    "rem_s64",
    "x % y",
    I64,
    [-1, 0, -2],
    x=(I64, [BIG, MIN64, -(10**18) - 2]),
    y=(I64, [0, -1, 10**9]),
)
each(
    "div_u64", "x / y", U64, [ALL64, 1, 2**62], x=(U64, [BIG, ALL64, 2**63]), y=(U64, [0, ALL64, 2])
)
each("rem_u64", "x % y", U64, [ALL64, 0, 1], x=(U64, [BIG, ALL64, ALL64]), y=(U64, [0, ALL64, 2]))
each("div_by_constant", "x / 7 + x % 7", I32, [0, 1, 0, -306783378 - 2], x=(I32, [0, 7, -0, MIN32]))
each("abs_of_int_min", "abs(x) + (0u - x == x)", I32, [MIN32 + 1, 5, 1], x=(I32, [MIN32, -5, 0]))
each(
    "add_wraps_unsigned", "x + y", U32, [0, ALL32 - 1], x=(U32, [ALL32, ALL32]), y=(U32, [1, ALL32])
)
each("mul_wraps_64", "x * y", U64, [1, 0], x=(U64, [ALL64, 2**32]), y=(U64, [ALL64, 2**32]))
each("narrow_to_char", "(signed char)x", I32, [-128, -1, 0, 44], x=(I32, [128, 255, 256, 300]))
each("narrow_to_ushort", "(unsigned short)x", U32, [65535, 0, 1], x=(I32, [-1, 65536, 65537]))
each(
    "sign_extension",
    "(long long)x + (long long)(unsigned int)x",
    I64,
    [2**32 - 2, 2],
    x=(I32, [-1, 1]),
)

# --- bits ---------------------------------------------------------------------------------------
each("popc", "__popc(x)", I32, [0, 32, 1, 16], x=(U32, [0, ALL32, 1 << 31, 0x55555555]))
each("popcll", "__popcll(x)", I32, [0, 64, 1], x=(U64, [0, ALL64, 1 << 63]))
each("clz", "__clz(x)", I32, [32, 0, 31, 0], x=(I32, [0, -1, 1, MIN32]))
each("clzll", "__clzll(x)", I32, [64, 0, 63], x=(I64, [0, -1, 1]))
each("ffs", "__ffs(x)", I32, [0, 1, 32, 4], x=(I32, [0, -1, MIN32, 8]))
each("ffsll", "__ffsll(x)", I32, [0, 1, 64, 41], x=(I64, [0, -1, MIN64, 1 << 40]))
each("brev", "__brev(x)", U32, [1 << 31, 0xF, 0x80000001], x=(U32, [1, 0xF0000000, 0x80000001]))
each("brevll", "__brevll(x)", U64, [1 << 63, 0xF], x=(U64, [1, 0xF << 60]))
each(
    "byte_perm",
    "__byte_perm(x, y, s)",
    U32,
    [0x33221100, 0x77665544, 0x00112233, 0x44440077, 0x33221100],
    x=(U32, [0x33221100] * 5),
    y=(U32, [0x77665544] * 5),
    s=(U32, [0x3210, 0x7654, 0x0123, 0x4407, 0xFFFF3210]),
)
each(
    "mulhi",
    "__mulhi(x, y)",
    I32,
    [2**30, -1, 0, MIN32 // 2 + 0],
    x=(I32, [MIN32, -1, -1, MIN32]),
    y=(I32, [MIN32, 1, -1, MAX32]),
)
each(
    "umulhi",
    "__umulhi(x, y)",
    U32,
    [ALL32 - 1, 0, 1],
    x=(U32, [ALL32, 1, 2**31]),
    y=(U32, [ALL32, ALL32, 2]),
)
each(
    "mul64hi",
    "__mul64hi(x, y)",
    I64,
    [2**62, -1, 0],
    x=(I64, [MIN64, -1, -1]),
    y=(I64, [MIN64, 1, -1]),
)
each(
    "umul64hi",
    "__umul64hi(x, y)",
    U64,
    [ALL64 - 1, 0, 1],
    x=(U64, [ALL64, 1, 1 << 63]),
    y=(U64, [ALL64, ALL64, 2]),
)
each(
    "mul24",
    "__mul24(x, y)",
    I32,
    [1, 0x7FFFFF * 2, -0x800000],
    x=(I32, [0x00FFFFFF, 0x7F7FFFFF, 0x00800000]),
    y=(I32, [0x00FFFFFF, 2, 1]),
)
each(
    "umul24",
    "__umul24(x, y)",
    U32,
    [(0xFFFFFF * 0xFFFFFF) & ALL32, 6],
    x=(U32, [ALL32, 0xFF000002]),
    y=(U32, [ALL32, 0xAA000003]),
)
each(
    "sad",
    "__sad(x, y, z)",
    U32,
    [2**32 - 1, 9],
    x=(I32, [MIN32, 5]),
    y=(I32, [MAX32, 2]),
    z=(U32, [0, 6]),
)
each(
    "usad",
    "__usad(x, y, z)",
    U32,
    [ALL32, 9],
    x=(U32, [0, 2]),
    y=(U32, [ALL32, 5]),
    z=(U32, [0, 6]),
)
each(
    "hadd",
    "__hadd(x, y)",
    I32,
    [-1, MAX32, -2, MIN32],
    x=(I32, [MIN32, MAX32, -1, MIN32]),
    y=(I32, [MAX32, MAX32, -2, MIN32]),
)
each(
    "rhadd",
    "__rhadd(x, y)",
    I32,
    [0, MAX32, -1],
    x=(I32, [MIN32, MAX32, -1]),
    y=(I32, [MAX32, MAX32, -2]),
)
each(
    "uhadd",
    "__uhadd(x, y) * 1000u + __urhadd(x, y)",
    U32,
    [3004, 2002],
    x=(U32, [3, 1]),
    y=(U32, [4, 3]),
)
each(
    "funnelshift_l",
    "__funnelshift_l(x, y, n)",
    U32,
    [0x100, 1, 0x12345678 << 4 & ALL32 | 0x9],
    x=(U32, [5, 5, 0x9ABCDEF0]),
    y=(U32, [1, 1, 0x12345678]),
    n=(U32, [40, 32, 4]),
)
each(
    "funnelshift_lc",
    "__funnelshift_lc(x, y, n)",
    U32,
    [5, 5, 2],
    x=(U32, [5, 5, 5]),
    y=(U32, [1, 1, 1]),
    n=(U32, [40, 32, 1]),
)
each(
    "funnelshift_r",
    "__funnelshift_r(x, y, n)",
    U32,
    [5, 0x80000002, 0x01000000],
    x=(U32, [5, 5, 5]),
    y=(U32, [1, 1, 1]),
    n=(U32, [32, 1, 40]),
)
each(
    "funnelshift_rc",
    "__funnelshift_rc(x, y, n)",
    U32,
    [1, 1, 0x80000002],
    x=(U32, [5, 5, 5]),
    y=(U32, [1, 1, 1]),
    n=(U32, [32, 99, 1]),
)
each(
    "dp4a_signed",
    "__dp4a(x, y, z)",
    I32,
    [14, 4 * 128 * 128 + 1, -508],
    x=(I32, [0x01FF02FE - 2**32 * 0, 0x80808080 - 2**32, 0x7F7F7F7F]),
    y=(I32, [0x010102FD, 0x80808080 - 2**32, -1]),
    z=(I32, [4, 1, 0]),
)
each(
    "dp4a_unsigned",
    "__dp4a(x, y, z)",
    U32,
    [4 * 255 * 255, 10],
    x=(U32, [ALL32, 0x01010101]),
    y=(U32, [ALL32, 0x01020304]),
    z=(U32, [0, 0]),
)
each(
    "dp2a",
    "__dp2a_lo(x, y, z) * 1000 + __dp2a_hi(x, y, z)",
    I32,
    [(2 * 4 + 1 * 3) * 1000 + 2 * 2 + 1],
    x=(I32, [0x00010002]),
    y=(I32, [0x01020304]),
    z=(I32, [0]),
)
each(
    "fns",
    "__fns(x, y, z)",
    U32,
    [4, ALL32, 2, 6, 6, ALL32],
    x=(U32, [0b1010100] * 6),
    y=(U32, [3, 3, 6, 6, 6, 1]),
    z=(I32, [1, 3, -3, 1, 0, 0]),
)
each("simd_add", "__vadd4(x, y)", U32, [0x00FE0380], x=(U32, [0xFFFF017F]), y=(U32, [0x01FF0201]))
each(
    "simd_add_sat",
    "__vaddus4(x, y)",
    U32,
    [0xFFFF0380],
    x=(U32, [0xFFFF017F]),
    y=(U32, [0x01FF0201]),
)
each(
    "simd_add_signed_sat",
    "__vaddss2(x, y)",
    U32,
    [0x7FFF8000],
    x=(U32, [0x7FFF8000]),
    y=(U32, [0x0001FFFF]),
)
each("simd_sub", "__vsub2(x, y)", U32, [0xFFFF0001], x=(U32, [0x00000003]), y=(U32, [0x00010002]))
each(
    "simd_absdiff",
    "__vabsdiffu4(x, y)",
    U32,
    [0xFF010001],
    x=(U32, [0xFF030201]),
    y=(U32, [0x00020202]),
)
each(
    "simd_min_max",
    "__vmaxs4(x, y) ^ __vmaxu4(x, y)",
    U32,
    [0xFF00FE00],
    x=(U32, [0x7F01FF01]),
    y=(U32, [0x80010101]),
)
each(
    "simd_compare",
    "__vcmpgtu4(x, y)",
    U32,
    [0x00FF00FF],
    x=(U32, [0x01030105]),
    y=(U32, [0x01020304]),
)
each(
    "simd_sad",
    "__vsadu4(x, y)",
    U32,
    [255 + 1 + 0 + 1],
    x=(U32, [0xFF030201]),
    y=(U32, [0x00020202]),
)
each("simd_avg", "__vavgu4(x, y)", U32, [0x02020180], x=(U32, [0x010201FF]), y=(U32, [0x02020100]))
each("min_mixed_sign", "min(x, y)", U32, [5, 5], x=(I32, [-1, 7]), y=(U32, [5, 5]))
each("max_64", "max(x, y)", I64, [MAX64, -1], x=(I64, [MIN64, -1]), y=(I64, [MAX64, -2]))
each(
    "mul_128",
    "(unsigned long long)(((unsigned __int128)x * y) >> 64)",
    U64,
    [ALL64 - 1],
    x=(U64, [ALL64]),
    y=(U64, [ALL64]),
)
