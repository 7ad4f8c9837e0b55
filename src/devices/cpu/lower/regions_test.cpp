// Kernels cut at barriers: which are, and that they give what one thread at a time gives.
#include "devices/cpu/lower/regions.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "core/testing/scoped_variable.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::Program;

LoweredKernel lowered(const std::string& text, int lanes = 8) {
    core::Program program;
    program.source = text;
    return lower(run_front_end(program, false), lanes).kernels.at(0);
}

std::unique_ptr<Program> compiled(const std::string& text, int lanes) {
    const ScopedVariable asked("TRILANE_LANES", std::to_string(lanes).c_str());
    return std::make_unique<Program>(text);
}

// Results of `f(out, n)` with `n` ints per thread.
std::vector<int> results(Program& program, core::Dim3 block, int each) {
    std::vector<int> out(size_t(block.x) * block.y * block.z * 4 * size_t(each), -77);
    program.launch("f", {2, 2}, block, out.data(), each);
    return out;
}

void expect_same(const std::string& text, const std::vector<core::Dim3>& blocks, int each) {
    auto one = compiled(text, 1);
    for (int lanes : {4, 8, 16, 32}) {
        auto program = compiled(text, lanes);
        for (core::Dim3 block : blocks) {
            std::vector<int> expected = results(*one, block, each);
            EXPECT_EQ(std::count(expected.begin(), expected.end(), -77), 0) << text;
            EXPECT_TRUE(results(*program, block, each) == expected)
                << lanes << " lanes, block (" << block.x << ", " << block.y << ", " << block.z
                << ")\n"
                << text;
        }
    }
}

// `text` is in lanes, and has the results of one lane in blocks of many shapes.
void expect_regions(const std::string& text, int each = 1) {
    LoweredKernel kernel = lowered(text);
    EXPECT_EQ(kernel.shape, BlockShape::Loop) << text;
    EXPECT_EQ(kernel.lanes, 8u) << text;
    expect_same(text, {{1}, {7}, {32}, {33}, {64}, {16, 16}, {5, 3, 2}, {2, 40}, {1000}}, each);
}

void expect_coroutines(const std::string& text) {
    EXPECT_EQ(lowered(text).shape, BlockShape::Coroutine) << text;
    expect_same(text, {{7}, {40}, {16, 4}}, 1);
}

// Thread number t of size, out the block's part of the result.
std::string kernel(const std::string& body) {
    return R"(
__device__ int mix(int a, int b) { return (a * 31 + b) ^ (a >> 3); }
extern "C" __global__ void f(int* out, int each) {
    __shared__ int s[1024];
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int size = blockDim.x * blockDim.y * blockDim.z;
    int block = blockIdx.x + gridDim.x * blockIdx.y;
    out += block * size * each;
)" + body + "}\n";
}

