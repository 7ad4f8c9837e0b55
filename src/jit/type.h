// Types of values in a Python kernel: Numba's, with its spelling. Types are interned for the life
// of the process: equal types are the same pointer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"

namespace trilane::jit {

enum class TypeKind : uint8_t {
    None,
    Bool,
    Int,
    UInt,
    Float,
    Complex,
    Array,
    Tuple,  // also named tuples
    Record,
    Pointer,  // CPointer(T)
    Dim3,     // threadIdx and its like
    Str,      // a constant string
    Static,   // a function, class or module: no value at run time
    Slice,
    Range,
    Iterator,  // only between an expression and its consumer
    Conflict,  // a variable with types that do not unify; an error on use
};

struct Type;
using TypeRef = const Type*;

struct Field {
    std::string name;
    TypeRef type = nullptr;  // an Array type here is a nested array of shape `shape`
    int64_t offset = 0;      // bytes
    std::vector<int64_t> shape;
    bool operator==(const Field&) const = default;
};

struct Type {
    TypeKind kind = TypeKind::None;
    int bits = 0;                    // of numbers: 8 .. 128
    TypeRef element = nullptr;       // of Array, Pointer
    int ndim = 0;                    // of Array
    char layout = 'C';               // of Array: 'C', 'F', 'A'
    bool readonly = false;           // of Array
    bool narrow = false;             // of Array: offsets fit 32 bits
    std::vector<TypeRef> items;      // of Tuple
    std::vector<std::string> names;  // of a named tuple
    std::vector<Field> fields;       // of Record
    int64_t nbytes = 0;              // of Record
    std::string name;                // of named tuples (class), Static (what)
    std::string text;                // Numba's spelling: "array(float32, 1d, C)"
    uint32_t id = 0;                 // small and unique

    bool integer() const { return kind == TypeKind::Int || kind == TypeKind::UInt; }
    bool real() const { return integer() || kind == TypeKind::Float || kind == TypeKind::Bool; }
    bool number() const { return real() || kind == TypeKind::Complex; }
    bool uniform() const;  // a tuple whose items are all of one type (not empty)
};

// --- making them
namespace types {
TypeRef none();
TypeRef boolean();
TypeRef integer(int bits, bool is_signed);
TypeRef int32();
TypeRef int64();
TypeRef uint64();
TypeRef floating(int bits);
TypeRef float32();
TypeRef float64();
TypeRef complex(int bits);
TypeRef array(TypeRef element, int ndim, char layout, bool readonly, bool narrow);
TypeRef tuple(std::vector<TypeRef> items);
TypeRef named_tuple(std::string name, std::vector<std::string> names, std::vector<TypeRef> items);
TypeRef record(std::vector<Field> fields, int64_t nbytes);
TypeRef pointer(TypeRef element);
TypeRef dim3();
TypeRef string();
TypeRef static_object(std::string what);
TypeRef special(TypeKind kind, std::string text);  // Slice, Range, Iterator, Conflict
TypeRef of_dtype(core::DType dtype);
// From the code that type objects of the face carry (and back): "float32", "A(float32,2,C,0,1)"
// (ndim, layout, readonly, narrow), "T(int64,float64)", "N(Point;x,y;int64,int64)",
// "R(16;x:0:float32;v:4:float32:2,3)" (bytes; name:offset:type[:shape]), "P(float32)", "none",
// "S(function:2)". TypeMismatch if it is none of these.
TypeRef parse(std::string_view code);
std::string code(TypeRef type);
}  // namespace types

// --- rules (research: "Typing rules that decide results")
// NumPy's promotion of two numbers, as variables unify; null for what does not.
TypeRef promote(TypeRef a, TypeRef b);
// The type of a variable that has `a` on one path and `b` on another; null if there is none.
TypeRef unify(TypeRef a, TypeRef b);
// The type that a binary operator works in and the one that it gives; both null if not defined.
struct OperatorTypes {
    TypeRef operand = nullptr, result = nullptr;
};
OperatorTypes binary_types(std::string_view op, TypeRef a, TypeRef b);
OperatorTypes compare_types(TypeRef a, TypeRef b, bool ordered);

// --- in CUDA C++
std::string cuda_type(TypeRef type);
struct Layout {
    size_t size = 0, align = 1;
};
Layout layout_of(TypeRef type);  // as a kernel's parameter

}  // namespace trilane::jit
