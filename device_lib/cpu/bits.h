// Reinterpreting values as bits and back.
#pragma once

TRILANE_HD int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
TRILANE_HD unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
TRILANE_HD float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
TRILANE_HD float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
// What arithmetic by bits gives, as -ftz has it.
TRILANE_HD float trilane_flushed(float x) {
#ifdef __CUDA_FTZ
    int bits = __float_as_int(x);
    return (bits & 0x7fffffff) < 0x00800000 ? __int_as_float(bits & (int)0x80000000) : x;
#else
    return x;
#endif
}
TRILANE_HD long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
TRILANE_HD double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
TRILANE_HD unsigned long long trilane_bits(double x) {
    return __builtin_bit_cast(unsigned long long, x);
}
TRILANE_HD int __double2hiint(double x) { return (int)(trilane_bits(x) >> 32); }
TRILANE_HD int __double2loint(double x) { return (int)(unsigned int)trilane_bits(x); }
TRILANE_HD double __hiloint2double(int high, int low) {
    return __longlong_as_double(
        (long long)(((unsigned long long)(unsigned int)high << 32) | (unsigned int)low));
}
