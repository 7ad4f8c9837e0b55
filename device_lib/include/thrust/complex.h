// <thrust/complex.h> for kernels: thrust::complex<T>.
#pragma once

#include "../trilane/complex.h"

namespace thrust {

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
using trilane::proj;
using trilane::real;
using trilane::sin;
using trilane::sinh;
using trilane::sqrt;
using trilane::tan;
using trilane::tanh;

}  // namespace thrust
