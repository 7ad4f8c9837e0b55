// Circular functions of floats and their inverses.
#pragma once

// x / pi + shift modulo 2 as a sum of two doubles. Each product with 28 bits of 1/pi is exact, and so is
// taking even numbers off it; seven of them reach below the last bit that any float needs.
TRILANE_HD void trilane_turn(double x, double part, double* sum, double* rest) {
    TRILANE_EXACT
    double p = x * part;
    p = __builtin_fma(-2.0, __builtin_rint(0.5 * p), p);
    double s = *sum + p, t = s - *sum;
    *rest += (*sum - (s - t)) + (p - t);
    *sum = s;
}
TRILANE_HD double trilane_half_turns(double x, double shift, double* rest) {
    double sum = shift;
    *rest = 0;
    trilane_turn(x, 0x1.45f306cp-2, &sum, rest);
    trilane_turn(x, 0x1.c9c8828p-30, &sum, rest);
    trilane_turn(x, 0x1.29fc274p-57, &sum, rest);
    trilane_turn(x, 0x1.7d1f534p-85, &sum, rest);
    trilane_turn(x, 0x1.bb81b6cp-114, &sum, rest);
    trilane_turn(x, 0x1.4acc9ep-144, &sum, rest);
    trilane_turn(x, 0x1.0e41078p-171, &sum, rest);
    return sum;
}

// a - n pi for half or whole n: exact but for its last term as long as |n| is below 2^15.
TRILANE_HD float trilane_less_pi(float a, float n) {
    TRILANE_EXACT
    float r = __builtin_fmaf(n, -0x1.921fb6p+1f, a);
    r = __builtin_fmaf(n, 0x1.777a5cp-24f, r);
    return __builtin_fmaf(n, 0x1.ee59dap-49f, r);
}
#define TRILANE_FAR_ANGLE 105615.0f

// sin(r), |r| <= pi/2, its sign changed by the top bit of `sign`.
TRILANE_HD float trilane_sin_near(float r, unsigned int sign) {
    TRILANE_EXACT
    float s = r * r;
    return trilane_xor_sign(__builtin_fmaf(r * s, trilane_poly_sin(s), r), sign);
}
// sin(pi (x/pi + shift)) for large or infinite x: rare.
TRILANE_HD float trilane_sin_far(float x, double shift) {
    TRILANE_EXACT
    double rest, turns = trilane_half_turns((double)x, shift, &rest);
    double t = turns + TRILANE_ROUND, n = t - TRILANE_ROUND;
    float r = (float)(((turns - n) + rest) * 0x1.921fb54442d18p+1);
    return trilane_sin_near(r, (unsigned int)trilane_bits(t) << 31);
}
TRILANE_HD float trilane_sin(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    float t = __builtin_fmaf(a, 0x1.45f306p-2f, TRILANE_ROUND_F), n = t - TRILANE_ROUND_F;
    unsigned int sign = (__float_as_uint(t) << 31) ^ __float_as_uint(x);
    float y = trilane_sin_near(trilane_less_pi(a, n), sign);
    if (a > TRILANE_FAR_ANGLE) y = trilane_sin_far(x, 0.0);
    return y;
}
// -sin(r) with r = |x| - (n + 1/2) pi, n even.
TRILANE_HD float trilane_cos(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    float t = __builtin_fmaf(a, 0x1.45f306p-2f, -0.5f) + TRILANE_ROUND_F;
    float n = t - TRILANE_ROUND_F;
    unsigned int sign = ~(__float_as_uint(t) << 31);
    float y = trilane_sin_near(trilane_less_pi(a, n + 0.5f), sign);
    if (a > TRILANE_FAR_ANGLE) y = trilane_sin_far(a, 0.5);
    return y;
}
TRILANE_HD float trilane_tan_near(float r, unsigned int quarter, unsigned int sign) {
    TRILANE_EXACT
    float s = r * r;
    float t = __builtin_fmaf(r * s, trilane_poly_tan(s), r), inverse = -1.0f / t;
    return trilane_xor_sign(trilane_pick((quarter & 1u) != 0, inverse, t), sign);
}
TRILANE_HD float trilane_tan(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    float t = __builtin_fmaf(a, 0x1.45f306p-1f, TRILANE_ROUND_F), n = t - TRILANE_ROUND_F;
    float y = trilane_tan_near(trilane_less_pi(a, 0.5f * n), __float_as_uint(t), __float_as_uint(x));
    if (a > TRILANE_FAR_ANGLE) {
        double rest, turns = 2.0 * trilane_half_turns((double)x, 0.0, &rest);
        double w = turns + TRILANE_ROUND, m = w - TRILANE_ROUND;
        float r = (float)(__builtin_fma(2.0, rest, turns - m) * 0x1.921fb54442d18p+0);
        y = trilane_tan_near(r, (unsigned int)trilane_bits(w), 0u);
    }
    return y;
}

