// Arithmetic where C++ leaves freedom: values as measured on an H200 (operands known at run time,
// and the same operands as constants in the text).
#include "devices/cpu/compile/semantics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using testing::Program;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kNan64 = std::numeric_limits<double>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// R result = a OP b in a kernel.
template <typename R, typename A, typename B>
R binary(const std::string& r, const std::string& a, const std::string& expression, A x, B y,
         const std::string& b = {}) {
    Program program("extern \"C\" __global__ void k(" + r + "* out, " + a + " x, " +
                    (b.empty() ? a : b) + " y) { *out = " + expression + "; }");
    R result{};
    program.launch("k", {1}, {1}, &result, x, y);
    return result;
}

template <typename R>
R constant(const std::string& r, const std::string& expression) {
    Program program("extern \"C\" __global__ void k(" + r + "* out) { *out = " + expression +
                    "; }");
    R result{};
    program.launch("k", {1}, {1}, &result);
    return result;
}

TEST(Semantics, ShiftsClamp) {
    auto shl = [](int x, int n) { return binary<int>("int", "int", "x << y", x, n); };
    auto sar = [](int x, int n) { return binary<int>("int", "int", "x >> y", x, n); };
    EXPECT_EQ(shl(1, 31), INT32_MIN);
    EXPECT_EQ(shl(1, 32), 0);
    EXPECT_EQ(shl(1, 33), 0);
    EXPECT_EQ(shl(1, -1), 0);
    EXPECT_EQ(sar(INT32_MIN, 32), -1);
    EXPECT_EQ(sar(INT32_MIN, 99), -1);
    EXPECT_EQ(sar(5, 40), 0);
    EXPECT_EQ((binary<uint32_t>("unsigned", "unsigned", "x >> y", ~0u, 32u)), 0u);
    EXPECT_EQ((binary<uint64_t>("unsigned long long", "unsigned long long", "x << y", uint64_t{1},
                                uint64_t{64})),
              0u);
    EXPECT_EQ((binary<int64_t>("long long", "long long", "x >> (int)y", int64_t{-5}, int64_t{64})),
              -1);
    EXPECT_EQ(constant<int>("int", "1 << 40"), 0);
    EXPECT_EQ(constant<int>("int", "-5 >> 40"), -1);
    EXPECT_EQ(constant<unsigned>("unsigned", "7u >> 33"), 0u);
}

TEST(Semantics, DivisionNeverTraps) {
    auto divide = [](int x, int y) { return binary<int>("int", "int", "x / y", x, y); };
    auto remainder = [](int x, int y) { return binary<int>("int", "int", "x % y", x, y); };
    EXPECT_EQ(divide(7, 0), -1);
    EXPECT_EQ(divide(0, 0), -1);
    EXPECT_EQ(divide(INT32_MIN, -1), INT32_MIN);
    EXPECT_EQ(divide(-7, 2), -3);
    EXPECT_EQ(divide(9, -1), -9);
    EXPECT_EQ(remainder(7, 0), -1);
    EXPECT_EQ(remainder(INT32_MIN, -1), 0);
    EXPECT_EQ(remainder(-7, 2), -1);
    EXPECT_EQ((binary<uint32_t>("unsigned", "unsigned", "x / y", 7u, 0u)), ~0u);
    EXPECT_EQ((binary<uint32_t>("unsigned", "unsigned", "x % y", 7u, 0u)), ~0u);
    EXPECT_EQ((binary<int64_t>("long long", "long long", "x / y", INT64_MIN, int64_t{-1})),
              INT64_MIN);
    EXPECT_EQ((binary<int64_t>("long long", "long long", "x % y", int64_t{5}, int64_t{0})), -1);
    EXPECT_EQ(constant<int>("int", "5 / 0"), -1);
    EXPECT_EQ(constant<int>("int", "5 % 0"), -1);
    EXPECT_EQ(constant<int>("int", "(-2147483647 - 1) / -1"), INT32_MIN);
}

template <typename R, typename F>
R convert(const std::string& r, const std::string& f, F value) {
    return binary<R>(r, f, "(" + r + ")x", value, F(0));
}

