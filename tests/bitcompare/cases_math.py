"""Math functions: corners and samples, within twice the error that the CUDA guide allows one device."""

from __future__ import annotations

import numpy as np

from tests.bitcompare.case import each
from tests.bitcompare.inputs import CORNERS, near_one, of_bits, pairs, powers, spread

# name: (ulp of double, ulp of float, ranges); a range of powers of two is given as "2^".
ONE = {
    "rsqrt": (1, 2, ["2^"]), "cbrt": (1, 1, ["2^", (-9, 9)]), "rcbrt": (1, 1, ["2^"]),
    "exp": (1, 2, [(-104, 89), (-1, 1)]), "exp2": (1, 2, [(-150, 128), (-1, 1)]),
    "exp10": (1, 2, [(-45, 38.6), (-1, 1)]), "expm1": (1, 1, [(-20, 88), (-1, 1)]),
    "log": (1, 1, ["2^", (0.5, 2)]), "log2": (1, 1, ["2^", (0.5, 2)]),
    "log10": (1, 2, ["2^", (0.5, 2)]), "log1p": (1, 1, ["2^", (-0.99, 1)]),
    "sin": (2, 2, [(-10, 10), (-1e6, 1e6)]), "cos": (2, 2, [(-10, 10), (-1e6, 1e6)]),
    "tan": (2, 4, [(-10, 10), (-1e6, 1e6)]), "sinpi": (2, 1, [(-10, 10), (-0.3, 0.3)]),
    "cospi": (2, 1, [(-10, 10), (-0.3, 0.3)]), "asin": (2, 2, [(-1, 1)]), "acos": (2, 2, [(-1, 1)]),
    "atan": (2, 2, [(-10, 10), "2^"]), "sinh": (2, 3, [(-89, 89), (-1, 1)]),
    "cosh": (1, 2, [(-89, 89)]), "tanh": (2, 2, [(-20, 20), (-1, 1)]),
    "asinh": (3, 3, [(-10, 10), "2^"]), "acosh": (3, 4, [(1, 10), "2^"]),
    "atanh": (2, 3, [(-1, 1)]), "erf": (2, 2, [(-4, 4)]), "erfc": (5, 4, [(-4, 10)]),
    "erfinv": (5, 2, [(-1, 1)]), "erfcinv": (6, 4, [(0.001, 1.99)]),
    "erfcx": (4, 4, [(-5, 30), "2^"]), "normcdf": (5, 5, [(-12, 5)]),
    "normcdfinv": (8, 5, [(0.001, 0.99)]), "tgamma": (10, 5, [(0.01, 34), (-8.9, -8.1)]),
    "lgamma": (4, 6, [(3, 100), (0.01, 0.9)]), "cyl_bessel_i0": (6, 6, [(-80, 80)]),
    "cyl_bessel_i1": (6, 6, [(-80, 80)]),
}  # fmt: skip
# j and y near their zeros: the guide's absolute error; 9 ulp and 7 ulp elsewhere.
BESSEL = ("j0", "j1", "y0", "y1")
TWO = {
    "pow": (2, 4), "atan2": (2, 3), "hypot": (2, 3), "rhypot": (1, 2),
}  # fmt: skip


def arguments(kind: str, ranges: list) -> np.ndarray:
    parts = [of_bits(kind, CORNERS[kind])]
    parts.append(np.array([-1, 0.5, -0.5, 2, -2, 10, -10, 100, -100, 1.0000001], parts[0].dtype))
    for salt, bounds in enumerate(ranges):
        if bounds == "2^":
            parts.append(powers(kind, -140 if kind == "f32" else -1060,
                                127 if kind == "f32" else 1020, 60, salt))  # fmt: skip
        else:
            parts.append(spread(kind, *bounds, 80, salt))
    return np.concatenate(parts)


