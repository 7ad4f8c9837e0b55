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
