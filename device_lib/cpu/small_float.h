// Roundings shared by the 16-bit floats.
#pragma once

// A double as the float that any later rounding to fewer bits takes the same way: round to odd.
TRILANE_HD float trilane_float_odd(double d) {
    float f = (float)d;
    unsigned int bits = __float_as_uint(f);
    if (isfinite(d) && (double)f != d && !(bits & 1u)) {
        // overflow to infinity steps back to the largest float, whose last bit is set
        bool away = __builtin_fabs((double)f) > __builtin_fabs(d);
        bits = away ? bits - 1u : bits + 1u;
    }
    return __uint_as_float(bits);
}
TRILANE_HD double trilane_sum_odd_or_special(double a, double b) {
    TRILANE_EXACT
    return isfinite(a) && isfinite(b) ? trilane_sum_odd(a, b) : a + b;
}

// A number of any type as a double that both 16-bit floats take the same way: 64-bit integers that
// are not doubles are rounded to odd, 11 bits at once.
template <class T> TRILANE_HD double trilane_double_odd(T v) {
    if constexpr (sizeof(T) < 8) return (double)v;
    unsigned long long bits = (unsigned long long)v;
    bool negative = (T)-1 < (T)0 && v < (T)0;
    unsigned long long size = negative ? 0ull - bits : bits;
    if (size >> 53) size = ((size >> 11) | (size & 2047u ? 1u : 0u)) << 11;
    return negative ? -(double)size : (double)size;
}
// The GPU's conversion to an integer type: saturates, NaN is 0 below 64 bits. A cast to less than
// an int would cut bits off.
template <class T> TRILANE_HD T trilane_saturated(float v) {
    if constexpr (sizeof(T) < 4) {
        constexpr int all = (1 << (8 * sizeof(T))) - 1;
        constexpr int low = (T)-1 < (T)0 ? -(all / 2) - 1 : 0, high = low + all;
        int i = (int)v;
        return (T)(i < low ? low : i > high ? high : i);
    } else {
        return (T)v;
    }
}
