// Strided loops in rounds: which are, and that they give what one thread at a time gives.
#include "devices/cpu/lower/rounds.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "core/testing/scoped_variable.h"
#include "devices/cpu/lower/lower.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::Program;

constexpr int kMost = 4000;  // elements

struct Shape {
    core::Dim3 grid, block;
};

// Number t of `size` in the block and T of `threads` in the grid.
std::string kernel(const std::string& body) {
    return R"(
__device__ int mix(int a, int b) { return (a * 31 + b) ^ (a >> 3); }
extern "C" __global__ void f(const int* x, int* out, unsigned long long* total, int n) {
    __shared__ int s[1024];
    int size = blockDim.x * blockDim.y, t = threadIdx.x + blockDim.x * threadIdx.y;
    int block = blockIdx.x + gridDim.x * blockIdx.y;
    int T = block * size + t, threads = size * gridDim.x * gridDim.y;
    int X = blockIdx.x * blockDim.x + threadIdx.x;
)" + body + "}\n";
}

struct Results {
    std::vector<int> out;
    std::vector<unsigned long long> total;
    bool operator==(const Results&) const = default;
};

Results results(Program& program, const Shape& shape, int n) {
    static const std::vector<int> x = [] {
        std::vector<int> values(kMost + 2048);
        for (size_t i = 0; i < values.size(); ++i) values[i] = int(i * i * 7 + i * 31) % 1009 - 300;
        return values;
    }();
    const auto& [grid, block] = shape;
    const size_t threads = size_t(grid.x) * grid.y * block.x * block.y;
    Results r{std::vector<int>(2 * threads, -77), std::vector<unsigned long long>(16)};
    program.launch("f", grid, block, x.data(), r.out.data(), r.total.data(), n);
    return r;
}

std::unique_ptr<Program> compiled(const std::string& text, int lanes) {
    const ScopedVariable asked("TRILANE_LANES", std::to_string(lanes).c_str());
    return std::make_unique<Program>(text);
}

LoweredKernel lowered(const std::string& text) {
    core::Program program;
    program.source = text;
    return lower(run_front_end(program, false), 8).kernels.at(0);
}

void expect_same(const std::string& text, const std::vector<Shape>& shapes) {
    auto one = compiled(text, 1);
    for (int lanes : {4, 8, 16, 32}) {
        auto program = compiled(text, lanes);
        for (const Shape& shape : shapes)
            for (int n : {0, 1, 7, 64, 333, 1024, kMost})
                EXPECT_TRUE(results(*one, shape, n) == results(*program, shape, n))
                    << lanes << " lanes, block (" << shape.block.x << ", " << shape.block.y
                    << "), grid (" << shape.grid.x << ", " << shape.grid.y << "), n " << n << "\n"
                    << text;
    }
}

// `body` has `rounds` loops in rounds, and the results of one lane.
void expect_rounds(const std::string& body, unsigned rounds = 1, unsigned lanes = 8) {
    const std::string text = kernel(body);
    LoweredKernel found = lowered(text);
    EXPECT_EQ(found.shape, BlockShape::Loop) << text;
    EXPECT_EQ(found.lanes, lanes) << text;
    EXPECT_EQ(found.rounds, rounds) << text;
    expect_same(text, {{{1}, {1}},
                       {{3}, {7}},
                       {{2}, {32}},
                       {{3}, {33}},
                       {{1}, {64}},
                       {{2}, {256}},
                       {{2, 2}, {16, 5}},
                       {{3, 1}, {2, 9}}});
}

TEST(Rounds, SumsBeforeABarrier) {
    expect_rounds(R"(
    int sum = 0;
    for (int i = X; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    s[t] = sum;
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if (t < half && t + half < size) s[t] += s[t + half];
        __syncthreads();
    }
    out[T] = s[0] + t;
)");
}

TEST(Rounds, KernelsWithoutBarriers) {
    expect_rounds(R"(
    int sum = 5, most = -1;
    for (int i = X; i < n; i += gridDim.x * blockDim.x) {
        sum = mix(sum, x[i]);
        most = x[i] > most ? x[i] : most;
    }
    out[2 * T] = sum;
    out[2 * T + 1] = most;
)");
}

