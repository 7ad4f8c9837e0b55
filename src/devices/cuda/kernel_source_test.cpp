// Reading kernels and includes from CUDA C++ text.
#include "devices/cuda/kernel_source.h"

#include <gtest/gtest.h>

namespace trilane::cuda {
namespace {

using Names = std::vector<std::string>;

Names names_of(const char* source) {
    Names names;
    for (const SourceKernel& kernel : find_c_kernels(source)) names.push_back(kernel.name);
    return names;
}

TEST(KernelSource, FindsKernelsWithCNamesOnly) {
    EXPECT_EQ(names_of("extern \"C\" __global__ void a(int n) { if (n) { } }\n"
                       "__global__ void mangled(int n) {}\n"
                       "extern \"C\" { __global__ void b() {} struct S { int x; };\n"
                       "__device__ int helper() { return 1; } __global__ void c(float *p) {} }\n"
                       "namespace n { __global__ void d() {} }\n"
                       "extern \"C\" __global__ void e();\n"),
              (Names{"a", "b", "c"}));
}

TEST(KernelSource, IsNotMisledByCommentsStringsAndMacros) {
    EXPECT_EQ(names_of("// extern \"C\" __global__ void a() {}\n"
                       "/* extern \"C\" __global__ void b() {} */\n"
                       "#define K extern \"C\" __global__ \\\n   void c() {}\n"
                       "const char *text = \"extern \\\"C\\\" __global__ void d() {\";\n"
                       "const char *raw = R\"x( __global__ { )x\";\n"
                       "extern \"C\" __global__ void __launch_bounds__(128, 2) e(int a) {}\n"
                       "extern \"C\" void __attribute__((used)) __global__ f(int a) {}\n"),
              (Names{"e", "f"}));
}

TEST(KernelSource, NamesParameters) {
    const auto kernels = find_c_kernels(
        "extern \"C\" __global__ void k(const float *__restrict__ a, unsigned long long n,\n"
        "    float b[], Pair<int, 2> pair, void (*call)(int), int, MACRO(float) last, int = 3) {}\n"
        "extern \"C\" __global__ void none(void) {}\n");
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0].parameters, (Names{"a", "n", "b", "pair", "", "", "last", ""}));
    EXPECT_TRUE(kernels[1].parameters.empty());
}

TEST(KernelSource, SurvivesTextThatEndsAnywhere) {
    const std::string whole =
        "extern \"C\" { __global__ void k(int a[2], float (*b)(int)) { \"x\\\"\"; } }\n"
        "extern \"C\" __global__ void R\"q(z)q\" l(int <a, b>) {}";
    for (size_t length = 0; length <= whole.size(); ++length)
        EXPECT_LE(find_c_kernels(std::string_view(whole).substr(0, length)).size(), 2u);
}

TEST(KernelSource, FindsIncludes) {
    EXPECT_EQ(find_includes("#include <a.h>\n  #  include \"b/c.h\" // x\n#include MACRO\n"
                            "int include;\n#include <a.h>\n#include <d"),
              (Names{"a.h", "b/c.h"}));
}

}  // namespace
}  // namespace trilane::cuda
