// Functions that libm lacks: sinpi and cospi, the inverse error functions, the normal distribution,
// erfcx, modified Bessel functions, and norms. Double forms are within the CUDA guide's bounds;
// float forms are the double ones rounded.
#pragma once

#include "math_special_tables.h"

// pi r for |r| <= 1/4 as a double and its remainder.
TRILANE_HD double trilane_times_pi(double r, double* rest) {
    TRILANE_EXACT
    const double high = 0x1.921fb54442d18p+1, low = 0x1.1a62633145c07p-53;
    double t = r * high;
    *rest = __builtin_fma(r, high, -t) + r * low;
    return t;
}
TRILANE_HD void sincospi(double x, double* s, double* c) {
    TRILANE_EXACT
    // x modulo 2, half turns and what is left: all exact
    double a = __builtin_fma(-2.0, __builtin_rint(0.5 * x), x);
    double turns = __builtin_rint(2.0 * a);
    double r = __builtin_fma(-0.5, turns, a), e;
    double t = trilane_times_pi(r, &e);
    double sine = __builtin_sin(t), cosine = __builtin_cos(t);
    double sr = __builtin_fma(cosine, e, sine), cr = __builtin_fma(-sine, e, cosine);
    double quarter = turns - 4.0 * __builtin_floor(0.25 * turns);
    bool odd = quarter == 1.0 || quarter == 3.0;
    double sv = odd ? cr : sr, cv = odd ? sr : cr;
    sv = quarter >= 2.0 ? -sv : sv;
    cv = quarter == 1.0 || quarter == 2.0 ? -cv : cv;
    if (x == __builtin_trunc(x)) sv = __builtin_copysign(0.0, x);
    if (odd && r == 0.0) cv = 0.0;
    *s = isfinite(x) ? sv : NAN;
    *c = isfinite(x) ? cv : NAN;
}
TRILANE_HD double sinpi(double x) {
    double s, c;
    sincospi(x, &s, &c);
    return s;
}
TRILANE_HD double cospi(double x) {
    double s, c;
    sincospi(x, &s, &c);
    return c;
}
TRILANE_HD void sincospif(float x, float* s, float* c) {
    *s = sinpif(x);
    *c = cospif(x);
}
TRILANE_HD void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }

// exp(x^2) erfc(x).
TRILANE_HD_CALL double erfcx(double x) {
    TRILANE_EXACT
    double a = __builtin_fabs(x);
    double value = a > 0x1p53 ? 0x1.20dd750429b6dp-1 / a   // 1/sqrt(pi)
                              : trilane_erfcx_poly((a - 4.0) / (a + 4.0)) / (1.0 + 2.0 * a);
    if (!(x < 0)) return value;
    double square = x * x, rest = __builtin_fma(x, x, -square);
    double e = __builtin_exp(square);
    return isfinite(e) ? __builtin_fma(2.0 * e, rest, 2.0 * e) - value : e;
}

