// What nvcc's translation units know without an include and NVRTC's do not: fixed-width integers,
// limits, the C functions on bytes, and the math names of namespace std. Included before a text
// that uses one of them (devices/cuda/compile_inputs.cpp decides), and by our own headers.
#pragma once

#define TRILANE_HAS_MOVE 1
#define TRILANE_D __device__ __forceinline__
#define TRILANE_HD __host__ __device__ __forceinline__
#define TRILANE_HD_CALL __host__ __device__ inline
#if __cplusplus >= 201402L
#define TRILANE_CONSTEXPR_14 constexpr
#else
#define TRILANE_CONSTEXPR_14
#endif

// 64 bits are `long long`, as in the headers of the toolkit under NVRTC. A text that declares such
// names itself has TRILANE_OWN_INTEGERS.
#ifndef TRILANE_OWN_INTEGERS
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
typedef long long intmax_t;
typedef unsigned long long uintmax_t;
typedef int8_t int_least8_t;
typedef int16_t int_least16_t;
typedef int32_t int_least32_t;
typedef int64_t int_least64_t;
typedef uint8_t uint_least8_t;
typedef uint16_t uint_least16_t;
typedef uint32_t uint_least32_t;
typedef uint64_t uint_least64_t;
typedef int8_t int_fast8_t;
typedef int16_t int_fast16_t;
typedef int32_t int_fast32_t;
typedef int64_t int_fast64_t;
typedef uint8_t uint_fast8_t;
typedef uint16_t uint_fast16_t;
typedef uint32_t uint_fast32_t;
typedef uint64_t uint_fast64_t;
typedef unsigned char u_char;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#endif

#ifndef offsetof
#define offsetof(type, member) ((size_t)((char*)&((type*)0)->member - (char*)0))
#endif

#ifndef CHAR_BIT
#define CHAR_BIT 8
#endif
#ifndef INT_MAX
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#endif
#ifndef INT32_MAX
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MAX 9223372036854775807LL
#define INT64_MIN (-INT64_MAX - 1LL)
#define UINT64_MAX 18446744073709551615ULL
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX 18446744073709551615UL
#define INT8_C(c) c
#define INT16_C(c) c
#define INT32_C(c) c
#define INT64_C(c) c##LL
#define UINT8_C(c) c
#define UINT16_C(c) c
#define UINT32_C(c) c##U
#define UINT64_C(c) c##ULL
#define INTMAX_C(c) c##LL
#define UINTMAX_C(c) c##ULL
#endif
#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_ROUNDS 1
#define FLT_EVAL_METHOD 0
#define DECIMAL_DIG 17
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_DECIMAL_DIG 9
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define FLT_EPSILON 1.1920928955078125e-7f
#define FLT_MIN 1.17549435082228750796873653722e-38f
#define FLT_MAX 3.40282346638528859811704183485e+38f
#define FLT_TRUE_MIN 1.40129846432481707092372958329e-45f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_DECIMAL_DIG 17
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308
#define DBL_EPSILON 2.2204460492503130808472633361816e-16
#define DBL_MIN 2.2250738585072013830902327173324e-308
#define DBL_MAX 1.7976931348623157081452742373170e+308
#define DBL_TRUE_MIN 4.9406564584124654417656879286822e-324
#endif

extern "C++" {

TRILANE_HD void* memmove(void* to, const void* from, size_t nbytes) {
    unsigned char* t = (unsigned char*)to;
    const unsigned char* f = (const unsigned char*)from;
    if (t < f)
        for (size_t i = 0; i < nbytes; ++i) t[i] = f[i];
    else
        for (size_t i = nbytes; i-- > 0;) t[i] = f[i];
    return to;
}
TRILANE_HD int memcmp(const void* a, const void* b, size_t nbytes) {
    const unsigned char *x = (const unsigned char*)a, *y = (const unsigned char*)b;
    for (size_t i = 0; i < nbytes; ++i)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}
TRILANE_HD size_t strlen(const char* text) {
    size_t n = 0;
    while (text[n] != 0) ++n;
    return n;
}
TRILANE_HD int strncmp(const char* a, const char* b, size_t most) {
    for (size_t i = 0; i < most; ++i) {
        if (a[i] != b[i]) return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
        if (a[i] == 0) break;
    }
    return 0;
}
TRILANE_HD int strcmp(const char* a, const char* b) { return strncmp(a, b, ~(size_t)0); }
TRILANE_HD char* strcpy(char* to, const char* from) {
    size_t i = 0;
    do to[i] = from[i];
    while (from[i++] != 0);
    return to;
}

TRILANE_HD bool isnormal(float x) { return isfinite(x) && (x < 0 ? -x : x) >= FLT_MIN; }
TRILANE_HD bool isnormal(double x) { return isfinite(x) && (x < 0 ? -x : x) >= DBL_MIN; }

namespace trilane_nvrtc {
template <class T> struct integer {};
#define TRILANE_INTEGER(T)                        \
    template <> struct integer<T> {               \
        typedef double type;                      \
    };
TRILANE_INTEGER(int)
TRILANE_INTEGER(unsigned)
TRILANE_INTEGER(long)
TRILANE_INTEGER(unsigned long)
TRILANE_INTEGER(long long)
TRILANE_INTEGER(unsigned long long)
TRILANE_INTEGER(short)
TRILANE_INTEGER(unsigned short)
#undef TRILANE_INTEGER
}  // namespace trilane_nvrtc
// Two integers: double, as <cmath> has it.
template <class A, class B>
TRILANE_HD typename trilane_nvrtc::integer<A>::type pow(
    A x, B y, typename trilane_nvrtc::integer<B>::type = 0) {
    return ::pow((double)x, (double)y);
}

namespace std {

using ::size_t;
typedef decltype(nullptr) nullptr_t;
typedef long ptrdiff_t;
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::ceilf;
using ::copysign;
using ::cos;
using ::cosf;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expf;
using ::expm1;
using ::fabs;
using ::fabsf;
using ::fdim;
using ::floor;
using ::floorf;
using ::fma;
using ::fmaf;
using ::fmax;
using ::fmin;
using ::fmod;
using ::free;
using ::frexp;
using ::hypot;
using ::ilogb;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::isnormal;
using ::labs;
using ::ldexp;
using ::lgamma;
using ::llabs;
using ::llrint;
using ::llround;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::logb;
using ::logf;
using ::lrint;
using ::lround;
using ::malloc;
using ::max;
using ::memcmp;
using ::memcpy;
using ::memmove;
using ::memset;
using ::min;
using ::modf;
using ::nan;
using ::nanf;
using ::nearbyint;
using ::nextafter;
using ::pow;
using ::powf;
using ::printf;
using ::remainder;
using ::remquo;
using ::rint;
using ::round;
using ::scalbln;
using ::scalbn;
using ::signbit;
using ::sin;
using ::sinf;
using ::sinh;
using ::sqrt;
using ::sqrtf;
using ::strlen;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;

}  // namespace std
}  // extern "C++"
