// C++'s overloads of the math functions for integers and for mixed types: an integer argument
// counts as double, and a call with any double is a double's.
#pragma once

template <class T> struct trilane_promoted { using type = double; };
template <> struct trilane_promoted<float> { using type = float; };
template <class T> struct trilane_is_arithmetic {
    static constexpr bool value = trilane_is_integer<T>::value;
};
template <> struct trilane_is_arithmetic<float> { static constexpr bool value = true; };
template <> struct trilane_is_arithmetic<double> { static constexpr bool value = true; };
template <class A, class B> struct trilane_is_same { static constexpr bool value = false; };
template <class A> struct trilane_is_same<A, A> { static constexpr bool value = true; };
// The non-template overloads serve (float, float) and (double, double).
template <class A, class B> using trilane_if_mixed = typename trilane_enable<
    trilane_is_arithmetic<A>::value && trilane_is_arithmetic<B>::value &&
        !(trilane_is_same<A, float>::value && trilane_is_same<B, float>::value) &&
        !(trilane_is_same<A, double>::value && trilane_is_same<B, double>::value),
    double>::type;
template <class A, class B, class C> using trilane_if_mixed_3 = typename trilane_enable<
    trilane_is_arithmetic<A>::value && trilane_is_arithmetic<B>::value &&
        trilane_is_arithmetic<C>::value &&
        !(trilane_is_same<A, B>::value && trilane_is_same<B, C>::value &&
          !trilane_is_integer<A>::value),
    double>::type;

#define TRILANE_OF_INTEGER(name)                                                   \
    template <class I> TRILANE_HD trilane_if_integer<I, double> name(I x) {        \
        return name((double)x);                                                    \
    }
#define TRILANE_OF_MIXED(name)                                                     \
    template <class A, class B> TRILANE_HD trilane_if_mixed<A, B> name(A x, B y) { \
        return name((double)x, (double)y);                                         \
    }
TRILANE_OF_INTEGER(sqrt)
TRILANE_OF_INTEGER(rsqrt)
TRILANE_OF_INTEGER(cbrt)
TRILANE_OF_INTEGER(rcbrt)
TRILANE_OF_INTEGER(exp)
TRILANE_OF_INTEGER(exp2)
TRILANE_OF_INTEGER(exp10)
TRILANE_OF_INTEGER(expm1)
TRILANE_OF_INTEGER(log)
TRILANE_OF_INTEGER(log2)
TRILANE_OF_INTEGER(log10)
TRILANE_OF_INTEGER(log1p)
TRILANE_OF_INTEGER(logb)
TRILANE_OF_INTEGER(sin)
TRILANE_OF_INTEGER(cos)
TRILANE_OF_INTEGER(tan)
TRILANE_OF_INTEGER(asin)
TRILANE_OF_INTEGER(acos)
TRILANE_OF_INTEGER(atan)
TRILANE_OF_INTEGER(sinh)
TRILANE_OF_INTEGER(cosh)
TRILANE_OF_INTEGER(tanh)
TRILANE_OF_INTEGER(asinh)
TRILANE_OF_INTEGER(acosh)
TRILANE_OF_INTEGER(atanh)
TRILANE_OF_INTEGER(erf)
TRILANE_OF_INTEGER(erfc)
TRILANE_OF_INTEGER(lgamma)
TRILANE_OF_INTEGER(tgamma)
TRILANE_OF_INTEGER(fabs)
TRILANE_OF_INTEGER(floor)
TRILANE_OF_INTEGER(ceil)
TRILANE_OF_INTEGER(trunc)
TRILANE_OF_INTEGER(round)
TRILANE_OF_INTEGER(rint)
TRILANE_OF_INTEGER(nearbyint)
TRILANE_OF_INTEGER(sinpi)
TRILANE_OF_INTEGER(cospi)
TRILANE_OF_INTEGER(normcdf)
TRILANE_OF_INTEGER(erfinv)
TRILANE_OF_MIXED(pow)
TRILANE_OF_MIXED(atan2)
TRILANE_OF_MIXED(fmod)
TRILANE_OF_MIXED(remainder)
TRILANE_OF_MIXED(hypot)
TRILANE_OF_MIXED(copysign)
TRILANE_OF_MIXED(fdim)
TRILANE_OF_MIXED(nextafter)
TRILANE_OF_MIXED(fmin)
TRILANE_OF_MIXED(fmax)
#undef TRILANE_OF_INTEGER
#undef TRILANE_OF_MIXED

template <class A, class B, class C>
TRILANE_HD trilane_if_mixed_3<A, B, C> fma(A x, B y, C z) {
    return __builtin_fma((double)x, (double)y, (double)z);
}
template <class I> TRILANE_HD trilane_if_integer<I, double> ldexp(I x, int e) {
    return __builtin_ldexp((double)x, e);
}
template <class I> TRILANE_HD trilane_if_integer<I, double> frexp(I x, int* e) {
    return __builtin_frexp((double)x, e);
}
template <class I> TRILANE_HD trilane_if_integer<I, long> lround(I x) { return (long)x; }
template <class I> TRILANE_HD trilane_if_integer<I, bool> isnan(I) { return false; }
template <class I> TRILANE_HD trilane_if_integer<I, bool> isinf(I) { return false; }
template <class I> TRILANE_HD trilane_if_integer<I, bool> isfinite(I) { return true; }
template <class I> TRILANE_HD trilane_if_integer<I, bool> isnormal(I x) { return x != 0; }
template <class I> TRILANE_HD trilane_if_integer<I, bool> signbit(I x) { return x < 0; }
