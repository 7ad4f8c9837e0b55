// Attributes of CUDA and of the standard, in each order that nvcc takes.
#include "devices/cpu/compile/attribute_order.h"

#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

std::string ordered(const std::string& text) { return order_attributes(text).value_or("same"); }

TEST(AttributeOrder, StandardOnesComeFirst) {
    EXPECT_EQ(ordered("{ __shared__ alignas(16) float t[4]; }"),
              "{ alignas(16) __shared__ float t[4]; }");
    EXPECT_EQ(
        ordered("; __shared__ __align__(8)  [[maybe_unused]] alignas(sizeof(int) * 2) int t;"),
        "; [[maybe_unused]] alignas(sizeof(int) * 2)  __shared__ __align__(8) int t;");
    EXPECT_EQ(ordered("#define TILE(n) __shared__ alignas(n) float\n"),
              "#define TILE(n) alignas(n) __shared__ float\n");
    EXPECT_EQ(ordered("#define TILE __shared__ alignas(8)\nint x;"),
              "#define TILE alignas(8) __shared__\nint x;");
}

TEST(AttributeOrder, OthersStay) {
    for (const char* text :
         {"alignas(16) __shared__ float t[4];", "__shared__ float t alignas(16)[4];",
          "// __shared__ alignas(16) float t;", "\"__shared__ alignas(16) float t;\"",
          "struct alignas(16) S {};", "f(__shared__[[0]]);", "__shared__ alignas(16", "",
          "#define SHARED __shared__\nalignas(16) int x;", "#define A __align__(4)\n[[noreturn]]"})
        EXPECT_EQ(ordered(text), "same") << text;
}

// Each gives the size and the misalignment of an array behind one byte.
TEST(AttributeOrder, EveryPositionAligns) {
    const char* declarations[] = {
        "__shared__ alignas(32) float t[4];",
        "alignas(32) __shared__ float t[4];",
        "__shared__ __align__(32) float t[4];",
        "__align__(32) __shared__ float t[4];",
        "__shared__ float __align__(32) t[4];",
        "__shared__ float t[4] __align__(32);",
        "__shared__ float t alignas(32) [4];",
        "__shared__ alignas(Wide) float t[4];",
        "__shared__ alignas(8 > 4 ? 32 : 8) float t[4];",
        "__shared__ alignas(4) alignas(32) float t[4];",
        "__shared__ alignas(32) volatile float t[4];",
        "__shared__ [[maybe_unused]] alignas(32) float t[4];",
        "__shared__ struct alignas(32) S { float a[4]; } t;",
        "TILE(32) t[4];",
        "extern __shared__ __align__(32) float t[];",
        "alignas(32) extern __shared__ float t[];",
        "__align__(32) extern __shared__ float t[];",
    };
    for (const char* declaration : declarations) {
        testing::Program program(
            std::string("#define TILE(n) __shared__ alignas(n) float\n"
                        "struct alignas(32) Wide { int a; };\n"
                        "extern \"C\" __global__ void k(unsigned long long* out) {\n"
                        "__shared__ char before; before = 1; ") +
            declaration +
            "\nout[0] = (unsigned long long)&t % 32 + (before - 1);"
            " out[1] = (char*)&t != &before; }");
        unsigned long long out[2] = {9, 9};
        program.launch_with("k", {1}, {1}, 64, false, &out[0]);
        EXPECT_EQ(out[0], 0u) << declaration;
        EXPECT_EQ(out[1], 1u) << declaration;
    }
}

TEST(AttributeOrder, AtFileScopeAndInHeaders) {
    core::Program program;
    program.source =
        "#include \"tile.h\"\n__device__ alignas(64) int d[3];\n"
        "template <int n> __device__ [[nodiscard]] int f() { Tile<n> tile; return tile.sum(n); }\n"
        "extern \"C\" __global__ void k(int* out) { out[0] = f<4>() + (int)((size_t)d % 64); }";
    program.headers.push_back(
        {"tile.h",
         "template <int n> struct Tile {\n  __device__ int sum(int v) {\n"
         "    __shared__ alignas(sizeof(double) * n) int s[n]; s[0] = v; return s[0] * 2; } };"});
    core::Image image = testing::test_device().device.compile(program);
    EXPECT_FALSE(image.bytes.empty());
}

}  // namespace
}  // namespace trilane::cpu
