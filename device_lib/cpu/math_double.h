// The math functions of doubles. What libm has is a compiler builtin, so that the optimiser sees
// intrinsics; a name without a builtin is bound to libm's symbol by an assembler label.
#pragma once

#define TRILANE_MATH_1(name)                                             \
    TRILANE_HD double name(double x) { return __builtin_##name(x); }
#define TRILANE_MATH_2(name)                                             \
    TRILANE_HD double name(double x, double y) { return __builtin_##name(x, y); }
TRILANE_MATH_1(sqrt)
TRILANE_MATH_1(exp)
TRILANE_MATH_1(exp2)
TRILANE_MATH_1(expm1)
TRILANE_MATH_1(log)
TRILANE_MATH_1(log2)
TRILANE_MATH_1(log1p)
TRILANE_MATH_1(sin)
TRILANE_MATH_1(cos)
TRILANE_MATH_1(tan)
TRILANE_MATH_1(asin)
TRILANE_MATH_1(acos)
TRILANE_MATH_1(atan)
TRILANE_MATH_1(sinh)
TRILANE_MATH_1(cosh)
TRILANE_MATH_1(tanh)
TRILANE_MATH_1(asinh)
TRILANE_MATH_1(acosh)
TRILANE_MATH_1(atanh)
TRILANE_MATH_1(erf)
TRILANE_MATH_1(erfc)
TRILANE_MATH_1(lgamma)
TRILANE_MATH_1(tgamma)
TRILANE_MATH_1(fabs)
TRILANE_MATH_1(floor)
TRILANE_MATH_1(ceil)
TRILANE_MATH_1(trunc)
TRILANE_MATH_1(round)
TRILANE_MATH_1(rint)
TRILANE_MATH_1(nearbyint)
TRILANE_MATH_1(logb)
TRILANE_MATH_2(atan2)
TRILANE_MATH_2(fmod)
TRILANE_MATH_2(remainder)
TRILANE_MATH_2(copysign)
TRILANE_MATH_2(fdim)
TRILANE_MATH_2(nextafter)
#undef TRILANE_MATH_1
#undef TRILANE_MATH_2
// libm gives NaN for a signalling NaN where a quiet one does not matter; CUDA tells them not apart.
TRILANE_HD double pow(double x, double y) {
    return x == 1.0 || y == 0.0 ? 1.0 : __builtin_pow(x, y);
}
TRILANE_HD double hypot(double x, double y) {
    return isinf(x) || isinf(y) ? __builtin_inf() : __builtin_hypot(x, y);
}

extern "C" {
__host__ __device__ double trilane_libm_cbrt(double) __asm__("cbrt");
__host__ __device__ double trilane_libm_j0(double) __asm__("j0");
__host__ __device__ double trilane_libm_j1(double) __asm__("j1");
__host__ __device__ double trilane_libm_jn(int, double) __asm__("jn");
__host__ __device__ double trilane_libm_y0(double) __asm__("y0");
__host__ __device__ double trilane_libm_y1(double) __asm__("y1");
__host__ __device__ double trilane_libm_yn(int, double) __asm__("yn");
}

TRILANE_HD double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TRILANE_HD double modf(double x, double* whole) {
    double t = __builtin_trunc(x);
    *whole = t;
    return __builtin_copysign(isinf(x) ? 0.0 : x - t, x);
}
TRILANE_HD double frexp(double x, int* e) { return __builtin_frexp(x, e); }
TRILANE_HD double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
TRILANE_HD double scalbn(double x, int e) { return __builtin_ldexp(x, e); }
TRILANE_HD double scalbln(double x, long e) {
    return __builtin_ldexp(x, e > 5000 ? 5000 : e < -5000 ? -5000 : (int)e);
}
TRILANE_HD int ilogb(double x) {
    if (isnan(x)) return FP_ILOGBNAN;
    if (isinf(x)) return INT_MAX;
    if (x == 0) return FP_ILOGB0;
    int e;
    (void)__builtin_frexp(x, &e);
    return e - 1;
}
TRILANE_HD double remquo(double x, double y, int* q) { return __builtin_remquo(x, y, q); }
TRILANE_HD long lrint(double x) { return (long)__builtin_rint(x); }
TRILANE_HD long long llrint(double x) { return (long long)__builtin_rint(x); }
TRILANE_HD long lround(double x) { return (long)__builtin_round(x); }
TRILANE_HD long long llround(double x) { return (long long)__builtin_round(x); }
TRILANE_HD double nan(const char*) { return __longlong_as_double(0x7ff8000000000000ll); }
TRILANE_HD void sincos(double x, double* s, double* c) {
    *s = __builtin_sin(x);
    *c = __builtin_cos(x);
}
TRILANE_HD double j0(double x) { return trilane_libm_j0(x); }
TRILANE_HD double j1(double x) { return trilane_libm_j1(x); }
TRILANE_HD double jn(int n, double x) { return n < 0 ? NAN : trilane_libm_jn(n, x); }
TRILANE_HD double y0(double x) { return trilane_libm_y0(x); }
TRILANE_HD double y1(double x) { return trilane_libm_y1(x); }
TRILANE_HD double yn(int n, double x) { return n < 0 ? NAN : trilane_libm_yn(n, x); }

// 1/sqrt(x) with one correction: the residual of x*y*y against 1 is exact but for its last term.
TRILANE_HD double rsqrt(double x) {
    TRILANE_EXACT
    double y = 1.0 / __builtin_sqrt(x);
    double h = x * y, l = __builtin_fma(x, y, -h);
    double e = __builtin_fma(-h, y, 1.0) - l * y;
    double z = __builtin_fma(0.5 * y, e, y);
    return isfinite(z) ? z : y;
}
// One Newton step in twice the precision on libm's value, which may be 4 ulp off.
TRILANE_HD double cbrt(double x) {
    TRILANE_EXACT
    double y = trilane_libm_cbrt(x);
    if (!isnormal(y) || __builtin_fabs(x) < 0x1p-900) return y;
    double s = y * y, se = __builtin_fma(y, y, -s);
    double c = s * y, ce = __builtin_fma(s, y, -c);
    double residual = (c - x) + (ce + se * y);
    double z = y - residual / (3.0 * s);
    return isfinite(z) ? z : y;
}
TRILANE_HD double rcbrt(double x) {
    TRILANE_EXACT
    double y = 1.0 / cbrt(x);
    if (!isnormal(y) || !isnormal(x)) return y;
    // y <- y + y (1 - x y^3) / 3, the residual with its rounding terms; x y lies near y^-2
    double a = x * y, ae = __builtin_fma(x, y, -a);
    double b = y * y, be = __builtin_fma(y, y, -b);
    double r = __builtin_fma(-a, b, 1.0) - (ae * b + a * be);
    double z = __builtin_fma(y * (1.0 / 3.0), r, y);
    return isfinite(z) ? z : y;
}
// exp(x ln 10) with x ln 10 in two doubles.
TRILANE_HD double exp10(double x) {
    TRILANE_EXACT
    const double high = 0x1.26bb1bbb55516p+1, low = -0x1.f48ad494ea3e9p-53;
    if (!(__builtin_fabs(x) < 330.0)) return __builtin_exp(x * high);
    double t = x * high;
    double e = __builtin_fma(x, high, -t) + x * low;
    double r = __builtin_exp(t);
    return isfinite(r) ? __builtin_fma(r, e, r) : r;
}
// log10 within 0.6 ulp, so exact for powers of ten: x = 2^k m, log m = 2 atanh(s), the leading terms
// in two doubles.
TRILANE_HD_CALL double log10(double x) {
    TRILANE_EXACT
    if (!(x > 0) || isinf(x)) return __builtin_log10(x);
    int k;
    double m = __builtin_frexp(x, &k);
    if (m < M_SQRT1_2) m *= 2.0, --k;
    double f = m - 1.0, d = m + 1.0;
    double d_rest = m < 1.0 ? m - (d - 1.0) : 1.0 - (d - m);
    double s = f / d;
    double s_rest = (__builtin_fma(-s, d, f) - s * d_rest) / d;
    double q = s * s, p = 1.0 / 23;
    for (int n = 21; n >= 3; n -= 2) p = __builtin_fma(p, q, 1.0 / n);
    const double high = 0x1.bcb7b1526e50ep-1, low = 0x1.95355baaafad3p-56;   // 2 / ln 10
    const double two_high = 0x1.34413509f4000p-2, two_low = 0x1.cff7988f8959bp-41;   // log10(2)
    double a = s * high, a_rest = __builtin_fma(s, high, -a) + s * low + s_rest * high;
    a_rest = __builtin_fma(s * q, p * high, a_rest);
    double b = k * two_high, sum = b + a;
    double rest = __builtin_fabs(b) > __builtin_fabs(a) ? a - (sum - b) : b - (sum - a);
    return sum + (rest + (a_rest + k * two_low));
}
TRILANE_HD double fdivide(double x, double y) { return x / y; }
