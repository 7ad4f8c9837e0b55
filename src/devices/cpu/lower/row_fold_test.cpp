// Blocks that run as one wide block: which kernels allow it, and that every thread runs once.
#include "devices/cpu/lower/row_fold.h"

#include <algorithm>

#include "devices/cpu/compile/testing.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using testing::Program;

RowFold fold_of(const std::string& body) {
    const std::string source = R"(
__device__ int other(int i) { return i * 3; }
extern "C" __global__ void f(int* c, int n) {
    __shared__ int tile[64];
)" + body + "\n}";
    LoweredModule module = lower(testing::compile_text(source), 1);
    return module.kernels.at(0).row_fold;
}

TEST(RowFold, KernelsThatKnowTheirIndexOnly) {
    EXPECT_EQ(fold_of("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = other(i);"),
              RowFold::Any);
    EXPECT_EQ(fold_of("size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; c[i] = n;"),
              RowFold::Any);
    EXPECT_EQ(fold_of("long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;"
                      "if (i < n) c[i + 1] = c[i] + i;"),
              RowFold::Any);
    EXPECT_EQ(fold_of("int i = threadIdx.x + blockDim.x * blockIdx.x;"
                      "int j = threadIdx.y + blockDim.y * blockIdx.y; c[j * n + i] = threadIdx.y;"),
              RowFold::Any);
}

TEST(RowFold, KernelsThatKnowHowManyThreadsThereAre) {
    EXPECT_EQ(fold_of("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;"
                      "     i += blockDim.x * gridDim.x) c[i] = 2 * i;"),
              RowFold::Even);
    EXPECT_EQ(fold_of("long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;"
                      "c[i] = (long long)gridDim.x * blockDim.x;"),
              RowFold::Even);
}

TEST(RowFold, KernelsThatKnowTheirBlock) {
    const std::string index = "int i = blockIdx.x * blockDim.x + threadIdx.x;";
    for (const char* rest :
         {"c[i] = threadIdx.x;", "c[i] = blockIdx.x;", "c[i] = blockDim.x;", "c[i] = gridDim.x;",
          "c[i + blockIdx.x * 2] = 1;", "c[i + size_t(blockIdx.x) * blockDim.x] = 1;",
          "int* p = c + size_t(blockIdx.x) * blockDim.x; p[threadIdx.x] = 1; p[n] = i;",
          "if (threadIdx.x == 0) c[i] = 1;", "tile[i & 63] = n; c[i] = tile[(i + 1) & 63];",
          "printf(\"%d\", i); c[i] = 1;", "assert(i < n); c[i] = 1;", "c[i] = threadIdx.x & 31;",
          "__syncthreads(); c[i] = 1;"})
        EXPECT_EQ(fold_of(index + rest), RowFold::None) << rest;
    EXPECT_EQ(fold_of("int i = blockIdx.x * 64 + threadIdx.x; c[i] = 1;"), RowFold::None);
    EXPECT_EQ(fold_of("int i = blockIdx.y * blockDim.x + threadIdx.x; c[i] = 1;"), RowFold::None);
}

const char* kSource = R"(
extern "C" __global__ void count(int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] += i + 1;
}
extern "C" __global__ void count_rows(int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (i < n) c[j * n + i] += i + 1;
}
extern "C" __global__ void count_stride(int* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] += i + 1;
}
extern "C" __global__ void total(int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] += gridDim.x * blockDim.x;
}
)";

// Launches twice: the second launch knows how long a block takes.
void expect_once(Program& program, const char* kernel, core::Dim3 grid, unsigned block, int n) {
    std::vector<int> c(size_t(n) * grid.y + 1, 0);
    for (int i = 0; i < 2; ++i) program.launch(kernel, grid, {block}, c.data(), n);
    for (size_t i = 0; i + 1 < c.size(); ++i)
        ASSERT_EQ(c[i], 2 * (int(i % size_t(n)) + 1))
            << kernel << " at " << i << ", grid " << grid.x << ", block " << block;
    EXPECT_EQ(c.back(), 0);
}

