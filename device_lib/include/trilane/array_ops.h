// Operations of the array kernels with NumPy's meaning in the corners: integer division by zero,
// sign rules of remainders, shifts, NaN in minimum and maximum.
#ifndef TRILANE_ARRAY_OPS_H
#define TRILANE_ARRAY_OPS_H

#include "trilane/numeric.h"

namespace trilane {
namespace ops {

template <typename T> struct is_signed_type { static const bool value = T(-1) < T(0); };

// --- integer division
template <typename T> TRILANE_FN T floor_divide(T a, T b) {
    if (b == T(0)) return T(0);
    if (is_signed_type<T>::value && b == T(-1)) return T(0ull - (unsigned long long)a);
    T q = T(a / b);
    return (is_signed_type<T>::value && ((a < T(0)) != (b < T(0))) && T(q * b) != a) ? T(q - 1) : q;
}
template <typename T> TRILANE_FN T remainder(T a, T b) {
    if (b == T(0) || (is_signed_type<T>::value && b == T(-1))) return T(0);
    T r = T(a % b);
    return (is_signed_type<T>::value && r != T(0) && ((r < T(0)) != (b < T(0)))) ? T(r + b) : r;
}
template <typename T> TRILANE_FN T fmod(T a, T b) {
    if (b == T(0) || (is_signed_type<T>::value && b == T(-1))) return T(0);
    return T(a % b);
}

// --- float division
template <typename T> TRILANE_FN T real_remainder(T a, T b) {
    T r = ::fmod(a, b);
    if (b == T(0) || is_nan(r)) return r;
    if (r == T(0)) return ::copysign(T(0), b);
    return ((b < T(0)) != (r < T(0))) ? r + b : r;
}
template <typename T> TRILANE_FN T real_floor_divide(T a, T b) {
    if (b == T(0)) return a / b;
    T r = ::fmod(a, b);
    T q = (a - r) / b;
    if (r != T(0) && ((b < T(0)) != (r < T(0)))) q -= T(1);
    if (q == T(0)) return ::copysign(T(0), a / b);
    T f = ::floor(q);
    return q - f > T(0.5) ? f + T(1) : f;
}
template <> TRILANE_FN float floor_divide<float>(float a, float b) { return real_floor_divide(a, b); }
template <> TRILANE_FN double floor_divide<double>(double a, double b) {
    return real_floor_divide(a, b);
}
template <> TRILANE_FN float remainder<float>(float a, float b) { return real_remainder(a, b); }
template <> TRILANE_FN double remainder<double>(double a, double b) { return real_remainder(a, b); }
template <> TRILANE_FN float fmod<float>(float a, float b) { return ::fmodf(a, b); }
template <> TRILANE_FN double fmod<double>(double a, double b) { return ::fmod(a, b); }

// --- powers
template <typename T> TRILANE_FN T integer_power(T base, T exponent) {
    if (is_signed_type<T>::value && exponent < T(0)) {
        if (base == T(1)) return T(1);
        if (base == T(-1)) return (exponent & T(1)) ? T(-1) : T(1);
        return T(0);
    }
    unsigned long long result = 1, power = (unsigned long long)base;
    for (unsigned long long k = (unsigned long long)exponent; k; k >>= 1) {
        if (k & 1) result *= power;
        power *= power;
    }
    return (T)result;
}

// --- order
template <typename T> TRILANE_FN T lowest_of() {
    return is_signed_type<T>::value ? T(1ull << (sizeof(T) * 8 - 1)) : T(0);
}
template <typename T> TRILANE_FN T highest_of() {
    return is_signed_type<T>::value ? T((1ull << (sizeof(T) * 8 - 1)) - 1) : T(~0ull);
}
template <> TRILANE_FN bool highest_of<bool>() { return true; }
template <typename T> TRILANE_FN T maximum(T a, T b) { return (a >= b || is_nan(a)) ? a : b; }
template <typename T> TRILANE_FN T minimum(T a, T b) { return (a <= b || is_nan(a)) ? a : b; }
template <typename T> TRILANE_FN T fmax(T a, T b) { return (a >= b || is_nan(b)) ? a : b; }
template <typename T> TRILANE_FN T fmin(T a, T b) { return (a <= b || is_nan(b)) ? a : b; }
template <typename T> TRILANE_FN T clip(T x, T low, T high) {
    return minimum(maximum(x, low), high);
}
// NaN last, complex numbers by parts: the order that sorting uses.
template <typename T> TRILANE_FN bool sort_less(T a, T b) { return a < b || (is_nan(b) && !is_nan(a)); }
template <typename T> TRILANE_FN bool sort_less(complex<T> a, complex<T> b) {
    // NumPy's order: whole numbers, then those with a NaN part: (R + nan j), (nan + R j), (nan + nan j).
    if (is_nan(a) != is_nan(b)) return is_nan(b);
    if (is_nan(a.re) != is_nan(b.re)) return is_nan(b.re);
    bool tied = a.re == b.re || (is_nan(a.re) && is_nan(b.re));
    if (!tied) return a.re < b.re;
    return sort_less(a.im, b.im);
}
// Comparison of int64 with uint64 by value.
TRILANE_FN bool less_mixed(long long a, unsigned long long b) {
    return a < 0 || (unsigned long long)a < b;
}
TRILANE_FN bool equal_mixed(long long a, unsigned long long b) {
    return a >= 0 && (unsigned long long)a == b;
}

// --- signs
template <typename T> TRILANE_FN T sign(T x) {
    return x > T(0) ? T(1) : (x < T(0) ? T(-1) : (x == T(0) ? T(0) : x));
}
template <typename T> TRILANE_FN T integer_abs(T x) { return x < T(0) ? T(0 - x) : x; }
TRILANE_FN bool signbit(float x) { return __float_as_int(x) < 0; }
TRILANE_FN bool signbit(double x) { return __double_as_longlong(x) < 0; }
TRILANE_FN bool signbit(signed char x) { return x < 0; }

// --- bits
template <typename T> TRILANE_FN T left_shift(T a, T b) {
    return (unsigned long long)b < sizeof(T) * 8 ? T((unsigned long long)a << (unsigned)b) : T(0);
}
template <typename T> TRILANE_FN T right_shift(T a, T b) {
    if ((unsigned long long)b < sizeof(T) * 8) return T(a >> (unsigned)b);
    return is_signed_type<T>::value && a < T(0) ? T(-1) : T(0);
}
template <typename T> TRILANE_FN unsigned char bit_count(T x) {
    T magnitude = integer_abs(x);
    unsigned long long bits = (unsigned long long)magnitude;
    if (sizeof(T) < 8) bits &= (1ull << (sizeof(T) * 8 % 64)) - 1;
    return (unsigned char)__popcll((long long)bits);
}
template <typename T> TRILANE_FN T gcd(T a, T b) {
    a = integer_abs(a);
    b = integer_abs(b);
    while (b != T(0)) {
        T r = T(a % b);
        a = b;
        b = r;
    }
    return a;
}
template <typename T> TRILANE_FN T lcm(T a, T b) {
    T g = gcd(a, b);
    return g == T(0) ? T(0) : T(integer_abs(a) / g * integer_abs(b));
}

// --- logarithms and steps
template <typename T> TRILANE_FN T logaddexp(T a, T b) {
    if (a == b) return a + T(0.6931471805599453);
    T d = a - b;
    if (d > T(0)) return a + ::log1p(::exp(-d));
    if (d <= T(0)) return b + ::log1p(::exp(d));
    return d;
}
template <typename T> TRILANE_FN T logaddexp2(T a, T b) {
    if (a == b) return a + T(1);
    T d = a - b;
    if (d > T(0)) return a + T(1.4426950408889634) * ::log1p(::exp2(-d));
    if (d <= T(0)) return b + T(1.4426950408889634) * ::log1p(::exp2(d));
    return d;
}
template <typename T> TRILANE_FN T heaviside(T x, T at_zero) {
    if (is_nan(x)) return x;
    return x == T(0) ? at_zero : (x < T(0) ? T(0) : T(1));
}
TRILANE_FN float next_half(float a, float b) {
    if (is_nan(a) || is_nan(b)) return a + b;
    if (a == b) return b;
    unsigned short bits = half_bits_from_float(a);
    if (a == 0.0f) return float_from_half_bits((unsigned short)(b < 0.0f ? 0x8001 : 1));
    bool away = (a < b) == (a > 0.0f);
    return float_from_half_bits((unsigned short)(away ? bits + 1 : bits - 1));
}
TRILANE_FN float half_spacing(float x) {
    if (is_nan(x) || is_inf(x)) return nan_of<float>();
    float magnitude = ::fabsf(x);
    unsigned short bits = half_bits_from_float(magnitude);
    // The step beyond the largest number is that below it.
    float step = bits == 0x7bff ? 32.0f : float_from_half_bits((unsigned short)(bits + 1)) - magnitude;
    return step;   // positive for negative numbers too: NumPy's choice for float16
}
template <typename T> TRILANE_FN T spacing(T x) {
    if (is_nan(x) || is_inf(x)) return nan_of<T>();
    T outward = x < T(0) ? -inf_of<T>() : inf_of<T>();
    return ::nextafter(x, outward) - x;
}
template <typename T> TRILANE_FN T modf_whole(T x) { return ::trunc(x); }
template <typename T> TRILANE_FN T modf_part(T x) {
    return ::copysign(is_inf(x) ? T(0) : x - ::trunc(x), x);
}
template <typename T> TRILANE_FN T ldexp(T x, long long n) {
    return ::ldexp(x, (int)(n > 100000 ? 100000 : (n < -100000 ? -100000 : n)));
}
template <typename T> TRILANE_FN complex<T> rint_complex(complex<T> z) {
    return complex<T>(::rint(z.re), ::rint(z.im));
}
template <typename T> TRILANE_FN T sinc(T x) {
    T y = x == T(0) ? T(1e-20) : x * T(3.141592653589793);
    return ::sin(y) / y;
}

}  // namespace ops
}  // namespace trilane

#endif