TEST(Regions, StraightLine) {
    expect_regions(kernel(R"(
    int a = mix(t, block);
    s[t] = a;
    __syncthreads();
    int b = s[size - 1 - t];
    __syncthreads();
    s[t] = b + a;
    __syncthreads();
    out[t] = s[(t + 1) % size] ^ a;
)"));
}

TEST(Regions, UniformLoops) {
    expect_regions(kernel(R"(
    int sum = t;
    for (int i = 0; i < block + 3; ++i) {
        s[t] = mix(sum, i);
        __syncthreads();
        for (int k = 0; k < 5; ++k) sum += s[(t + k) % size];
        __syncthreads();
    }
    out[t] = sum;
)"));
}

TEST(Regions, HalvingStrides) {
    expect_regions(kernel(R"(
    int sum = 0;
    for (int i = t; i < 3000; i += size) sum += mix(i, block);
    s[t] = sum;
    __syncthreads();
    for (int half = 512; half > 0; half >>= 1) {
        if (t < half && t + half < size) s[t] += s[t + half];
        __syncthreads();
    }
    out[t] = s[0] + (t == 0 ? 1 : 0);
)"));
}

TEST(Regions, ScanByDoubling) {
    expect_regions(kernel(R"(
    s[t] = mix(t, 7);
    __syncthreads();
    for (int by = 1; by < size; by *= 2) {
        int other = t >= by ? s[t - by] : 0;
        __syncthreads();
        s[t] += other;
        __syncthreads();
    }
    out[t] = s[t];
)"));
}

TEST(Regions, BarriersWithAValue) {
    expect_regions(kernel(R"(
    int a = __syncthreads_count(mix(t, block) & 1);
    int b = __syncthreads_or(t == 3 * block);
    int c = __syncthreads_and(t < 5 + block);
    out[t] = a * 4 + (b != 0) * 2 + (c != 0);
)"));
}

TEST(Regions, LoopsThatEndByABarriersValue) {
    expect_regions(kernel(R"(
    int v = t, rounds = 0;
    while (__syncthreads_or(v > 3)) {
        v = v > 3 ? v / 2 : v;
        ++rounds;
    }
    out[t] = rounds * 100 + v;
)"));
}

TEST(Regions, UniformBranchesAroundBarriers) {
    expect_regions(kernel(R"(
    s[t] = t;
    int v = 1;
    if (block & 1) {
        __syncthreads();
        v = s[(t * 3) % size];
        __syncthreads();
        s[t] = v + 1;
    } else if (each == 1) {
        v = t * 2;
    }
    for (int i = 0; i < 4; ++i) {
        if ((i + block) % 3 == 0) continue;
        s[t] += i;
        if (i & 1) __syncthreads();
        v += s[t];
    }
    __syncthreads();
    if (block == 2) { out[t] = 5; return; }
    __syncthreads();
    out[t] = v + s[size - 1 - t];
)"));
}

TEST(Regions, PrivateArraysLiveAcross) {
    expect_regions(kernel(R"(
    int a[9];
    double d = t * 0.5;
    bool flag = t % 3 == 0;
    short narrow = (short)(t * 77);
    for (int i = 0; i < 9; ++i) a[i] = mix(t, i);
    s[t] = a[t % 9];
    __syncthreads();
    a[s[size - 1 - t] & 7] += 3;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 9; ++i) sum = mix(sum, a[(i + block) % 9]);
    out[t * each] = sum + (int)d;
    out[t * each + 1] = flag ? narrow : 1;
)"),
                   2);
}

// A value that only some threads have computed is the same in all of these; the others must not
// overwrite it.
TEST(Regions, ValuesOfSomeThreads) {
    expect_regions(kernel(R"(
    __shared__ int given;
    if (t == 0) given = block + 40;
    __syncthreads();
    int v;
    bool mine = t < size / 2;
    if (mine) v = given * 3;
    __syncthreads();
    if (t == 0) given = 0;
    __syncthreads();
    out[t] = mine ? v + given : 9;
)"));
}

TEST(Regions, FunctionsWithBarriers) {
    expect_regions(R"(
template <typename Op> __device__ int reduce(int* s, int t, int size, int value, Op op) {
    s[t] = value;
    __syncthreads();
    for (int by = 1; by < size; by *= 2) {
        int other = (t ^ by) < size ? s[t ^ by] : 0;
        __syncthreads();
        s[t] = op(s[t], other);
        __syncthreads();
    }
    return s[t];
}
)" + kernel(R"(
    int sum = reduce(s, t, size, mix(t, 1), [](int a, int b) { return a + b; });
    int most = reduce(s, t, size, mix(t, 2) + sum % 3, [](int a, int b) { return a > b ? a : b; });
    out[t] = sum ^ most;
)"));
}

TEST(Regions, AtomicsOnSharedMemory) {
    expect_regions(kernel(R"(
    for (int i = t; i < 64; i += size) s[i] = 0;
    __syncthreads();
    for (int i = 0; i < 5; ++i) atomicAdd(&s[mix(t, i) & 63], i + 1);
    __syncthreads();
    out[t] = s[t % 64];
)"));
}

// Blocks with rows run columns of vectors: loads that depend on x only are done once for each.
TEST(Regions, RowsOfThreads) {
    expect_regions(R"(
extern "C" __global__ void f(int* out, int each) {
    __shared__ int a[1024], b[1024];
    int x = threadIdx.x, y = threadIdx.y, nx = blockDim.x, ny = blockDim.y;
    int t = x + nx * (y + ny * threadIdx.z), size = nx * ny * blockDim.z;
    out += (blockIdx.x + 2 * blockIdx.y) * size;
    int sum = blockIdx.x;
    for (int round = 0; round < 3; ++round) {
        a[t] = t * 5 + round;
        b[t] = sum ^ t;
        __syncthreads();
        for (int k = 0; k < 4; ++k) sum += a[(y * nx + k) % size] * b[(k * nx + x) % size];
        __syncthreads();
        out[t] = sum;
    }
})");
}

TEST(Regions, AtomicsWithResults) {
    expect_regions(kernel(R"(
    __shared__ unsigned long long wide;
    __shared__ int most[8], free[4], winners;
    if (t < 8) s[t] = t * 300, most[t] = 0;
    if (t < 4) free[t] = -1;
    if (t == 0) wide = 1, winners = 0;
    __syncthreads();
    for (int i = t; i < 4; i += size) free[i] = -1;
    for (int i = t; i < 8; i += size) s[i] = i * 300, most[i] = 0;
    __syncthreads();
    int seen = atomicAdd(&s[t & 7], 3) % 3 == 0;
    atomicMax(&most[(t + 1) & 7], t % 50 * 20);
    atomicAdd(&wide, (unsigned long long)t << 20);
    if (atomicCAS(&free[t & 3], -1, t) == -1) atomicAdd(&winners, 1);
    __syncthreads();
    out[t] = seen + 2 * winners + s[t & 7] + most[t & 7] + (int)(wide >> 19);
)"));
}

// Whoever has returned is not waited for.
TEST(Regions, ThreadsThatReturnBeforeABarrier) {
    expect_regions(kernel(R"(
    out[t] = 3;
    s[t] = t;
    if (t >= size - 2) return;
    s[t] = mix(t, 5);
    __syncthreads();
    int a = s[size - 3 - t];
    __syncthreads();
    s[t] = a + t;
    __syncthreads();
    out[t] = s[(t + 1) % size] + a;
)"));
}

TEST(Regions, BodyBelowAGuard) {
    expect_regions(kernel(R"(
    out[t] = t;
    if (mix(t, block) & 3) {
        int sum = 0;
        s[t] = t;
        for (int i = 0; i < block + 2; ++i) {
            s[t] += i;
            __syncthreads();
            sum += s[t] + i;
            __syncthreads();
        }
        out[t] = sum;
    }
)"));
}

TEST(Regions, ThreadsThatReturnInALoop) {
    expect_regions(kernel(R"(
    int v = mix(t, block), sum = 0;
    s[t] = 0;
    out[t] = 1;
    for (int i = 0; i < 6; ++i) {
        if (((v >> i) & 7) == 3) { out[t] = sum * 2; return; }
        s[t] += i + v;
        __syncthreads();
        sum += s[t] ^ i;
        __syncthreads();
        if (i == 3 && t % 5 == 1) return;
    }
    out[t] = sum;
)"));
}

// Whoever is through with a loop comes to no barrier any more.
TEST(Regions, LastBarriersInALoopOfUnevenRounds) {
    expect_regions(kernel(R"(
    int sum = t;
    for (int i = 0; i <= (t & 3); ++i) {
        s[t] = sum;
        sum += __syncthreads_count(t & 2) + s[t];
    }
    out[t] = sum;
)"));
}

TEST(Regions, AllThreadsReturnSomewhere) {
    expect_regions(kernel(R"(
    out[t] = t;
    if (t < size / 2) return;
    __syncthreads();
    out[t] = t + 1;
    if (t >= size / 2) { out[t] += block; return; }
    __syncthreads();
    out[t] = 7;
)"));
}

TEST(Regions, BarriersCountThoseThatStay) {
    expect_regions(kernel(R"(
    out[t] = 2;
    if (t % 3 == 1) return;
    int a = __syncthreads_count(t & 1);
    int b = __syncthreads_or(t == 4);
    int c = __syncthreads_and(t % 3 != 1);
    if (t > 20) { out[t] = a; return; }
    int d = __syncthreads_and(t <= 20), e = __syncthreads_count(1), f = __syncthreads_and(t != 5);
    out[t] = a * 1000 + (b != 0) + 2 * (c != 0) + 4 * (d != 0) + e * 16 + 8 * (f != 0);
)"));
}

// The threads that part come apart once more before they leave; what they return by is uniform.
TEST(Regions, ThreadsThatReturnBelowTwoConditions) {
    expect_regions(kernel(R"(
    out[t] = t;
    int a = t * 3;
    if (t % 4 < 2) {
        if (block > 1) return;
        a = t % 3 == 0 ? block : t;
    }
    s[t] = a;
    __syncthreads();
    out[t] = a * 8 + (s[t] & 7);
)"));
}

// Arrays of a thread and a part of a block that a guard of two sides leaves.
TEST(Regions, ReturnsWithPrivateArraysAndTwoGuards) {
    expect_regions(kernel(R"(
    int own[6];
    for (int i = 0; i < 6; ++i) own[(i + t) % 6] = i * t;
    out[t] = -5;
    if ((int)threadIdx.x >= 13 - block || threadIdx.y > 6u) return;
    s[t] = own[t % 6];
    __syncthreads();
    own[t % 5] += s[t];
    __syncthreads();
    out[t] = own[(t + 1) % 6] + own[t % 5] * 3;
)"));
}

TEST(Regions, OtherShapesTakeTurns) {
    expect_coroutines(kernel(R"(
    s[t] = t;
    for (int i = 0; i <= (t & 1); ++i) __syncthreads();
    s[t] += 1;
    __syncthreads();
    out[t] = s[size - 1 - t];
)"));
    expect_coroutines(kernel(R"(
    s[t] = t;
    if (t & 1) { __syncthreads(); s[t] += 1; } else { __syncthreads(); s[t] += 2; }
    __syncthreads();
    out[t] = s[size - 1 - t];
)"));
}

// Some threads see the old value and some the new one: no result is right.
TEST(Regions, ThreadsThatPartByARaceAreAFault) {
    const ScopedVariable asked("TRILANE_LANES", "8");
    Program program(R"(
extern "C" __global__ void f(int* go, int* out) {
    for (int i = 0; i < 3; ++i) {
        if (*go == 1) break;
        if (threadIdx.x == 5) *go = 1;
        __syncthreads();
        out[threadIdx.x] = i;
    }
})");
    std::vector<int> go(1), out(64);
    std::string text =
        testing::error_of([&] { program.launch("f", {1}, {64}, go.data(), out.data()); });
    EXPECT_NE(text.find("different ways at a barrier"), std::string::npos) << text;
}

TEST(Regions, FaultsNameTheThread) {
    const ScopedVariable asked("TRILANE_LANES", "8");
    Program program(R"(
extern "C" __global__ void f(int n) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (s[63 - threadIdx.x] == n) __trap();
})");
    std::string text = testing::error_of([&] { program.launch("f", {1}, {64}, 3); });
    EXPECT_NE(text.find("thread (60,0,0)"), std::string::npos) << text;
}

}  // namespace
}  // namespace trilane::cpu
