"""Operands of the cases, by fixed formulas: corners of each type, and bits of a mixing function."""

from __future__ import annotations

import numpy as np

CORNERS = {
    "i8": [0, 1, 2, 5, 127, -128, -127, -1, -2, 100, -100, 64],
    "u8": [0, 1, 2, 5, 127, 128, 129, 255, 254, 100, 64, 31],
    "i16": [0, 1, 2, 7, 255, 256, 32767, -32768, -32767, -1, -2, -256],
    "u16": [0, 1, 2, 7, 255, 256, 32767, 32768, 32769, 65535, 65534, 4096],
    "i32": [0, 1, 2, 3, 7, 31, 255, 65535, 65536, 0x7FFFFF, 2**24, 2**31 - 1, 2**31 - 2,
            -(2**31), -(2**31) + 1, -1, -2, -7, -65536],
    "u32": [0, 1, 2, 3, 7, 31, 255, 65535, 65536, 0x00FFFFFF, 2**24, 2**31 - 1, 2**31, 2**31 + 1,
            2**32 - 1, 2**32 - 2, 0x80808080, 0x7F7F7F7F, 0x01FF80FE],
    "i64": [0, 1, 2, 3, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1,
            2**63 - 512, -(2**63), -(2**63) + 1, -1, -2, -7, -(2**32)],
    "u64": [0, 1, 2, 3, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63,
            2**63 + 1, 2**64 - 1, 2**64 - 2, 2**64 - 1024, 2**63 + 2**55 + 1, 10**18],
    # zeros, subnormals, around one, rounding ties, largest, infinities, NaN
    "f32": [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000,
            0x3F800001, 0xBF7FFFFF, 0x40400000, 0xC0200000, 0x4B000001, 0x7F7FFFFF, 0xFF7FFFFF,
            0x7F800000, 0xFF800000, 0x7FC00001, 0xFFA00000],
    "f64": [0, 1 << 63, 1, (1 << 63) | 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000,
            0x3FF0000000000000, 0x3FF0000000000001, 0xBFEFFFFFFFFFFFFF, 0x4008000000000000,
            0xC004000000000000, 0x4330000000000001, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF,
            0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000001, 0xFFF4000000000000],
    "half": [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00, 0x3C01, 0xBBFF, 0x4200,
             0xC100, 0x6401, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E01, 0xFD00],
    "bf16": [0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x3F80, 0x3F81, 0xBF7F, 0x4040,
             0xC020, 0x4301, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC1, 0xFFA0],
}  # fmt: skip

NUMPY = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
    "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f32": np.float32, "f64": np.float64,
    "half": np.uint16, "bf16": np.uint16,
}  # fmt: skip


def mixed(count: int, salt: int = 0) -> np.ndarray:
    """`count` words of 64 bits: the finaliser of splitmix64 over a Weyl sequence."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(1000 * salt)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def of_bits(kind: str, patterns: object) -> np.ndarray:
    """Values of `kind` from their bit patterns or, for integers, from themselves."""
    dtype = np.dtype(NUMPY[kind])
    if dtype.kind == "f":
        return np.array(patterns, dtype=f"u{dtype.itemsize}").view(dtype)
    return np.array(patterns, dtype=dtype)


def noise(kind: str, count: int, salt: int = 0) -> np.ndarray:
    """Values of random bits; floats of every exponent."""
    dtype = np.dtype(NUMPY[kind])
    words = mixed(count, salt) >> np.uint64(64 - 8 * dtype.itemsize)
    return words.astype(f"u{dtype.itemsize}").view(dtype)


def near_one(kind: str, count: int, salt: int = 0) -> np.ndarray:
    """Floats of random mantissa and sign with exponents -8 ... 7: sums and products meet."""
    words = mixed(count, salt)
    exponent = ((words >> np.uint64(1)) & np.uint64(15)).astype(np.int64) - 8
    sign = (words & np.uint64(1)) << np.uint64(63)
    mantissa, bias, width = {
        "f32": (23, 127, 32), "f64": (52, 1023, 64), "half": (10, 15, 16), "bf16": (7, 127, 16),
    }[kind]  # fmt: skip
    fraction = words >> np.uint64(64 - mantissa)
    bits = (sign >> np.uint64(64 - width)) | fraction
    bits |= (exponent + bias).astype(np.uint64) << np.uint64(mantissa)
    return of_bits(kind, bits.astype(f"u{width // 8}"))


def single(kind: str, count: int = 160, salt: int = 0) -> np.ndarray:
    """Corners, then values of random bits."""
    parts = [of_bits(kind, CORNERS[kind]), noise(kind, count // 2, salt)]
    if kind in ("f32", "f64", "half", "bf16"):
        parts.append(near_one(kind, count // 2, salt + 1))
    return np.concatenate(parts)


def pairs(*kinds: str, count: int = 60) -> list[np.ndarray]:
    """Every corner with every other, then random bits; a third column is a shuffle of corners."""
    first = of_bits(kinds[0], CORNERS[kinds[0]])
    second = of_bits(kinds[1], CORNERS[kinds[1]])
    columns = [np.repeat(first, len(second)), np.tile(second, len(first))]
    rows = len(columns[0])
    for kind in kinds[2:]:
        corners = of_bits(kind, CORNERS[kind])
        columns.append(corners[(mixed(rows, 5) % np.uint64(len(corners))).astype(np.int64)])
    result = []
    for salt, (kind, column) in enumerate(zip(kinds, columns, strict=True)):
        parts = [column, noise(kind, count, salt + 10)]
        if kind in ("f32", "f64", "half", "bf16"):
            parts.append(near_one(kind, count, salt + 20))
        else:
            parts.append(column[:count])
        result.append(np.concatenate(parts))
    return result


def spread(kind: str, low: float, high: float, count: int = 120, salt: int = 3) -> np.ndarray:
    """Floats of [low, high), uniform; only exactly rounded operations, so equal on any machine."""
    unit = (mixed(count, salt) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (low + unit * (high - low)).astype(NUMPY[kind])


def powers(kind: str, low: int, high: int, count: int = 80, salt: int = 4) -> np.ndarray:
    """Positive floats with exponents of [low, high) and random mantissas."""
    words = mixed(count, salt)
    exponent = (words % np.uint64(high - low)).astype(np.int64) + low
    mantissa = 1.0 + (words >> np.uint64(12)).astype(np.float64) * 2.0**-52
    return np.ldexp(mantissa, exponent).astype(NUMPY[kind])


def doubles(values: np.ndarray) -> np.ndarray:
    """Floats as doubles; a signalling NaN becomes a quiet one without a warning."""
    with np.errstate(invalid="ignore"):
        return values.astype(np.float64)
