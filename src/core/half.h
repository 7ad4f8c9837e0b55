// float16 by its bits: conversion from double with one rounding, to nearest even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace trilane::core {

inline uint16_t half_bits(double value) {
    const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
    if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
    const double magnitude = std::fabs(value);
    if (magnitude >= 65520.0) return static_cast<uint16_t>(sign | 0x7c00);
    if (magnitude < std::ldexp(1.0, -14)) {  // subnormal: multiples of 2^-24
        const auto units = static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24)));
        return static_cast<uint16_t>(sign | units);
    }
    const int exponent = std::ilogb(magnitude);
    const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    // units is 1024 to 2048; a carry to 2048 lands in the exponent by itself
    return static_cast<uint16_t>(sign +
                                 ((static_cast<uint32_t>(exponent + 15) << 10) + units - 1024));
}

}  // namespace trilane::core
