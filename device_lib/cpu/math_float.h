// The math functions of floats, with their f names and as C++ overloads. Those that a kernel calls in
// its inner loops are our own; -use_fast_math takes their fast forms as nvcc does.
#pragma once

#define TRILANE_OWN_1(name)                                        \
    TRILANE_HD float name##f(float x) { return trilane_flushed(trilane_##name(x)); }  \
    TRILANE_HD float name(float x) { return trilane_flushed(trilane_##name(x)); }
#define TRILANE_OWN_2(name)                                                        \
    TRILANE_HD float name##f(float x, float y) { return trilane_flushed(trilane_##name(x, y)); }    \
    TRILANE_HD float name(float x, float y) { return trilane_flushed(trilane_##name(x, y)); }
#ifdef __USE_FAST_MATH__
#define TRILANE_OWN_OR_FAST_1(name)                                       \
    TRILANE_HD float name##f(float x) { return trilane_flushed(trilane_##name##_fast(x)); }  \
    TRILANE_HD float name(float x) { return trilane_flushed(trilane_##name##_fast(x)); }
TRILANE_HD float powf(float x, float y) { return trilane_flushed(trilane_pow_fast(x, y)); }
TRILANE_HD float pow(float x, float y) { return trilane_flushed(trilane_pow_fast(x, y)); }
#else
#define TRILANE_OWN_OR_FAST_1 TRILANE_OWN_1
TRILANE_OWN_2(pow)
#endif
TRILANE_OWN_OR_FAST_1(exp)
TRILANE_OWN_1(exp2)
TRILANE_OWN_OR_FAST_1(exp10)
TRILANE_OWN_1(expm1)
TRILANE_OWN_OR_FAST_1(log)
TRILANE_OWN_OR_FAST_1(log2)
TRILANE_OWN_OR_FAST_1(log10)
TRILANE_OWN_1(log1p)
TRILANE_OWN_OR_FAST_1(sin)
TRILANE_OWN_OR_FAST_1(cos)
TRILANE_OWN_OR_FAST_1(tan)
TRILANE_OWN_1(asin)
TRILANE_OWN_1(acos)
TRILANE_OWN_1(atan)
TRILANE_OWN_1(sinh)
TRILANE_OWN_1(cosh)
TRILANE_OWN_1(tanh)
TRILANE_OWN_1(asinh)
TRILANE_OWN_1(acosh)
TRILANE_OWN_1(atanh)
TRILANE_OWN_1(cbrt)
TRILANE_OWN_1(rcbrt)
TRILANE_OWN_1(erf)
TRILANE_OWN_1(erfc)
TRILANE_OWN_1(sinpi)
TRILANE_OWN_1(cospi)
TRILANE_OWN_2(atan2)
TRILANE_OWN_2(hypot)
#undef TRILANE_OWN_1
#undef TRILANE_OWN_2
#undef TRILANE_OWN_OR_FAST_1

#define TRILANE_MATH_1(name)                                              \
    TRILANE_HD float name##f(float x) { return __builtin_##name##f(x); }  \
    TRILANE_HD float name(float x) { return __builtin_##name##f(x); }
#define TRILANE_MATH_2(name)                                                           \
    TRILANE_HD float name##f(float x, float y) { return __builtin_##name##f(x, y); }   \
    TRILANE_HD float name(float x, float y) { return __builtin_##name##f(x, y); }
TRILANE_MATH_1(sqrt)
TRILANE_MATH_1(fabs)
TRILANE_MATH_1(floor)
TRILANE_MATH_1(ceil)
TRILANE_MATH_1(trunc)
TRILANE_MATH_1(round)
TRILANE_MATH_1(rint)
TRILANE_MATH_1(nearbyint)
TRILANE_MATH_1(logb)
TRILANE_MATH_2(fmod)
TRILANE_MATH_2(remainder)
TRILANE_MATH_2(copysign)
TRILANE_MATH_2(fdim)
TRILANE_MATH_2(nextafter)
#undef TRILANE_MATH_1
#undef TRILANE_MATH_2

// Through double: libm's float forms of these are outside the stated bounds, or do not exist.
#define TRILANE_MATH_WIDE(name)                                                      \
    TRILANE_HD float name##f(float x) { return (float)name((double)x); }             \
    TRILANE_HD float name(float x) { return (float)name((double)x); }
TRILANE_MATH_WIDE(lgamma)
TRILANE_MATH_WIDE(tgamma)
#undef TRILANE_MATH_WIDE
TRILANE_HD float j0f(float x) { return (float)j0((double)x); }
TRILANE_HD float j1f(float x) { return (float)j1((double)x); }
TRILANE_HD float y0f(float x) { return (float)y0((double)x); }
TRILANE_HD float y1f(float x) { return (float)y1((double)x); }
TRILANE_HD float jnf(int n, float x) { return (float)jn(n, (double)x); }
TRILANE_HD float ynf(int n, float x) { return (float)yn(n, (double)x); }

TRILANE_HD float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
TRILANE_HD float rsqrt(float x) { return rsqrtf(x); }
TRILANE_HD float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TRILANE_HD float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TRILANE_HD float fdividef(float x, float y) { return x / y; }
TRILANE_HD float modff(float x, float* whole) {
    float t = __builtin_truncf(x);
    *whole = t;
    return __builtin_copysignf(isinf(x) ? 0.0f : x - t, x);
}
TRILANE_HD float modf(float x, float* whole) { return modff(x, whole); }
TRILANE_HD float frexpf(float x, int* e) { return __builtin_frexpf(x, e); }
TRILANE_HD float frexp(float x, int* e) { return __builtin_frexpf(x, e); }
TRILANE_HD float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
TRILANE_HD float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
TRILANE_HD float scalbnf(float x, int e) { return __builtin_ldexpf(x, e); }
TRILANE_HD float scalbn(float x, int e) { return __builtin_ldexpf(x, e); }
TRILANE_HD float scalblnf(float x, long e) {
    return __builtin_ldexpf(x, e > 1000 ? 1000 : e < -1000 ? -1000 : (int)e);
}
TRILANE_HD float scalbln(float x, long e) { return scalblnf(x, e); }
TRILANE_HD int ilogbf(float x) { return ilogb((double)x); }
TRILANE_HD int ilogb(float x) { return ilogb((double)x); }
TRILANE_HD float remquof(float x, float y, int* q) { return __builtin_remquof(x, y, q); }
TRILANE_HD float remquo(float x, float y, int* q) { return __builtin_remquof(x, y, q); }
TRILANE_HD long lrintf(float x) { return (long)__builtin_rintf(x); }
TRILANE_HD long lrint(float x) { return (long)__builtin_rintf(x); }
TRILANE_HD long long llrintf(float x) { return (long long)__builtin_rintf(x); }
TRILANE_HD long long llrint(float x) { return (long long)__builtin_rintf(x); }
TRILANE_HD long lroundf(float x) { return (long)__builtin_roundf(x); }
TRILANE_HD long lround(float x) { return (long)__builtin_roundf(x); }
TRILANE_HD long long llroundf(float x) { return (long long)__builtin_roundf(x); }
TRILANE_HD long long llround(float x) { return (long long)__builtin_roundf(x); }
TRILANE_HD float nanf(const char*) { return __int_as_float(0x7fffffff); }
TRILANE_HD void sincosf(float x, float* s, float* c) {
    *s = sinf(x);
    *c = cosf(x);
}
TRILANE_HD void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
