// What our own math functions are made of. They are written for lanes: straight-line code whose
// choices are selects, polynomials instead of tables, fused multiply-adds by name, no library call
// and no conversion that could trap, so that every number of lanes gives the same bits.
#pragma once

TRILANE_HD float trilane_pick(bool c, float a, float b) { return c ? a : b; }
TRILANE_HD double trilane_pick(bool c, double a, double b) { return c ? a : b; }
TRILANE_HD unsigned int trilane_pick(bool c, unsigned int a, unsigned int b) { return c ? a : b; }

#define TRILANE_INF_F __uint_as_float(0x7f800000u)
#define TRILANE_NAN_F __uint_as_float(0x7fffffffu)
// y + round_f - round_f rounds y to an integer n; the low bits of y + round_f are those of n.
#define TRILANE_ROUND_F 0x1.8p23f
#define TRILANE_ROUND 0x1.8p52

TRILANE_HD float trilane_xor_sign(float x, unsigned int bits) {
    return __uint_as_float(__float_as_uint(x) ^ (bits & 0x80000000u));
}

// p 2^n with p in [1/2, 2] and t = TRILANE_ROUND_F + n. `small` must hold where n < -125 and may not
// where n > 63; n >= -190.
TRILANE_HD float trilane_scaled(float p, float t, bool small) {
    unsigned int exponent = (__float_as_uint(t) << 23) + trilane_pick(small, 64u << 23, 0u);
    return __uint_as_float(__float_as_uint(p) + exponent) * trilane_pick(small, 0x1p-64f, 1.0f);
}

// x = 2^k (1 + f), 1 + f in [1, 2] / sqrt 2, for finite x > 0; f is exact.
TRILANE_HD float trilane_split(float x, float* k) {
    TRILANE_EXACT
    bool small = x < FLT_MIN;
    float y = trilane_pick(small, x * 0x1p23f, x);
    int i = __float_as_int(y) - 0x3f3504f3;
    *k = (float)(i >> 23) - trilane_pick(small, 23.0f, 0.0f);
    return __int_as_float((i & 0x7fffff) + 0x3f3504f3) - 1.0f;
}
TRILANE_HD double trilane_split_wide(double x, double* k) {
    TRILANE_EXACT
    int e = (int)((unsigned int)(trilane_bits(x) >> 32) - 0x3fe6a09fu) >> 20;
    *k = (double)e;
    return __longlong_as_double((long long)(trilane_bits(x) - ((unsigned long long)e << 52))) - 1.0;
}

// Logarithms of normal x > 0, and exp, to about 36 bits: intermediate values of float functions.
TRILANE_HD double trilane_log_wide(double x) {
    TRILANE_EXACT
    double k, f = trilane_split_wide(x, &k);
    return __builtin_fma(k, 0x1.62e42fefa39efp-1, f * trilane_poly_log_wide(f));
}
TRILANE_HD double trilane_log2_wide(double x) {
    TRILANE_EXACT
    double k, f = trilane_split_wide(x, &k);
    return __builtin_fma(f, trilane_poly_log2_wide(f), k);
}
TRILANE_HD double trilane_exp_wide(double x) {   // |x| < 700
    TRILANE_EXACT
    double t = __builtin_fma(x, 0x1.71547652b82fep+0, TRILANE_ROUND);
    double n = t - TRILANE_ROUND;
    double p = trilane_poly_exp_wide(__builtin_fma(n, -0x1.62e42fefa39efp-1, x));
    return __longlong_as_double((long long)(trilane_bits(p) + (trilane_bits(t) << 52)));
}
