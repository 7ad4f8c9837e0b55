"""Float and double: arithmetic with subnormals and NaN, fma, stated roundings, options."""

from __future__ import annotations

import numpy as np

from tests.bitcompare.case import OPTIONS, each
from tests.bitcompare.inputs import doubles, near_one, pairs, powers, single


def _two(kind: str) -> dict:
    x, y = pairs(kind, kind)
    return {"x": (kind, x), "y": (kind, y)}


def _three(kind: str) -> dict:
    x, y, z = pairs(kind, kind, kind)
    return {"x": (kind, x), "y": (kind, y), "z": (kind, z)}


for _kind, _f, _mark in (("f32", "f", "f"), ("f64", "", "d")):
    each(f"{_kind}_sum_difference", _kind, ["x + y", "x - y"], _two(_kind))
    each(f"{_kind}_product_quotient", _kind, ["x * y", "x / y"], _two(_kind))
    each(f"{_kind}_product_sum", _kind, ["x * y + z", "x * y - z"], _three(_kind))
    each(f"{_kind}_fma", _kind,
         [f"fma{_f}(x, y, z)", f"fma{_f}(-x, y, z)", f"fma{_f}(x, y, -z)"], _three(_kind))  # fmt: skip
    each(f"{_kind}_unary", _kind,
         ["-x", f"fabs{_f}(x)", f"sqrt{_f}(x)", "1 / x", "x * 0", "x + x"],
         {"x": (_kind, single(_kind, 300))})  # fmt: skip
    each(f"{_kind}_nan_bits", _kind, ["x + y", "x * y", "x / y", f"fma{_f}(x, y, x)"], _two(_kind),
         nan_bits=True)  # fmt: skip
    each(f"{_kind}_sign_bits", _kind, ["-x", f"fabs{_f}(x)", f"copysign{_f}(x, y)"], _two(_kind),
         nan_bits=True)  # fmt: skip
    each(f"{_kind}_min_max", _kind,
         [f"fmin{_f}(x, y)", f"fmax{_f}(x, y)", "min(x, y)", "max(x, y)", f"fdim{_f}(x, y)"],
         _two(_kind))  # fmt: skip
    each(f"{_kind}_compare", "i32",
         ["(x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x >= y) << 4 | (x > y) << 5",
          "!x", "x && y"], _two(_kind))  # fmt: skip
    each(f"{_kind}_classify", "i32",
         ["isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | (signbit(x) != 0) << 3", f"ilogb{_f}(x)"],
         {"x": (_kind, single(_kind, 300))})  # fmt: skip
    each(f"{_kind}_integral", _kind,
         [f"{n}{_f}(x)" for n in ("floor", "ceil", "trunc", "rint", "nearbyint", "round")],
         {"x": (_kind, np.concatenate([single(_kind, 200), near_one(_kind, 60, 8)]))})  # fmt: skip
    each(f"{_kind}_round_to_integer", "i64",
         [f"(long long){n}{_f}(x)" for n in ("lrint", "lround", "llrint", "llround")],
         {"x": (_kind, near_one(_kind, 200))})  # fmt: skip
    each(f"{_kind}_parts", _kind,
         [f"logb{_f}(x)", f"ldexp{_f}(x, n)", f"scalbn{_f}(x, n)", f"scalbln{_f}(x, n)"],
         {"x": (_kind, np.repeat(single(_kind, 40), 9)),
          "n": ("i32", np.tile(np.array([0, 1, -1, 24, -24, 150, -150, 2000, -2100], np.int32),
                               len(single(_kind, 40))))})  # fmt: skip
    each(f"{_kind}_neighbours", _kind, [f"nextafter{_f}(x, y)"], _two(_kind))
    each(f"{_kind}_remainders", _kind, [f"fmod{_f}(x, y)", f"remainder{_f}(x, y)"], _two(_kind))
    for _mode in ("rn", "rz", "ru", "rd"):
        each(f"{_kind}_rounding_{_mode}", _kind,
             [f"__{_mark}{n}_{_mode}(x, y)" for n in ("add", "sub", "mul", "div")], _two(_kind))  # fmt: skip
        each(f"{_kind}_roots_{_mode}", _kind,
             [f"__{_mark}rcp_{_mode}(x)", f"__{_mark}sqrt_{_mode}(x)"],
             {"x": (_kind, single(_kind, 300))})  # fmt: skip
        each(f"{_kind}_fma_{_mode}", _kind,
             [f"__fma{'f' if _kind == 'f32' else ''}_{_mode}(x, y, z)"], _three(_kind))  # fmt: skip
    each(f"{_kind}_contracted", _kind, ["x * y + z", "x * y - z", "z - x * y"], _three(_kind),
         options=("-fmad=true", "--std=c++17"))  # fmt: skip
