// Layout: how several operands of one shape are walked by an element-wise kernel: axes put in the
// order of memory and adjacent ones merged, so that most calls become one flat loop.
#pragma once

#include <cstdint>
#include <span>

#include "array/shape.h"

namespace trilane::array {

inline constexpr int kMaxOperands = 32;

struct LoopLayout {
    int rank = 0;                 // after merging; 0: a single element
    int64_t count = 1;            // elements
    Shape shape;                  // outermost first
    Shape strides[kMaxOperands];  // bytes, per operand
};

// `strides[k]` are operand k's byte strides over `shape` (0 where it is broadcast). With
// `keep_order` axes are merged but stay in C order (the linear index keeps its meaning).
void make_layout(const Shape& shape, std::span<const Shape* const> strides, bool keep_order,
                 LoopLayout& layout);

// Byte strides of a new array of `shape` whose axes are in the memory order of the operands (C
// where they do not agree): NumPy's order 'K'.
Shape keep_order_strides(const Shape& shape, std::span<const Shape* const> strides,
                         int64_t itemsize);

}  // namespace trilane::array
