// Shapes, types, scalars, loops and the seam of the array level: what needs no device.
#include "array/array.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "array/kernel_text.h"
#include "array/layout.h"
#include "array/promotion.h"
#include "array/ufunc_table.h"
#include "core/error.h"

namespace trilane::array {
namespace {

using core::DType;

TEST(Shape, GrowsBeyondItsInlineRoom) {
    Shape shape;
    for (int64_t i = 0; i < 40; ++i) shape.push_back(i);
    Shape copy = shape, moved = std::move(shape);
    EXPECT_EQ(copy, moved);
    EXPECT_EQ(copy.size(), 40u);
    EXPECT_EQ(copy[39], 39);
    copy.erase(0);
    copy.insert(1, -7);
    EXPECT_EQ(copy[0], 1);
    EXPECT_EQ(copy[1], -7);
    EXPECT_EQ(to_string(Shape{3}), "(3,)");
    EXPECT_EQ(to_string(Shape{}), "()");
}

TEST(Shape, BroadcastsAsNumPy) {
    EXPECT_EQ(broadcast_shapes({3, 1}, {1, 4}), (Shape{3, 4}));
    EXPECT_EQ(broadcast_shapes(Shape{0}, Shape{1}), (Shape{0}));
    EXPECT_EQ(broadcast_shapes(Shape{}, Shape{2, 1}), (Shape{2, 1}));
    EXPECT_THROW(broadcast_shapes(Shape{3}, Shape{4}), core::Error);
    EXPECT_EQ(broadcast_strides({3, 1}, {8, 8}, {2, 3, 5}), (Shape{0, 8, 0}));
    EXPECT_THROW(element_count({int64_t{1} << 40, int64_t{1} << 40}), core::Error);
    EXPECT_EQ(element_count({int64_t{1} << 40, 0, int64_t{1} << 40}), 0);
}

TEST(Shape, ReshapesWithoutCopyWherePossible) {
    Shape strides;
    EXPECT_TRUE(reshape_strides({4, 6}, {24, 4}, {2, 2, 3, 2}, 'C', 4, strides));
    EXPECT_EQ(strides, (Shape{48, 24, 8, 4}));
    EXPECT_FALSE(reshape_strides({6, 4}, {4, 24}, {24}, 'C', 4, strides));
    EXPECT_TRUE(reshape_strides({6, 4}, {4, 24}, {24}, 'F', 4, strides));
    EXPECT_EQ(resolve_reshape({4, 6}, {-1, 3}), (Shape{8, 3}));
    EXPECT_THROW(resolve_reshape({4, 6}, {-1, 7}), core::Error);
    EXPECT_THROW(resolve_reshape({4, 6}, {-1, -1}), core::Error);
}

TEST(Promotion, FollowsNumPy2) {
    EXPECT_EQ(promote_types(DType::Int8, DType::UInt8), DType::Int16);
    EXPECT_EQ(promote_types(DType::Int64, DType::UInt64), DType::Float64);
    EXPECT_EQ(promote_types(DType::Float16, DType::Int16), DType::Float32);
    EXPECT_EQ(promote_types(DType::Complex64, DType::Float64), DType::Complex128);
    EXPECT_EQ(promote_types(DType::Float16, DType::BFloat16), DType::Float32);
    EXPECT_EQ(weak_dtype(ScalarType::WeakInt, DType::UInt8), DType::UInt8);
    EXPECT_EQ(weak_dtype(ScalarType::WeakFloat, DType::Int32), DType::Float64);
    EXPECT_EQ(weak_dtype(ScalarType::WeakComplex, DType::Float32), DType::Complex64);
    EXPECT_TRUE(can_cast(DType::UInt64, DType::Int8, Casting::SameKind));
    EXPECT_FALSE(can_cast(DType::Int8, DType::UInt64, Casting::SameKind));
    EXPECT_TRUE(can_cast(DType::Int64, DType::Float64));
    EXPECT_FALSE(can_cast(DType::Int64, DType::Float32));
}

TEST(Scalar, IsCheckedAgainstTheType) {
    alignas(16) char bytes[16];
    EXPECT_THROW(store_scalar(Scalar::weak_int(300), DType::UInt8, bytes), std::overflow_error);
    EXPECT_THROW(store_scalar(Scalar::weak_int(-1), DType::UInt64, bytes), std::overflow_error);
    store_scalar(Scalar::weak_int(-1), DType::Int16, bytes);
    EXPECT_EQ(load_scalar(bytes, DType::Int16).integer, -1);
    for (uint32_t bits = 0; bits < 0x7c00; ++bits)
        ASSERT_EQ(half_from_double(double_from_half(static_cast<uint16_t>(bits))), bits);
    EXPECT_EQ(half_from_double(65519.99), 0x7bff);
    EXPECT_EQ(half_from_double(65520.0), 0x7c00);
}

TEST(Ufuncs, SearchTheirLoopsInOrder) {
    DType bools[] = {DType::Bool, DType::Bool};
    EXPECT_EQ(ufunc_of(Op::Subtract).find_loop(bools), nullptr);
    EXPECT_EQ(ufunc_of(Op::Add).find_loop(bools)->types[2], DType::Bool);
    DType mixed[] = {DType::Int64, DType::UInt64};
    EXPECT_EQ(ufunc_of(Op::Add).find_loop(mixed)->types[2], DType::Float64);
    EXPECT_EQ(ufunc_of(Op::Less).find_loop(mixed)->types[1], DType::UInt64);
    DType small[] = {DType::Int8};
    EXPECT_EQ(find_ufunc("exp").find_loop(small)->types[1], DType::Float16);
    EXPECT_THROW(find_ufunc("no_such_function"), core::Error);
    for (int k = 0; k < static_cast<int>(Op::Count); ++k)
        EXPECT_EQ(ufunc_of(static_cast<Op>(k)).index, k);
    EXPECT_EQ(ufunc_of(Op::GreaterEqual).name, "greater_equal");
}

TEST(Layout, MergesAxesAndFollowsMemory) {
    LoopLayout layout;
    Shape c = {24, 4}, f = {4, 16};
    const Shape* same[] = {&c, &c};
    make_layout({4, 6}, same, false, layout);
    EXPECT_EQ(layout.rank, 1);
    EXPECT_EQ(layout.shape, (Shape{24}));
    const Shape* transposed[] = {&f};
    make_layout({4, 6}, transposed, false, layout);
    EXPECT_EQ(layout.shape, (Shape{24}));
    make_layout({4, 6}, transposed, true, layout);
    EXPECT_EQ(layout.shape, (Shape{4, 6}));
    EXPECT_EQ(keep_order_strides({4, 6}, transposed, 8), (Shape{8, 32}));
}

TEST(KernelText, HasOneParameterPerPointerThatIsNoAlias) {
    ElementwiseText text;
    text.entry = "k";
    text.body = "out0 = in0 + in1";
    text.operands.push_back({"in0", "float", "float"});
    text.operands.push_back({"in1", "float", "float", Access::Scalar});
    text.operands.push_back({"out0", "float", "float", alias_of(0), true});
    std::string source = elementwise_text(text);
    EXPECT_NE(source.find("k(float* __restrict__ p0, const float v1, const long long n)"),
              std::string::npos);
    EXPECT_NE(source.find("p0[j] = out0"), std::string::npos);
}

TEST(KernelText, LoadsPacksBeforeItUsesThem) {
    ElementwiseText text;
    text.entry = "k";
    text.body = "out0 = in0 + in1";
    text.pack = 4;
    text.unroll = 2;
    text.operands.push_back({"in0", "float", "float"});
    text.operands.push_back({"in1", "float", "float", Access::Scalar});
    text.operands.push_back({"out0", "float", "float", Access::Unit, true});
    std::string source = elementwise_text(text);
    size_t load = source.find("x0[u] = *(const trilane::pack<float, 4>*)(p0 + j)");
    size_t use = source.find("const float in0 = x0[u].x[k]");
    ASSERT_NE(load, std::string::npos);
    ASSERT_NE(use, std::string::npos);
    EXPECT_LT(load, use);
    EXPECT_NE(source.find("*(trilane::pack<float, 4>*)(p2 + j) = y2"), std::string::npos);
}

class Failing : public Expression {
  public:
    explicit Failing(int& calls) : calls_(calls) {}
    core::BufferPtr evaluate() override {
        ++calls_;
        throw std::runtime_error("not now");
    }

  private:
    int& calls_;
};

TEST(Storage, KeepsAnExpressionThatFailed) {
    int calls = 0;
    Storage storage(std::make_unique<Failing>(calls));
    EXPECT_TRUE(storage.pending());
    EXPECT_THROW(storage.memory(), std::runtime_error);
    EXPECT_THROW(storage.memory(), std::runtime_error);
    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(storage.pending());
}

}  // namespace
}  // namespace trilane::array
