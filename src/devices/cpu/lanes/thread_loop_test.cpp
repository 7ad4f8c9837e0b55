// Blocks of few threads, and the few that are left of a block: one after the other, with the
// results of lanes.
#include "core/testing/scoped_variable.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::Program;

// A loop that ends early, a private array, an atomic operation whose result is asked for, a guard.
constexpr const char* kKernel = R"(
extern "C" __global__ void f(const int* x, int* out, int* order, int n) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * blockIdx.x);
    if (t % 5 == 4) return;
    int own[5] = {1, 2, 3, 4, 5}, sum = 0;
    for (int i = 0; i < n; ++i) {
        own[(i + t) % 5] += x[(i * 7 + t) % 101];
        if (own[i % 5] > 400) break;
        sum += own[(i * 3) % 5] * (t + 1);
    }
    out[t] = sum;
    order[t] = atomicAdd(order + 4000, t + 1);
})";

struct Result {
    std::vector<int> out = std::vector<int>(4000, -1), order = std::vector<int>(4001);
    bool operator==(const Result&) const = default;
};

Result run(Program& program, core::Dim3 grid, core::Dim3 block, int n) {
    static const std::vector<int> x = [] {
        std::vector<int> values(101);
        for (int i = 0; i < 101; ++i) values[size_t(i)] = (i * 37 + 11) % 53;
        return values;
    }();
    Result result;
    program.launch("f", grid, block, x.data(), result.out.data(), result.order.data(), n);
    return result;
}

std::unique_ptr<Program> compiled(const std::string& text, int lanes, const char* features = "") {
    const ScopedVariable asked("TRILANE_LANES", std::to_string(lanes).c_str());
    const ScopedVariable restricted("TRILANE_CPU_FEATURES", features);
    return std::make_unique<Program>(text);
}

TEST(FewThreads, AsInLanes) {
    auto one = compiled(kKernel, 1);
    // What host code gives for a block of one thread: the comparison is not of lanes alone.
    Result first = run(*one, {1}, {1}, 2);
    EXPECT_EQ(first.out[0], (1 + 11) + (4));
    EXPECT_EQ(first.order[4000], 1);
    for (auto [lanes, features] :
         {std::pair{4, "sse2"}, {8, "avx2"}, {8, ""}, {16, ""}, {32, ""}}) {
        auto program = compiled(kKernel, lanes, features);
        for (core::Dim3 block : {core::Dim3{1},
                                 {2},
                                 {3},
                                 {4},
                                 {5},
                                 {6},
                                 {15},
                                 {16},
                                 {17},
                                 {18},
                                 {19},
                                 {33},
                                 {36},
                                 {65},
                                 {1, 7},
                                 {3, 11}}) {
            for (int n : {0, 1, 2, 40, 300})
                // One block after the other: what atomics give depends on their order.
                EXPECT_EQ(run(*program, {1}, block, n), run(*one, {1}, block, n))
                    << lanes << features << " (" << block.x << ", " << block.y << ") " << n;
        }
    }
}

TEST(FewThreads, TheRunningThreadIsKnown) {
    constexpr const char* kText = R"(
extern "C" __global__ void f(int* out, int n) {
    for (int i = 0; i < n; ++i) out[threadIdx.x + blockDim.x * i] = threadIdx.x * 100 + i;
    assert(threadIdx.x != 16 || blockIdx.x != 3);
})";
    auto program = compiled(kText, 16);
    std::vector<int> out(17 * 3);
    std::string said;
    try {
        program->launch("f", {5}, {17}, out.data(), 3);
    } catch (const core::Error& error) {
        said = error.message() + error.detail();
    }
    EXPECT_NE(said.find("block (3,0,0)"), std::string::npos) << said;
    EXPECT_NE(said.find("thread (16,0,0)"), std::string::npos) << said;
}

}  // namespace
}  // namespace trilane::cpu