// y with erfc(y) = c, 0 < c <= 1/2: a start value good to 1e-7, one Halley step on erfc; far out,
// where erfc is tiny, Newton steps on its logarithm.
TRILANE_HD_CALL double trilane_erfc_inverse(double c) {
    TRILANE_EXACT
    double s = __builtin_sqrt(-__builtin_log(c * (2.0 - c)));
    if (s < 3.0) {
        double y = s * trilane_erfinv_near(s * (1.0 / 1.5) - 1.0);
        double u = (c - __builtin_erfc(y)) * (0x1.c5bf891b4ef6bp-1 * __builtin_exp(y * y));
        return y - u / (1.0 + u * y);
    }
    const double middle = 1.0 / 28 + 1.0 / 3, width = 1.0 / 3 - 1.0 / 28;
    double y = s * trilane_erfinv_far((2.0 / s - middle) / width);
    double log_c = __builtin_log(c);
    for (int i = 0; i < 2; ++i) {
        double f = erfcx(y);
        y += (__builtin_log(f) - y * y - log_c) * (0x1.c5bf891b4ef6bp-1 * f);
    }
    return y;
}
TRILANE_HD_CALL double erfinv(double x) {
    TRILANE_EXACT
    double a = __builtin_fabs(x), y;
    if (!(a < 1.0)) return a == 1.0 ? __builtin_copysign(__builtin_inf(), x) : NAN;
    if (a == 0.0) return x;
    if (a < 0x1p-28) return __builtin_fma(x, 0x1.c5bf891b4ef6bp-1, x * -0x1.618f13eb7ca89p-55);
    if (a <= 0.5) {
        double s = __builtin_sqrt(-__builtin_log1p(-a * a));
        y = s * trilane_erfinv_near(s * (1.0 / 1.5) - 1.0);
        double u = (__builtin_erf(y) - a) * (0x1.c5bf891b4ef6bp-1 * __builtin_exp(y * y));
        y -= u / (1.0 + u * y);
    } else {
        y = trilane_erfc_inverse(1.0 - a);
    }
    return __builtin_copysign(y, x);
}
TRILANE_HD_CALL double erfcinv(double c) {
    if (!(c > 0.0 && c < 2.0))
        return c == 0.0 ? __builtin_inf() : c == 2.0 ? -__builtin_inf() : NAN;
    if (c <= 0.5) return trilane_erfc_inverse(c);
    if (c >= 1.5) return -trilane_erfc_inverse(2.0 - c);
    return erfinv(1.0 - c);
}
TRILANE_HD_CALL double normcdfinv(double p) {
    if (!(p >= 0.0 && p <= 1.0)) return NAN;
    return 0.0 - 0x1.6a09e667f3bcdp+0 * erfcinv(2.0 * p);   // +0 for 1/2
}
// erfc(-x / sqrt 2) / 2 with the argument in two doubles: far out, its rounding would be magnified.
TRILANE_HD_CALL double normcdf(double x) {
    TRILANE_EXACT
    const double high = -0x1.6a09e667f3bcdp-1, low = 0x1.bdd3413b26456p-55;
    if (__builtin_fabs(x) > 40.0) return x < 0 ? 0.0 : 1.0;
    double y = x * high;
    double e = __builtin_fma(x, high, -y) + x * low;
    double slope = 0x1.20dd750429b6dp+0 * __builtin_exp(-y * y);
    return 0.5 * __builtin_fma(-slope, e, __builtin_erfc(y));
}

TRILANE_HD_CALL double trilane_bessel_far(double x, double p) {
    TRILANE_EXACT
    // exp in two halves: the product may be finite where exp(x) is not
    double h = __builtin_exp(0.5 * x);
    double e = x < 700.0 ? __builtin_exp(x) : h;
    double value = p / __builtin_sqrt(x) * e;
    return x < 700.0 ? value : value * h;
}
TRILANE_HD_CALL double cyl_bessel_i0(double x) {
    double a = __builtin_fabs(x);
    if (a < 10.0) return trilane_bessel_i0_near(0.25 * a * a);
    return isinf(a) ? a : trilane_bessel_far(a, trilane_bessel_i0_far(20.0 / a - 1.0));
}
TRILANE_HD_CALL double cyl_bessel_i1(double x) {
    double a = __builtin_fabs(x);
    double y = a < 10.0 ? 0.5 * a * trilane_bessel_i1_near(0.25 * a * a)
                        : isinf(a) ? a
                                   : trilane_bessel_far(a, trilane_bessel_i1_far(20.0 / a - 1.0));
    return __builtin_copysign(y, x);
}

#define TRILANE_SPECIAL_FLOAT(name)                                             \
    TRILANE_HD float name##f(float x) { return (float)name((double)x); }        \
    TRILANE_HD float name(float x) { return (float)name((double)x); }
