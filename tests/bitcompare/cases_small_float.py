"""half and bfloat16: arithmetic, comparison, conversions with each rounding, math."""

from __future__ import annotations

import numpy as np

from tests.bitcompare.case import each
from tests.bitcompare.inputs import doubles, near_one, pairs, single, spread

MODES = ("rn", "rz", "ru", "rd")
_SMALL = np.concatenate([single("f32", 80), spread("f32", -70000, 70000, 60),
                         spread("f32", -2, 2, 60), (spread("f32", -2, 2, 40) * np.float32(2**-16))])  # fmt: skip
for _kind, _name in (("half", "half"), ("bf16", "bfloat16")):
    _x, _y = pairs(_kind, _kind, count=40)
    _two = {"x": (_kind, _x), "y": (_kind, _y)}
    _x, _y, _z = pairs(_kind, _kind, _kind, count=40)
    _three = {"x": (_kind, _x), "y": (_kind, _y), "z": (_kind, _z)}
    _one = {"x": (_kind, single(_kind, 300))}
    each(f"{_kind}_arithmetic", _kind, ["__hadd(x, y)", "__hsub(x, y)", "__hmul(x, y)"], _two)
    each(f"{_kind}_operators", _kind, ["x + y", "x - y", "x * y", "-x"], _two)
    each(f"{_kind}_division", _kind, ["__hdiv(x, y)", "x / y"], _two)
    each(f"{_kind}_exact_forms", _kind, ["__hadd_rn(x, y)", "__hsub_rn(x, y)", "__hmul_rn(x, y)"],
         _two)  # fmt: skip
    each(f"{_kind}_saturated", _kind, ["__hadd_sat(x, y)", "__hsub_sat(x, y)", "__hmul_sat(x, y)"],
         _two)  # fmt: skip
    each(f"{_kind}_fma", _kind, ["__hfma(x, y, z)", "__hfma_sat(x, y, z)", "__hfma_relu(x, y, z)"],
         _three)  # fmt: skip
    each(f"{_kind}_nan_bits", _kind, ["__hadd(x, y)", "__hmul(x, y)", "__hfma(x, y, x)"], _two,
         nan_bits=True)  # fmt: skip
    each(f"{_kind}_min_max", _kind,
         ["__hmin(x, y)", "__hmax(x, y)", "__hmin_nan(x, y)", "__hmax_nan(x, y)"], _two)  # fmt: skip
    each(f"{_kind}_compare", "i32",
         [f"__h{n}(x, y) + 2 * __h{n}u(x, y)" for n in ("eq", "ne", "lt", "le", "gt", "ge")]
         + ["__hisnan(x)", "(x < y) | (x == y) << 1 | (x != y) << 2"], _two)  # fmt: skip
    each(f"{_kind}_sign", _kind, ["__hneg(x)", "__habs(x)"], _one)
    each(f"{_kind}_integral", _kind, ["hceil(x)", "hfloor(x)", "htrunc(x)", "hrint(x)"], _one)
    each(f"{_kind}_roots", _kind, ["hsqrt(x)", "hrsqrt(x)", "hrcp(x)"], _one, ulp=1)
    _range = {"x": (_kind, near_one(_kind, 300))}
    each(f"{_kind}_exponentials", _kind, ["hexp(x)", "hexp2(x)", "hexp10(x)"], _range, ulp=2)
    each(f"{_kind}_logarithms", _kind, ["hlog(__habs(x))", "hlog2(__habs(x))", "hlog10(__habs(x))"],
         _range, ulp=2)  # fmt: skip
    each(f"{_kind}_trigonometry", _kind, ["hsin(x)", "hcos(x)"], _range, ulp=2)
    each(f"{_kind}_to_float", "f32", [f"__{_name}2float(x)", "(float)x"], _one)
    each(f"{_kind}_from_float", _kind, [f"__float2{_name}_{m}(x)" for m in MODES]
         + [f"__float2{_name}(x)"], {"x": ("f32", _SMALL)})  # fmt: skip
    each(f"{_kind}_from_double", _kind, [f"__double2{_name}(x)"],
         {"x": ("f64", np.concatenate([doubles(_SMALL), single("f64", 100),
                                       spread("f64", -2, 2, 80)]))})  # fmt: skip
    for _type, _short in (("i32", "int"), ("u32", "uint"), ("i64", "ll"), ("u64", "ull"),
                          ("i16", "short"), ("u16", "ushort")):  # fmt: skip
        each(f"{_kind}_from_{_short}", _kind, [f"__{_short}2{_name}_{m}(x)" for m in MODES],
             {"x": (_type, single(_type, 120))})  # fmt: skip
        each(f"{_kind}_to_{_short}", _type, [f"__{_name}2{_short}_{m}(x)" for m in MODES], _one)
    each(f"{_kind}_bits", "i32",
         [f"__{_name}_as_short(x)", f"__{_name}_as_ushort(x)"], _one)  # fmt: skip
    _pair = f"__halves2{'half2' if _kind == 'half' else 'bfloat162'}"
    each(f"{_kind}_pairs", "f32",
         [f"__{g}2float(__h{op}2({_pair}(x, y), {_pair}(y, x)))" for g in ("low", "high")
          for op in ("add", "sub", "mul", "min", "max")], _two)  # fmt: skip
    each(f"{_kind}_pair_fma", "f32",
         [f"__{g}2float(__hfma2({_pair}(x, y), {_pair}(y, z), {_pair}(z, x)))"
          for g in ("low", "high")], _three)  # fmt: skip
