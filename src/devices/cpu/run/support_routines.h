// Routines that generated code calls where the machine has no instruction, by the calling
// convention that LLVM expects of them: 128-bit division, conversions to the small floats.
#pragma once

#include <cstdint>

namespace trilane::cpu::support {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

Int128 divide_i128(Int128 a, Int128 b);
Int128 remainder_i128(Int128 a, Int128 b);
UInt128 divide_u128(UInt128 a, UInt128 b);
UInt128 remainder_u128(UInt128 a, UInt128 b);

// Small floats travel in the low half of an xmm register: in C++ as a float with those bits.
float float_to_bfloat(float value);
float double_to_bfloat(double value);
float float_to_half(float value);
float double_to_half(double value);
float half_to_float(float half_bits);

// Rounds to nearest even from double once: no double rounding. Exposed for tests.
uint16_t round_to_half(double value);
uint16_t round_to_bfloat(double value);

}  // namespace trilane::cpu::support
