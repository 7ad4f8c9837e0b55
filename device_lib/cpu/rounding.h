// Arithmetic with a stated rounding (_rn, _rz, _ru, _rd): exact, by correcting the nearest result
// with the sign of its error. The hardware mode is never touched, so all of it vectorises.
#pragma once

// --- steps between neighbours -----------------------------------------------------------------
TRILANE_HD float trilane_next_up(float x) {
    if (isnan(x) || x == __builtin_inff()) return x;
    if (x == 0) return trilane_flushed(FLT_TRUE_MIN);
    int i = __float_as_int(x);
    return trilane_flushed(__int_as_float(i < 0 ? i - 1 : i + 1));
}
TRILANE_HD float trilane_next_down(float x) { return -trilane_next_up(-x); }
TRILANE_HD double trilane_next_up(double x) {
    if (isnan(x) || x == __builtin_inf()) return x;
    if (x == 0) return DBL_TRUE_MIN;
    long long i = __double_as_longlong(x);
    return __longlong_as_double(i < 0 ? i - 1 : i + 1);
}
TRILANE_HD double trilane_next_down(double x) { return -trilane_next_up(-x); }

// `near` is the nearest value and `error` has the sign of (exact - near).
template <class T> TRILANE_HD T trilane_round_up(T near, T error) {
    return error > 0 ? trilane_next_up(near) : near;
}
template <class T> TRILANE_HD T trilane_round_down(T near, T error) {
    return error < 0 ? trilane_next_down(near) : near;
}
template <class T> TRILANE_HD T trilane_round_zero(T near, T error) {
    return near > 0 ? trilane_round_down(near, error)
                    : near < 0 ? trilane_round_up(near, error) : near;
}

// --- double -> float --------------------------------------------------------------------------
TRILANE_HD float __double2float_rn(double x) { return (float)x; }
TRILANE_HD float __double2float_ru(double x) {
    float f = (float)x;
    return (double)f < x ? trilane_next_up(f) : f;
}
TRILANE_HD float __double2float_rd(double x) {
    float f = (float)x;
    return (double)f > x ? trilane_next_down(f) : f;
}
TRILANE_HD float __double2float_rz(double x) {
    return x > 0 ? __double2float_rd(x) : __double2float_ru(x);
}

// The exact sum of two doubles rounded to odd: a later rounding to float is then right in any mode.
TRILANE_HD double trilane_sum_odd(double a, double b) {
    TRILANE_EXACT
    double s = a + b;
    double t = s - a;
    double error = (a - (s - t)) + (b - t);
    unsigned long long bits = trilane_bits(s);
    if (error != 0 && isfinite(s) && !(bits & 1)) {
        bits = (error > 0) == (s > 0) ? bits + 1 : bits - 1;
    }
    return __longlong_as_double((long long)bits);
}
// The sign of an exact zero sum: -0 when rounding down, unless both terms are +0.
TRILANE_HD double trilane_zero_down(double sum, double a, double b) {
    return sum == 0 && (signbit(a) || signbit(b)) ? -0.0 : sum;
}

#define TRILANE_FLOAT_ROUNDINGS(mode)                                                       \
    TRILANE_HD float __fmul_##mode(float a, float b) {                                      \
        TRILANE_EXACT                                                                       \
        return __double2float_##mode((double)a * (double)b);                                \
    }                                                                                       \
    TRILANE_HD float __fdiv_##mode(float a, float b) {                                      \
        TRILANE_EXACT                                                                       \
        return isinf(a) || b == 0 ? a / b : __double2float_##mode((double)a / (double)b);   \
    }                                                                                       \
    TRILANE_HD float __frcp_##mode(float a) { return __fdiv_##mode(1.0f, a); }              \
    TRILANE_HD float __fsqrt_##mode(float a) {                                              \
        return __double2float_##mode(__builtin_sqrt((double)a));                            \
    }
TRILANE_FLOAT_ROUNDINGS(ru)
TRILANE_FLOAT_ROUNDINGS(rd)
TRILANE_FLOAT_ROUNDINGS(rz)
#undef TRILANE_FLOAT_ROUNDINGS

