// cupy/carray.cuh: what CuPy's generated kernels and users' preambles expect of it.
#pragma once

#include <cuda_fp16.h>
#include "../trilane/strided.h"

#ifndef CUPY_FOR
#define CUPY_FOR(i, n)                                                                        \
    for (ptrdiff_t i = static_cast<ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x;         \
         i < static_cast<ptrdiff_t>(n); i += static_cast<ptrdiff_t>(blockDim.x) * gridDim.x)
#endif

typedef __half float16;
