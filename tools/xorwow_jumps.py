"""Compute the jump polynomials of device_lib/cpu/xorwow_jumps.h and print them.

The xorshift part of XORWOW (Marsaglia 2003) is a linear map M over GF(2) of 160 bits. With p its
minimal polynomial, found by Berlekamp and Massey from one bit of its output, M**n is the polynomial
(x**n mod p) in M: n steps become at most 160. Row k of the first table is x**(2**k) mod p, of the
second x**(2**(67 + k)) mod p, the distance between subsequences, lowest coefficient first.
"""

from __future__ import annotations

BITS = 160
MASK = 0xFFFFFFFF


def step(v: list[int]) -> list[int]:
    t = v[0] ^ (v[0] >> 2)
    last = (v[4] ^ (v[4] << 4) ^ t ^ (t << 1)) & MASK
    return [v[1], v[2], v[3], v[4], last]


def minimal_polynomial() -> int:
    v = [123456789, 362436069, 521288629, 88675123, 5783321]
    bits = []
    for _ in range(4 * BITS):
        v = step(v)
        bits.append(v[4] & 1)
    current, previous, length, shift = 1, 1, 0, 1
    for n in range(len(bits)):
        difference = bits[n]
        for i in range(1, length + 1):
            difference ^= (current >> i) & 1 & bits[n - i]
        if not difference:
            shift += 1
        elif 2 * length <= n:
            current, previous = current ^ (previous << shift), current
            length, shift = n + 1 - length, 1
        else:
            current ^= previous << shift
            shift += 1
    assert length == BITS
    # the connection polynomial reversed
    return sum(((current >> i) & 1) << (BITS - i) for i in range(BITS + 1))


def multiply(a: int, b: int, p: int) -> int:
    result = 0
    while b:
        if b & 1:
            result ^= a
        b >>= 1
        a <<= 1
        if a >> BITS:
            a ^= p
    return result


def table(name: str, first: int, p: int) -> None:
    print(f"static __device__ const unsigned int {name}[64][5] = {{")
    power = first
    for _ in range(64):
        words = [(power >> (32 * i)) & MASK for i in range(5)]
        print("    {" + ", ".join(f"0x{w:08x}u" for w in words) + "},")
        power = multiply(power, power, p)
    print("};")


def main() -> None:
    p = minimal_polynomial()
    far = 2
    for _ in range(67):
        far = multiply(far, far, p)
    print("// Jumps of the XORWOW generator; written by tools/xorwow_jumps.py.")
    print("#pragma once\n")
    table("trilane_xorwow_step_jumps", 2, p)
    table("trilane_xorwow_sequence_jumps", far, p)


if __name__ == "__main__":
    main()