TEST(Rounds, OtherSteps) {
    expect_rounds(R"(
    int sum = 0;
    for (int i = X; i < n; i += 2 * gridDim.x * blockDim.x + 3) sum = mix(sum, x[i]);
    out[T] = sum;
)");
    expect_rounds(R"(
    int sum = 0;
    for (unsigned i = X + 1; i <= n; i += gridDim.x * blockDim.x) sum = mix(sum, x[i - 1]);
    out[T] = sum;
)");
    expect_rounds(R"(
    long long sum = 0;
    for (long long i = X; i < n; i += (long long)gridDim.x * blockDim.x) sum = sum * 3 + x[i];
    out[T] = (int)(sum >> 3);
)");
    // How loops over ranges come.
    expect_rounds(R"(
    int step = gridDim.x * blockDim.x, count = X < n ? (n - X + step - 1) / step : 0, sum = 1;
    for (int k = 0; k < count; ++k) {
        int i = X + k * step;
        sum = mix(sum, x[i] + k);
    }
    out[T] = sum;
)");
}

TEST(Rounds, SumsOfDoubles) {
    expect_rounds(R"(
    double sum = 0.1;
    float other = 1;
    for (int i = X; i < n; i += gridDim.x * blockDim.x) {
        sum = sum * 0.75 + x[i];
        other += 0.5f * x[i];
    }
    out[2 * T] = (int)(sum * 1024);
    out[2 * T + 1] = (int)other;
)");
}

// What the one leaves the next one takes up; the counter is asked for behind its loop.
TEST(Rounds, SeveralLoops) {
    expect_rounds(R"(
    int i = X, sum = 0, other = 1;
    for (; i < n / 2; i += gridDim.x * blockDim.x) sum += x[i];
    out[2 * T] = i;
    for (; i < n; i += gridDim.x * blockDim.x) {
        int swapped = other;
        other = sum;
        sum = mix(swapped, x[i]);
    }
    __syncthreads();
    for (int k = X; k < n; k += gridDim.x * blockDim.x) sum += x[k] & other;
    out[2 * T + 1] = sum ^ other ^ i;
)",
                  3);
}

TEST(Rounds, LoopsWithinAndAround) {
    expect_rounds(R"(
    int sum = 0;
    for (int i = X; i < n; i += gridDim.x * blockDim.x)
        for (int k = 0; k < (x[i] & 7); ++k) sum = mix(sum, x[i] + k);
    out[2 * T] = sum;
    for (int row = 0; row < 3; ++row) {
        s[t] = sum;
        __syncthreads();
        for (int i = X + row; i < n; i += gridDim.x * blockDim.x) sum += x[i] * s[size - 1 - t];
        __syncthreads();
    }
    out[2 * T + 1] = sum;
)",
                  2);
    // The rows are strided too; all threads of a block have the same.
    expect_rounds(R"(
    int sum = 0;
    for (int row = blockIdx.y; row < 4; row += gridDim.y) {
        for (int i = X; i < n / 4; i += gridDim.x * blockDim.x) sum = mix(sum, x[row * (n / 4) + i]);
        sum += x[row];
    }
    out[T] = sum;
)");
}

TEST(Rounds, LoopsThatAreLeftEarly) {
    expect_rounds(R"(
    int sum = 0, at = -1;
    for (int i = X; i < n; i += gridDim.x * blockDim.x) {
        if (x[i] == 5) { at = i; break; }
        if (x[i] & 2) continue;
        sum += x[i];
    }
    out[2 * T] = sum;
    out[2 * T + 1] = at;
)");
    // By three ways, each of which leads to something of its own.
    expect_rounds(R"(
    int sum = 0, i = X;
    for (; i < n; i += gridDim.x * blockDim.x) {
        if (x[i] % 17 == 3) goto first;
        sum = mix(sum, x[i]);
        if (sum % 13 == 2) goto second;
    }
    sum += 1000;
    goto all;
first:
    sum = i;
    goto all;
second:
    sum *= 3;
all:
    s[t] = sum;
    __syncthreads();
    out[T] = s[size - 1 - t];
)");
    // The end is at the bottom.
    expect_rounds(R"(
    int sum = 0, i = X;
    do {
        sum = mix(sum, x[i]);
        i += gridDim.x * blockDim.x;
    } while (i < n && sum != 7);
    out[T] = sum + i;
)");
}

