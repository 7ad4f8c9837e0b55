// Kernels with barriers, warp operations and loops that wait.
#include <numeric>

#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using testing::error_of;
using testing::Program;

TEST(CoroutineShape, TreeReductionInSharedMemory) {
    Program program(R"(
extern "C" __global__ void sum(const int* in, int* out, int n) {
    __shared__ int part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) part[t] += part[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
})");
    int n = 10000;
    std::vector<int> in(n), out(40, -1);
    std::iota(in.begin(), in.end(), 1);
    program.launch("sum", {40}, {256}, in.data(), out.data(), n);
    for (int b = 0; b < 40; ++b) {
        int expected = 0;
        for (int i = b * 256; i < std::min(n, (b + 1) * 256); ++i) expected += in[i];
        EXPECT_EQ(out[b], expected);
    }
}

TEST(CoroutineShape, EarlyReturnBeforeBarrier) {
    Program program(R"(
extern "C" __global__ void f(int* out) {
    __shared__ int seen;
    if (threadIdx.x == 0) seen = 0;
    __syncthreads();
    if (threadIdx.x >= 40) return;
    atomicAdd(&seen, 1);
    __syncthreads();
    out[threadIdx.x] = seen;
})");
    std::vector<int> out(64, -1);
    program.launch("f", {1}, {64}, out.data());
    for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 40 ? 40 : -1);
}

TEST(CoroutineShape, BarrierValues) {
    Program program(R"(
extern "C" __global__ void f(int* out) {
    int t = threadIdx.x;
    out[t * 3] = __syncthreads_count(t % 3 == 0);
    out[t * 3 + 1] = __syncthreads_and(t < 100);
    out[t * 3 + 2] = __syncthreads_or(t == 77);
})");
    std::vector<int> out(300, -1);
    program.launch("f", {1}, {100}, out.data());
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(out[i * 3], 34);
        EXPECT_NE(out[i * 3 + 1], 0);
        EXPECT_NE(out[i * 3 + 2], 0);
    }
}

TEST(CoroutineShape, WarpOperations) {
    Program program(R"(
extern "C" __global__ void f(int* out) {
    int t = threadIdx.x, lane = t & 31;
    int* o = out + t * 12;
    unsigned full = 0xffffffffu;
    o[0] = __shfl_sync(full, t * 10, 5);
    o[1] = __shfl_up_sync(full, t, 3);
    o[2] = __shfl_down_sync(full, t, 3);
    o[3] = __shfl_xor_sync(full, t, 1);
    o[4] = __shfl_down_sync(full, t, 2, 8);
    o[5] = (int)__ballot_sync(full, lane & 1);
    o[6] = __all_sync(full, lane < 32);
    o[7] = __any_sync(full, lane == 9);
    o[8] = (int)__match_any_sync(full, lane / 8);
    o[9] = __reduce_add_sync(full, lane);
    o[10] = (int)__activemask();
    if (lane < 10) o[11] = (int)__activemask();
})");
    std::vector<int> out(64 * 12, -1);
    program.launch("f", {1}, {64}, out.data());
    for (int t = 0; t < 64; ++t) {
        int lane = t & 31, warp = t & ~31;
        const int* o = &out[t * 12];
        EXPECT_EQ(o[0], (warp + 5) * 10);
        EXPECT_EQ(o[1], lane >= 3 ? t - 3 : t);
        EXPECT_EQ(o[2], lane + 3 < 32 ? t + 3 : t);
        EXPECT_EQ(o[3], t ^ 1);
        EXPECT_EQ(o[4], (lane & 7) + 2 < 8 ? t + 2 : t);
        EXPECT_EQ(uint32_t(o[5]), 0xaaaaaaaau);
        EXPECT_EQ(o[6], 1);
        EXPECT_EQ(o[7], 1);
        EXPECT_EQ(uint32_t(o[8]), 0xffu << (lane / 8 * 8));
        EXPECT_EQ(o[9], 496);
        EXPECT_EQ(uint32_t(o[10]), 0xffffffffu);
        EXPECT_EQ(uint32_t(o[11]), lane < 10 ? 0x3ffu : 0xffffffffu);
    }
}

