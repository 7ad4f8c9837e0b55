// Exponential and hyperbolic functions of floats.
#pragma once

TRILANE_HD float trilane_exp(float x) {
    TRILANE_EXACT
    float t = __builtin_fmaf(x, 0x1.715476p+0f, TRILANE_ROUND_F), n = t - TRILANE_ROUND_F;
    float r = __builtin_fmaf(n, -0x1.62e43p-1f, x);
    r = __builtin_fmaf(n, 0x1.05c61p-29f, r);
    float y = trilane_scaled(trilane_poly_exp(r), t, x < -86.0f);
    y = trilane_pick(x < -104.0f, 0.0f, y);
    return trilane_pick(x <= 0x1.62e42ep+6f, y, x + TRILANE_INF_F);
}
TRILANE_HD float trilane_exp2(float x) {
    TRILANE_EXACT
    float t = x + TRILANE_ROUND_F, n = t - TRILANE_ROUND_F;
    float y = trilane_scaled(trilane_poly_exp2(x - n), t, x < -125.0f);
    y = trilane_pick(x < -151.0f, 0.0f, y);
    return trilane_pick(x < 128.0f, y, x + TRILANE_INF_F);
}
TRILANE_HD float trilane_exp10(float x) {
    TRILANE_EXACT
    float t = __builtin_fmaf(x, 0x1.a934fp+1f, TRILANE_ROUND_F), n = t - TRILANE_ROUND_F;
    float r = __builtin_fmaf(n, -0x1.344136p-2f, x);
    r = __builtin_fmaf(n, 0x1.ec10cp-27f, r);
    float y = trilane_scaled(trilane_poly_exp10(r), t, x < -37.0f);
    y = trilane_pick(x < -45.5f, 0.0f, y);
    return trilane_pick(x <= 0x1.344134p+5f, y, x + TRILANE_INF_F);
}
// The remainder goes into 2^r without correction: the error grows with |x|, as that of the GPU's.
TRILANE_HD float trilane_exp_fast(float x) {
    TRILANE_EXACT
    float t = __builtin_fmaf(x, 0x1.715476p+0f, TRILANE_ROUND_F), n = t - TRILANE_ROUND_F;
    float p = trilane_poly_exp2(__builtin_fmaf(x, 0x1.715476p+0f, -n));
    float y = trilane_scaled(p, t, x < -86.0f);
    y = trilane_pick(x < -104.0f, 0.0f, y);
    return trilane_pick(x <= 0x1.62e42ep+6f, y, x + TRILANE_INF_F);
}
TRILANE_HD float trilane_exp10_fast(float x) {
    TRILANE_EXACT
    float t = __builtin_fmaf(x, 0x1.a934fp+1f, TRILANE_ROUND_F), n = t - TRILANE_ROUND_F;
    float p = trilane_poly_exp2(__builtin_fmaf(x, 0x1.a934fp+1f, -n));
    float y = trilane_scaled(p, t, x < -37.0f);
    y = trilane_pick(x < -45.5f, 0.0f, y);
    return trilane_pick(x <= 0x1.344134p+5f, y, x + TRILANE_INF_F);
}
// 2^n q + (2^n - 1) with q = exp(r) - 1; by halves, as 2^128 is no float. q stays a sum, r + curve:
// where n = 1 takes half of the result away, a rounded q would be one ulp of it.
TRILANE_HD float trilane_expm1(float x) {
    TRILANE_EXACT
    float y = trilane_pick(x < -18.0f, -18.0f, x);
    float t = __builtin_fmaf(y, 0x1.715476p+0f, TRILANE_ROUND_F), n = t - TRILANE_ROUND_F;
    float whole = __builtin_fmaf(n, -0x1.62e43p-1f, y);
    float r = __builtin_fmaf(n, 0x1.05c61p-29f, whole);
    float lost = __builtin_fmaf(n, 0x1.05c61p-29f, whole - r);
    float curve = __builtin_fmaf(r * r, trilane_poly_expm1(r), lost);
    float half = __uint_as_float((__float_as_uint(t) + 126u) << 23);
    float value = 2.0f * __builtin_fmaf(half, curve, __builtin_fmaf(half, r, half - 0.5f));
    value = trilane_pick(__builtin_fabsf(x) < 0x1p-25f, x, value);
    return trilane_pick(x <= 0x1.62e42ep+6f, value, x + TRILANE_INF_F);
}

// exp(a) / 2 for 0 <= a <= 89.4.
TRILANE_HD float trilane_half_exp(float a) {
    TRILANE_EXACT
    float t = __builtin_fmaf(a, 0x1.715476p+0f, TRILANE_ROUND_F), n = t - TRILANE_ROUND_F;
    float r = __builtin_fmaf(n, -0x1.62e43p-1f, a);
    r = __builtin_fmaf(n, 0x1.05c61p-29f, r);
    unsigned int exponent = (__float_as_uint(t) - 1u) << 23;
    return __uint_as_float(__float_as_uint(trilane_poly_exp(r)) + exponent);
}
TRILANE_HD float trilane_sinh(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x), s = a * a, h = trilane_half_exp(a);
    float near = __builtin_fmaf(a * s, trilane_poly_sinh(s), a);
    float y = trilane_pick(a < 1.0f, near, h - 0.25f / h);
    return __builtin_copysignf(trilane_pick(a <= 0x1.65a9f8p+6f, y, a + TRILANE_INF_F), x);
}
TRILANE_HD float trilane_cosh(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x), h = trilane_half_exp(a);
    return trilane_pick(a <= 0x1.65a9f8p+6f, h + 0.25f / h, a + TRILANE_INF_F);
}
TRILANE_HD float trilane_tanh(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x), s = a * a;
    float near = __builtin_fmaf(a * s, trilane_poly_tanh(s), a);
    float h = trilane_half_exp(trilane_pick(a > 12.0f, 24.0f, a + a));
    float far = 1.0f - 1.0f / (h + 0.5f);
    return __builtin_copysignf(trilane_pick(a >= 0.55f, far, near), x);
}
