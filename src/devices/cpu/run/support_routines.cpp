// 128-bit division and conversions to the small floats.
#include "devices/cpu/run/support_routines.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace trilane::cpu::support {

Int128 divide_i128(Int128 a, Int128 b) { return a / b; }
Int128 remainder_i128(Int128 a, Int128 b) { return a % b; }
UInt128 divide_u128(UInt128 a, UInt128 b) { return a / b; }
UInt128 remainder_u128(UInt128 a, UInt128 b) { return a % b; }

namespace {

// value = sign * significand * 2^(exponent), rounded to `mantissa` fraction bits.
template <int kMantissa, int kExponent>
uint16_t round_small(double value) {
    constexpr int kBias = (1 << (kExponent - 1)) - 1;
    constexpr uint16_t kInfinity = uint16_t(((1 << kExponent) - 1) << kMantissa);
    uint64_t bits = std::bit_cast<uint64_t>(value);
    uint16_t sign = uint16_t(bits >> 63 << 15);
    if (std::isnan(value))
        return uint16_t(sign | kInfinity | (1u << (kMantissa - 1)) |
                        ((bits >> (52 - kMantissa)) & ((1u << kMantissa) - 1)));
    double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) return uint16_t(sign | kInfinity);
    if (magnitude == 0) return sign;
    int exponent = std::ilogb(magnitude);
    int least = std::max(exponent, 1 - kBias) - kMantissa;          // exponent of the last place
    double scaled = std::nearbyint(std::ldexp(magnitude, -least));  // exact, then one rounding
    if (std::ldexp(scaled, least) >= std::ldexp(1.0, kBias + 1)) return uint16_t(sign | kInfinity);
    auto significand = uint64_t(scaled);
    uint64_t field = exponent < 1 - kBias ? 0 : uint64_t(exponent + kBias - 1) << kMantissa;
    return uint16_t(sign | (field + significand));  // a carry moves into the exponent by itself
}

float in_register(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits}); }

}  // namespace

uint16_t round_to_half(double value) { return round_small<10, 5>(value); }
uint16_t round_to_bfloat(double value) { return round_small<7, 8>(value); }
float float_to_bfloat(float value) { return in_register(round_to_bfloat(value)); }
float double_to_bfloat(double value) { return in_register(round_to_bfloat(value)); }
float float_to_half(float value) { return in_register(round_to_half(value)); }
float double_to_half(double value) { return in_register(round_to_half(value)); }

float half_to_float(float half_bits) {
    uint32_t bits = std::bit_cast<uint32_t>(half_bits) & 0xffff;
    uint32_t sign = bits >> 15 << 31, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) {
        float magnitude = std::ldexp(float(fraction), -24);
        return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
    }
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

}  // namespace trilane::cpu::support