TRILANE_HD float __fadd_rn(float a, float b) {
    TRILANE_EXACT
    return a + b;
}
TRILANE_HD float __fsub_rn(float a, float b) {
    TRILANE_EXACT
    return a - b;
}
TRILANE_HD float __fmul_rn(float a, float b) {
    TRILANE_EXACT
    return a * b;
}
TRILANE_HD float __fdiv_rn(float a, float b) {
    TRILANE_EXACT
    return a / b;
}
TRILANE_HD float __frcp_rn(float a) { return __fdiv_rn(1.0f, a); }
TRILANE_HD float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
TRILANE_HD float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// The double quotient decides but near a midpoint, which the exact residual settles.
TRILANE_HD float __frsqrt_rn(float x) {
    TRILANE_EXACT
    float f = (float)(1.0 / __builtin_sqrt((double)x));
    if (!isfinite(f) || f == 0 || !isfinite(x)) return f;
    double high = 0.5 * ((double)f + (double)trilane_next_up(f));
    double low = 0.5 * ((double)f + (double)trilane_next_down(f));
    if (__builtin_fma(high * high, (double)x, -1.0) < 0) return trilane_next_up(f);
    if (__builtin_fma(low * low, (double)x, -1.0) > 0) return trilane_next_down(f);
    return f;
}

#define TRILANE_FLOAT_SUMS(mode, zero)                                                      \
    TRILANE_HD float __fadd_##mode(float a, float b) {                                      \
        TRILANE_EXACT                                                                       \
        if (!isfinite(a) || !isfinite(b)) return a + b;                                     \
        return __double2float_##mode(zero(trilane_sum_odd(a, b), a, b));                    \
    }                                                                                       \
    TRILANE_HD float __fsub_##mode(float a, float b) { return __fadd_##mode(a, -b); }       \
    TRILANE_HD float __fmaf_##mode(float a, float b, float c) {                             \
        TRILANE_EXACT                                                                       \
        double p = (double)a * (double)b;                                                   \
        if (!isfinite(p) || !isfinite(c)) return (float)(p + (double)c);                    \
        return __double2float_##mode(zero(trilane_sum_odd(p, c), p, c));                    \
    }
#define TRILANE_KEEP(sum, a, b) (sum)
TRILANE_FLOAT_SUMS(ru, TRILANE_KEEP)
TRILANE_FLOAT_SUMS(rz, TRILANE_KEEP)
TRILANE_FLOAT_SUMS(rd, trilane_zero_down)
#undef TRILANE_FLOAT_SUMS

// --- double -----------------------------------------------------------------------------------
TRILANE_HD double __dadd_rn(double a, double b) {
    TRILANE_EXACT
    return a + b;
}
TRILANE_HD double __dsub_rn(double a, double b) {
    TRILANE_EXACT
    return a - b;
}
TRILANE_HD double __dmul_rn(double a, double b) {
    TRILANE_EXACT
    return a * b;
}
TRILANE_HD double __ddiv_rn(double a, double b) {
    TRILANE_EXACT
    return a / b;
}
TRILANE_HD double __drcp_rn(double a) { return __ddiv_rn(1.0, a); }
TRILANE_HD double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
TRILANE_HD double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }

// What the error must say when a finite exact result overflowed to +-inf: exact < inf.
TRILANE_HD double trilane_overflow_error(double result) { return result > 0 ? -1.0 : 1.0; }