for _kind, _f in (("f32", "f"), ("f64", "")):
    for _name, (_double, _float, _ranges) in ONE.items():
        _bound = _float if _kind == "f32" else _double
        each(f"math_{_name}_{_kind}", _kind, [f"{_name}{_f}(x)"],
             {"x": (_kind, arguments(_kind, _ranges))}, ulp=2 * _bound)  # fmt: skip
    for _name, (_double, _float) in TWO.items():
        _x, _y = pairs(_kind, _kind)
        _bound = _float if _kind == "f32" else _double
        each(f"math_{_name}_{_kind}", _kind, [f"{_name}{_f}(x, y)"],
             {"x": (_kind, _x), "y": (_kind, _y)}, ulp=2 * _bound)  # fmt: skip
    for _name in BESSEL:
        each(f"math_{_name}_{_kind}", _kind, [f"{_name}{_f}(x)"],
             {"x": (_kind, spread(_kind, 0.1, 30, 120))}, ulp=2 * (9 if _kind == "f32" else 7),
             absolute=2 * (2.2e-6 if _kind == "f32" else 5e-12))  # fmt: skip
    _t = "float" if _kind == "f32" else "double"
    each(f"math_sincos_{_kind}", _kind,
         [f"[=] {{ {_t} s, c; sincos{_f}(x, &s, &c); return {r}; }}()" for r in "sc"]
         + [f"[=] {{ {_t} s, c; sincospi{_f}(x, &s, &c); return {r}; }}()" for r in "sc"],
         {"x": (_kind, spread(_kind, -10, 10))}, ulp=4)  # fmt: skip
    _xyz = {k: (_kind, near_one(_kind, 120, salt)) for salt, k in enumerate("xyzw")}
    each(f"math_norms_{_kind}", _kind,
         [f"norm3d{_f}(x, y, z)", f"rnorm3d{_f}(x, y, z)", f"norm4d{_f}(x, y, z, w)",
          f"rnorm4d{_f}(x, y, z, w)"], _xyz, ulp=6 if _kind == "f32" else 4)  # fmt: skip
    _n = np.tile(np.array([-3, -2, -1, 0, 1, 2, 3, 7], np.int32), 15)
    each(f"math_pow_of_integers_{_kind}", _kind, ["pow(x, n)", f"pow{_f}(x, n)"],
         {"x": (_kind, near_one(_kind, 120)), "n": ("i32", _n)},
         ulp=8 if _kind == "f32" else 4)  # fmt: skip

# --- fast forms -----------------------------------------------------------------------------------
_X = spread("f32", -80, 80, 200)
each("fast_expf", "f32", ["__expf(x)"], {"x": ("f32", _X)},
     ulp=lambda x: 2 * (2 + np.floor(np.abs(1.173 * x))))  # fmt: skip
each("fast_exp10f", "f32", ["__exp10f(x)"], {"x": ("f32", _X * np.float32(0.4375))},
     ulp=lambda x: 2 * (2 + np.floor(np.abs(2.97 * x))))  # fmt: skip
for _name, _ulp, _power in (("log", 3, -21.41), ("log2", 2, -22), ("log10", 3, -24)):
    each(f"fast_{_name}f_near_one", "f32", [f"__{_name}f(x)"], {"x": ("f32", spread("f32", 0.5, 2))},
         absolute=2 * 2.0**_power)  # fmt: skip
    each(f"fast_{_name}f", "f32", [f"__{_name}f(x)"],
         {"x": ("f32", np.concatenate([powers("f32", 1, 120), powers("f32", -120, -1)]))},
         ulp=2 * _ulp)  # fmt: skip
_PI = spread("f32", -3.14159, 3.14159, 200)
each("fast_sinf", "f32", ["__sinf(x)"], {"x": ("f32", _PI)}, absolute=2 * 2.0**-21.41)
each("fast_cosf", "f32", ["__cosf(x)"], {"x": ("f32", _PI)}, absolute=2 * 2.0**-21.19)
each("fast_sincosf", "f32",
     [f"[=] {{ float s, c; __sincosf(x, &s, &c); return {r}; }}()" for r in "sc"],
     {"x": ("f32", _PI)}, absolute=2 * 2.0**-21.19)  # fmt: skip
FAST = ("--use_fast_math", "--std=c++17")
each("option_fast_expf", "f32", ["expf(x)"], {"x": ("f32", _X)}, options=FAST,
     ulp=lambda x: 2 * (2 + np.floor(np.abs(1.173 * x))))  # fmt: skip
each("option_fast_logf", "f32", ["logf(x)"], {"x": ("f32", powers("f32", 1, 120))}, options=FAST,
     ulp=6)  # fmt: skip
each("option_fast_sinf", "f32", ["sinf(x)", "cosf(x)"], {"x": ("f32", _PI)}, options=FAST,
     absolute=2 * 2.0**-21.19)  # fmt: skip

# --- complex ----------------------------------------------------------------------------------------
for _kind, _suffix, _make in (
    ("f32", "f", "make_cuFloatComplex"),
    ("f64", "", "make_cuDoubleComplex"),
):
    _columns = {k: (_kind, near_one(_kind, 120, 30 + salt)) for salt, k in enumerate("abcd")}
    _u, _v = f"{_make}(a, b)", f"{_make}(c, d)"
    for _op, _ulp in (("add", 0), ("sub", 0), ("mul", 0), ("div", 4)):
        each(f"complex_{_op}_{_kind}", _kind,
             [f"cuC{r}{_suffix}(cuC{_op}{_suffix}({_u}, {_v}))" for r in ("real", "imag")],
             _columns, head="#include <cuComplex.h>", ulp=_ulp)  # fmt: skip
    each(f"complex_abs_conj_{_kind}", _kind,
         [f"cuCabs{_suffix}({_u})", f"cuCimag{_suffix}(cuConj{_suffix}({_v}))"], _columns,
         head="#include <cuComplex.h>", ulp=4)  # fmt: skip