TEST(Rounds, ThreadsThatReturn) {
    expect_rounds(R"(
    out[2 * T] = 1;
    if (t % 5 == 2) return;
    int sum = 0;
    for (int i = X; i < n; i += gridDim.x * blockDim.x) sum = mix(sum, x[i]);
    out[2 * T] = sum;
    s[t] = sum;
    __syncthreads();
    out[2 * T + 1] = t > 0 && (t - 1) % 5 != 2 ? s[t - 1] : 3;
)");
    expect_rounds(R"(
    int sum = 0;
    for (int i = X; i < n; i += gridDim.x * blockDim.x) {
        if (x[i] % 50 == 7) { out[2 * T] = -i; return; }
        sum = mix(sum, x[i]);
    }
    out[2 * T] = sum;
    s[t] = sum;
    __syncthreads();
    out[2 * T + 1] = s[t];
)");
}

TEST(Rounds, AtomicsWithinAndBehind) {
    expect_rounds(R"(
    for (int k = t; k < 64; k += size) s[k] = 0;
    __syncthreads();
    for (int i = X; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[x[i] & 63], i);
    __syncthreads();
    out[T] = s[t & 63];
    for (int k = t; k < 16; k += size) atomicAdd(&total[k], (unsigned long long)s[k] << 8);
)");
    expect_rounds(R"(
    unsigned long long sum = 0;
    for (int i = X; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
        atomicMax((int*)&total[1 + (i & 7)], x[i]);
    }
    atomicAdd(total, sum);
)");
}

TEST(Rounds, PrivateArrays) {
    expect_rounds(R"(
    int own[5] = {1, 2, 3, 4, 5};
    for (int i = X; i < n; i += gridDim.x * blockDim.x) own[x[i] & 3] += own[(x[i] >> 2 & 3) + 1] + i;
    out[2 * T] = own[0] ^ own[1];
    out[2 * T + 1] = own[t % 5];
)");
}

// Stores that later rounds of other threads would read are theirs in any order.
TEST(Rounds, StoresInTheLoop) {
    expect_rounds(R"(
    int last = 0;
    for (int i = X; i < 2 * threads; i += gridDim.x * blockDim.x) {
        last = mix(last, x[i % 4000]);
        if (blockIdx.y == 0) out[i] = last;
    }
    if (blockIdx.y == 0) out[X] += last;
)");
}

// Warps add up what their lanes have summed.
TEST(Rounds, WarpOperationsBehind) {
    const char* loop = R"(
    int sum = 0;
    for (int i = X; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
)";
    const std::vector<Shape> warps{{{1}, {32}}, {{2}, {64}}, {{3}, {256}}, {{2, 2}, {32, 3}}};
    for (const char* rest : {"out[T] = sum;", R"(
    if (t % 32 == 0) s[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = t < size / 32 ? s[t] : 0;
        for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
        if (t == 0) atomicAdd(total, (unsigned long long)sum);
    }
)"}) {
        const std::string text = kernel(std::string(loop) + rest);
        LoweredKernel found = lowered(text);
        EXPECT_EQ(found.shape, BlockShape::Loop) << text;
        EXPECT_EQ(found.lanes, 32u) << text;
        EXPECT_EQ(found.rounds, 1u) << text;
        expect_same(text, warps);
    }
}

// Barriers and warp operations in the loop are met in its rounds anyway, or not by all; loops that
// not all threads come to cannot have a barrier; falling ones are not looked for. All give what one
// lane gives.
TEST(Rounds, OtherLoopsStay) {
    const std::vector<Shape> shapes{{{2}, {32}}, {{1}, {64}}};
    for (const char* body : {R"(
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) {
        s[t] = x[i + t];
        __syncthreads();
        sum += s[size - 1 - t];
        __syncthreads();
    }
    out[T] = sum;
)",
                             R"(
    int sum = 0;
    for (int i = X; i < n; i += gridDim.x * blockDim.x)
        sum += __shfl_xor_sync(__activemask(), x[i], 0);
    out[T] = sum;
)",
                             R"(
    int sum = 0;
    for (int i = n - 1 - X; i >= 0; i -= gridDim.x * blockDim.x) sum = mix(sum, x[i]);
    out[T] = sum;
)",
                             R"(
    int sum = 0;
    if (x[t] & 1)
        for (int i = X; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    __syncthreads();
    out[T] = sum;
)"}) {
        const std::string text = kernel(body);
        EXPECT_EQ(lowered(text).rounds, 0u) << text;
        expect_same(text, shapes);
    }
}

}  // namespace
}  // namespace trilane::cpu
