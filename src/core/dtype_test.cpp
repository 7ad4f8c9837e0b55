// Element types: names, sizes and what NumPy calls them.
#include "core/dtype.h"

#include "core/testing/expect_error.h"

namespace trilane::core {
namespace {

TEST(DType, EveryTypeIsFoundByItsName) {
    for (int i = 0; i < kDTypeCount; ++i) {
        const auto dtype = static_cast<DType>(i);
        EXPECT_EQ(dtype_from_name(numpy_name(dtype)), dtype) << numpy_name(dtype);
    }
}

TEST(DType, IsFoundByArrayProtocolStrings) {
    const std::pair<const char*, DType> table[] = {
        {"<f4", DType::Float32}, {"f8", DType::Float64},      {"|b1", DType::Bool},
        {"?", DType::Bool},      {"|i1", DType::Int8},        {"<u8", DType::UInt64},
        {"=i8", DType::Int64},   {"<c16", DType::Complex128}, {"c8", DType::Complex64},
        {"<f2", DType::Float16}, {"|V12", DType::Void},       {"|u1", DType::UInt8}};
    for (const auto& [name, dtype] : table) EXPECT_EQ(dtype_from_name(name), dtype) << name;
}

TEST(DType, RefusesWhatThereIsNot) {
    EXPECT_ERROR(dtype_from_name("float128"), TypeMismatch, "float128", "complex128");
    EXPECT_ERROR(dtype_from_name(">f4"), TypeMismatch, "byte order", ">f4");
    EXPECT_ERROR(dtype_from_name(""), TypeMismatch, "got ''");
    EXPECT_ERROR(dtype_from_name("O"), TypeMismatch, "got 'O'");
}

TEST(DType, SizesKindsAndSpellings) {
    EXPECT_EQ(size_of(DType::Complex128), 16u);
    EXPECT_EQ(size_of(DType::BFloat16), 2u);
    EXPECT_EQ(size_of(DType::Void), 0u);
    EXPECT_EQ(kind_of(DType::UInt16), DTypeKind::UInt);
    EXPECT_EQ(kind_of(DType::Complex64), DTypeKind::Complex);
    EXPECT_EQ(numpy_kind(DType::Float16), 'f');
    EXPECT_EQ(numpy_kind(DType::Bool), 'b');
    EXPECT_STREQ(cuda_name(DType::Int64), "long long");
    EXPECT_STREQ(cuda_name(DType::Float32), "float");
}

}  // namespace
}  // namespace trilane::core
