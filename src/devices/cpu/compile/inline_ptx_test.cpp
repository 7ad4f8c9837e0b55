// Inline PTX that is understood, run.
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using testing::Program;

TEST(InlinePtx, SpecialRegisters) {
    Program program(R"(
extern "C" __global__ void f(unsigned* out, long long* when) {
    unsigned lane, warp, below, x;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    asm("mov.u32 %0, %%tid.x;" : "=r"(x));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(when[threadIdx.x]));
    unsigned* o = out + threadIdx.x * 4;
    o[0] = lane; o[1] = warp; o[2] = below; o[3] = x;
})");
    std::vector<unsigned> out(70 * 4);
    std::vector<long long> when(70, 0);
    program.launch("f", {1}, {70}, out.data(), when.data());
    for (unsigned t = 0; t < 70; ++t) {
        EXPECT_EQ(out[t * 4], t % 32);
        EXPECT_EQ(out[t * 4 + 1], t / 32);
        EXPECT_EQ(out[t * 4 + 2], (1u << t % 32) - 1);
        EXPECT_EQ(out[t * 4 + 3], t);
        EXPECT_GT(when[t], 0);
    }
}

TEST(InlinePtx, NamedBarriersOfHalvesOfABlock) {
    Program program(R"(
extern "C" __global__ void f(int* out) {
    __shared__ int s[128];
    int t = threadIdx.x, half = t / 64;
    for (int round = 0; round < 3 + half; ++round) {
        s[t] = t + round;
        if (half) asm volatile("bar.sync 2, 64;" ::: "memory");
        else asm volatile("bar.sync %0, %1;" :: "r"(1), "r"(64) : "memory");
        out[t] = s[half * 64 + 63 - t % 64];
        asm volatile("barrier.sync %0, 64;" :: "r"(half + 3) : "memory");
    }
    asm volatile("membar.gl;");
})");
    std::vector<int> out(128, -1);
    program.launch("f", {1}, {128}, out.data());
    for (int t = 0; t < 128; ++t) EXPECT_EQ(out[size_t(t)], t / 64 * 64 + 63 - t % 64 + 2 + t / 64);
}

TEST(InlinePtx, ExitEndsTheThreadAlone) {
    Program program(R"(
extern "C" __global__ void f(int* out) {
    out[threadIdx.x] = 1;
    if (threadIdx.x % 3 == 0) asm volatile("exit;");
    out[threadIdx.x] = 2;
})");
    std::vector<int> out(64, 0);
    program.launch("f", {1}, {64}, out.data());
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[size_t(t)], t % 3 == 0 ? 1 : 2);
}

}  // namespace
}  // namespace trilane::cpu
