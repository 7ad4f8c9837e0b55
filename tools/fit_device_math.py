"""Compute the polynomial tables of device_lib/cpu/math_special_tables.h with mpmath and print them.

`python tools/fit_device_math.py > device_lib/cpu/math_special_tables.h`. Each table interpolates a
function that is smooth in the chosen variable at Chebyshev nodes, and is stored as the coefficients
of powers of u in [-1, 1], highest first; the comment above each gives the largest relative error.
"""

from __future__ import annotations

from collections.abc import Callable

from mpmath import mp, mpf

mp.dps = 40


def interpolate(f: Callable, low, high, degree: int) -> list:
    """Coefficients of u**k, lowest first, with u = (2 t - low - high) / (high - low)."""
    count = degree + 1
    nodes = [mp.cos(mp.pi * (k + mpf(1) / 2) / count) for k in range(count)]
    values = [f((high - low) * x / 2 + (low + high) / 2) for x in nodes]
    series = [
        2 / mpf(count) * sum(values[k] * mp.cos(j * mp.acos(nodes[k])) for k in range(count))
        for j in range(count)
    ]
    series[0] /= 2
    previous, current = [mpf(1)], [mpf(0), mpf(1)]
    powers = [series[0], series[1]] + [mpf(0)] * (count - 2)
    for j in range(2, count):
        following = [mpf(0)] + [2 * c for c in current]
        for i, c in enumerate(previous):
            following[i] -= c
        previous, current = current, following
        for i, c in enumerate(current):
            powers[i] += series[j] * c
    return powers


def worst_error(f: Callable, low, high, powers: list) -> mpf:
    worst = mpf(0)
    for i in range(301):
        t = low + (high - low) * mpf(i) / 300
        u = (2 * t - low - high) / (high - low)
        worst = max(worst, abs(mp.polyval(powers[::-1], u) / f(t) - 1))
    return worst


def erfcx(x):
    if x > 200:  # asymptotic: erfc underflows to nothing useful
        terms = [(-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(1, 8)]
        return (1 + sum(terms)) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def scaled_erfcx(t):
    """(1 + 2 x) erfcx(x) with x = 4 (1 + t) / (1 - t): from 1 to 2/sqrt(pi)."""
    if t >= 1:
        return 2 / mp.sqrt(mp.pi)
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * erfcx(x)


def inverse_ratio(s):
    """erfinv(x) / s with s = sqrt(-log(1 - x**2))."""
    if s == 0:
        return mp.sqrt(mp.pi) / 2
    if s < 3:
        return mp.erfinv(mp.sqrt(-mp.expm1(-s * s))) / s
    e = mp.exp(-s * s)
    c = e / (1 + mp.sqrt(1 - e))  # 1 - x
    y = s
    for _ in range(60):
        step = (mp.log(erfcx(y)) - y * y - mp.log(c)) * mp.sqrt(mp.pi) * erfcx(y) / 2
        y += step
        if abs(step) < mpf(10) ** -35:
            break
    return y / s


def scaled_bessel(order: int) -> Callable:
    """I_order(x) sqrt(x) exp(-x) as a function of 1/x."""

    def f(t):
        if t <= 0:
            return 1 / mp.sqrt(2 * mp.pi)
        return mp.besseli(order, 1 / t) * mp.exp(-1 / t) / mp.sqrt(t)

    return f


def emit(name: str, what: str, f: Callable, low, high, degree: int) -> None:
    powers = interpolate(f, mpf(low), mpf(high), degree)
    print(f"// {what}; error {mp.nstr(worst_error(f, mpf(low), mpf(high), powers), 2)}.")
    print(f"TRILANE_HD_CALL double {name}(double u) {{")
    print("    TRILANE_EXACT")
    print(f"    double p = {float(powers[-1]).hex()};")
    for c in powers[-2::-1]:
        print(f"    p = __builtin_fma(p, u, {float(c).hex()});")
    print("    return p;\n}")


def series(name: str, what: str, coefficients: list) -> None:
    print(f"// {what}.")
    print(f"TRILANE_HD_CALL double {name}(double q) {{")
    print("    TRILANE_EXACT")
    print(f"    double p = {float(coefficients[-1]).hex()};")
    for c in coefficients[-2::-1]:
        print(f"    p = __builtin_fma(p, q, {float(c).hex()});")
    print("    return p;\n}")


def main() -> None:
    print("// Polynomials behind math_special.h; written by tools/fit_device_math.py.")
    print("#pragma once\n")
    emit(
        "trilane_erfcx_poly",
        "(1 + 2x) erfcx(x), u = (x - 4) / (x + 4), x >= 0",
        scaled_erfcx, -1, 1, 24,
    )  # fmt: skip
    emit(
        "trilane_erfinv_near",
        "erfinv(x) / s, s = sqrt(-log(1 - x^2)) in [0, 3], u = s / 1.5 - 1",
        inverse_ratio, 0, 3, 10,
    )  # fmt: skip
    emit(
        "trilane_erfinv_far",
        "erfinv(x) / s, 1/s in [1/28, 1/3], u = (2/s - (1/28 + 1/3)) / (1/3 - 1/28)",
        lambda t: inverse_ratio(1 / t), mpf(1) / 28, mpf(1) / 3, 12,
    )  # fmt: skip
    for k in (0, 1):
        emit(
            f"trilane_bessel_i{k}_far",
            f"I{k}(x) sqrt(x) exp(-x), x >= 10, u = 20/x - 1",
            scaled_bessel(k), 0, mpf(1) / 10, 18,
        )  # fmt: skip
    series(
        "trilane_bessel_i0_near",
        "I0(x), q = x^2/4 <= 25",
        [1 / mp.factorial(k) ** 2 for k in range(31)],
    )
    series(
        "trilane_bessel_i1_near",
        "I1(x) / (x/2), q = x^2/4 <= 25",
        [1 / (mp.factorial(k) * mp.factorial(k + 1)) for k in range(31)],
    )


if __name__ == "__main__":
    main()
