// Scalar: a number from the host that takes part in an operation: a Python number, whose type is
// weak (NEP 50), or a NumPy scalar, whose type counts like an array's.
#pragma once

#include <complex>
#include <cstdint>

#include "core/dtype.h"

namespace trilane::array {

enum class ScalarType : uint8_t { Strong, WeakInt, WeakFloat, WeakComplex };

struct Scalar {
    ScalarType type = ScalarType::Strong;
    core::DType dtype = core::DType::Bool;  // of Strong
    // Integers and bools: `integer`, or `large` if is_large (above int64's range). A weak integer
    // that fits neither is `huge`, with its sign in `integer` and its double in `number`.
    bool is_large = false, huge = false;
    int64_t integer = 0;
    uint64_t large = 0;
    double number = 0, imaginary = 0;  // floats and complex numbers

    static Scalar of_bool(bool value);
    static Scalar of_int(int64_t value, core::DType dtype);
    static Scalar weak_int(int64_t value);
    static Scalar weak_float(double value);

    bool is_integer() const;
    double as_double() const;  // real part
};

// Bytes of the scalar as `dtype` into out (16 bytes room). A weak integer that `dtype` cannot hold
// throws std::overflow_error with NumPy's wording; floats to integers truncate and wrap.
void store_scalar(const Scalar& scalar, core::DType dtype, void* out);
// From the bytes of one element.
Scalar load_scalar(const void* bytes, core::DType dtype);

uint16_t half_from_double(double value);  // round to nearest even
double double_from_half(uint16_t bits);
uint16_t bfloat16_from_float(float value);
float float_from_bfloat16(uint16_t bits);

}  // namespace trilane::array
