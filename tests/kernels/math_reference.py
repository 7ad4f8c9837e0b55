"""The math functions of CUDA C++ with exact references, sample domains and the allowed error.

A row is (name, arguments, reference, domain, ulp of double, ulp of float). The reference is an
mpmath function; the domain is a list of (low, high) ranges, sampled uniformly or, where both ends
have one sign and differ by 1e3 or more, by logarithm. The bounds are those that the CUDA programming
guide states for the accurate functions; float functions have an `f` at their end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf

mp.prec = 250


@dataclass(frozen=True)
class Function:
    name: str
    arity: int
    reference: Callable
    domain: list[tuple[float, float]]
    double_ulp: float
    float_ulp: float

    @property
    def float_name(self) -> str:
        return self.name + "f"


def _erfcx(x):
    if x > 1000:
        terms = sum((-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(1, 12))
        return (1 + terms) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def _erfcinv(c):
    """Newton from the asymptotic value; mpmath has only erfinv, which cannot see a tiny c."""
    if c > mpf("1e-5"):
        return mp.erfinv(1 - c)
    y = mp.sqrt(-mp.log(c))
    for _ in range(100):
        step = (mp.log(_erfcx(y)) - y * y - mp.log(c)) * mp.sqrt(mp.pi) * _erfcx(y) / 2
        y += step
        if abs(step) < mpf(2) ** -200:
            break
    return y


def _normcdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _round_away(x):
    return mp.sign(x) * mp.floor(abs(x) + mpf(1) / 2)


FUNCTIONS = [
    Function("sqrt", 1, mp.sqrt, [(1e-30, 1e30)], 0.5, 0.5),
    Function("rsqrt", 1, lambda x: 1 / mp.sqrt(x), [(1e-30, 1e30)], 1, 2),
    Function("cbrt", 1, lambda x: mp.sign(x) * mp.cbrt(abs(x)), [(1e-30, 1e30), (-9, 9)], 1, 1),
    Function(
        "rcbrt", 1, lambda x: mp.sign(x) / mp.cbrt(abs(x)), [(1e-30, 1e30), (-9, -1e-3)], 1, 1
    ),
    Function("exp", 1, mp.exp, [(-80, 80), (-1, 1)], 1, 2),
    Function("exp2", 1, lambda x: mpf(2) ** x, [(-120, 120), (-1, 1)], 1, 2),
    Function("exp10", 1, lambda x: mpf(10) ** x, [(-37, 37), (-1, 1)], 1, 2),
    Function("expm1", 1, mp.expm1, [(-80, 80), (-1, 1)], 1, 1),
    Function("log", 1, mp.log, [(1e-30, 1e30), (0.5, 2)], 1, 1),
    Function("log2", 1, lambda x: mp.log(x, 2), [(1e-30, 1e30), (0.5, 2)], 1, 1),
    Function("log10", 1, mp.log10, [(1e-30, 1e30), (0.5, 2)], 1, 2),
    Function("log1p", 1, mp.log1p, [(1e-10, 1e10), (-0.99, 1)], 1, 1),
    Function("sin", 1, mp.sin, [(-10, 10), (1e3, 1e6)], 2, 2),
    Function("cos", 1, mp.cos, [(-10, 10), (1e3, 1e6)], 2, 2),
    Function("tan", 1, mp.tan, [(-10, 10), (1e3, 1e6)], 2, 4),
    Function("sinpi", 1, mp.sinpi, [(-10, 10), (-0.3, 0.3)], 2, 2),
    Function("cospi", 1, mp.cospi, [(-10, 10), (-0.3, 0.3)], 2, 2),
    Function("asin", 1, mp.asin, [(-1, 1)], 2, 4),
    Function("acos", 1, mp.acos, [(-1, 1)], 2, 3),
    Function("atan", 1, mp.atan, [(-10, 10), (1e-5, 1e5)], 2, 3),
    Function("atan2", 2, mp.atan2, [(-10, 10), (-10, 10)], 2, 3),
    Function("sinh", 1, mp.sinh, [(-80, 80), (-1, 1)], 2, 3),
    Function("cosh", 1, mp.cosh, [(-80, 80), (-1, 1)], 1.5, 2),
    Function("tanh", 1, mp.tanh, [(-20, 20), (-1, 1)], 2, 2),
    Function("asinh", 1, mp.asinh, [(-10, 10), (1e-5, 1e5)], 3, 3),
    Function("acosh", 1, mp.acosh, [(1, 10), (1, 1e5)], 3, 4),
    Function("atanh", 1, mp.atanh, [(-0.999, 0.999)], 2, 3),
    Function("pow", 2, mp.power, [(1e-3, 1e3), (-10, 10)], 2, 4),
    Function("hypot", 2, mp.hypot, [(-10, 10), (-1e3, 1e3)], 2, 3),
    Function("rhypot", 2, lambda x, y: 1 / mp.hypot(x, y), [(-10, 10), (-1e3, 1e3)], 1, 2),
    Function("erf", 1, mp.erf, [(-4, 4), (1e-5, 1e-1)], 2, 2),
    Function("erfc", 1, mp.erfc, [(-4, 9)], 5, 4),
    Function("erfinv", 1, mp.erfinv, [(-0.99999, 0.99999), (1e-6, 1e-1)], 5, 2),
    Function("erfcinv", 1, _erfcinv, [(1e-37, 1e-3), (0.001, 1.99)], 6, 4),
    Function("erfcx", 1, _erfcx, [(-5, 30), (1e1, 1e7)], 4, 4),
    Function("normcdf", 1, _normcdf, [(-12, 5)], 5, 5),
    Function(
        "normcdfinv", 1, lambda p: -mp.sqrt(2) * _erfcinv(2 * p), [(1e-30, 1e-3), (0.001, 0.99)],
        8, 5,
    ),
    Function("lgamma", 1, lambda x: mp.log(abs(mp.gamma(x))), [(3, 100), (1e-5, 0.9)], 4, 6),
    Function("tgamma", 1, mp.gamma, [(0.01, 30), (-8.9, -8.1)], 10, 5),
    Function("cyl_bessel_i0", 1, lambda x: mp.besseli(0, x), [(-80, 80), (-8, 8)], 6, 6),
    Function("cyl_bessel_i1", 1, lambda x: mp.besseli(1, x), [(-80, 80), (-8, 8)], 6, 6),
    Function("fmod", 2, lambda x, y: x - y * mp.sign(x / y) * mp.floor(abs(x / y)),
             [(1, 100), (1, 7)], 0.5, 0.5),
    Function("floor", 1, mp.floor, [(-100, 100)], 0.5, 0.5),
    Function("ceil", 1, mp.ceil, [(-100, 100)], 0.5, 0.5),
    Function("round", 1, _round_away, [(-100, 100)], 0.5, 0.5),
]  # fmt: skip

# Near their zeros a relative bound means nothing: the guide states an absolute one there.
ABSOLUTE = [
    Function("j0", 1, lambda x: mp.besselj(0, x), [(-30, 30)], 1e-14, 2.2e-6),
    Function("j1", 1, lambda x: mp.besselj(1, x), [(-30, 30)], 1e-14, 2.2e-6),
    Function("y0", 1, lambda x: mp.bessely(0, x), [(0.1, 30)], 1e-14, 2.2e-6),
    Function("y1", 1, lambda x: mp.bessely(1, x), [(0.1, 30)], 1e-14, 2.2e-6),
]


def samples(function: Function, dtype: type, count: int, seed: int = 7) -> list[np.ndarray]:
    """`count` arguments per range; a function of two takes its ranges as x and y."""
    rng = np.random.default_rng(seed)

    def draw(low: float, high: float) -> np.ndarray:
        if low > 0 and high / low >= 1e3:
            return np.exp(rng.uniform(np.log(low), np.log(high), count)).astype(dtype)
        return rng.uniform(low, high, count).astype(dtype)

    parts = [draw(*bounds) for bounds in function.domain]
    return parts if function.arity == 2 else [np.concatenate(parts)]


def ulp_errors(values: np.ndarray, function: Function, arguments: list[np.ndarray]) -> np.ndarray:
    """Distance from the exact result in units of the last place of the result's type."""
    info = np.finfo(values.dtype)
    errors = np.empty(values.size)
    for i in range(values.size):
        exact = function.reference(*(mpf(float(a[i])) for a in arguments))
        if exact == 0:
            errors[i] = 0 if values[i] == 0 else np.inf
            continue
        exponent = max(int(mp.floor(mp.log(abs(exact), 2))), int(info.minexp))
        errors[i] = float(abs(mpf(float(values[i])) - exact) / mpf(2) ** (exponent - info.nmant))
    return errors


def absolute_errors(
    values: np.ndarray, function: Function, arguments: list[np.ndarray]
) -> np.ndarray:
    exact = [function.reference(*(mpf(float(a[i])) for a in arguments)) for i in range(values.size)]
    return np.array([float(abs(mpf(float(v)) - e)) for v, e in zip(values, exact, strict=True)])
