// abs, min, max, classification: CUDA's overload sets over integers and floats.
#pragma once

TRILANE_HD int abs(int x) { return x < 0 ? (int)(0u - (unsigned int)x) : x; }
TRILANE_HD long abs(long x) { return x < 0 ? (long)(0ul - (unsigned long)x) : x; }
TRILANE_HD long long abs(long long x) {
    return x < 0 ? (long long)(0ull - (unsigned long long)x) : x;
}
TRILANE_HD float abs(float x) { return __builtin_fabsf(x); }
TRILANE_HD double abs(double x) { return __builtin_fabs(x); }
TRILANE_HD long labs(long x) { return abs(x); }
TRILANE_HD long long llabs(long long x) { return abs(x); }

TRILANE_HD float fminf(float a, float b) { return __builtin_fminf(a, b); }
TRILANE_HD float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
TRILANE_HD double fmin(double a, double b) { return __builtin_fmin(a, b); }
TRILANE_HD double fmax(double a, double b) { return __builtin_fmax(a, b); }
TRILANE_HD float fmin(float a, float b) { return __builtin_fminf(a, b); }
TRILANE_HD float fmax(float a, float b) { return __builtin_fmaxf(a, b); }

#define TRILANE_MIN_MAX(result, a_type, b_type)                                       \
    TRILANE_HD result min(const a_type a, const b_type b) {                           \
        return (result)a < (result)b ? (result)a : (result)b;                         \
    }                                                                                 \
    TRILANE_HD result max(const a_type a, const b_type b) {                           \
        return (result)a > (result)b ? (result)a : (result)b;                         \
    }
TRILANE_MIN_MAX(int, int, int)
TRILANE_MIN_MAX(unsigned int, unsigned int, unsigned int)
TRILANE_MIN_MAX(unsigned int, int, unsigned int)
TRILANE_MIN_MAX(unsigned int, unsigned int, int)
TRILANE_MIN_MAX(long, long, long)
TRILANE_MIN_MAX(unsigned long, unsigned long, unsigned long)
TRILANE_MIN_MAX(unsigned long, long, unsigned long)
TRILANE_MIN_MAX(unsigned long, unsigned long, long)
TRILANE_MIN_MAX(long long, long long, long long)
TRILANE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
TRILANE_MIN_MAX(unsigned long long, long long, unsigned long long)
TRILANE_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef TRILANE_MIN_MAX
TRILANE_HD unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
TRILANE_HD unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
TRILANE_HD long long llmin(long long a, long long b) { return min(a, b); }
TRILANE_HD long long llmax(long long a, long long b) { return max(a, b); }
TRILANE_HD unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return min(a, b);
}
TRILANE_HD unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return max(a, b);
}
TRILANE_HD float min(float a, float b) { return __builtin_fminf(a, b); }
TRILANE_HD float max(float a, float b) { return __builtin_fmaxf(a, b); }
TRILANE_HD double min(double a, double b) { return __builtin_fmin(a, b); }
TRILANE_HD double max(double a, double b) { return __builtin_fmax(a, b); }
TRILANE_HD double min(float a, double b) { return __builtin_fmin(a, b); }
TRILANE_HD double max(float a, double b) { return __builtin_fmax(a, b); }
TRILANE_HD double min(double a, float b) { return __builtin_fmin(a, b); }
TRILANE_HD double max(double a, float b) { return __builtin_fmax(a, b); }

// By bits, so that no fast-math flag of the text can fold them.
TRILANE_HD bool isnan(float x) { return (__float_as_uint(x) & 0x7fffffffu) > 0x7f800000u; }
TRILANE_HD bool isinf(float x) { return (__float_as_uint(x) & 0x7fffffffu) == 0x7f800000u; }
TRILANE_HD bool isfinite(float x) { return (__float_as_uint(x) & 0x7fffffffu) < 0x7f800000u; }
TRILANE_HD bool signbit(float x) { return (__float_as_uint(x) >> 31) != 0; }
TRILANE_HD bool isnormal(float x) { return isfinite(x) && __builtin_fabsf(x) >= FLT_MIN; }
TRILANE_HD bool isnan(double x) {
    return (trilane_bits(x) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}
TRILANE_HD bool isinf(double x) {
    return (trilane_bits(x) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull;
}
TRILANE_HD bool isfinite(double x) {
    return (trilane_bits(x) & 0x7fffffffffffffffull) < 0x7ff0000000000000ull;
}
TRILANE_HD bool signbit(double x) { return (trilane_bits(x) >> 63) != 0; }
TRILANE_HD bool isnormal(double x) { return isfinite(x) && __builtin_fabs(x) >= DBL_MIN; }
TRILANE_HD int fpclassify(float x) {
    return isnan(x) ? FP_NAN
                    : isinf(x) ? FP_INFINITE
                               : x == 0 ? FP_ZERO : isnormal(x) ? FP_NORMAL : FP_SUBNORMAL;
}
TRILANE_HD int fpclassify(double x) {
    return isnan(x) ? FP_NAN
                    : isinf(x) ? FP_INFINITE
                               : x == 0 ? FP_ZERO : isnormal(x) ? FP_NORMAL : FP_SUBNORMAL;
}

template <class T> struct trilane_is_integer { static constexpr bool value = false; };
template <> struct trilane_is_integer<bool> { static constexpr bool value = true; };
template <> struct trilane_is_integer<char> { static constexpr bool value = true; };
template <> struct trilane_is_integer<signed char> { static constexpr bool value = true; };
template <> struct trilane_is_integer<unsigned char> { static constexpr bool value = true; };
template <> struct trilane_is_integer<wchar_t> { static constexpr bool value = true; };
template <> struct trilane_is_integer<short> { static constexpr bool value = true; };
template <> struct trilane_is_integer<unsigned short> { static constexpr bool value = true; };
template <> struct trilane_is_integer<int> { static constexpr bool value = true; };
template <> struct trilane_is_integer<unsigned int> { static constexpr bool value = true; };
template <> struct trilane_is_integer<long> { static constexpr bool value = true; };
template <> struct trilane_is_integer<unsigned long> { static constexpr bool value = true; };
template <> struct trilane_is_integer<long long> { static constexpr bool value = true; };
template <> struct trilane_is_integer<unsigned long long> { static constexpr bool value = true; };
template <> struct trilane_is_integer<__int128> { static constexpr bool value = true; };
template <> struct trilane_is_integer<unsigned __int128> { static constexpr bool value = true; };

template <bool condition, class T> struct trilane_enable {};
template <class T> struct trilane_enable<true, T> { using type = T; };
template <class I, class R> using trilane_if_integer =
    typename trilane_enable<trilane_is_integer<I>::value, R>::type;
