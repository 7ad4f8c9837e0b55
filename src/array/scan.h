// Running sums, products and extremes along an axis.
#pragma once

#include <optional>
#include <string_view>

#include "array/array.h"

namespace trilane::array {

// name: cumsum cumprod nancumsum nancumprod, or the ufunc names add multiply maximum minimum fmax
// fmin logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor. Sums and products of
// small integers are of 64 bits, as in NumPy. Deterministic.
Array accumulate(std::string_view name, const Array& a, int axis, std::optional<core::DType> dtype,
                 const Array* out);

}  // namespace trilane::array
