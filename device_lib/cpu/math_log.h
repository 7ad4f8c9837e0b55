// Logarithms and inverse hyperbolic functions of floats.
#pragma once

// y for finite x > 0; the logarithm's limits elsewhere.
TRILANE_HD float trilane_log_value(float x, float y) {
    bool ordinary = __float_as_uint(x) - 1u < 0x7f7fffffu;
    float other = trilane_pick(x < 0.0f, TRILANE_NAN_F, x);
    other = trilane_pick(x == 0.0f, -TRILANE_INF_F, other);
    return trilane_pick(ordinary, y, other);
}
// k ln 2 + log(1 + f): the leading sum is exact as a + e, or the last bit would be lost where
// k = -1 takes most of the logarithm away.
TRILANE_HD float trilane_log_sum(float k, float f) {
    TRILANE_EXACT
    float b = k * 0x1.62e4p-1f, a = b + f, e = f - (a - b);
    float rest = __builtin_fmaf(k, 0x1.7f7d1cp-20f, e);
    return a + __builtin_fmaf(f * f, trilane_poly_log(f), rest);
}
TRILANE_HD float trilane_log(float x) {
    float k, f = trilane_split(x, &k);
    return trilane_log_value(x, trilane_log_sum(k, f));
}
TRILANE_HD float trilane_log2(float x) {
    TRILANE_EXACT
    float k, f = trilane_split(x, &k);
    float h = f * 0x1.715476p+0f;
    float a = k + h, e = h - (a - k) + __builtin_fmaf(f, 0x1.715476p+0f, -h);
    e = __builtin_fmaf(f, 0x1.4ae0cp-26f, e);
    return trilane_log_value(x, a + __builtin_fmaf(f * f, trilane_poly_log2(f), e));
}
TRILANE_HD float trilane_log10(float x) {
    TRILANE_EXACT
    float k, f = trilane_split(x, &k);
    float b = k * 0x1.344p-2f, h = f * 0x1.bcb7b2p-2f;
    float a = b + h, e = h - (a - b) + __builtin_fmaf(f, 0x1.bcb7b2p-2f, -h);
    e = __builtin_fmaf(f, -0x1.5b235ep-27f, __builtin_fmaf(k, 0x1.3509f8p-18f, e));
    return trilane_log_value(x, a + __builtin_fmaf(f * f, trilane_poly_log10(f), e));
}
// 1 + x is rounded; what was lost goes into f, scaled.
TRILANE_HD float trilane_log1p(float x) {
    TRILANE_EXACT
    float u = 1.0f + x, lost = x - (u - 1.0f);
    int i = __float_as_int(u) - 0x3f3504f3, e = i & ~0x7fffff;
    float f = __int_as_float((i & 0x7fffff) + 0x3f3504f3) - 1.0f;
    float corrected = __builtin_fmaf(lost, __int_as_float(0x3f800000 - e), f);
    f = trilane_pick(x > 0x1p30f, f, corrected);
    float y = trilane_log_value(u, trilane_log_sum((float)(i >> 23), f));
    return trilane_pick(__builtin_fabsf(x) < 0x1p-25f, x, y);
}
TRILANE_HD float trilane_log_fast(float x) {
    TRILANE_EXACT
    float k, f = trilane_split(x, &k);
    float y = __builtin_fmaf(k, 0x1.62e43p-1f, f * trilane_poly_log_fast(f));
    return trilane_log_value(x, y);
}
TRILANE_HD float trilane_log2_fast(float x) {
    TRILANE_EXACT
    float k, f = trilane_split(x, &k);
    return trilane_log_value(x, __builtin_fmaf(f, trilane_poly_log2_fast(f), k));
}
TRILANE_HD float trilane_log10_fast(float x) {
    TRILANE_EXACT
    return trilane_log_fast(x) * 0x1.bcb7b2p-2f;
}

// Through wide logarithms: no cancellation to fear, and no square overflows.
TRILANE_HD float trilane_asinh(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    double d = (double)a;
    float y = (float)trilane_log_wide(d + __builtin_sqrt(__builtin_fma(d, d, 1.0)));
    y = trilane_pick(a < 0x1p-7f, __builtin_fmaf(a * a, a * (-1.0f / 6.0f), a), y);
    return trilane_pick(isfinite(x), __builtin_copysignf(y, x), x);
}
TRILANE_HD float trilane_acosh(float x) {
    TRILANE_EXACT
    double d = (double)x;
    float y = (float)trilane_log_wide(d + __builtin_sqrt(__builtin_fma(d, d, -1.0)));
    y = trilane_pick(x < 1.0f, TRILANE_NAN_F, y);
    return trilane_pick(isfinite(x), y, x + TRILANE_INF_F);
}
TRILANE_HD float trilane_atanh(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    double d = (double)a;
    float y = (float)(0.5 * trilane_log_wide((1.0 + d) / (1.0 - d)));
    y = trilane_pick(a < 0x1p-7f, __builtin_fmaf(a * a, a * (1.0f / 3.0f), a), y);
    y = trilane_pick(a == 1.0f, TRILANE_INF_F, y);
    y = trilane_pick(a <= 1.0f, y, TRILANE_NAN_F);
    return __builtin_copysignf(y, x);
}
