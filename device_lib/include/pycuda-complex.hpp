// pycuda-complex.hpp: pycuda::complex<T> with the arithmetic and functions PyCUDA's texts use.
#pragma once

#include "trilane/complex.h"

namespace pycuda {

template <class T> using complex = trilane::complex<T>;
using trilane::abs;
using trilane::acos;
using trilane::acosh;
using trilane::arg;
using trilane::asin;
using trilane::asinh;
using trilane::atan;
using trilane::atanh;
using trilane::conj;
using trilane::cos;
using trilane::cosh;
using trilane::exp;
using trilane::imag;
using trilane::log;
using trilane::log10;
using trilane::norm;
using trilane::polar;
using trilane::pow;
using trilane::real;
using trilane::sin;
using trilane::sinh;
using trilane::sqrt;
using trilane::tan;
using trilane::tanh;
TRILANE_FN complex<float> fma(const complex<float>& a, const complex<float>& b,
                              const complex<float>& c) {
    return a * b + c;
}
TRILANE_FN complex<double> fma(const complex<double>& a, const complex<double>& b,
                               const complex<double>& c) {
    return a * b + c;
}

}  // namespace pycuda
