// cupy/complex.cuh: complex<T> and its functions at global scope, as CuPy's RawKernels use them.
#pragma once

#include "thrust/complex.h"

using thrust::arg;
using thrust::complex;
using thrust::conj;
using thrust::imag;
using thrust::norm;
using thrust::polar;
using thrust::proj;
using thrust::real;
