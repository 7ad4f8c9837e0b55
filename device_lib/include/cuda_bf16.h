// __nv_bfloat16 and its pair: the upper half of a float, arithmetic that rounds once.
#pragma once

#include "../cpu/small_float.h"

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __align__(4) __nv_bfloat162_raw {
    unsigned short x, y;
};

struct __align__(2) __nv_bfloat16 {
    unsigned short __x;

    __nv_bfloat16() = default;
    TRILANE_HD __nv_bfloat16(float f) : __x(round(f)) {}
    TRILANE_HD __nv_bfloat16(double d) : __x(round(trilane_float_odd(d))) {}
    TRILANE_HD __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
    template <class I, class = trilane_if_integer<I, void>>
    TRILANE_HD __nv_bfloat16(I i) : __x(round(trilane_float_odd(trilane_double_odd(i)))) {}
    TRILANE_HD operator float() const { return __uint_as_float((unsigned int)__x << 16); }
    TRILANE_HD operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
    TRILANE_HD unsigned short bits() const { return __x; }
    static TRILANE_HD __nv_bfloat16 from_bits(unsigned short bits) {
        __nv_bfloat16 h;
        h.__x = bits;
        return h;
    }
    static TRILANE_HD unsigned short round(float f) {
        unsigned int bits = __float_as_uint(f);
        if (isnan(f)) return 0x7fff;
        return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
    }
};
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    TRILANE_HD __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
    TRILANE_HD __nv_bfloat162(const __nv_bfloat162_raw& raw)
        : x(__nv_bfloat16::from_bits(raw.x)), y(__nv_bfloat16::from_bits(raw.y)) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

TRILANE_HD __nv_bfloat16 trilane_narrow_to(__nv_bfloat16*, float f) { return __nv_bfloat16(f); }
TRILANE_HD __nv_bfloat16 trilane_narrow_to(__nv_bfloat16*, double d) { return __nv_bfloat16(d); }
TRILANE_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat162(a, b);
}
TRILANE_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat162(a, b);
}
TRILANE_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }

#define TRILANE_SF __nv_bfloat16
#define TRILANE_SF2 __nv_bfloat162
#define TRILANE_SF_NAME(prefix, suffix) prefix##bfloat16##suffix
#include "../cpu/small_float.inc"
