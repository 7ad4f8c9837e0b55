"""Ufuncs by their names, with NumPy 2's and CuPy's aliases."""

from __future__ import annotations

from trilane.cupy._engine import UFunc, ufuncs

ufunc = UFunc

# Other names of the same ufunc.
ALIASES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "divide": "true_divide",
    "mod": "remainder",
    "pow": "power",
}
NAMES = """absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and
bitwise_count bitwise_or bitwise_xor cbrt ceil conjugate copysign cos cosh deg2rad degrees divmod
equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod frexp gcd greater
greater_equal heaviside hypot invert isfinite isinf isnan lcm ldexp left_shift less less_equal log
log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor maximum
minimum modf multiply negative nextafter not_equal positive power rad2deg radians reciprocal
remainder right_shift rint sign signbit sin sinh spacing sqrt square subtract tan tanh true_divide
trunc""".split()


def _find(name: str) -> UFunc | None:
    """The engine may know a ufunc under its other name."""
    found = ufuncs.get(name)
    if found is None:
        twin = {"true_divide": "divide", "conjugate": "conj", "absolute": "abs"}.get(name)
        found = ufuncs.get(twin) if twin else None
    return found


table: dict[str, UFunc] = {name: found for name in NAMES if (found := _find(name)) is not None}
table.update({alias: table[name] for alias, name in ALIASES.items() if name in table})
missing_names = sorted(
    [name for name in NAMES if name not in table]
    + [alias for alias, name in ALIASES.items() if name not in table]
)
globals().update(table)
