"""Integers: each width and sign, shifts, division, bit functions, two and four lanes in a word."""

from __future__ import annotations

import numpy as np

from tests.bitcompare.case import C_TYPES, each
from tests.bitcompare.inputs import mixed, of_bits, pairs, single

COUNTS = np.array([0, 1, 7, 8, 15, 16, 31, 32, 33, 40, 63, 64, 65, 100, 255, -1], np.int32)


def _two(kind: str) -> dict:
    x, y = pairs(kind, kind)
    return {"x": (kind, x), "y": (kind, y)}


def _three(kind: str, third: str) -> dict:
    x, y, z = pairs(kind, kind, third)
    return {"x": (kind, x), "y": (kind, y), "z": (third, z)}


for _kind in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"):
    _unsigned = C_TYPES["u" + _kind[1:]]
    each(
        f"integer_ring_{_kind}", _kind,
        [f"({_unsigned})x {op} ({_unsigned})y" for op in ("+", "-", "*", "&", "|", "^")]
        + [f"0 - ({_unsigned})x", "~x"],
        _two(_kind),
    )  # fmt: skip
    each(
        f"integer_order_{_kind}", "i32",
        ["(x < y) | (x <= y) << 1 | (x == y) << 2 | (x > y) << 3 | (x >= y) << 4", "!x + 2 * !y",
         "x && y", "x || y"],
        _two(_kind),
    )  # fmt: skip
    each(
        f"integer_min_max_{_kind}", _kind, ["x < y ? x : y", "x > y ? x : y"]
        + (["min(x, y)", "max(x, y)"] if _kind[1:] in ("32", "64") else []), _two(_kind),
    )  # fmt: skip
    _columns = _two(_kind)
    # A 64-bit division by zero is done on 32 bits where the dividend fits: no rule, so no operand.
    _columns["y"] = (_kind, np.where(_columns["y"][1] == 0, 3, _columns["y"][1]).astype(
        _columns["y"][1].dtype))  # fmt: skip
    each(f"integer_division_{_kind}", _kind, ["x / y", "x % y", "x / 7", "x % 10"], _columns)

for _kind in ("i32", "u32", "i64", "u64"):
    _values = single(_kind, 20)
    _by = np.tile(COUNTS, len(_values))
    _word = "u" + _kind[1:]
    each(
        f"integer_shift_{_kind}", _kind, [f"({C_TYPES[_word]})x << n", "x >> n"],
        {"x": (_kind, np.repeat(_values, len(COUNTS))), "n": ("i32", _by)},
    )  # fmt: skip
for _kind in ("i8", "u8", "i16", "u16"):
    _values = single(_kind, 20)
    _few = COUNTS[COUNTS >= 0]
    each(
        f"integer_shift_{_kind}", "i32", ["(unsigned int)x << n", "x >> n"],
        {"x": (_kind, np.repeat(_values, len(_few))), "n": ("i32", np.tile(_few, len(_values)))},
    )  # fmt: skip
_zeros = np.array([0, 0, 0, 0, 5, -5, 7, 1], np.int32)
_tops = np.array([0, 1, -1, -(2**31), -(2**31), -(2**31), 2**31 - 1, -7], np.int32)
each("integer_division_by_zero_i32", "i32", ["x / y", "x % y"],
     {"x": ("i32", _tops), "y": ("i32", _zeros)})  # fmt: skip
each("integer_division_by_zero_u32", "u32", ["x / y", "x % y"],
     {"x": ("u32", _tops.view(np.uint32)), "y": ("u32", _zeros.view(np.uint32))})  # fmt: skip
each("integer_divided_by_constants", "i32",
     [f"x / {d} ^ x % {d}" for d in (2, 3, 5, 7, 10, 127, 641, 1000, 65537, -3, -8)],
     {"x": ("i32", single("i32", 300))})  # fmt: skip
each("integer_divided_by_constants_u64", "u64",
     [f"x / {d}ull ^ x % {d}ull" for d in (3, 5, 7, 10, 641, 1000, 10**9 + 7, 10**18)],
     {"x": ("u64", single("u64", 300))})  # fmt: skip

each("integer_bits_32", "u32",
     ["__popc(x)", "__clz((int)x)", "__ffs((int)x)", "__brev(x)", "abs((int)(x | 1u))"],
     {"x": ("u32", single("u32", 300))})  # fmt: skip
each("integer_bits_64", "u64",
     ["__popcll(x)", "__clzll((long long)x)", "__ffsll((long long)x)", "__brevll(x)",
      "llabs((long long)(x | 1u))"], {"x": ("u64", single("u64", 300))})  # fmt: skip
