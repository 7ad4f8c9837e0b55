// NumPy's tables of types, computed from sizes and kinds.
#include "array/promotion.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::DTypeKind;
using core::ErrorKind;
using core::throw_error;

namespace {

struct TypeRow {
    DType dtype;
    char code;
    int bits;  // of one component
    DTypeKind kind;
    const char* device;
    const char* compute;
};

constexpr TypeRow kTypes[core::kDTypeCount] = {
    {DType::Bool, '?', 8, DTypeKind::Bool, "bool", "bool"},
    {DType::Int8, 'b', 8, DTypeKind::Int, "signed char", "signed char"},
    {DType::UInt8, 'B', 8, DTypeKind::UInt, "unsigned char", "unsigned char"},
    {DType::Int16, 'h', 16, DTypeKind::Int, "short", "short"},
    {DType::UInt16, 'H', 16, DTypeKind::UInt, "unsigned short", "unsigned short"},
    {DType::Int32, 'i', 32, DTypeKind::Int, "int", "int"},
    {DType::UInt32, 'I', 32, DTypeKind::UInt, "unsigned int", "unsigned int"},
    {DType::Int64, 'q', 64, DTypeKind::Int, "long long", "long long"},
    {DType::UInt64, 'Q', 64, DTypeKind::UInt, "unsigned long long", "unsigned long long"},
    {DType::Float16, 'e', 16, DTypeKind::Float, "trilane::float16", "float"},
    {DType::BFloat16, 'E', 16, DTypeKind::Float, "trilane::bfloat16", "float"},
    {DType::Float32, 'f', 32, DTypeKind::Float, "float", "float"},
    {DType::Float64, 'd', 64, DTypeKind::Float, "double", "double"},
    {DType::Complex64, 'F', 32, DTypeKind::Complex, "trilane::complex<float>",
     "trilane::complex<float>"},
    {DType::Complex128, 'D', 64, DTypeKind::Complex, "trilane::complex<double>",
     "trilane::complex<double>"},
    {DType::Void, 'V', 0, DTypeKind::Void, "void", "void"},
};

const TypeRow& row(DType dtype) { return kTypes[static_cast<int>(dtype)]; }

// Integers of `bits` that a float type holds without loss, by NumPy's rule (64 bits go to double).
bool float_holds(DType to, int integer_bits) {
    if (to == DType::Float16 || to == DType::BFloat16) return integer_bits <= 8;
    if (row(to).bits == 32) return integer_bits <= 16;
    return true;
}

bool safe(DType from, DType to) {
    if (from == to) return true;
    if (from == DType::Void || to == DType::Void) return false;
    const TypeRow &a = row(from), &b = row(to);
    if (a.kind == DTypeKind::Bool) return true;
    switch (b.kind) {
        case DTypeKind::Bool:
            return false;
        case DTypeKind::Int:
            return a.kind == DTypeKind::Int ? a.bits <= b.bits
                                            : a.kind == DTypeKind::UInt && a.bits < b.bits;
        case DTypeKind::UInt:
            return a.kind == DTypeKind::UInt && a.bits <= b.bits;
        case DTypeKind::Float:
            if (a.kind == DTypeKind::Float) return a.bits < b.bits;
            return a.kind != DTypeKind::Complex && float_holds(to, a.bits);
        case DTypeKind::Complex:
            if (a.kind == DTypeKind::Float || a.kind == DTypeKind::Complex) return a.bits <= b.bits;
            return b.bits == 64 || a.bits <= 16;
        case DTypeKind::Void:
            return false;
    }
    return false;
}

int kind_rank(DType dtype) {
    switch (row(dtype).kind) {
        case DTypeKind::Bool:
            return 0;
        case DTypeKind::UInt:
            return 1;
        case DTypeKind::Int:
            return 2;
        case DTypeKind::Float:
            return 3;
        case DTypeKind::Complex:
            return 4;
        case DTypeKind::Void:
            return 5;
    }
    return 5;
}

using PromotionTable = std::array<std::array<DType, core::kDTypeCount>, core::kDTypeCount>;

PromotionTable make_promotion_table() {
    constexpr DType kOrder[] = {DType::Bool,    DType::Int8,      DType::UInt8,     DType::Int16,
                                DType::UInt16,  DType::Int32,     DType::UInt32,    DType::Int64,
                                DType::UInt64,  DType::Float16,   DType::BFloat16,  DType::Float32,
                                DType::Float64, DType::Complex64, DType::Complex128};
    PromotionTable table{};
    for (int a = 0; a < core::kDTypeCount; ++a)
        for (int b = 0; b < core::kDTypeCount; ++b) {
            table[a][b] = DType::Void;
            for (DType t : kOrder)
                if (safe(static_cast<DType>(a), t) && safe(static_cast<DType>(b), t)) {
                    table[a][b] = t;
                    break;
                }
        }
    return table;
}

// Bool < integers < floats < complex.
int category(DType dtype) {
    switch (row(dtype).kind) {
        case DTypeKind::Bool:
            return 0;
        case DTypeKind::Int:
        case DTypeKind::UInt:
            return 1;
        case DTypeKind::Float:
            return 2;
        default:
            return 3;
    }
}

}  // namespace

