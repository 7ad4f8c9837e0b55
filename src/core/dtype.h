// Element types of arrays and scalars, shared by all levels: NumPy's, plus bfloat16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trilane::core {

enum class DType : uint8_t {
    Bool,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
    Void,  // structured or raw bytes: the size lives with the array, not here
};
inline constexpr int kDTypeCount = 16;

enum class DTypeKind : uint8_t { Bool, Int, UInt, Float, Complex, Void };

DTypeKind kind_of(DType dtype);
size_t size_of(DType dtype);          // bytes; 0 for Void
const char* numpy_name(DType dtype);  // "float32"
const char* cuda_name(DType dtype);   // spelling in generated CUDA C++: "float", "long long"
char numpy_kind(DType dtype);         // 'b' 'i' 'u' 'f' 'c' 'V'
// From NumPy's name or array-protocol string ("float32", "<f4", "f4"); throws TypeMismatch.
DType dtype_from_name(std::string_view name);

}  // namespace trilane::core