each("integer_high_products_32", "i32",
     ["__mulhi(x, y)", "(int)__umulhi(x, y)", "__mul24(x, y)", "(int)__umul24(x, y)"],
     _two("i32"))  # fmt: skip
each("integer_high_products_64", "i64",
     ["__mul64hi(x, y)", "(long long)__umul64hi(x, y)", "(long long)((__int128)x * y >> 64)"],
     _two("i64"))  # fmt: skip
each("integer_wide_products", "i64",
     ["(long long)x * y", "(long long)((unsigned long long)(unsigned)x * (unsigned)y)"],
     _two("i32"))  # fmt: skip
each("integer_sad", "u32", ["__sad(x, y, z)", "__usad(x, y, z)"], _three("i32", "u32"))
each("integer_averages", "i32",
     ["__hadd(x, y)", "__rhadd(x, y)", "(int)__uhadd(x, y)", "(int)__urhadd(x, y)"],
     _two("i32"))  # fmt: skip
each("integer_dp4a", "i32", ["__dp4a(x, y, z)", "(int)__dp4a((unsigned)x, (unsigned)y, (unsigned)z)"],
     _three("i32", "i32"))  # fmt: skip
each("integer_dp2a", "i32",
     ["__dp2a_lo(x, y, z)", "__dp2a_hi(x, y, z)",
      "(int)__dp2a_lo((unsigned)x, (unsigned)y, (unsigned)z)",
      "(int)__dp2a_hi((unsigned)x, (unsigned)y, (unsigned)z)"], _three("i32", "i32"))  # fmt: skip
each("integer_byte_perm", "u32",
     ["__byte_perm(x, y, z & 0x7777u)", "__byte_perm(x, y, z)", "__byte_perm(x, y, 0x0123u)"],
     {"x": ("u32", mixed(300, 1).astype(np.uint32)), "y": ("u32", mixed(300, 2).astype(np.uint32)),
      "z": ("u32", mixed(300, 3).astype(np.uint32))})  # fmt: skip
each("integer_funnel_shift", "u32",
     [f"__funnelshift_{k}(x, y, n)" for k in ("l", "lc", "r", "rc")],
     {"x": ("u32", np.repeat(mixed(16, 1).astype(np.uint32), len(COUNTS))),
      "y": ("u32", np.repeat(mixed(16, 2).astype(np.uint32), len(COUNTS))),
      "n": ("u32", np.tile(COUNTS.view(np.uint32), 16))})  # fmt: skip
each("integer_three_way", "i32",
     ["__vimax3_s32(x, y, z)", "__vimin3_s32(x, y, z)", "(int)__vimax3_u32(x, y, z)",
      "(int)__vimin3_u32(x, y, z)", "__vimax_s32_relu(x, y)", "__vimin_s32_relu(x, y)",
      "__viaddmax_s32(x, y, z)", "__viaddmin_s32(x, y, z)"], _three("i32", "i32"))  # fmt: skip
each("integer_sign_extension", "i64",
     ["(long long)x", "(long long)(unsigned)x", "(long long)(short)x", "(long long)(signed char)x",
      "(long long)(unsigned char)x", "(long long)(unsigned short)x", "(long long)(x != 0)"],
     {"x": ("i32", single("i32", 200))})  # fmt: skip

# --- lanes in a word ------------------------------------------------------------------------------
_bytes = of_bits("u32", [0, 0x7F7F7F7F, 0x80808080, 0xFFFFFFFF, 0x01020304, 0x00FF807F, 0x7FFF8000,
                         0x80007FFF, 0x0001FFFF, 0xFE01FF02])  # fmt: skip
_words = {
    "x": ("u32", np.concatenate([np.repeat(_bytes, 10), mixed(100, 4).astype(np.uint32)])),
    "y": ("u32", np.concatenate([np.tile(_bytes, 10), mixed(100, 5).astype(np.uint32)])),
}
for _lanes in (2, 4):
    for _part, _names in {
        "arithmetic": "add sub addus subus addss subss avgu avgs haddu",
        "extremes": "absdiffu absdiffs minu maxu mins maxs sadu sads",
        "compare": "cmpeq cmpne cmpltu cmpleu cmpgtu cmpgeu cmplts cmples cmpgts cmpges",
        "set": "seteq setne setltu setleu setgtu setgeu setlts setles setgts setges",
    }.items():
        each(f"word_{_part}_{_lanes}", "u32",
             [f"__v{n}{_lanes}(x, y)" for n in _names.split()], _words)  # fmt: skip
    each(f"word_single_{_lanes}", "u32",
         [f"__v{n}{_lanes}(x)" for n in ("abs", "absss", "neg", "negss")],
         {"x": _words["x"]})  # fmt: skip