TEST(CoroutineShape, SpinLockBetweenThreadsAndBlocks) {
    Program program(R"(
__device__ int lock = 0;
extern "C" __global__ void f(int* counter) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            int v = *(volatile int*)counter;
            *(volatile int*)counter = v + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
})");
    int counter = 0;
    program.launch("f", {20}, {64}, &counter);
    EXPECT_EQ(counter, 20 * 64);
}

// The block that leads back has a barrier: threads stand still there, and then at the back edge.
TEST(CoroutineShape, LoopThatWaitsWithABarrierBeforeItsBackEdge) {
    Program program(R"(
extern "C" __global__ void f(int* flag, int* out) {
    int rounds = 0, go = 0;
    do {
        ++rounds;
        if (threadIdx.x == 40 && rounds == 3) atomicExch(flag, 1);
        __syncthreads();
        go = atomicAdd(flag, 0) == 0;
        __syncthreads();
    } while (go);
    out[threadIdx.x] = rounds;
})");
    int flag = 0;
    std::vector<int> out(50);
    program.launch("f", {1}, {50}, &flag, out.data());
    EXPECT_EQ(out, std::vector<int>(50, 3));
}

TEST(CoroutineShape, BlocksWaitForEarlierBlocksAndLater) {
    Program program(R"(
extern "C" __global__ void chain(volatile int* flag, int n) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        if (b > 0) while (flag[b - 1] == 0) { }
        __threadfence();
        flag[b] = b + 1;
    }
}
extern "C" __global__ void backwards(volatile int* flag, int n) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        if (b + 1 < n) while (flag[b + 1] == 0) { }
        flag[b] = b + 1;
    }
})");
    for (const char* name : {"chain", "backwards"}) {
        std::vector<int> flag(300, 0);
        program.launch(name, {300}, {32}, flag.data(), 300);
        for (int b = 0; b < 300; ++b) EXPECT_EQ(flag[b], b + 1);
    }
}

TEST(CoroutineShape, DeadlockIsReported) {
    Program program(R"(
extern "C" __global__ void f(int* out) {
    if (threadIdx.x < 16) __syncwarp(0xffffffffu); else __syncthreads();
    out[threadIdx.x] = 1;
})");
    std::vector<int> out(32, 0);
    core::ErrorKind kind = core::ErrorKind::Internal;
    std::string text = error_of([&] { program.launch("f", {1}, {32}, out.data()); }, &kind);
    EXPECT_EQ(kind, core::ErrorKind::KernelFault);
    EXPECT_NE(text.find("deadlock"), std::string::npos) << text;
    EXPECT_NE(text.find("16 of 32 threads wait at __syncwarp"), std::string::npos) << text;
}

TEST(CoroutineShape, WarpSynchronousVolatileCode) {
    Program program(R"(
__device__ void last_warp(volatile int* s, int t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}
extern "C" __global__ void f(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) last_warp(s, t);
    if (t == 0) *out = s[0];
})");
    std::vector<int> in(64);
    std::iota(in.begin(), in.end(), 7);
    int out = 0;
    program.launch("f", {1}, {64}, in.data(), &out);
    EXPECT_EQ(out, std::accumulate(in.begin(), in.end(), 0));
}

TEST(CoroutineShape, CooperativeGridSync) {
    Program program(R"(
#include <cooperative_groups.h>
extern "C" __global__ void f(int* a, int* out) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;
    grid.sync();
    int v = a[n - 1 - i];
    grid.sync();
    a[i] = v;
    grid.sync();
    out[i] = a[(i + 1) % n];
})");
    int n = 16 * 32;
    std::vector<int> a(n), out(n);
    program.launch_with("f", {16}, {32}, 0, true, a.data(), out.data());
    for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], n - 1 - (i + 1) % n);
}

}  // namespace
}  // namespace trilane::cpu
