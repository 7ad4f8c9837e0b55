// Element types of generated kernels that CUDA C++ has no built-in for: float16, bfloat16 (complex.h
// has complex), NaN and infinity of any type, and the conversion between any two types. Arithmetic on the small floats is done in float.
#ifndef TRILANE_NUMERIC_H
#define TRILANE_NUMERIC_H

#include "trilane/complex.h"

namespace trilane {

#if defined(__CUDA_ARCH__) && !defined(__TRILANE_CPU__)
// The GPU converts by itself, but every NaN to one: the sign and the payload are put back.
TRILANE_FN unsigned short half_bits_from_float(float value) {
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    unsigned int sign = ((unsigned int)__float_as_int(value) >> 16) & 0x8000u;
    return value == value ? half : (unsigned short)(sign | 0x7e00u);
}
TRILANE_FN float float_from_half_bits(unsigned short half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    unsigned int bits = (((unsigned int)half & 0x8000u) << 16) | 0x7f800000u |
                        (((unsigned int)half & 0x3ffu) << 13);
    return value == value ? value : __int_as_float((int)bits);
}
#else
TRILANE_FN unsigned short half_bits_from_float(float value) {
    unsigned int bits = (unsigned int)__float_as_int(value);
    unsigned int sign = (bits >> 16) & 0x8000u;
    unsigned int magnitude = bits & 0x7fffffffu;
    unsigned int result;
    if (magnitude >= 0x7f800000u) {
        result = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    } else if (magnitude >= 0x477ff000u) {
        result = 0x7c00u;
    } else if (magnitude < 0x38800000u) {
        // Subnormal result: adding 0.5 rounds to multiples of 2^-24 in the low mantissa bits.
        float shifted = __int_as_float((int)magnitude) + 0.5f;
        result = (unsigned int)__float_as_int(shifted) - 0x3f000000u;
    } else {
        unsigned int odd = (magnitude >> 13) & 1u;
        result = (magnitude + 0xc8000fffu + odd) >> 13;
    }
    return (unsigned short)(sign | result);
}

TRILANE_FN float float_from_half_bits(unsigned short half) {
    unsigned int sign = ((unsigned int)half & 0x8000u) << 16;
    unsigned int magnitude = ((unsigned int)half & 0x7fffu) << 13;
    // Scaling by 2^112 rebiases the exponent and is exact for subnormals too.
    float scaled = __int_as_float((int)magnitude) * 5.192296858534828e33f;
    unsigned int bits = (unsigned int)__float_as_int(scaled);
    bits = magnitude >= 0x0f800000u ? (magnitude | 0x7f800000u) : bits;
    return __int_as_float((int)(bits | sign));
}
#endif

struct float16 {
    unsigned short bits;
    float16() = default;
    TRILANE_FN float16(float value) : bits(half_bits_from_float(value)) {}
    TRILANE_FN operator float() const { return float_from_half_bits(bits); }
};

TRILANE_FN unsigned short bfloat_bits_from_float(float value) {
    unsigned int bits = (unsigned int)__float_as_int(value);
    unsigned int rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return (unsigned short)((bits & 0x7fffffffu) > 0x7f800000u ? ((bits >> 16) | 0x40u) : rounded);
}

struct bfloat16 {
    unsigned short bits;
    bfloat16() = default;
    TRILANE_FN bfloat16(float value) : bits(bfloat_bits_from_float(value)) {}
    TRILANE_FN operator float() const { return __int_as_float((int)((unsigned int)bits << 16)); }
};

// cast<To>(x): NumPy's astype. Complex to real keeps the real part, anything to bool is `!= 0`.
template <typename To>
struct caster {
    template <typename From>
    static TRILANE_FN To from(From x) { return (To)x; }
    static TRILANE_FN To from(float16 x) { return (To)(float)x; }
    static TRILANE_FN To from(bfloat16 x) { return (To)(float)x; }
    template <typename U>
    static TRILANE_FN To from(complex<U> x) { return (To)x.re; }
};
template <>
struct caster<bool> {
    template <typename From>
    static TRILANE_FN bool from(From x) { return x != From(0); }
    static TRILANE_FN bool from(float16 x) { return (x.bits & 0x7fff) != 0; }
    static TRILANE_FN bool from(bfloat16 x) { return (x.bits & 0x7fff) != 0; }
    template <typename U>
    static TRILANE_FN bool from(complex<U> x) { return x.re != U(0) || x.im != U(0); }
};
template <>
struct caster<float16> {
    template <typename From>
    static TRILANE_FN float16 from(From x) { return float16((float)x); }
    static TRILANE_FN float16 from(float16 x) { return x; }
    // Through float with round-to-odd, so that there is one rounding.
    static TRILANE_FN float16 from(double x) {
        float f = (float)x;
        double back = (double)f;
        int bits = __float_as_int(f);
        if (back != x && x == x && !(bits & 1)) {
            bool away = ::fabs(back) > ::fabs(x);
            bits += away ? -1 : 1;
            f = __int_as_float(bits);
        }
        return float16(f);
    }
    template <typename U>
    static TRILANE_FN float16 from(complex<U> x) { return from(x.re); }
};
template <>
struct caster<bfloat16> {
    template <typename From>
    static TRILANE_FN bfloat16 from(From x) { return bfloat16((float)x); }
    static TRILANE_FN bfloat16 from(bfloat16 x) { return x; }
    template <typename U>
    static TRILANE_FN bfloat16 from(complex<U> x) { return bfloat16((float)x.re); }
};
template <typename T>
struct caster<complex<T> > {
    template <typename From>
    static TRILANE_FN complex<T> from(From x) { return complex<T>((T)x); }
    static TRILANE_FN complex<T> from(float16 x) { return complex<T>((T)(float)x); }
    static TRILANE_FN complex<T> from(bfloat16 x) { return complex<T>((T)(float)x); }
    template <typename U>
    static TRILANE_FN complex<T> from(complex<U> x) { return complex<T>((T)x.re, (T)x.im); }
};
template <typename To, typename From>
TRILANE_FN To cast(From x) { return caster<To>::from(x); }

// Neighbouring elements that one load or store moves, up to 16 bytes at a time.
template <typename T, int count>
struct alignas(sizeof(T) * count > 16 ? 16 : sizeof(T) * count) pack {
    T x[count];
};

// --- NaN and infinity, for real and complex types, integers excepted
template <typename T> TRILANE_FN bool is_nan(T x) { return x != x; }
template <typename T> TRILANE_FN bool is_finite(T x) { return x - x == T(0); }
TRILANE_FN bool is_inf(float x) { return (__float_as_int(x) & 0x7fffffff) == 0x7f800000; }
TRILANE_FN bool is_inf(double x) {
    return (__double_as_longlong(x) & 0x7fffffffffffffffLL) == 0x7ff0000000000000LL;
}
template <typename T> TRILANE_FN bool is_nan(complex<T> z) { return is_nan(z.re) || is_nan(z.im); }
template <typename T> TRILANE_FN bool is_inf(complex<T> z) { return is_inf(z.re) || is_inf(z.im); }
template <typename T> TRILANE_FN bool is_finite(complex<T> z) {
    return is_finite(z.re) && is_finite(z.im);
}
template <typename T> TRILANE_FN T nan_of() { return (T)__int_as_float(0x7fc00000); }
template <typename T> TRILANE_FN T inf_of() { return (T)__int_as_float(0x7f800000); }

}  // namespace trilane

#endif
