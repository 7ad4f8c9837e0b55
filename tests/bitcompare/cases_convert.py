"""Conversions: every pair of arithmetic types by cast, and the intrinsics with stated roundings."""

from __future__ import annotations

import numpy as np

from tests.bitcompare.case import C_TYPES, each
from tests.bitcompare.inputs import doubles, of_bits, single, spread

KINDS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64")
INTEGERS = KINDS[:8]
# Where float-to-integer saturates, rounds or is NaN.
_EDGES = np.array(
    [0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 127.5, 128, -128.5, -129, 255.5, 256, 32767.5, 32768, -32769,
     65535.5, 65536, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32 - 1, 2**32, 2.0**63,
     -(2.0**63), 2.0**64, 1e30, -1e30, -1, 16777217.5, 0.49999999999999994, 4503599627370497.5],
    np.float64,
)  # fmt: skip


def values(kind: str) -> np.ndarray:
    if kind not in ("f32", "f64"):
        return single(kind, 120)
    return np.concatenate(
        [single(kind, 80), _EDGES.astype(np.float32 if kind == "f32" else np.float64),
         spread(kind, -(2.0**33), 2.0**33, 40), spread(kind, -300, 300, 40)]
    )  # fmt: skip


for _to in KINDS:
    for _group, _sources in {"integers": INTEGERS, "floats": ("f32", "f64")}.items():
        for _from in _sources:
            if _group == "floats" and _to in ("i8", "u8", "i16", "u16"):
                continue  # undefined beyond their range: below within it
            each(f"convert_{_from}_to_{_to}", _to, [f"({C_TYPES[_to]})x"],
                 {"x": (_from, values(_from))})  # fmt: skip
for _to, _low, _high in (
    ("i8", -128, 127),
    ("u8", 0, 255),
    ("i16", -32768, 32767),
    ("u16", 0, 65535),
):
    for _from in ("f32", "f64"):
        each(f"convert_{_from}_to_{_to}", _to, [f"({C_TYPES[_to]})x"],
             {"x": (_from, spread(_from, _low, _high, 120))})  # fmt: skip

MODES = ("rn", "rz", "ru", "rd")
for _from, _name in (("f32", "float"), ("f64", "double")):
    for _to, _short in (("i32", "int"), ("u32", "uint"), ("i64", "ll"), ("u64", "ull")):
        each(f"convert_{_name}2{_short}", _to, [f"__{_name}2{_short}_{m}(x)" for m in MODES],
             {"x": (_from, values(_from))})  # fmt: skip
for _from, _short in (("i32", "int"), ("u32", "uint"), ("i64", "ll"), ("u64", "ull")):
    each(f"convert_{_short}2float", "f32", [f"__{_short}2float_{m}(x)" for m in MODES],
         {"x": (_from, single(_from, 300))})  # fmt: skip
    _modes = ("rn",) if _from in ("i32", "u32") else MODES
    each(f"convert_{_short}2double", "f64", [f"__{_short}2double_{m}(x)" for m in _modes],
         {"x": (_from, single(_from, 300))})  # fmt: skip
_halfway = of_bits("f64", [0x3FF0000010000000, 0x3FF0000030000000, 0xBFF0000010000000,
                           0x47EFFFFFF0000000, 0x47EFFFFFEFFFFFFF, 0x36A0000000000000,
                           0x36A0000000000001, 0x3690000000000000, 0x3690000000000001,
                           0x380FFFFFFFFFFFFF, 0x380FFFFFC0000000])  # fmt: skip
each("convert_double2float", "f32", [f"__double2float_{m}(x)" for m in MODES],
     {"x": ("f64", np.concatenate([values("f64"), _halfway, doubles(single("f32", 100))]))})  # fmt: skip
each("convert_float_bits", "i32", ["__float_as_int(x)", "(int)__float_as_uint(x)"],
     {"x": ("f32", single("f32", 100))})  # fmt: skip
each("convert_double_bits", "i64",
     ["__double_as_longlong(x)", "__double2hiint(x)", "__double2loint(x)"],
     {"x": ("f64", single("f64", 100))})  # fmt: skip
each("convert_bits_float", "f32", ["__int_as_float(x)", "__uint_as_float(x)"],
     {"x": ("i32", single("i32", 100))}, nan_bits=True)  # fmt: skip
each("convert_bits_double", "f64", ["__longlong_as_double(x)", "__hiloint2double((int)(x >> 32), (int)x)"],
     {"x": ("i64", single("i64", 100))}, nan_bits=True)  # fmt: skip
each("convert_to_bool", "i32", ["(bool)x", "(bool)(float)x", "(int)(bool)(x * 0.5)"],
     {"x": ("f64", single("f64", 100))})  # fmt: skip