Casting casting_from_name(std::string_view name) {
    if (name == "no") return Casting::No;
    if (name == "equiv") return Casting::Equiv;
    if (name == "safe") return Casting::Safe;
    if (name == "same_kind") return Casting::SameKind;
    if (name == "unsafe") return Casting::Unsafe;
    throw_error(ErrorKind::InvalidArgument,
                "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe', got '{}'",
                name);
}

const char* casting_name(Casting casting) {
    constexpr const char* kNames[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
    return kNames[static_cast<int>(casting)];
}

bool can_cast(DType from, DType to, Casting casting) {
    switch (casting) {
        case Casting::No:
        case Casting::Equiv:
            return from == to;
        case Casting::Safe:
            return safe(from, to);
        case Casting::SameKind:
            if (from == DType::Void || to == DType::Void) return from == to;
            return safe(from, to) || kind_rank(from) <= kind_rank(to);
        case Casting::Unsafe:
            return from == to || (from != DType::Void && to != DType::Void);
    }
    return false;
}

DType promote_types(DType a, DType b) {
    static const PromotionTable kTable = make_promotion_table();
    if (a == b) return a;
    DType result = kTable[static_cast<int>(a)][static_cast<int>(b)];
    if (result == DType::Void)
        throw_error(ErrorKind::TypeMismatch, "promote_types: no common dtype of {} and {}",
                    core::numpy_name(a), core::numpy_name(b));
    return result;
}

DType default_dtype(ScalarType weak) {
    if (weak == ScalarType::WeakInt) return DType::Int64;
    return weak == ScalarType::WeakFloat ? DType::Float64 : DType::Complex128;
}

DType weak_dtype(ScalarType weak, DType strong) {
    int wanted = static_cast<int>(weak);  // WeakInt 1, WeakFloat 2, WeakComplex 3: a category
    if (category(strong) >= wanted) return strong;
    if (weak == ScalarType::WeakComplex && category(strong) == 2) return complex_dtype(strong);
    return default_dtype(weak);
}

DType result_type(std::span<const TypedInput> inputs) {
    bool any_strong = false;
    DType strong = DType::Bool;
    ScalarType weak = ScalarType::Strong;
    for (const TypedInput& input : inputs) {
        if (input.weak == ScalarType::Strong) {
            strong = any_strong ? promote_types(strong, input.dtype) : input.dtype;
            any_strong = true;
        } else {
            weak = std::max(weak, input.weak);
        }
    }
    if (weak == ScalarType::Strong) return strong;
    return any_strong ? weak_dtype(weak, strong) : default_dtype(weak);
}

bool is_integer(DType dtype) {
    return row(dtype).kind == DTypeKind::Int || row(dtype).kind == DTypeKind::UInt;
}
bool is_float(DType dtype) { return row(dtype).kind == DTypeKind::Float; }
bool is_complex(DType dtype) { return row(dtype).kind == DTypeKind::Complex; }

DType real_dtype(DType dtype) {
    if (dtype == DType::Complex64) return DType::Float32;
    return dtype == DType::Complex128 ? DType::Float64 : dtype;
}

DType complex_dtype(DType dtype) {
    if (is_complex(dtype)) return dtype;
    bool small = dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
    return small ? DType::Complex64 : DType::Complex128;
}

char type_code(DType dtype) { return row(dtype).code; }

DType dtype_from_code(char code) {
    for (const TypeRow& r : kTypes)
        if (r.code == code) return r.dtype;
    throw_error(ErrorKind::TypeMismatch, "dtype_from_code: no type has the letter '{}'", code);
}

const char* device_type(DType dtype) { return row(dtype).device; }
const char* compute_type(DType dtype) { return row(dtype).compute; }

}  // namespace trilane::array
