// Matrix products: one generated kernel for every dtype, register-blocked.
#pragma once

#include <vector>

#include "array/array.h"

namespace trilane::array {

// numpy.matmul: the last two axes are matrices, those before broadcast.
Array matmul(const Array& a, const Array& b, const Array* out = nullptr);
// numpy.dot.
Array dot(const Array& a, const Array& b, const Array* out = nullptr);
// numpy.tensordot over pairs of axes.
Array tensordot(const Array& a, const Array& b, const std::vector<int>& axes_a,
                const std::vector<int>& axes_b);

}  // namespace trilane::array
