// Type rules: NumPy 2's promotion and casting (NEP 50: Python numbers are weak).
#pragma once

#include <span>

#include "array/scalar.h"
#include "core/dtype.h"

namespace trilane::array {

enum class Casting : uint8_t { No, Equiv, Safe, SameKind, Unsafe };
Casting casting_from_name(std::string_view name);  // InvalidArgument on another word
const char* casting_name(Casting casting);

bool can_cast(core::DType from, core::DType to, Casting casting = Casting::Safe);
// numpy.promote_types.
core::DType promote_types(core::DType a, core::DType b);

// One input of an operation, as promotion sees it.
struct TypedInput {
    core::DType dtype = core::DType::Bool;  // of arrays and strong scalars
    ScalarType weak = ScalarType::Strong;
};
// numpy.result_type.
core::DType result_type(std::span<const TypedInput> inputs);
// The dtype that a weak scalar takes beside strong inputs that promote to `strong`.
core::DType weak_dtype(ScalarType weak, core::DType strong);
core::DType default_dtype(ScalarType weak);  // alone: int64, float64, complex128

bool is_integer(core::DType dtype);  // Int or UInt kind
bool is_float(core::DType dtype);
bool is_complex(core::DType dtype);
core::DType real_dtype(core::DType dtype);     // complex64 -> float32; others unchanged
core::DType complex_dtype(core::DType dtype);  // float32 -> complex64, float64 -> complex128

// One letter per type, NumPy's where there is one: ? b B h H i I q Q e E(bfloat16) f d F D V.
char type_code(core::DType dtype);
core::DType dtype_from_code(char code);
// How generated text spells the type of an element: "bool", "signed char", "trilane::float16" ...
const char* device_type(core::DType dtype);
// The type that arithmetic uses for it: float for float16 and bfloat16, itself for the others.
const char* compute_type(core::DType dtype);

}  // namespace trilane::array
