// Random numbers: counter-based (Philox 4x32-10), so a number depends on seed, offset and its place
// alone: the same on every device, in every order. One block of 128 bits gives four float32 or
// 32-bit numbers, or two of 64 bits.
#pragma once

#include <string_view>

#include "array/array.h"

namespace trilane::array {

struct RandomState {
    uint64_t seed = 0;
    uint64_t offset = 0;  // blocks used before
};

// kind: uniform [a, b), normal (mean a, deviation b), exponential (scale a), for float16, bfloat16,
// float32 and float64. `blocks` is what the state's offset grows by.
Array random_floats(std::string_view kind, const Shape& shape, core::DType dtype, double a,
                    double b, RandomState state, int64_t& blocks);
// low + [0, range) for any integer or bool dtype; range 0 stands for 2^64.
Array random_integers(const Shape& shape, core::DType dtype, int64_t low, uint64_t range,
                      RandomState state, int64_t& blocks);
// A permutation of 0 .. n - 1, int64.
Array random_permutation(int64_t n, RandomState state, int64_t& blocks);

}  // namespace trilane::array
