// Types: interning, codes, and Numba's rules for operators and variables.
#include "jit/type.h"

#include <gtest/gtest.h>

namespace trilane::jit {
namespace {

TypeRef t(const char* code) { return types::parse(code); }

TEST(Type, ArraysOfOtherRankOrLayoutAreOtherTypes) {
    EXPECT_NE(t("A(float32,1,C,0,0)"), t("A(float32,2,C,0,0)"));
    EXPECT_NE(t("A(float32,2,C,0,0)"), t("A(float32,2,A,0,0)"));
    EXPECT_NE(t("A(float32,2,C,0,0)"), t("A(float32,2,C,0,1)"));
    EXPECT_EQ(t("A(float32,2,F,0,1)")->ndim, 2);
    EXPECT_EQ(t("A(float32,2,C,0,0)")->text, "array(float32, 2d, C)");
}

TEST(Type, CodesComeBack) {
    for (const char* code :
         {"float32", "A(int64,3,A,1,0)", "T(int64,float64)", "N(Point;x,y;int64,float32)",
          "R(16;x:0:float32;v:4:float32:2,3)", "P(float32)", "none"})
        EXPECT_EQ(types::code(t(code)), code);
}

TEST(TypeRules, OperatorsAndVariablesDiffer) {
    EXPECT_EQ(binary_types("+", t("int64"), t("uint64")).result, t("int64"));
    EXPECT_EQ(unify(t("int64"), t("uint64")), t("float64"));
    EXPECT_EQ(binary_types("+", t("uint32"), t("uint32")).result, t("uint64"));
    EXPECT_EQ(binary_types("/", t("int32"), t("int32")).result, t("float64"));
    EXPECT_EQ(binary_types("*", t("float32"), t("int32")).result, t("float64"));
    EXPECT_EQ(binary_types("*", t("float32"), t("int16")).result, t("float32"));
    EXPECT_EQ(binary_types("**", t("float32"), t("int64")).result, t("float32"));
    EXPECT_EQ(unify(t("float32"), t("int64")), t("float64"));
    EXPECT_EQ(unify(t("A(float32,1,C,0,0)"), t("float32")), nullptr);
    EXPECT_EQ(compare_types(t("int64"), t("uint64"), true).operand, t("float64"));
}

}  // namespace
}  // namespace trilane::jit
