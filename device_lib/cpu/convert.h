// Conversions between numbers with a stated rounding. The C casts saturate as the GPU's do (the
// compiler's first pass sees to it), so float to integer is a rounding and a cast.
#pragma once

#define TRILANE_FLOAT_TO_INTEGER(from, from_name, suffix, to, to_name)                             \
    TRILANE_HD to __##from_name##2##to_name##_rn(from x) { return (to)__builtin_rint##suffix(x); } \
    TRILANE_HD to __##from_name##2##to_name##_rz(from x) { return (to)x; }                         \
    TRILANE_HD to __##from_name##2##to_name##_ru(from x) { return (to)__builtin_ceil##suffix(x); } \
    TRILANE_HD to __##from_name##2##to_name##_rd(from x) { return (to)__builtin_floor##suffix(x); }
TRILANE_FLOAT_TO_INTEGER(float, float, f, int, int)
TRILANE_FLOAT_TO_INTEGER(float, float, f, unsigned int, uint)
TRILANE_FLOAT_TO_INTEGER(float, float, f, long long, ll)
TRILANE_FLOAT_TO_INTEGER(float, float, f, unsigned long long, ull)
TRILANE_FLOAT_TO_INTEGER(double, double, , int, int)
TRILANE_FLOAT_TO_INTEGER(double, double, , unsigned int, uint)
TRILANE_FLOAT_TO_INTEGER(double, double, , long long, ll)
TRILANE_FLOAT_TO_INTEGER(double, double, , unsigned long long, ull)
#undef TRILANE_FLOAT_TO_INTEGER

// 32-bit integers are exact doubles.
TRILANE_HD double __int2double_rn(int x) { return (double)x; }
TRILANE_HD double __uint2double_rn(unsigned int x) { return (double)x; }
#define TRILANE_INT_TO_FLOAT(type, name)                                                      \
    TRILANE_HD float __##name##2float_rn(type x) { return (float)x; }                         \
    TRILANE_HD float __##name##2float_rz(type x) { return __double2float_rz((double)x); }     \
    TRILANE_HD float __##name##2float_ru(type x) { return __double2float_ru((double)x); }     \
    TRILANE_HD float __##name##2float_rd(type x) { return __double2float_rd((double)x); }
TRILANE_INT_TO_FLOAT(int, int)
TRILANE_INT_TO_FLOAT(unsigned int, uint)
#undef TRILANE_INT_TO_FLOAT

// 64-bit magnitudes: shift the tail out, say whether it was zero, round by hand.
TRILANE_HD double trilane_magnitude_to_double(unsigned long long m, bool up) {
    int extra = m ? 11 - __builtin_clzll(m) : 0;
    if (extra <= 0) return (double)m;
    unsigned long long head = m >> extra, tail = m & ((1ull << extra) - 1);
    return __builtin_ldexp((double)(head + (up && tail ? 1 : 0)), extra);
}
TRILANE_HD float trilane_magnitude_to_float(unsigned long long m, bool up) {
    int extra = m ? 40 - __builtin_clzll(m) : 0;
    if (extra <= 0) return (float)m;
    unsigned long long head = m >> extra, tail = m & ((1ull << extra) - 1);
    return __builtin_ldexpf((float)(head + (up && tail ? 1 : 0)), extra);
}
#define TRILANE_LONG_TO_FLOAT(to)                                                                 \
    TRILANE_HD to __ull2##to##_rn(unsigned long long x) { return (to)x; }                         \
    TRILANE_HD to __ull2##to##_rz(unsigned long long x) {                                         \
        return trilane_magnitude_to_##to(x, false);                                               \
    }                                                                                             \
    TRILANE_HD to __ull2##to##_rd(unsigned long long x) { return __ull2##to##_rz(x); }            \
    TRILANE_HD to __ull2##to##_ru(unsigned long long x) {                                         \
        return trilane_magnitude_to_##to(x, true);                                                \
    }                                                                                             \
    TRILANE_HD to trilane_signed_to_##to(long long x, bool up) {                                  \
        to m = trilane_magnitude_to_##to(                                                         \
            x < 0 ? 0ull - (unsigned long long)x : (unsigned long long)x, up);                    \
        return x < 0 ? -m : m;                                                                    \
    }                                                                                             \
    TRILANE_HD to __ll2##to##_rn(long long x) { return (to)x; }                                   \
    TRILANE_HD to __ll2##to##_rz(long long x) { return trilane_signed_to_##to(x, false); }        \
    TRILANE_HD to __ll2##to##_ru(long long x) { return trilane_signed_to_##to(x, x > 0); }        \
    TRILANE_HD to __ll2##to##_rd(long long x) { return trilane_signed_to_##to(x, x < 0); }
TRILANE_LONG_TO_FLOAT(double)
TRILANE_LONG_TO_FLOAT(float)
#undef TRILANE_LONG_TO_FLOAT

