// The processor that code is for, and what TRILANE_CPU_FEATURES leaves of it.
#include "devices/cpu/lower/target.h"

#include "core/testing/scoped_variable.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::error_of;
using testing::Program;

constexpr const char* kVariable = "TRILANE_CPU_FEATURES";
constexpr const char* kText =
    "extern \"C\" __global__ void f(float* x) { x[threadIdx.x] = x[threadIdx.x] * 2 + 1; }";

bool holds(const char* text) { return host_features().find(text) != std::string::npos; }

TEST(Target, FeaturesAreLeftOut) {
    const std::string all = host_features();
    {
        const ScopedVariable to(kVariable, "avx2");
        EXPECT_EQ(host_cpu(), "x86-64-v3");
        EXPECT_FALSE(holds("+avx512"));
        EXPECT_EQ(holds("+avx2"), all.find("+avx2") != std::string::npos);
    }
    {
        const ScopedVariable to(kVariable, "sse2");
        EXPECT_EQ(host_cpu(), "x86-64");
        for (const char* newer : {"+avx", "+sse3", "+sse4", "+ssse3", "+fma", "+bmi", "+popcnt"})
            EXPECT_FALSE(holds(newer)) << newer;
        EXPECT_TRUE(holds("+sse2"));
    }
    EXPECT_EQ(host_features(), all);
}

TEST(Target, FeaturesAreInTheNameThatTheCacheKnows) {
    const std::string all = Program::device().compiler_id();
    const ScopedVariable to(kVariable, "sse2");
    EXPECT_NE(Program::device().compiler_id(), all);
}

TEST(Target, CodeForFewerFeaturesRunsAndIsNotTakenForAnother) {
    std::vector<float> x{1, 2, 3, 4};
    core::Image image;
    {
        const ScopedVariable to(kVariable, "sse2");
        Program program(kText);
        program.launch("f", {1}, {4}, x.data());
        image = program.image;
    }
    EXPECT_EQ(x, (std::vector<float>{3, 5, 7, 9}));
    EXPECT_NE(error_of([&] { Program::device().load(image); }).find("another processor"),
              std::string::npos);
}

TEST(Target, UnknownFeaturesAreRefused) {
    const ScopedVariable to(kVariable, "sse9");
    core::ErrorKind kind = core::ErrorKind::Internal;
    EXPECT_NE(error_of([&] { Program program(kText); }, &kind).find("sse9"), std::string::npos);
    EXPECT_EQ(kind, core::ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace trilane::cpu