TEST(RowFold, EveryThreadRunsOnce) {
    Program program(kSource);
    // Primes, powers of two, many divisors; blocks of odd sizes.
    for (unsigned grid : {1u, 2u, 7u, 64u, 127u, 1024u, 3001u, 5040u}) {
        for (unsigned block : {1u, 33u, 256u, 1024u}) {
            expect_once(program, "count", {grid}, block, int(grid * block));
            expect_once(program, "count", {grid}, block, int(grid * block - block / 2));
            expect_once(program, "count_stride", {grid}, block, int(grid * block * 2 + 5));
        }
    }
    expect_once(program, "count_rows", {1501, 3}, 32, 1501 * 32 - 7);
}

LoweredKernel lowered_of(const std::string& body) {
    return lower(testing::compile_text("extern \"C\" __global__ void f(int* c, int n) {\n"
                                       "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                       "int j = blockIdx.y * blockDim.y + threadIdx.y;\n" +
                                       body + "\n}"),
                 1)
        .kernels.at(0);
}

TEST(RowFold, TallBlocksWhoseThreadsHaveNoLoop) {
    EXPECT_TRUE(lowered_of("if (i < n) c[j * n + i] = i;").folds_tall);
    EXPECT_FALSE(lowered_of("for (int k = 0; k < n; ++k) c[j * n + i] += k;").folds_tall);
    EXPECT_FALSE(lowered_of("c[j * n + i] = threadIdx.x;").folds_tall);
    EXPECT_FALSE(lowered_of("c[j * n + i] = gridDim.x * blockDim.x;").folds_tall);
}

TEST(RowFold, EveryThreadOfTallBlocksRunsOnce) {
    Program program(R"(
extern "C" __global__ void count(int* c, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i > 0 && i < width && j < height)
        c[(k * height + j) * width + i] += i * 3 + j + (int)threadIdx.y;
})");
    for (core::Dim3 block : {core::Dim3{32, 8}, {16, 16}, {7, 3}, {1, 33}, {4, 2, 2}, {600, 1, 1}})
        for (core::Dim3 grid : {core::Dim3{1, 2}, {2, 9, 2}, {37, 5}, {128, 4}, {333, 2}}) {
            const int width = int(grid.x * block.x) - 3, height = int(grid.y * block.y) - 1;
            const int depth = int(grid.z * block.z);
            if (width <= 0) continue;
            std::vector<int> c(size_t(width) * size_t(height) * size_t(depth)), expected;
            for (int k = 0; k < depth; ++k)
                for (int j = 0; j < height; ++j)
                    for (int i = 0; i < width; ++i)
                        expected.push_back(i == 0 ? 0 : 2 * (i * 3 + j + j % int(block.y)));
            for (int i = 0; i < 2; ++i)
                program.launch("count", grid, block, c.data(), width, height);
            ASSERT_TRUE(c == expected) << "block " << block.x << " " << block.y << ", grid "
                                       << grid.x << " " << grid.y << " " << grid.z;
        }
}

TEST(RowFold, TheNumberOfThreadsIsTheLaunchs) {
    Program program(kSource);
    for (unsigned grid : {64u, 3001u, 5040u}) {
        std::vector<int> c(grid * 32, 1);
        program.launch("total", {grid}, {32}, c.data(), 0);
        const int expected = 1 + int(grid * 32);
        EXPECT_EQ(std::count(c.begin(), c.end(), expected), int64_t(c.size())) << grid;
    }
}

TEST(RowFold, FaultNamesTheBlocksThatItMayBe) {
    Program program(kSource);
    int* nowhere = reinterpret_cast<int*>(uintptr_t{64});
    const std::string text =
        testing::error_of([&] { program.launch("count", {100000}, {32}, nowhere, 100000 * 32); });
    EXPECT_NE(text.find("illegal memory access"), std::string::npos) << text;
    EXPECT_NE(text.find(" to "), std::string::npos) << text;
}

}  // namespace
}  // namespace trilane::cpu