TEST(Semantics, FloatToIntegerSaturates) {
    EXPECT_EQ(convert<int>("int", "float", 3e9f), INT32_MAX);
    EXPECT_EQ(convert<int>("int", "float", -3e9f), INT32_MIN);
    EXPECT_EQ(convert<int>("int", "float", kNan), 0);
    EXPECT_EQ(convert<int>("int", "float", kInf), INT32_MAX);
    EXPECT_EQ(convert<int>("int", "float", -2.9f), -2);
    EXPECT_EQ(convert<uint32_t>("unsigned", "float", -1.f), 0u);
    EXPECT_EQ(convert<uint32_t>("unsigned", "float", 5e9f), ~0u);
    EXPECT_EQ(convert<uint32_t>("unsigned", "float", kNan), 0u);
    EXPECT_EQ(convert<int>("int", "double", kNan64), INT32_MIN);
    EXPECT_EQ(convert<int64_t>("long long", "double", kNan64), INT64_MIN);
    EXPECT_EQ(convert<int64_t>("long long", "float", kNan), INT64_MIN);
    EXPECT_EQ(convert<uint64_t>("unsigned long long", "double", kNan64), uint64_t{1} << 63);
    EXPECT_EQ(convert<int64_t>("long long", "double", 1e30), INT64_MAX);
    EXPECT_EQ(convert<int64_t>("long long", "double", -1e30), INT64_MIN);
    EXPECT_EQ(convert<uint64_t>("unsigned long long", "double", -5.0), 0u);
    EXPECT_EQ(convert<uint64_t>("unsigned long long", "double", 1e30), ~uint64_t{0});
    EXPECT_EQ(constant<int>("int", "(int)3e9f"), INT32_MAX);
    EXPECT_EQ(constant<unsigned>("unsigned", "(unsigned)-1.0f"), 0u);
    EXPECT_EQ(constant<int>("int", "(int)(0.0f / 0.0f)"), 0);
    EXPECT_EQ(constant<int>("int", "(int)(0.0 / 0.0)"), INT32_MIN);
    EXPECT_EQ(constant<int64_t>("long long", "(long long)1e30"), INT64_MAX);
}

// As nvcc compiles them: cvt.rzi to 32 bits, then the low bits.
TEST(Semantics, NarrowIntegersAreCutOff) {
    EXPECT_EQ(convert<uint8_t>("unsigned char", "float", 300.f), 44);
    EXPECT_EQ(convert<uint8_t>("unsigned char", "float", -1.f), 0);
    EXPECT_EQ(convert<int8_t>("signed char", "float", 200.f), -56);
    EXPECT_EQ(convert<int16_t>("short", "double", 1e6), 16960);
    EXPECT_EQ(convert<int16_t>("short", "double", 1e10), -1);
    EXPECT_EQ(convert<int16_t>("short", "double", kNan64), 0);
    EXPECT_EQ(convert<uint16_t>("unsigned short", "float", 65537.f), 1);
    EXPECT_EQ(constant<uint8_t>("unsigned char", "(unsigned char)300.0f"), 44);
    EXPECT_EQ(constant<int16_t>("short", "(short)1e10"), -1);
    EXPECT_EQ(constant<int8_t>("signed char", "(signed char)-1000.5"), 24);
}

TEST(Semantics, MinAndMax) {
    auto least = [](float x, float y) {
        return binary<float>("float", "float", "fminf(x, y)", x, y);
    };
    auto most = [](float x, float y) {
        return binary<float>("float", "float", "fmaxf(x, y)", x, y);
    };
    EXPECT_EQ(least(kNan, 1), 1);
    EXPECT_EQ(least(1, kNan), 1);
    EXPECT_TRUE(std::isnan(least(kNan, kNan)));
    EXPECT_TRUE(std::signbit(least(0.f, -0.f)));
    EXPECT_TRUE(std::signbit(least(-0.f, 0.f)));
    EXPECT_FALSE(std::signbit(most(-0.f, 0.f)));
    EXPECT_FALSE(std::signbit(most(0.f, -0.f)));
    EXPECT_EQ(most(kNan, -3), -3);
    EXPECT_EQ((binary<double>("double", "double", "fmax(x, y)", kNan64, -3.0)), -3);
    EXPECT_TRUE(std::signbit(binary<double>("double", "double", "fmin(x, y)", 0.0, -0.0)));
}

TEST(Semantics, ContractionRoundsOnce) {
    const float x = 1 + 0x1p-12f, y = -(1 + 0x1p-11f);
    auto with = [&](std::vector<std::string> options) {
        Program program(
            "extern \"C\" __global__ void k(float* o, float x, float y) { *o = x * x + y; }",
            std::move(options));
        float result = -1;
        program.launch("k", {1}, {1}, &result, x, y);
        return result;
    };
    EXPECT_EQ(with({}), 0x1p-24f);
    EXPECT_EQ(with({"-fmad=false"}), 0.f);
}

TEST(Semantics, BitCountsOfZero) {
    EXPECT_EQ((binary<int>("int", "int", "__builtin_clz(x) + y", 0, 0)), 32);
    EXPECT_EQ((binary<int>("int", "int", "__builtin_ctz(x) + y", 0, 0)), 32);
    EXPECT_EQ((binary<int>("int", "int", "__builtin_abs(x) + y", INT32_MIN, 0)), INT32_MIN);
}

}  // namespace
}  // namespace trilane::cpu