TRILANE_HD double trilane_sum_error(double a, double b, double s) {
    TRILANE_EXACT
    if (isinf(s)) return isfinite(a) && isfinite(b) ? trilane_overflow_error(s) : 0;
    double t = s - a;
    return (a - (s - t)) + (b - t);
}
TRILANE_HD double trilane_product_error(double a, double b, double p) {
    TRILANE_EXACT
    if (isinf(p)) return isfinite(a) && isfinite(b) ? trilane_overflow_error(p) : 0;
    if (p == 0) return a == 0 || b == 0 ? 0 : signbit(a) == signbit(b) ? 1.0 : -1.0;
    if (__builtin_fabs(p) > 0x1p-900) return __builtin_fma(a, b, -p);
    // the smaller factor lies below 2^-450: scaled, the error is exact
    if (__builtin_fabs(a) < __builtin_fabs(b)) return __builtin_fma(a * 0x1p600, b, -p * 0x1p600);
    return __builtin_fma(a, b * 0x1p600, -p * 0x1p600);
}
TRILANE_HD double trilane_quotient_error(double a, double b, double q) {
    TRILANE_EXACT
    if (a == 0 || b == 0 || isinf(a) || isinf(b) || isnan(q)) return 0;
    if (isinf(q)) return trilane_overflow_error(q);
    if (q == 0) return signbit(a) == signbit(b) ? 1.0 : -1.0;
    if (__builtin_fabs(b) < 1) {
        // both operands up: the quotient stays, the residual cannot underflow
        double scale = __builtin_fabs(a) < 0x1p300 ? 0x1p600 : 1.0;
        a *= scale;
        b *= scale;
    } else if (__builtin_fabs(a) < 0x1p-300) {
        a *= 0x1p600;
        q *= 0x1p600;
    }
    double residual = __builtin_fma(-q, b, a);
    return signbit(b) ? -residual : residual;
}
TRILANE_HD double trilane_root_error(double x, double s) {
    TRILANE_EXACT
    if (!(x > 0) || isinf(x)) return 0;
    if (x < 0x1p-700) return __builtin_fma(-(s * 0x1p300), s * 0x1p300, x * 0x1p600);
    return __builtin_fma(-s, s, x);
}
TRILANE_HD double trilane_fma_error(double a, double b, double c, double r) {
    TRILANE_EXACT
    if (isnan(r)) return 0;
    if (isinf(r))
        return isfinite(a) && isfinite(b) && isfinite(c) ? trilane_overflow_error(r) : 0;
    double p = a * b;
    double pe = trilane_product_error(a, b, p);
    double sign = p != 0 ? p : pe;
    bool only_sign = false;
    if (isinf(p)) {   // c brought it back: the same at a quarter of the size
        a *= 0.25, c *= 0.25, r *= 0.25, p = a * b;
        pe = trilane_product_error(a, b, p);
    } else if (__builtin_fabs(p) <= 0x1p-900 && __builtin_fabs(c) < 0x1p300) {
        // all of it 2^600 times larger, where the product's error is exact
        (__builtin_fabs(a) < __builtin_fabs(b) ? a : b) *= 0x1p600;
        c *= 0x1p600, r *= 0x1p600, p = a * b;
        pe = __builtin_fma(a, b, -p);
        only_sign = __builtin_fabs(p) < 0x1p-900;
    } else if (__builtin_fabs(p) <= 0x1p-900) {
        only_sign = true;
    }
    if (only_sign && sign != 0) {   // the product lies far below the last places of c and r
        p = 0;
        pe = __builtin_copysign(DBL_TRUE_MIN, sign);
    }
    double s = p + c, t = s - p;
    double se = (p - (s - t)) + (c - t);
    double d = s - r;
    double u = se + pe, v = u - se;
    double ue = (se - (u - v)) + (pe - v);
    double w = d + u, y = w - d;
    double we = (d - (w - y)) + (u - y);
    return w != 0 ? w : we + ue;
}

#define TRILANE_DOUBLE_ROUNDINGS(mode, round, zero)                                          \
    TRILANE_HD double __dadd_##mode(double a, double b) {                                    \
        TRILANE_EXACT                                                                        \
        double s = a + b;                                                                    \
        return zero(round(s, trilane_sum_error(a, b, s)), a, b);                             \
    }                                                                                        \
    TRILANE_HD double __dsub_##mode(double a, double b) { return __dadd_##mode(a, -b); }     \
    TRILANE_HD double __dmul_##mode(double a, double b) {                                    \
        TRILANE_EXACT                                                                        \
        double p = a * b;                                                                    \
        return trilane_keep_sign(round(p, trilane_product_error(a, b, p)), p);               \
    }                                                                                        \
    TRILANE_HD double __ddiv_##mode(double a, double b) {                                    \
        TRILANE_EXACT                                                                        \
        double q = a / b;                                                                    \
        return trilane_keep_sign(round(q, trilane_quotient_error(a, b, q)), q);              \
    }                                                                                        \
    TRILANE_HD double __drcp_##mode(double a) { return __ddiv_##mode(1.0, a); }              \
    TRILANE_HD double __dsqrt_##mode(double a) {                                             \
        double s = __builtin_sqrt(a);                                                        \
        return round(s, trilane_root_error(a, s));                                           \
    }                                                                                        \
    TRILANE_HD double __fma_##mode(double a, double b, double c) {                           \
        TRILANE_EXACT                                                                        \
        double r = __builtin_fma(a, b, c);                                                   \
        return zero(round(r, trilane_fma_error(a, b, c, r)), a * b, c);                      \
    }
// A product or quotient never changes sign by rounding: -tiny rounds up to -0.
TRILANE_HD double trilane_keep_sign(double rounded, double near) {
    return rounded == 0 ? __builtin_copysign(rounded, near) : rounded;
}
TRILANE_DOUBLE_ROUNDINGS(ru, trilane_round_up, TRILANE_KEEP)
TRILANE_DOUBLE_ROUNDINGS(rz, trilane_round_zero, TRILANE_KEEP)
TRILANE_DOUBLE_ROUNDINGS(rd, trilane_round_down, trilane_zero_down)
#undef TRILANE_DOUBLE_ROUNDINGS
#undef TRILANE_KEEP
