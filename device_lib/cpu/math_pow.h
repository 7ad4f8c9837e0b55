// Powers, roots and the error functions of floats.
#pragma once

// 2^w with |w| below 2^22; out of range 0 or infinity.
TRILANE_HD float trilane_exp2_of(double w) {
    TRILANE_EXACT
    w = trilane_pick(w > 200.0, 200.0, w);
    w = trilane_pick(w < -190.0, -190.0, w);
    float x = (float)w, t = x + TRILANE_ROUND_F, n = t - TRILANE_ROUND_F;
    float r = (float)(w - (double)n);
    float y = trilane_scaled(trilane_poly_exp2(r), t, x < -120.0f);
    y = trilane_pick(w < -151.0, 0.0f, y);
    return trilane_pick(w < 128.0, y, x + TRILANE_INF_F);   // a NaN stays one
}
TRILANE_HD float trilane_pow(float x, float y) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    double l = trilane_log2_wide((double)a);
    l = trilane_pick(a == 0.0f, -__builtin_inf(), l);
    l = trilane_pick(a < TRILANE_INF_F, l, (double)a);
    float v = trilane_exp2_of((double)y * l);
    float half = 0.5f * y;
    bool whole = __builtin_rintf(y) == y, odd = whole & (__builtin_rintf(half) != half);
    unsigned int sign = trilane_pick(odd, __float_as_uint(x), 0u);
    v = trilane_pick((a == 1.0f) & (y == y), 1.0f, v);   // |y| may be infinite
    v = trilane_xor_sign(v, sign);
    v = trilane_pick((x < 0.0f) & !whole & (a < TRILANE_INF_F), TRILANE_NAN_F, v);
    return trilane_pick((x == 1.0f) | (y == 0.0f), 1.0f, v);
}
TRILANE_HD float trilane_pow_fast(float x, float y) {
    TRILANE_EXACT
    return trilane_exp2(y * trilane_log2_fast(x));
}

// The cube root of a finite a > 0 in double: a cubic for the mantissa, one of Halley's steps.
TRILANE_HD double trilane_cbrt_wide(float a) {
    TRILANE_EXACT
    double d = (double)a;
    unsigned int e = ((unsigned int)(trilane_bits(d) >> 52)) + 177u;   // biased by a multiple of 3
    unsigned int third = (e * 21846u) >> 16, left = e - 3u * third;
    double m = __longlong_as_double(
        (long long)((trilane_bits(d) & 0xfffffffffffffull) | 0x3ff0000000000000ull));
    double y = trilane_poly_cbrt(m);
    double more = trilane_pick(left == 1, 2.0, 4.0);
    double root = trilane_pick(left == 1, 0x1.428a2f98d728bp+0, 0x1.965fea53d6e3dp+0);
    m *= trilane_pick(left == 0, 1.0, more);
    y *= trilane_pick(left == 0, 1.0, root);
    double c = y * y * y;
    y *= __builtin_fma(2.0, m, c) / __builtin_fma(2.0, c, m);
    return y * __longlong_as_double((long long)((unsigned long long)(third + 623u) << 52));
}
TRILANE_HD float trilane_cbrt(float x) {
    float y = (float)trilane_cbrt_wide(__builtin_fabsf(x));
    return trilane_pick(isfinite(x) & (x != 0.0f), __builtin_copysignf(y, x), x);
}
TRILANE_HD float trilane_rcbrt(float x) {
    float y = (float)(1.0 / trilane_cbrt_wide(__builtin_fabsf(x)));
    return trilane_pick(isfinite(x) & (x != 0.0f), __builtin_copysignf(y, x), 1.0f / x);
}
TRILANE_HD float trilane_hypot(float x, float y) {
    TRILANE_EXACT
    double a = (double)x, b = (double)y;
    float v = (float)__builtin_sqrt(__builtin_fma(a, a, b * b));
    return trilane_pick(isinf(x) | isinf(y), TRILANE_INF_F, v);
}

TRILANE_HD float trilane_erf(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    float near = __builtin_fmaf(a, trilane_poly_erf_near(a * a), a);
    float w = trilane_poly_erf_far(trilane_pick(a > 4.0f, 4.0f, a));
    float t = w + TRILANE_ROUND_F;
    float p = trilane_poly_exp2(w - (t - TRILANE_ROUND_F));
    float far = 1.0f - __uint_as_float(__float_as_uint(p) + (__float_as_uint(t) << 23));
    return __builtin_copysignf(trilane_pick(a >= 1.0f, far, near), x);
}
TRILANE_HD double trilane_erfc_wide(double x) {
    TRILANE_EXACT
    double a = __builtin_fabs(x);
    a = trilane_pick(a > 11.0, 11.0, a);
    double v = trilane_poly_erfcx_wide((a - 4.0) / (a + 4.0)) / (1.0 + 2.0 * a);
    v *= trilane_exp_wide(-a * a);
    return trilane_pick(x < 0.0, 2.0 - v, v);
}
TRILANE_HD float trilane_erfc(float x) { return (float)trilane_erfc_wide((double)x); }
