// Views that change shape, and joins.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "array/array.h"
#include "array/promotion.h"

namespace trilane::array {

// A view where there is one, else a copy. `order` 'C', 'F' or 'A'. One extent may be -1.
Array reshape(const Array& a, const Shape& shape, char order);
Array ravel(const Array& a, char order);  // 'K' too
Array transpose(const Array& a, const std::vector<int>& order);
Array transpose(const Array& a);  // axes reversed
Array swap_axes(const Array& a, int first, int second);
Array move_axes(const Array& a, const std::vector<int>& from, const std::vector<int>& to);
Array expand_dims(const Array& a, int axis);
Array squeeze(const Array& a, const std::vector<int>& axes);  // extents must be 1
Array squeeze(const Array& a);
Array broadcast_to(const Array& a, const Shape& shape);
Array flip(const Array& a, const std::vector<int>& axes);
Array diagonal(const Array& a, int64_t offset, int axis1, int axis2);  // writable view
Array real_part(const Array& a);       // a view of complex arrays, `a` itself otherwise
Array imaginary_part(const Array& a);  // a view of complex arrays; zeros otherwise
// numpy's view(dtype): the last axis changes length if the sizes differ.
Array reinterpret(const Array& a, core::DType dtype, size_t itemsize, DTypeTag tag);

// Joins along an axis. Casting of the parts to the result is checked.
Array concatenate(std::span<const Array> parts, int axis, const Array* out,
                  std::optional<core::DType> dtype, Casting casting);
Array repeat(const Array& a, const std::vector<int64_t>& counts, int axis);
// start + i * step for i < count.
Array arange(const Scalar& start, const Scalar& step, int64_t count, core::DType dtype);

}  // namespace trilane::array
