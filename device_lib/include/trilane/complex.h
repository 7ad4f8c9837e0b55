// trilane::complex<T>, T float or double: layout of two T, arithmetic and functions as NumPy has
// them (plain products, Smith's quotient, lexicographic order, C99 special values). Both devices.
#ifndef TRILANE_COMPLEX_H_INCLUDED
#define TRILANE_COMPLEX_H_INCLUDED

#include "trilane/constants.h"

#ifndef TRILANE_FN
#define TRILANE_FN __host__ __device__ __forceinline__
#define TRILANE_FN_CALL __host__ __device__ inline
#endif

namespace trilane {

namespace detail {
template <bool condition> struct enable {};
template <> struct enable<true> { using type = int; };
}  // namespace detail

template <class T> struct __align__(2 * sizeof(T)) complex {
    using value_type = T;
    T re, im;

    complex() = default;
    TRILANE_FN constexpr complex(T real, T imag = T(0)) : re(real), im(imag) {}
    TRILANE_FN T real() const { return re; }
    TRILANE_FN T imag() const { return im; }
    TRILANE_FN T real() const volatile { return re; }
    TRILANE_FN T imag() const volatile { return im; }
    TRILANE_FN void real(T v) { re = v; }
    TRILANE_FN void imag(T v) { im = v; }
    // Widening is silent, narrowing is asked for. Templates, so that the type stays trivial.
    template <class U>
    TRILANE_FN complex(const complex<U>& z,
                       typename detail::enable<(sizeof(U) < sizeof(T))>::type = 0)
        : re(z.re), im(z.im) {}
    template <class U>
    TRILANE_FN explicit complex(const complex<U>& z,
                                typename detail::enable<(sizeof(U) > sizeof(T))>::type = 0)
        : re((T)z.re), im((T)z.im) {}
    template <class U>
    TRILANE_FN complex(const volatile complex<U>& z,
                       typename detail::enable<sizeof(U) <= sizeof(T)>::type = 0)
        : re(z.re), im(z.im) {}
    template <class U, typename detail::enable<(sizeof(U) < sizeof(T))>::type = 0>
    TRILANE_FN complex& operator=(const complex<U>& z) {
        re = z.re, im = z.im;
        return *this;
    }
    template <class U, typename detail::enable<sizeof(U) <= sizeof(T)>::type = 0>
    TRILANE_FN void operator=(const complex<U>& z) volatile {
        re = z.re, im = z.im;
    }
    TRILANE_FN complex value() const volatile { return complex(re, im); }
    TRILANE_FN complex& operator=(T v) {
        re = v, im = T(0);
        return *this;
    }
    TRILANE_FN complex& operator+=(const complex& b) { return *this = *this + b; }
    TRILANE_FN complex& operator-=(const complex& b) { return *this = *this - b; }
    TRILANE_FN complex& operator*=(const complex& b) { return *this = *this * b; }
    TRILANE_FN complex& operator/=(const complex& b) { return *this = *this / b; }
    TRILANE_FN complex& operator+=(const volatile complex& b) { return *this += b.value(); }
    TRILANE_FN complex& operator*=(const volatile complex& b) { return *this *= b.value(); }
    TRILANE_FN complex& operator+=(T b) { return *this = *this + b; }
    TRILANE_FN complex& operator-=(T b) { return *this = *this - b; }
    TRILANE_FN complex& operator*=(T b) { return *this = *this * b; }
    TRILANE_FN complex& operator/=(T b) { return *this = *this / b; }

    TRILANE_FN complex operator+() const { return *this; }
    TRILANE_FN complex operator-() const { return complex(-re, -im); }

    TRILANE_FN friend complex operator+(const complex& a, const complex& b) {
        return complex(a.re + b.re, a.im + b.im);
    }
    TRILANE_FN friend complex operator-(const complex& a, const complex& b) {
        return complex(a.re - b.re, a.im - b.im);
    }
    TRILANE_FN friend complex operator*(const complex& a, const complex& b) {
        return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    }
    // Smith's form: no overflow of |b|^2; x/0 divides each part by 0.
    TRILANE_FN friend complex operator/(const complex& a, const complex& b) {
        T br = ::fabs(b.re), bi = ::fabs(b.im);
        if (br >= bi) {
            if (br == T(0)) return complex(a.re / br, a.im / br);
            T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
            return complex((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
        }
        T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
        return complex((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
    }
    TRILANE_FN friend complex operator+(const complex& a, T b) { return complex(a.re + b, a.im); }
    TRILANE_FN friend complex operator+(T a, const complex& b) { return complex(a + b.re, b.im); }
    TRILANE_FN friend complex operator-(const complex& a, T b) { return complex(a.re - b, a.im); }
    TRILANE_FN friend complex operator-(T a, const complex& b) { return complex(a - b.re, -b.im); }
    TRILANE_FN friend complex operator*(const complex& a, T b) {
        return complex(a.re * b, a.im * b);
    }
    TRILANE_FN friend complex operator*(T a, const complex& b) {
        return complex(a * b.re, a * b.im);
    }
    TRILANE_FN friend complex operator/(const complex& a, T b) {
        return complex(a.re / b, a.im / b);
    }
    TRILANE_FN friend complex operator/(T a, const complex& b) { return complex(a) / b; }

    // Elements of volatile arrays, as reductions of old use them.
    TRILANE_FN friend complex operator+(const volatile complex& a, const volatile complex& b) {
        return a.value() + b.value();
    }
    TRILANE_FN friend complex operator-(const volatile complex& a, const volatile complex& b) {
        return a.value() - b.value();
    }
    TRILANE_FN friend complex operator*(const volatile complex& a, const volatile complex& b) {
        return a.value() * b.value();
    }
    TRILANE_FN friend complex operator/(const volatile complex& a, const volatile complex& b) {
        return a.value() / b.value();
    }

    TRILANE_FN friend bool operator==(const complex& a, const complex& b) {
        return a.re == b.re && a.im == b.im;
    }
    TRILANE_FN friend bool operator!=(const complex& a, const complex& b) { return !(a == b); }
    // By real part, then by imaginary part; false where a NaN decides.
    TRILANE_FN friend bool operator<(const complex& a, const complex& b) {
        return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im < b.im);
    }
    TRILANE_FN friend bool operator<=(const complex& a, const complex& b) {
        return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im <= b.im);
    }
    TRILANE_FN friend bool operator>(const complex& a, const complex& b) { return b < a; }
    TRILANE_FN friend bool operator>=(const complex& a, const complex& b) { return b <= a; }

    TRILANE_FN explicit operator bool() const { return re != T(0) || im != T(0); }
};

template <class T> TRILANE_FN T real(const complex<T>& z) { return z.re; }
template <class T> TRILANE_FN T imag(const complex<T>& z) { return z.im; }
template <class T> TRILANE_FN complex<T> conj(const complex<T>& z) {
    return complex<T>(z.re, -z.im);
}
template <class T> TRILANE_FN T abs(const complex<T>& z) { return ::hypot(z.re, z.im); }
template <class T> TRILANE_FN T arg(const complex<T>& z) { return ::atan2(z.im, z.re); }
template <class T> TRILANE_FN T norm(const complex<T>& z) { return z.re * z.re + z.im * z.im; }
template <class T> TRILANE_FN complex<T> polar(T radius, T angle = T(0)) {
    return complex<T>(radius * ::cos(angle), radius * ::sin(angle));
}
template <class T> TRILANE_FN complex<T> proj(const complex<T>& z) {
    if (::isinf(z.re) || ::isinf(z.im)) return complex<T>(T(INFINITY), ::copysign(T(0), z.im));
    return z;
}
template <class T> TRILANE_FN bool isnan(const complex<T>& z) {
    return ::isnan(z.re) || ::isnan(z.im);
}
template <class T> TRILANE_FN bool isinf(const complex<T>& z) {
    return ::isinf(z.re) || ::isinf(z.im);
}
template <class T> TRILANE_FN bool isfinite(const complex<T>& z) {
    return ::isfinite(z.re) && ::isfinite(z.im);
}
template <class T> TRILANE_FN complex<T> square(const complex<T>& z) { return z * z; }
template <class T> TRILANE_FN complex<T> reciprocal(const complex<T>& z) {
    if (::fabs(z.im) <= ::fabs(z.re)) {
        T ratio = z.im / z.re, scale = z.re + z.im * ratio;
        return complex<T>(T(1) / scale, -ratio / scale);
    }
    T ratio = z.re / z.im, scale = z.re * ratio + z.im;
    return complex<T>(ratio / scale, T(-1) / scale);
}
// z / |z|, 0 for 0: what numpy.sign gives since 2.0.
template <class T> TRILANE_FN_CALL complex<T> sign(const complex<T>& z) {
    T size = abs(z);
    if (::isnan(size)) return complex<T>(size, size);
    if (size == T(0)) return complex<T>(T(0), T(0));
    if (::isinf(size)) {
        bool r = ::isinf(z.re), i = ::isinf(z.im);
        if (r && i) return complex<T>(T(NAN), T(NAN));
        return complex<T>(r ? ::copysign(T(1), z.re) : T(0), i ? ::copysign(T(1), z.im) : T(0));
    }
    return complex<T>(z.re / size, z.im / size);
}
// numpy.maximum and minimum: a NaN operand wins, the first one first.
template <class T> TRILANE_FN complex<T> maximum(const complex<T>& a, const complex<T>& b) {
    return isnan(a) || a >= b ? a : b;
}
template <class T> TRILANE_FN complex<T> minimum(const complex<T>& a, const complex<T>& b) {
    return isnan(a) || a <= b ? a : b;
}

}  // namespace trilane

#include "trilane/complex_math.h"

#endif  // TRILANE_COMPLEX_H_INCLUDED
