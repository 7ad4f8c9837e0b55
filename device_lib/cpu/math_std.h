// namespace std: the math names, as <cmath> would give them.
#pragma once

namespace std {

using ::size_t;
using ::ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
using ::abs;
using ::labs;
using ::llabs;
using ::fabs;
using ::sqrt;
using ::cbrt;
using ::exp;
using ::exp2;
using ::expm1;
using ::log;
using ::log2;
using ::log10;
using ::log1p;
using ::logb;
using ::ilogb;
using ::sin;
using ::cos;
using ::tan;
using ::asin;
using ::acos;
using ::atan;
using ::atan2;
using ::sinh;
using ::cosh;
using ::tanh;
using ::asinh;
using ::acosh;
using ::atanh;
using ::erf;
using ::erfc;
using ::lgamma;
using ::tgamma;
using ::pow;
using ::fma;
using ::fmod;
using ::remainder;
using ::remquo;
using ::modf;
using ::frexp;
using ::ldexp;
using ::scalbn;
using ::scalbln;
using ::hypot;
using ::copysign;
using ::fdim;
using ::fmin;
using ::fmax;
using ::nextafter;
using ::floor;
using ::ceil;
using ::trunc;
using ::round;
using ::rint;
using ::nearbyint;
using ::lrint;
using ::llrint;
using ::lround;
using ::llround;
using ::nan;
using ::nanf;
using ::isnan;
using ::isinf;
using ::isfinite;
using ::isnormal;
using ::signbit;
using ::fpclassify;
using ::sqrtf;
using ::expf;
using ::logf;
using ::sinf;
using ::cosf;
using ::powf;
using ::fabsf;
using ::fmaf;
using ::floorf;
using ::ceilf;
using ::printf;
using ::malloc;
using ::free;
using ::memcpy;
using ::memmove;
using ::memset;
using ::memcmp;
using ::strlen;
using ::clock_t;
using ::clock;

// const T&, as in <algorithm>: both arguments of one type.
template <class T> TRILANE_HD constexpr const T& min(const T& a, const T& b) {
    return b < a ? b : a;
}
template <class T> TRILANE_HD constexpr const T& max(const T& a, const T& b) {
    return a < b ? b : a;
}

}  // namespace std