each("f32_frsqrt_rn", "f32", ["__frsqrt_rn(x)"], {"x": ("f32", single("f32", 300))})
each("f32_fdividef", "f32", ["__fdividef(x, y)"],
     {"x": ("f32", near_one("f32", 300)), "y": ("f32", near_one("f32", 300, 7))}, ulp=4)  # fmt: skip
each("f32_saturate", "f32", ["__saturatef(x)"], {"x": ("f32", single("f32", 300))})
for _kind, _f, _t in (("f32", "f", "float"), ("f64", "", "double")):
    # what frexp stores for infinities and NaN is not specified
    each(f"{_kind}_modf_frexp", _kind,
         [f"[=] {{ {_t} w; {_t} v = modf{_f}(x, &w); return v; }}()",
          f"[=] {{ {_t} w; modf{_f}(x, &w); return w; }}()",
          f"[=] {{ int e; {_t} v = frexp{_f}(x, &e); return v; }}()",
          f"[=] {{ int e = 0; frexp{_f}(x, &e); return isfinite(x) ? ({_t})e : ({_t})0; }}()"],
         {"x": (_kind, single(_kind, 200))})  # fmt: skip

# --- options --------------------------------------------------------------------------------------
FTZ = (*OPTIONS, "-ftz=true")
FAST = ("--use_fast_math", "--std=c++17")
each("option_ftz_sum", "f32", ["x + y", "x - y"], _two("f32"), options=FTZ)
each("option_ftz_product", "f32", ["x * y", "fmaf(x, y, x)"], _two("f32"), options=FTZ)
each("option_ftz_quotient", "f32", ["x / y"], _two("f32"), options=FTZ)
each("option_ftz_min_max", "f32", ["fminf(x, y)", "fmaxf(x, y)"], _two("f32"), options=FTZ)
each("option_ftz_compare", "i32", ["(x < y) | (x == y) << 1"], _two("f32"), options=FTZ)
each("option_ftz_sqrt", "f32", ["sqrtf(x)", "fabsf(x)", "-x"], {"x": ("f32", single("f32", 300))},
     options=FTZ)  # fmt: skip
each("option_ftz_convert", "f32", ["(float)x"], {"x": ("f64", doubles(single("f32", 300)))},
     options=FTZ)  # fmt: skip
each("option_ftz_leaves_double", "f64", ["x + y", "x * y"], _two("f64"), options=FTZ)
_x, _y = near_one("f32", 300), near_one("f32", 300, 9)
# -prec-div=false: 2 ulp each, -prec-sqrt=false: 3 ulp each by the guide.
each("option_fast_quotient", "f32", ["x / y"], {"x": ("f32", _x), "y": ("f32", _y)}, options=FAST,
     ulp=4)  # fmt: skip
each("option_fast_sqrt", "f32", ["sqrtf(x)"], {"x": ("f32", np.abs(_x))}, options=FAST, ulp=6)
each("option_fast_sum", "f32", ["x + y", "x * y"], {"x": ("f32", _x), "y": ("f32", _y)},
     options=FAST)  # fmt: skip
each("option_prec_div_false", "f32", ["x / y"], {"x": ("f32", _x), "y": ("f32", _y)},
     options=(*OPTIONS, "-prec-div=false"), ulp=4)  # fmt: skip
each("option_prec_sqrt_false", "f32", ["sqrtf(x)"], {"x": ("f32", powers("f32", -20, 20))},
     options=(*OPTIONS, "-prec-sqrt=false"), ulp=6)  # fmt: skip
