"""Fit the minimax polynomials of device_lib/cpu/math_polynomials.h and print the file.

`python tools/fit_math.py > device_lib/cpu/math_polynomials.h` (a minute; mpmath and numpy). The
error of `weight(t) * (sum c_k t**k - f(t))` on a grid is levelled: for coefficients in double by
Remez's exchange with 50 digits; for those in float by Lawson's weights, where the coefficients are
rounded one by one, lowest power first, and the others fitted again each time, so that the rounding
of the sensitive ones is made good by the rest. The comment above each function gives the largest
weighted error that is left with the rounded coefficients.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf

mp.dps = 50
GRID = 400


@dataclass(frozen=True)
class Fit:
    name: str
    what: str
    f: Callable
    low: mpf
    high: mpf
    degree: int
    kind: str = "float"
    weight: Callable | None = None
    fixed: tuple = ()  # values of the lowest coefficients that are given, not fitted


def nodes(low, high, count: int) -> list:
    return [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * mpf(i) / (count - 1))
        for i in range(count)
    ]


def remez(grid: list, values: list, weights: list, count_free: int) -> list:
    """Coefficients of 1, t, t**2 ... with levelled weighted error over the grid; weights > 0."""
    powers = range(count_free)
    count = count_free + 1
    chosen = [round(i * (len(grid) - 1) / (count - 1)) for i in range(count)]
    coefficients = []
    for _ in range(30):
        matrix, right = mp.matrix(count, count), mp.matrix(count, 1)
        for row, g in enumerate(chosen):
            for column, power in enumerate(powers):
                matrix[row, column] = grid[g] ** power * weights[g]
            matrix[row, count - 1] = mpf(-1) ** row
            right[row] = values[g] * weights[g]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in powers]
        level = abs(solution[count - 1])
        errors = [
            (mp.polyval(coefficients[::-1], t) - v) * w
            for t, v, w in zip(grid, values, weights, strict=True)
        ]
        following = extremes(errors, count)
        if following is None or following == chosen:
            break
        chosen = following
        if max(abs(e) for e in errors) <= level * mpf("1.001"):
            break
    return coefficients


def extremes(errors: list, count: int) -> list[int] | None:
    """`count` grid points where the error is largest with alternating signs, or None."""
    found: list[int] = []
    for i, e in enumerate(errors):
        if e == 0:
            continue
        if found and (errors[found[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    while len(found) > count:
        if len(found) == count + 1 or abs(errors[found[0]]) != abs(errors[found[-1]]):
            found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
        else:
            found.pop()
    return found if len(found) == count else None


def rounded(value, kind: str) -> mpf:
    if kind == "float":
        return mpf(struct.unpack("f", struct.pack("f", float(value)))[0])
    return mpf(float(value))


def lawson(grid: list, rest: list, weights: list, powers: range) -> float:
    """The lowest coefficient of the levelled fit of `rest` by the powers, in double arithmetic."""
    span = float(max(abs(t) for t in grid))
    w = np.array([abs(float(v)) for v in weights])
    t = np.array([float(v) / span for v in grid])
    columns = np.stack([t**k for k in powers], axis=1) * w[:, None]
    right = np.array([float(r) for r in rest]) * w
    shares = np.full(len(t), 1.0 / len(t))
    best, least = 0.0, np.inf
    for _ in range(200):
        scale = np.sqrt(shares)
        solution = np.linalg.lstsq(columns * scale[:, None], right * scale, rcond=None)[0]
        errors = np.abs(columns @ solution - right)
        if errors.max() < least:
            best, least = solution[0] / span ** powers[0], errors.max()
        shares *= errors
        shares /= shares.sum()
    return best


def fit(job: Fit) -> tuple[list, mpf]:
    grid = [t for t in nodes(mpf(job.low), mpf(job.high), GRID) if t != 0]
    values = [job.f(t) for t in grid]
    weights = [
        abs(job.weight(t) if job.weight else 1 / v) for t, v in zip(grid, values, strict=True)
    ]
    known = [mpf(c) for c in job.fixed]
    if job.kind == "double":
        known = [rounded(c, job.kind) for c in remez(grid, values, weights, job.degree + 1)]
    while len(known) <= job.degree:
        rest = [
            v - sum(c * t**k for k, c in enumerate(known))
            for t, v in zip(grid, values, strict=True)
        ]
        known.append(
            rounded(lawson(grid, rest, weights, range(len(known), job.degree + 1)), job.kind)
        )
    worst = max(
        abs((mp.polyval(known[::-1], t) - v) * w)
        for t, v, w in zip(grid, values, weights, strict=True)
    )
    return known, worst


def literal(value, kind: str) -> str:
    text = float(value).hex()
    if "." in text:
        digits, exponent = text.split("p")
        digits = digits.rstrip("0").rstrip(".")
        text = f"{digits}p{exponent}"
    return text + ("f" if kind == "float" else "")


def emit(job: Fit) -> None:
    coefficients, worst = fit(job)
    suffix = "f" if job.kind == "float" else ""
    print(f"// {job.what}; error {mp.nstr(worst, 2)}.")
    print(f"TRILANE_HD {job.kind} trilane_poly_{job.name}({job.kind} t) {{")
    print(f"    {job.kind} p = {literal(coefficients[-1], job.kind)};")
    for c in coefficients[-2::-1]:
        print(f"    p = __builtin_fma{suffix}(p, t, {literal(c, job.kind)});")
    print("    return p;\n}")


def over(f: Callable, limit) -> Callable:
    """f, or `limit` at 0."""
    return lambda t: mpf(limit) if t == 0 else f(t)


def root(t):
    return mp.sqrt(t)


def exponentials() -> list[Fit]:
    half = mp.log(2) / 2 * mpf("1.0001")
    tenth = mp.log(2) / mp.log(10) / 2 * mpf("1.0001")
    return [
        Fit("exp", "exp(t), |t| <= ln 2 / 2", mp.exp, -half, half, 6, fixed=(1, 1)),
        Fit("exp2", "2^t, |t| <= 1/2", lambda t: mpf(2) ** t, mpf("-.501"), mpf(".501"), 6,
            fixed=(1,)),
        Fit("exp10", "10^t, |t| <= log10(2) / 2", lambda t: mpf(10) ** t, -tenth, tenth, 6,
            fixed=(1,)),
        Fit("expm1", "(exp(t) - 1 - t) / t^2, |t| <= ln 2 / 2; weight t^2 / (exp(t) - 1)",
            lambda t: (mp.expm1(t) - t) / t**2, -half, half, 4,
            weight=lambda t: t**2 / mp.expm1(t)),
        Fit("tanh", "(tanh(x) / x - 1) / t, t = x^2, x <= 0.56; weight t x / tanh(x)",
            lambda t: (mp.tanh(root(t)) / root(t) - 1) / t, mpf("1e-9"), mpf(".56") ** 2, 4,
            weight=lambda t: t * root(t) / mp.tanh(root(t))),
        Fit("sinh", "(sinh(x) / x - 1) / t, t = x^2, x <= 1; weight t x / sinh(x)",
            lambda t: (mp.sinh(root(t)) / root(t) - 1) / t, mpf("1e-9"), mpf("1.001"), 3,
            weight=lambda t: t * root(t) / mp.sinh(root(t))),
    ]  # fmt: skip


def logarithms() -> list[Fit]:
    low, high = mp.sqrt(mpf(1) / 2) - 1, mp.sqrt(mpf(2)) - 1

    def second(scale):
        return lambda t: (mp.log1p(t) / t - 1) / t / scale

    def weight(scale):
        return lambda t: t**2 / mp.log1p(t) * scale

    ln2, ln10 = mp.log(2), mp.log(10)
    return [
        Fit("log", "(log(1 + t) - t) / t^2, 1 + t in [1, 2] / sqrt 2; weight t^2 / log(1 + t)",
            second(1), low, high, 8, weight=weight(1)),
        Fit("log2", "the same over ln 2", second(ln2), low, high, 8, weight=weight(ln2)),
        Fit("log10", "the same over ln 10", second(ln10), low, high, 8, weight=weight(ln10)),
        Fit("log_fast", "log(1 + t) / t; absolute error of the logarithm",
            lambda t: mp.log1p(t) / t, low, high, 7, weight=lambda t: t),
        Fit("log2_fast", "log2(1 + t) / t; absolute error of the logarithm",
            lambda t: mp.log1p(t) / t / ln2, low, high, 7, weight=lambda t: t),
        Fit("log_wide", "log(1 + t) / t, for results in float", lambda t: mp.log1p(t) / t,
            low, high, 12, "double"),
        Fit("log2_wide", "log2(1 + t) / t, for results in float",
            lambda t: mp.log1p(t) / t / ln2, low, high, 12, "double"),
    ]  # fmt: skip


def circular() -> list[Fit]:
    quarter, half = mp.pi / 4 * mpf("1.003"), mp.pi / 2 * mpf("1.003")
    tiny = mpf("1e-9")

    def sine(x):
        return (mp.sin(x) / x - 1) / x**2

    def tangent(x):
        return (mp.tan(x) / x - 1) / x**2

    def arc_tangent(x):
        return (mp.atan(x) / x - 1) / x**2

    def arc_sine(x):
        return (mp.asin(x) / x - 1) / x**2

    def relative(f, x):
        return x**3 / f(x)

    return [
        Fit("sin", "(sin(x) - x) / x^3, t = x^2, x <= pi/2; weight x^3 / sin(x)",
            lambda t: sine(root(t)), tiny, half**2, 4,
            weight=lambda t: relative(mp.sin, root(t))),
        Fit("sin_fast", "sin(x) / x, t = x^2, x <= pi/2; absolute error of sin",
            lambda t: mp.sin(root(t)) / root(t), tiny, half**2, 4, weight=root),
        Fit("tan", "(tan(x) - x) / x^3, t = x^2, x <= pi/4; weight x^3 / tan(x)",
            lambda t: tangent(root(t)), tiny, quarter**2, 5,
            weight=lambda t: relative(mp.tan, root(t))),
        Fit("sinpi", "(sin(pi x) - pi x) / x^3, t = x^2, x <= 1/4; weight x^3 / sin(pi x)",
            lambda t: (mp.sin(mp.pi * root(t)) - mp.pi * root(t)) / root(t) ** 3,
            tiny, mpf("0.0626"), 3, weight=lambda t: root(t) ** 3 / mp.sin(mp.pi * root(t))),
        Fit("cospi", "cos(pi x), t = x^2, x <= 1/4", lambda t: mp.cos(mp.pi * root(t)),
            tiny, mpf("0.0626"), 4, fixed=(1,)),
        Fit("atan", "(atan(x) - x) / x^3, t = x^2, x <= 1; weight x^3 / atan(x)",
            lambda t: arc_tangent(root(t)), tiny, mpf(1), 7,
            weight=lambda t: relative(mp.atan, root(t))),
        Fit("asin", "(asin(x) - x) / x^3, t = x^2, x <= 1/2; weight x^3 / asin(x)",
            lambda t: arc_sine(root(t)), tiny, mpf(".25"), 4,
            weight=lambda t: relative(mp.asin, root(t))),
    ]  # fmt: skip


def others() -> list[Fit]:
    def scaled(u):
        """(1 + 2 x) erfcx(x), x = 4 (1 + u) / (1 - u)."""
        x = 4 * (1 + u) / (1 - u)
        if x > 60:
            terms = [(-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(1, 12)]
            return (1 + 2 * x) / x * (1 + sum(terms)) / mp.sqrt(mp.pi)
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)

    half = mp.log(2) / 2 * mpf("1.0001")
    return [
        Fit("erf_near", "erf(x) / x - 1, t = x^2, x <= 1; weight x / erf(x)",
            lambda t: mp.erf(root(t)) / root(t) - 1, mpf("1e-9"), mpf("1.001"), 6,
            weight=lambda t: root(t) / mp.erf(root(t))),
        Fit("erf_far", "log2(erfc(t)), 1 <= t <= 4; weight erfc(t) ln 2 / erf(t)",
            lambda t: mp.log(mp.erfc(t), 2), mpf(".999"), mpf("4.01"), 7,
            weight=lambda t: mp.erfc(t) * mp.log(2) / mp.erf(t)),
        Fit("erfcx_wide", "(1 + 2x) exp(x^2) erfc(x), t = (x - 4) / (x + 4), 0 <= x <= 11",
            scaled, mpf(-1), mpf("0.47"), 12, "double"),
        Fit("exp_wide", "exp(t), |t| <= ln 2 / 2, for results in float", mp.exp, -half, half, 8,
            "double"),
        Fit("cbrt", "cbrt(t), 1 <= t <= 2", mp.cbrt, mpf(1), mpf(2), 3, "double"),
    ]  # fmt: skip


def main() -> None:
    wanted = set(sys.argv[1:])
    print(
        "// Polynomials behind the math functions of the cpu device; written by tools/fit_math.py."
    )
    print("#pragma once\n")
    for job in exponentials() + logarithms() + circular() + others():
        if not wanted or job.name in wanted:
            emit(job)


if __name__ == "__main__":
    main()
