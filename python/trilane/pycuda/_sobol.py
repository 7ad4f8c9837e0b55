"""Direction numbers of Sobol sequences, from primitive polynomials over GF(2)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np


def _times(a: int, b: int, polynomial: int, degree: int) -> int:
    result = 0
    while b:
        if b & 1:
            result ^= a
        b >>= 1
        a <<= 1
        if a >> degree:
            a ^= polynomial
    return result


def _power(exponent: int, polynomial: int, degree: int) -> int:
    result, base = 1, 2 if degree > 1 else 2 ^ polynomial
    while exponent:
        if exponent & 1:
            result = _times(result, base, polynomial, degree)
        base = _times(base, base, polynomial, degree)
        exponent >>= 1
    return result


def _prime_factors(n: int) -> list[int]:
    found, p = [], 2
    while p * p <= n:
        if n % p == 0:
            found.append(p)
            while n % p == 0:
                n //= p
        p += 1
    return found + [n] if n > 1 else found


def primitive_polynomials() -> Iterator[tuple[int, int]]:
    """Pairs of degree and polynomial (bit k: coefficient of x**k), in order."""
    degree = 1
    while True:
        order = (1 << degree) - 1
        factors = _prime_factors(order) if order > 1 else []
        for polynomial in range((1 << degree) | 1, 2 << degree, 2):
            if _power(order, polynomial, degree) == 1 and all(
                _power(order // p, polynomial, degree) != 1 for p in factors
            ):
                yield degree, polynomial
        degree += 1


def _numbers(degree: int, polynomial: int, dimension: int, bits: int) -> list[int]:
    # The first odd numbers may be chosen freely: by a fixed generator, so that dimensions differ.
    chosen = np.random.RandomState(dimension)
    odd = [int(chosen.randint(0, 1 << k)) * 2 + 1 for k in range(degree)]
    for k in range(degree, bits):
        value = odd[k - degree] ^ (odd[k - degree] << degree)
        for j in range(1, degree):
            if polynomial >> (degree - j) & 1:
                value ^= odd[k - j] << j
        odd.append(value)
    return [value << (bits - 1 - k) for k, value in enumerate(odd)]


@lru_cache(maxsize=8)
def direction_vectors(count: int, bits: int) -> np.ndarray:
    """Direction numbers of the first `count` dimensions.

    Returns
    -------
    numpy.ndarray
        Shape (count, bits), uint32 or uint64; dimension 0 is van der Corput's sequence.
    """
    rows = [[1 << (bits - 1 - k) for k in range(bits)]]
    polynomials = primitive_polynomials()
    while len(rows) < count:
        rows.append(_numbers(*next(polynomials), len(rows), bits))
    result = np.array(rows[:count], np.uint32 if bits == 32 else np.uint64)
    result.setflags(write=False)
    return result
