// __half and __half2: storage of 16 bits, arithmetic that rounds once, CUDA's intrinsics.
#pragma once

#include "../cpu/small_float.h"

struct __half_raw {
    unsigned short x;
};
struct __align__(4) __half2_raw {
    unsigned short x, y;
};

struct __align__(2) __half {
    unsigned short __x;

    __half() = default;
    TRILANE_HD __half(float f) : __x(round(f)) {}
    TRILANE_HD __half(double d) : __x(round(trilane_float_odd(d))) {}
    TRILANE_HD __half(const __half_raw& raw) : __x(raw.x) {}
    template <class I, class = trilane_if_integer<I, void>>
    TRILANE_HD __half(I i) : __x(round(trilane_float_odd(trilane_double_odd(i)))) {}
    TRILANE_HD operator float() const { return (float)__builtin_bit_cast(_Float16, __x); }
    TRILANE_HD operator __half_raw() const { return __half_raw{__x}; }
    TRILANE_HD unsigned short bits() const { return __x; }
    static TRILANE_HD __half from_bits(unsigned short bits) {
        __half h;
        h.__x = bits;
        return h;
    }
    static TRILANE_HD unsigned short round(float f) {
        unsigned short bits = __builtin_bit_cast(unsigned short, (_Float16)f);
        return isnan(f) ? (unsigned short)0x7fff : bits;   // the GPU's one NaN
    }
};
struct __align__(4) __half2 {
    __half x, y;
    __half2() = default;
    TRILANE_HD __half2(const __half& a, const __half& b) : x(a), y(b) {}
    TRILANE_HD __half2(const __half2_raw& raw)
        : x(__half::from_bits(raw.x)), y(__half::from_bits(raw.y)) {}
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;

TRILANE_HD __half trilane_narrow_to(__half*, float f) { return __half(f); }
TRILANE_HD __half trilane_narrow_to(__half*, double d) { return __half(d); }
TRILANE_HD __half2 make_half2(__half a, __half b) { return __half2(a, b); }
TRILANE_HD __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
TRILANE_HD __half2 __half2half2(__half a) { return __half2(a, a); }

#define TRILANE_SF __half
#define TRILANE_SF2 __half2
#define TRILANE_SF_NAME(prefix, suffix) prefix##half##suffix
#include "../cpu/small_float.inc"

// Complex product and sum: (re, im) pairs.
TRILANE_HD __half2 __hcmadd(__half2 a, __half2 b, __half2 c) {
    __half re = __hfma(a.x, b.x, c.x), im = __hfma(a.x, b.y, c.y);
    return __half2(__hfma(__hneg(a.y), b.y, re), __hfma(a.y, b.x, im));
}

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFF)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFF)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00)
