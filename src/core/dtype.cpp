// Element types: one table row each.
#include "core/dtype.h"

#include <array>
#include <bit>

#include "core/error.h"

namespace trilane::core {
namespace {

static_assert(std::endian::native == std::endian::little);

struct Row {
    DType dtype;
    DTypeKind kind;
    size_t size;
    const char* numpy_name;
    const char* code;  // of the array protocol, without byte order
    const char* cuda_name;
};

constexpr std::array<Row, kDTypeCount> kRows{{
    {DType::Bool, DTypeKind::Bool, 1, "bool", "b1", "bool"},
    {DType::Int8, DTypeKind::Int, 1, "int8", "i1", "signed char"},
    {DType::UInt8, DTypeKind::UInt, 1, "uint8", "u1", "unsigned char"},
    {DType::Int16, DTypeKind::Int, 2, "int16", "i2", "short"},
    {DType::UInt16, DTypeKind::UInt, 2, "uint16", "u2", "unsigned short"},
    {DType::Int32, DTypeKind::Int, 4, "int32", "i4", "int"},
    {DType::UInt32, DTypeKind::UInt, 4, "uint32", "u4", "unsigned int"},
    {DType::Int64, DTypeKind::Int, 8, "int64", "i8", "long long"},
    {DType::UInt64, DTypeKind::UInt, 8, "uint64", "u8", "unsigned long long"},
    {DType::Float16, DTypeKind::Float, 2, "float16", "f2", "__half"},
    {DType::BFloat16, DTypeKind::Float, 2, "bfloat16", "bfloat16", "__nv_bfloat16"},
    {DType::Float32, DTypeKind::Float, 4, "float32", "f4", "float"},
    {DType::Float64, DTypeKind::Float, 8, "float64", "f8", "double"},
    {DType::Complex64, DTypeKind::Complex, 8, "complex64", "c8", "complex<float>"},
    {DType::Complex128, DTypeKind::Complex, 16, "complex128", "c16", "complex<double>"},
    {DType::Void, DTypeKind::Void, 0, "void", "V", "void"},
}};

constexpr bool rows_in_order() {
    for (int i = 0; i < kDTypeCount; ++i)
        if (static_cast<int>(kRows[i].dtype) != i) return false;
    return true;
}
static_assert(rows_in_order());

const Row& row(DType dtype) {
    const auto index = static_cast<size_t>(dtype);
    TRILANE_CHECK(index < kRows.size(), "unknown dtype {}", index);
    return kRows[index];
}

}  // namespace

DTypeKind kind_of(DType dtype) { return row(dtype).kind; }
size_t size_of(DType dtype) { return row(dtype).size; }
const char* numpy_name(DType dtype) { return row(dtype).numpy_name; }
const char* cuda_name(DType dtype) { return row(dtype).cuda_name; }

char numpy_kind(DType dtype) {
    switch (row(dtype).kind) {
        case DTypeKind::Bool:
            return 'b';
        case DTypeKind::Int:
            return 'i';
        case DTypeKind::UInt:
            return 'u';
        case DTypeKind::Float:
            return dtype == DType::BFloat16 ? 'V' : 'f';
        case DTypeKind::Complex:
            return 'c';
        case DTypeKind::Void:
            return 'V';
    }
    return 'V';
}

DType dtype_from_name(std::string_view name) {
    for (const Row& r : kRows)
        if (name == r.numpy_name) return r.dtype;
    if (name == "?" || name == "bool_") return DType::Bool;
    std::string_view code = name;
    if (!code.empty() && (code[0] == '<' || code[0] == '|' || code[0] == '='))
        code.remove_prefix(1);
    for (const Row& r : kRows)
        if (r.dtype != DType::Void && code == r.code) return r.dtype;
    if (!code.empty() && code[0] == 'V') return DType::Void;
    if (!name.empty() && name[0] == '>')
        throw_error(ErrorKind::TypeMismatch,
                    "dtype: byte order not supported: got '{}', expected little-endian data: "
                    "convert it with .astype(dtype.newbyteorder('<'))",
                    name);
    throw_error(ErrorKind::TypeMismatch,
                "dtype: not an element type of device arrays: got '{}', expected bool, int8 to "
                "int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64 or "
                "complex128",
                name);
}

}  // namespace trilane::core
