// Elementary functions of trilane::complex<T>: C99's special values, no needless overflow, and
// Kahan's formulas for the inverse functions (exact on the cuts, the sign of zero picks the side).
#ifndef TRILANE_COMPLEX_MATH_H_INCLUDED
#define TRILANE_COMPLEX_MATH_H_INCLUDED

#include "trilane/complex.h"

namespace trilane {

namespace detail {
template <class T> struct float_limits;
template <> struct float_limits<float> {
    // Hexadecimal literals need C++17 in NVRTC. Beyond 2^60: 1 + z is z, z^2 may overflow.
    static constexpr float big = 1152921504606846976.0f;
    static constexpr float exp_limit = 88.0f;      // below log(max)
    static constexpr float tanh_limit = 11.0f;     // tanh is 1 beyond
};
template <> struct float_limits<double> {
    static constexpr double big = 3.273390607896142e150;  // 2^500
    static constexpr double exp_limit = 709.0;
    static constexpr double tanh_limit = 22.0;
};

// log |z| without overflow, accurate near |z| = 1.
template <class T> TRILANE_FN_CALL T log_abs(const complex<T>& z) {
    T x = ::fabs(z.re), y = ::fabs(z.im);
    if (x < y) {
        T t = x;
        x = y, y = t;
    }
    if (x > T(0.5) && x < T(1.75) && y < T(1.25))
        return T(0.5) * ::log1p((x - T(1)) * (x + T(1)) + y * y);
    if (x > float_limits<T>::big) return ::log(::hypot(x * T(0.25), y * T(0.25))) + T(2 * M_LN2);
    if (x < T(1) / float_limits<T>::big && x > T(0))
        return ::log(::hypot(x * float_limits<T>::big, y * float_limits<T>::big)) -
               ::log(float_limits<T>::big);
    return ::log(::hypot(x, y));
}
// e^x (cos y, sin y) for finite y, where e^x alone may overflow.
template <class T> TRILANE_FN_CALL complex<T> exp_polar(T x, T c, T s) {
    if (x > float_limits<T>::exp_limit && ::isfinite(x)) {
        T half = ::exp(x * T(0.5));
        return complex<T>(half * c * half, half * s * half);
    }
    T e = ::exp(x);
    return complex<T>(e * c, e * s);
}
}  // namespace detail

template <class T> TRILANE_FN_CALL complex<T> exp(const complex<T>& z) {
    T x = z.re, y = z.im;
    if (y == T(0)) return complex<T>(::exp(x), y);
    if (!::isfinite(y)) {
        if (x == -T(INFINITY)) return complex<T>(T(0), T(0));
        if (x == T(INFINITY)) return complex<T>(x, T(NAN));
        return complex<T>(T(NAN), T(NAN));
    }
    if (x == T(0)) return complex<T>(::cos(y), ::sin(y));
    if (::isnan(x)) return complex<T>(x, x);
    return detail::exp_polar(x, ::cos(y), ::sin(y));
}
template <class T> TRILANE_FN_CALL complex<T> log(const complex<T>& z) {
    T angle = ::atan2(z.im, z.re);
    if (::isinf(z.re) || ::isinf(z.im)) return complex<T>(T(INFINITY), angle);
    return complex<T>(detail::log_abs(z), angle);
}
template <class T> TRILANE_FN_CALL complex<T> log10(const complex<T>& z) {
    complex<T> w = log(z);
    return complex<T>(w.re * T(M_LOG10E), w.im * T(M_LOG10E));
}
template <class T> TRILANE_FN_CALL complex<T> log2(const complex<T>& z) {
    complex<T> w = log(z);
    return complex<T>(w.re * T(M_LOG2E), w.im * T(M_LOG2E));
}
// log(1 + z) without losing small z.
template <class T> TRILANE_FN_CALL complex<T> log1p(const complex<T>& z) {
    T length = ::hypot(z.re + T(1), z.im);
    return complex<T>(::log(length), ::atan2(z.im, z.re + T(1)));
}
template <class T> TRILANE_FN_CALL complex<T> exp2(const complex<T>& z) {
    return exp(complex<T>(z.re * T(M_LN2), z.im * T(M_LN2)));
}
template <class T> TRILANE_FN_CALL complex<T> expm1(const complex<T>& z) {
    T half = ::sin(z.im * T(0.5));
    return complex<T>(::expm1(z.re) * ::cos(z.im) - T(2) * half * half,
                      ::exp(z.re) * ::sin(z.im));
}

template <class T> TRILANE_FN_CALL complex<T> sqrt(const complex<T>& z) {
    T x = z.re, y = z.im;
    if (x == T(0) && y == T(0)) return complex<T>(T(0), y);
    if (::isinf(y)) return complex<T>(T(INFINITY), y);
    if (::isnan(x)) return complex<T>(x, T(NAN));
    if (::isinf(x)) {
        if (x < T(0)) return complex<T>(::fabs(y - y), ::copysign(x, y));
        return complex<T>(x, ::copysign(y - y, y));
    }
    // halve twice when large, blow up when tiny: the squares inside hypot stay in range
    T scale = T(1);
    if (::fabs(x) > detail::float_limits<T>::big || ::fabs(y) > detail::float_limits<T>::big) {
        x *= T(0.25), y *= T(0.25), scale = T(2);
    } else if (::fabs(x) < T(1) / detail::float_limits<T>::big &&
               ::fabs(y) < T(1) / detail::float_limits<T>::big) {
        x *= detail::float_limits<T>::big, y *= detail::float_limits<T>::big;
        scale = T(1) / ::sqrt(detail::float_limits<T>::big);
    }
    T t = ::sqrt(T(0.5) * (::fabs(x) + ::hypot(x, y)));
    T u = y / (T(2) * t);
    if (x >= T(0)) return complex<T>(t * scale, u * scale);
    return complex<T>(::fabs(u) * scale, ::copysign(t, z.im) * scale);
}

template <class T> TRILANE_FN_CALL complex<T> sinh(const complex<T>& z) {
    T x = z.re, y = z.im;
    if (y == T(0)) return complex<T>(::sinh(x), y);
    if (!::isfinite(y)) {
        if (x == T(0)) return complex<T>(x, T(NAN));
        return complex<T>(::isinf(x) ? x : T(NAN), T(NAN));
    }
    if (x == T(0)) return complex<T>(x, ::sin(y));
    T c = ::cos(y), s = ::sin(y);
    if (::fabs(x) > detail::float_limits<T>::tanh_limit) {
        complex<T> w = detail::exp_polar(::fabs(x), T(0.5) * c, T(0.5) * s);
        return complex<T>(x < T(0) ? -w.re : w.re, w.im);
    }
    return complex<T>(::sinh(x) * c, ::cosh(x) * s);
}
template <class T> TRILANE_FN_CALL complex<T> cosh(const complex<T>& z) {
    T x = z.re, y = z.im;
    if (y == T(0)) return complex<T>(::cosh(x), ::isnan(x) ? y : x < T(0) ? -y : y);
    if (!::isfinite(y)) {
        if (x == T(0)) return complex<T>(T(NAN), x);
        return complex<T>(::isinf(x) ? T(INFINITY) : T(NAN), T(NAN));
    }
    if (x == T(0)) return complex<T>(::cos(y), x * ::sin(y));
    T c = ::cos(y), s = ::sin(y);
    if (::fabs(x) > detail::float_limits<T>::tanh_limit) {
        complex<T> w = detail::exp_polar(::fabs(x), T(0.5) * c, T(0.5) * s);
        return complex<T>(w.re, x < T(0) ? -w.im : w.im);
    }
    return complex<T>(::cosh(x) * c, ::sinh(x) * s);
}
template <class T> TRILANE_FN_CALL complex<T> tanh(const complex<T>& z) {
    T x = z.re, y = z.im;
    if (::isnan(x)) return complex<T>(x, y == T(0) ? y : T(NAN));
    if (::isinf(x)) {
        T side = ::isfinite(y) ? ::sin(y) * ::cos(y) : T(1);
        return complex<T>(::copysign(T(1), x), ::copysign(T(0), side));
    }
    if (!::isfinite(y)) return complex<T>(x == T(0) ? x : T(NAN), T(NAN));
    if (::fabs(x) >= detail::float_limits<T>::tanh_limit) {
        T decay = ::exp(-::fabs(x));
        return complex<T>(::copysign(T(1), x), T(4) * ::sin(y) * ::cos(y) * decay * decay);
    }
    T t = ::tan(y), beta = T(1) + t * t, s = ::sinh(x), rho = ::sqrt(T(1) + s * s);
    if (::isinf(t)) return complex<T>(rho / s, T(1) / t);
    T d = T(1) + beta * s * s;
    return complex<T>(beta * rho * s / d, t / d);
}
// f(z) = -i F(i z) for sin, tan, asin, atan; cos z = cosh i z.
template <class T> TRILANE_FN complex<T> sin(const complex<T>& z) {
    complex<T> w = sinh(complex<T>(-z.im, z.re));
    return complex<T>(w.im, -w.re);
}
template <class T> TRILANE_FN complex<T> cos(const complex<T>& z) {
    return cosh(complex<T>(-z.im, z.re));
}
template <class T> TRILANE_FN complex<T> tan(const complex<T>& z) {
    complex<T> w = tanh(complex<T>(-z.im, z.re));
    return complex<T>(w.im, -w.re);
}

template <class T> TRILANE_FN_CALL complex<T> asinh(const complex<T>& z) {
    T x = z.re, y = z.im, ax = ::fabs(x), ay = ::fabs(y);
    if (::isnan(x) || ::isnan(y)) {
        if (::isinf(x)) return complex<T>(x, T(NAN));
        if (::isinf(y)) return complex<T>(T(INFINITY), T(NAN));
        return complex<T>(T(NAN), y == T(0) ? y : T(NAN));
    }
    if (ax > detail::float_limits<T>::big || ay > detail::float_limits<T>::big) {
        T size = ::isinf(x) || ::isinf(y) ? T(INFINITY) : detail::log_abs(z) + T(M_LN2);
        return complex<T>(::copysign(size, x), ::atan2(y, ax));
    }
    complex<T> a = sqrt(complex<T>(T(1) - y, x)), b = sqrt(complex<T>(T(1) + y, -x));
    return complex<T>(::copysign(::asinh(::fabs(a.im * b.re - a.re * b.im)), x),
                      ::copysign(::atan2(ay, ::fabs(a.re * b.re - a.im * b.im)), y));
}
template <class T> TRILANE_FN complex<T> asin(const complex<T>& z) {
    complex<T> w = asinh(complex<T>(-z.im, z.re));
    return complex<T>(w.im, -w.re);
}
template <class T> TRILANE_FN_CALL complex<T> acos(const complex<T>& z) {
    T x = z.re, y = z.im, ax = ::fabs(x), ay = ::fabs(y);
    if (::isnan(x) || ::isnan(y)) {
        if (::isinf(x)) return complex<T>(T(NAN), -T(INFINITY));
        if (::isinf(y)) return complex<T>(T(NAN), -y);
        return complex<T>(x == T(0) ? T(M_PI_2) : T(NAN), T(NAN));
    }
    if (ax > detail::float_limits<T>::big || ay > detail::float_limits<T>::big) {
        T size = ::isinf(x) || ::isinf(y) ? T(INFINITY) : detail::log_abs(z) + T(M_LN2);
        return complex<T>(::atan2(ay, x), ::copysign(size, -y));
    }
    complex<T> a = sqrt(complex<T>(T(1) - x, -y)), b = sqrt(complex<T>(T(1) + x, y));
    return complex<T>(T(2) * ::atan2(a.re, b.re),
                      ::copysign(::asinh(::fabs(b.re * a.im - b.im * a.re)), -y));
}
template <class T> TRILANE_FN_CALL complex<T> acosh(const complex<T>& z) {
    complex<T> w = acos(z);
    if (::isnan(w.re) && ::isinf(w.im)) return complex<T>(T(INFINITY), w.re);
    if (::isnan(w.im)) return complex<T>(T(NAN), z.re == T(0) ? T(M_PI_2) : T(NAN));
    return complex<T>(::fabs(w.im), ::copysign(w.re, z.im));
}
template <class T> TRILANE_FN_CALL complex<T> atanh(const complex<T>& z) {
    T x = ::fabs(z.re), y = ::fabs(z.im);
    if (::isnan(x) || ::isnan(y)) {
        if (::isinf(x)) return complex<T>(::copysign(T(0), z.re), T(NAN));
        if (::isinf(y)) return complex<T>(::copysign(T(0), z.re), ::copysign(T(M_PI_2), z.im));
        return complex<T>(x == T(0) ? z.re : T(NAN), T(NAN));
    }
    if (x > detail::float_limits<T>::big || y > detail::float_limits<T>::big) {
        // Re = x / |z|^2, in an order that neither overflows nor underflows early
        T re = ::isinf(x) || ::isinf(y) ? T(0) : x >= y ? T(1) / (x + y * (y / x))
                                                       : (x / y) / (y + x * (x / y));
        return complex<T>(::copysign(re, z.re), ::copysign(T(M_PI_2), z.im));
    }
    T re, im;
    if (x == T(1) && y < T(1) / detail::float_limits<T>::big) {
        if (y == T(0)) return complex<T>(::copysign(T(INFINITY), z.re), z.im);
        re = T(0.5) * (T(M_LN2) - ::log(y));
        im = T(M_PI_4);
    } else {
        T d = T(1) - x;
        re = T(0.25) * ::log1p(T(4) * x / (d * d + y * y));
        im = T(0.5) * ::atan2(T(2) * y, d * (T(1) + x) - y * y);
    }
    return complex<T>(::copysign(re, z.re), ::copysign(im, z.im));
}
template <class T> TRILANE_FN complex<T> atan(const complex<T>& z) {
    complex<T> w = atanh(complex<T>(-z.im, z.re));
    return complex<T>(w.im, -w.re);
}

// NumPy's power: small whole exponents by multiplication, 0 to a positive power is 0.
template <class T> TRILANE_FN_CALL complex<T> pow(const complex<T>& a, const complex<T>& b) {
    if (b.re == T(0) && b.im == T(0)) return complex<T>(T(1), T(0));
    if (a.re == T(0) && a.im == T(0))
        return b.re > T(0) ? complex<T>(T(0), T(0)) : complex<T>(T(NAN), T(NAN));
    if (b.im == T(0) && ::fabs(b.re) < T(100) && b.re == ::trunc(b.re)) {
        int n = (int)b.re, left = n < 0 ? -n : n;
        if (n == 1) return a;
        if (n == 2) return a * a;
        if (n == 3) return a * (a * a);
        complex<T> result(T(1), T(0)), factor = a;
        for (; left; left >>= 1) {
            if (left & 1) result = result * factor;
            factor = factor * factor;
        }
        return n < 0 ? complex<T>(T(1), T(0)) / result : result;
    }
    return exp(b * log(a));
}
template <class T> TRILANE_FN complex<T> pow(const complex<T>& a, const T& b) {
    return pow(a, complex<T>(b, T(0)));
}
template <class T> TRILANE_FN complex<T> pow(const T& a, const complex<T>& b) {
    return pow(complex<T>(a, T(0)), b);
}
template <class T> TRILANE_FN complex<T> pow(const complex<T>& a, int b) {
    return pow(a, complex<T>(T(b), T(0)));
}

}  // namespace trilane

#endif  // TRILANE_COMPLEX_MATH_H_INCLUDED