// The fast forms: two terms of pi, an absolute bound. Far out, where a GPU gives anything, exact.
TRILANE_HD float trilane_sin_fast_near(float x, float n, unsigned int sign) {
    TRILANE_EXACT
    float r = __builtin_fmaf(n, -0x1.921fb6p+1f, x);
    r = __builtin_fmaf(n, 0x1.777a5cp-24f, r);
    return trilane_xor_sign(r * trilane_poly_sin_fast(r * r), sign);
}
TRILANE_HD float trilane_sin_fast(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    float t = __builtin_fmaf(a, 0x1.45f306p-2f, TRILANE_ROUND_F), n = t - TRILANE_ROUND_F;
    float y = trilane_sin_fast_near(a, n, (__float_as_uint(t) << 31) ^ __float_as_uint(x));
    if (a > TRILANE_FAR_ANGLE) y = trilane_sin_far(x, 0.0);
    return y;
}
TRILANE_HD float trilane_cos_fast(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    float t = __builtin_fmaf(a, 0x1.45f306p-2f, -0.5f) + TRILANE_ROUND_F;
    float n = t - TRILANE_ROUND_F + 0.5f;
    float y = trilane_sin_fast_near(a, n, ~(__float_as_uint(t) << 31));
    if (a > TRILANE_FAR_ANGLE) y = trilane_sin_far(x, 0.5);
    return y;
}

TRILANE_HD float trilane_tan_fast(float x) {
    TRILANE_EXACT
    return trilane_sin_fast(x) / trilane_cos_fast(x);
}

// sin and cos of pi a, a >= 0: a modulo 2 is exact, and so is what is left of the half turns.
TRILANE_HD float trilane_sincospi(float a, unsigned int quarters) {
    TRILANE_EXACT
    float b = __builtin_fmaf(-2.0f, __builtin_rintf(0.5f * a), a);
    float t = b + b + TRILANE_ROUND_F;
    float r = __builtin_fmaf(-0.5f, t - TRILANE_ROUND_F, b), s = r * r;
    unsigned int q = __float_as_uint(t) + quarters;
    float sine = __builtin_fmaf(r * s, trilane_poly_sinpi(s), r * -0x1.777a5cp-24f);
    sine = __builtin_fmaf(r, 0x1.921fb6p+1f, sine);
    float v = trilane_pick((q & 1u) != 0, trilane_poly_cospi(s), sine);
    return trilane_pick(v == 0.0f, 0.0f, trilane_xor_sign(v, q << 30));
}
TRILANE_HD float trilane_sinpi(float x) {
    return trilane_xor_sign(trilane_sincospi(__builtin_fabsf(x), 0u), __float_as_uint(x));
}
TRILANE_HD float trilane_cospi(float x) { return trilane_sincospi(__builtin_fabsf(x), 1u); }

// atan of q in [0, 1]; `inverted` gives pi/2 less that.
TRILANE_HD float trilane_atan_near(float q, bool inverted) {
    TRILANE_EXACT
    float s = q * q;
    float p = __builtin_fmaf(q * s, trilane_poly_atan(s), q);
    float other = (0x1.921fb6p+0f - p) + -0x1.777a5cp-25f;
    return trilane_pick(inverted, other, p);
}
TRILANE_HD float trilane_atan(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x);
    bool inverted = a > 1.0f;
    float inverse = 1.0f / a;
    return __builtin_copysignf(trilane_atan_near(trilane_pick(inverted, inverse, a), inverted), x);
}
TRILANE_HD float trilane_atan2(float y, float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
    bool steep = b > a;
    float q = trilane_pick(steep, a, b) / trilane_pick(steep, b, a);
    q = trilane_pick(b == 0.0f, 0.0f, q);               // also 0 / 0
    q = trilane_pick((a == b) & isinf(a), 1.0f, q);
    float p = trilane_atan_near(q, steep);
    float back = (0x1.921fb6p+1f - p) + -0x1.777a5cp-24f;
    p = __builtin_copysignf(trilane_pick(signbit(x), back, p), y);
    return trilane_pick(isnan(x) | isnan(y), x + y, p);
}

// asin(sqrt s) / sqrt s near 0 serves both: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
TRILANE_HD float trilane_asin(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x), z = __builtin_fmaf(-0.5f, a, 0.5f);
    bool far = a > 0.5f;
    float r = trilane_pick(far, __builtin_sqrtf(z), a), s = trilane_pick(far, z, a * a);
    float p = __builtin_fmaf(r * s, trilane_poly_asin(s), r);
    float other = __builtin_fmaf(-2.0f, p, 0x1.921fb6p+0f) + -0x1.777a5cp-25f;
    float y = trilane_pick(far, other, p);
    return __builtin_copysignf(trilane_pick(a <= 1.0f, y, TRILANE_NAN_F), x);
}
TRILANE_HD float trilane_acos(float x) {
    TRILANE_EXACT
    float a = __builtin_fabsf(x), z = __builtin_fmaf(-0.5f, a, 0.5f);
    bool far = a > 0.5f, negative = x < 0.0f;
    float r = trilane_pick(far, __builtin_sqrtf(z), a), s = trilane_pick(far, z, a * a);
    float p = __builtin_fmaf(r * s, trilane_poly_asin(s), r);
    float q = p + p, back = __builtin_fmaf(-2.0f, p, 0x1.921fb6p+1f) + -0x1.777a5cp-24f;
    float edge = trilane_pick(negative, back, q);
    float middle = (0x1.921fb6p+0f - __builtin_copysignf(p, x)) + -0x1.777a5cp-25f;
    float y = trilane_pick(far, edge, middle);
    return trilane_pick(a <= 1.0f, y, TRILANE_NAN_F);
}