TRILANE_SPECIAL_FLOAT(erfcx)
TRILANE_SPECIAL_FLOAT(erfinv)
TRILANE_SPECIAL_FLOAT(erfcinv)
TRILANE_SPECIAL_FLOAT(normcdf)
TRILANE_SPECIAL_FLOAT(normcdfinv)
TRILANE_SPECIAL_FLOAT(cyl_bessel_i0)
TRILANE_SPECIAL_FLOAT(cyl_bessel_i1)
#undef TRILANE_SPECIAL_FLOAT

// --- norms: scaled by the largest exponent, the squares summed in two doubles ------------------
TRILANE_HD_CALL double trilane_norm(const double* v, int n, bool reciprocal) {
    TRILANE_EXACT
    double largest = 0;
    bool infinite = false, undefined = false;
    for (int i = 0; i < n; ++i) {
        double a = __builtin_fabs(v[i]);
        infinite |= isinf(a);
        undefined |= isnan(a);
        largest = a > largest ? a : largest;
    }
    if (infinite) return reciprocal ? 0.0 : __builtin_inf();
    if (undefined) return NAN;
    if (largest == 0) return reciprocal ? __builtin_inf() : 0.0;
    int exponent;
    (void)__builtin_frexp(largest, &exponent);
    double sum = 0, rest = 0;
    for (int i = 0; i < n; ++i) {
        double a = __builtin_ldexp(v[i], -exponent);
        double p = a * a, s = sum + p, t = s - sum;
        rest += __builtin_fma(a, a, -p) + ((sum - (s - t)) + (p - t));
        sum = s;
    }
    double root = __builtin_sqrt(sum);
    double error = __builtin_fma(-root, root, sum) + rest;
    if (!reciprocal)
        return __builtin_ldexp(__builtin_fma(error, 0.5 / root, root), exponent);
    double y = 1.0 / root;
    double residual = __builtin_fma(-root, y, 1.0) - error * (0.5 * y * y);
    return __builtin_ldexp(__builtin_fma(y, residual, y), -exponent);
}
TRILANE_HD_CALL float trilane_norm(const float* v, int n, bool reciprocal) {
    double sum = 0;
    bool infinite = false;
    for (int i = 0; i < n; ++i) {
        infinite |= isinf(v[i]);
        sum += (double)v[i] * (double)v[i];
    }
    double root = infinite ? __builtin_inf() : __builtin_sqrt(sum);
    return (float)(reciprocal ? 1.0 / root : root);
}
#define TRILANE_NORMS(type, suffix)                                                            \
    TRILANE_HD type norm3d##suffix(type a, type b, type c) {                                   \
        type v[3] = {a, b, c};                                                                 \
        return trilane_norm(v, 3, false);                                                      \
    }                                                                                          \
    TRILANE_HD type rnorm3d##suffix(type a, type b, type c) {                                  \
        type v[3] = {a, b, c};                                                                 \
        return trilane_norm(v, 3, true);                                                       \
    }                                                                                          \
    TRILANE_HD type norm4d##suffix(type a, type b, type c, type d) {                           \
        type v[4] = {a, b, c, d};                                                              \
        return trilane_norm(v, 4, false);                                                      \
    }                                                                                          \
    TRILANE_HD type rnorm4d##suffix(type a, type b, type c, type d) {                          \
        type v[4] = {a, b, c, d};                                                              \
        return trilane_norm(v, 4, true);                                                       \
    }                                                                                          \
    TRILANE_HD type rhypot##suffix(type a, type b) {                                           \
        type v[2] = {a, b};                                                                    \
        return trilane_norm(v, 2, true);                                                       \
    }                                                                                          \
    TRILANE_HD type norm##suffix(int n, const type* v) { return trilane_norm(v, n, false); }   \
    TRILANE_HD type rnorm##suffix(int n, const type* v) { return trilane_norm(v, n, true); }
TRILANE_NORMS(double, )
TRILANE_NORMS(float, f)
#undef TRILANE_NORMS
TRILANE_HD float norm3d(float a, float b, float c) { return norm3df(a, b, c); }
TRILANE_HD float rhypot(float a, float b) { return rhypotf(a, b); }
