// Warp operations in 32 lanes: the same results as one thread at a time, and which kernels have
// lanes at all.
#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <numeric>

#include "core/testing/scoped_variable.h"
#include "devices/cpu/compile/front_end.h"
#include "devices/cpu/lower/lower.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::Program;

constexpr int kOutputs = 4;  // per thread

struct Case {
    const char* name;
    const char* body;  // of a kernel with in, out, n; t: linear index in the grid, lane
    bool lanes = true;
};

std::string text_of(const Case& test) {
    return fmt::format(
        "extern \"C\" __global__ void {}(const int* in, int* out, int n) {{\n"
        "    const int b = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
        "    const int t = blockIdx.x * blockDim.x * blockDim.y * blockDim.z + b;\n"
        "    const int lane = b & 31; int v = in[t]; out += t * 4;\n    {}\n}}\n",
        test.name, test.body);
}

const Case kCases[] = {
    // Every lane there.
    {"down", "for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d); out[0] = v;"},
    {"up",
     "for (int d = 1; d < 32; d *= 2) { int o = __shfl_up_sync(~0u, v, d);"
     " if (lane >= d) v += o; } out[0] = v;"},
    {"across",
     "for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_xor_sync(~0u, v, d)); out[0] = v;"},
    {"from",
     "out[0] = __shfl_sync(~0u, v, 5); out[1] = __shfl_sync(~0u, v, v & 63);"
     " out[2] = __shfl_sync(~0u, v, lane + 1); out[3] = __shfl_sync(~0u, 7, 0);"},
    {"widths",
     "out[0] = __shfl_down_sync(~0u, v, 3, 8); out[1] = __shfl_up_sync(~0u, v, 3, 16);"
     " out[2] = __shfl_xor_sync(~0u, v, 5, 4); out[3] = __shfl_sync(~0u, v, 9, 8);"},
    {"by_data",
     "int w = 1 << (n % 6); out[0] = __shfl_down_sync(~0u, v, n & 7, w);"
     " out[1] = __shfl_up_sync(~0u, v, v & 31, w); out[2] = __shfl_xor_sync(~0u, v, n, w);"
     " out[3] = __shfl_sync(~0u, v, n & 31);"},
    {"rounds", "for (int i = 0; i < n % 9; ++i) v += __shfl_down_sync(~0u, v, i); out[0] = v;"},
    {"wide",
     "long long w = v * 0x123456789ll; double d = v * 0.37; float f = v * 1.5f;"
     " out[0] = (int)(__shfl_down_sync(~0u, w, 3) >> 7);"
     " out[1] = (int)__shfl_xor_sync(~0u, d, 9); out[2] = (int)__shfl_up_sync(~0u, f, 2);"},
    {"votes",
     "out[0] = __ballot_sync(~0u, v & 1); out[1] = __any_sync(~0u, v == 3);"
     " out[2] = __all_sync(~0u, v < 1000) + 2 * __uni_sync(~0u, v & 2);"
     " out[3] = __popc(__ballot_sync(~0u, v > 5) & ((1u << lane) - 1));"},
    {"matches",
     "int whole; out[0] = __match_any_sync(~0u, v & 3); out[1] = __match_all_sync(~0u, n, &whole);"
     " out[2] = whole; out[3] = __match_any_sync(~0u, (long long)v << 33);"},
    {"reductions",
     "out[0] = __reduce_add_sync(~0u, v); out[1] = __reduce_min_sync(~0u, v - 50);"
     " out[2] = __reduce_max_sync(~0u, (unsigned)v) ^ __reduce_xor_sync(~0u, v);"
     " out[3] = __reduce_and_sync(~0u, v | 64) + __reduce_or_sync(~0u, v);"},
    {"groups",
     "unsigned m = __match_any_sync(~0u, v & 3); out[0] = __reduce_add_sync(m, v);"
     " out[1] = __ballot_sync(m, v & 4); out[2] = __shfl_sync(m, v, __ffs(m) - 1);"
     " __syncwarp(m); out[3] = __any_sync(m, v & 8);"},
    {"halves",
     "unsigned m = lane < 16 ? 0xffffu : 0xffff0000u; out[0] = __shfl_down_sync(m, v, 1);"
     " out[1] = __reduce_max_sync(m, v); out[2] = __ballot_sync(m, v & 1);"},
    {"through_memory",
     "__shared__ int s[1024]; s[b] = v; __syncwarp();"
     " out[0] = s[b ^ 1] + s[b & ~31]; __syncwarp(); s[b] = v * 2; __syncwarp();"
     " out[1] = s[(b & ~31) + ((lane * 7) & 31)];"},
    {"private_array",
     "int a[8]; for (int i = 0; i < 8; ++i) a[i] = __shfl_xor_sync(~0u, v, i);"
     " out[0] = a[v & 7]; out[1] = a[lane & 7];",
     true},
    // Whole warps go different ways, or all lanes go round together.
    {"warps_apart",
     "if (threadIdx.x < 32) v = __shfl_down_sync(~0u, v, 1);"
     " else if (threadIdx.x / 32 == 1) v = __shfl_up_sync(~0u, v, 2); out[0] = v;"},
    {"votes_decide",
     "int rounds = 0; while (__any_sync(~0u, v > 10)) { v -= v > 10 ? 3 : 0; ++rounds; }"
     " out[0] = v; out[1] = rounds;"},
    {"by_first",
     "int f = __shfl_sync(~0u, v, 0); for (int i = 0; i < (f & 7); ++i)"
     " v += __shfl_xor_sync(~0u, v, 1); out[0] = v;"},
    // Lanes that are done.
    {"early_return",
     "if (v < 20) return; for (int d = 16; d > 0; d /= 2)"
     " v += __shfl_down_sync(~0u, v, d); out[0] = v;"},
    {"guard",
     "if (t < n) { v += __shfl_xor_sync(~0u, v, 1); out[0] = __popc(__ballot_sync(~0u, v & 1)); }"},
    {"leave_one_by_one",
     "for (int i = 0; i < (v & 7); ++i) v += 8 * __popc(__ballot_sync(~0u, v & 8));"
     " out[0] = v;"},
    // The mask names who is here.
    {"voted",
     "unsigned m = __ballot_sync(~0u, v & 1); if (v & 1) v = __shfl_down_sync(m, v, 2);"
     " else v += 3; out[0] = v + __reduce_add_sync(~0u, v);"},
    {"asked",
     "if (v & 2) { unsigned m = __activemask(); v = __shfl_sync(m, v, __ffs(m) - 1);"
     " out[1] = __popc(m & ((1u << lane) - 1)); __syncwarp(m); } out[0] = v;"
     " out[2] = __ballot_sync(~0u, v & 4);"},
    {"asked_in_loop",
     "if (v & 2) { unsigned m = __activemask(); for (int i = 0; i < n % 5; ++i)"
     " v += __shfl_xor_sync(m, v, i); } out[0] = __reduce_add_sync(~0u, v);"},
    // Not proven: one thread at a time.
    {"both_sides",
     "if (v & 1) v = __shfl_xor_sync(~0u, v, 1); else v = 3 * __shfl_xor_sync(~0u, v, 1);"
     " out[0] = v;",
     false},
    {"half_a_warp",
     "if (lane < 16) v = __shfl_down_sync(0xffffu, v, 1); out[0] = v;"
     " out[1] = __reduce_add_sync(~0u, v);",
     false},
    {"meets_later",
     "if (v & 1) { __syncwarp(); v += 1; } else { v += 2; __syncwarp(); }"
     " out[0] = __shfl_xor_sync(~0u, v, 3);",
     false},
    {"ends_or_waits",
     "if (lane < 16) v = __shfl_down_sync(~0u, v, 1); out[0] = v; if (n > 3) return;"
     " __syncthreads(); out[1] = v;",
     false},
    // With barriers of the block.
    {"half_then_barrier",
     "if (lane < 16) v = __shfl_down_sync(0xffffu, v, 1); __syncthreads(); out[0] = v;"},
    {"returned_then_barrier",
     "if (lane >= 16) return; v = __shfl_down_sync(~0u, v, 1); __syncthreads();"
     " out[0] = v + __popc(__ballot_sync(~0u, v & 1)); __syncthreads(); out[1] = v;",
     false},
    {"guard_then_barrier",
     "if (t >= n) return; for (int i = 0; i < 3; ++i) { v += __shfl_xor_sync(~0u, v, 1 << i);"
     " __syncthreads(); } out[0] = v;",
     false},
    {"barrier", "v += __shfl_xor_sync(~0u, v, 1); __syncthreads(); out[0] = v;"},
    {"block_sum",
     "__shared__ int s[32]; for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);"
     " int warp = b / 32, warps = (blockDim.x * blockDim.y * blockDim.z + 31) / 32;"
     " if (lane == 0) s[warp] = v; __syncthreads();"
     " if (b < 32) { v = lane < warps ? s[lane] : 0; v = __reduce_add_sync(~0u, v);"
     " if (lane == 0) s[0] = v; } __syncthreads(); out[0] = s[0];"},
    {"over_a_barrier",
     "__shared__ int s[1024]; unsigned m = __ballot_sync(~0u, v & 1); s[b] = v;"
     " __syncthreads(); int o = s[(b + 33) % (blockDim.x * blockDim.y * blockDim.z)];"
     " out[0] = __popc(m); out[1] = __shfl_up_sync(~0u, o, 1);"
     " for (int i = 0; i < 3; ++i) { __syncthreads(); s[b] = o; __syncthreads();"
     " o += __shfl_xor_sync(~0u, s[b & ~31], i); } out[2] = o;"},
};

std::string all_text() {
    std::string text;
    for (const Case& test : kCases) text += text_of(test);
    return text;
}

std::vector<int> run(Program& program, const Case& test, core::Dim3 grid, core::Dim3 block) {
    const size_t threads = grid.count() * block.count();
    std::vector<int> in(threads), out(threads * kOutputs, -1);
    for (size_t i = 0; i < threads; ++i) in[i] = int((i * 37 + 11) % 61);
    program.launch(test.name, grid, block, in.data(), out.data(), int(threads) - 7);
    return out;
}

TEST(WarpLanes, SameAsOneThreadAtATime) {
    auto compile = [](const char* lanes) {
        const ScopedVariable asked("TRILANE_LANES", lanes);
        return std::make_unique<Program>(all_text());
    };
    auto one = compile("1");
    const std::pair<core::Dim3, core::Dim3> shapes[] = {
        {{1}, {32}},    {{3}, {64}}, {{2}, {96, 2}}, {{2}, {32, 2, 3}}, {{2}, {40}},
        {{3}, {16, 4}}, {{1}, {7}},  {{2}, {1024}},  {{2}, {64, 3}},
    };
    for (const char* lanes : {"0", "8", "32"}) {
        auto program = compile(lanes);
        for (const Case& test : kCases)
            for (const auto& [grid, block] : shapes)
                EXPECT_EQ(run(*program, test, grid, block), run(*one, test, grid, block))
                    << test.name << " lanes " << lanes << " block " << block.x << " " << block.y;
    }
}

TEST(WarpLanes, OnSmallProcessors) {
    auto compile = [](const char* lanes, const char* features) {
        const ScopedVariable asked("TRILANE_LANES", lanes), left("TRILANE_CPU_FEATURES", features);
        return std::make_unique<Program>(all_text());
    };
    auto one = compile("1", "");
    for (const char* features : {"avx2", "sse2"}) {
        auto program = compile("32", features);
        for (const Case& test : kCases)
            EXPECT_EQ(run(*program, test, {2}, {96}), run(*one, test, {2}, {96}))
                << test.name << " " << features;
    }
}

TEST(WarpLanes, WhoHasThem) {
    core::Program program;
    program.source = all_text();
    LoweredModule module = lower(run_front_end(program, false), 16);
    ASSERT_EQ(module.kernels.size(), std::size(kCases));
    for (size_t i = 0; i < module.kernels.size(); ++i) {
        ASSERT_EQ(module.kernels[i].description.name, kCases[i].name);
        EXPECT_EQ(module.kernels[i].lanes, kCases[i].lanes ? 32u : 1u) << kCases[i].name;
    }
}

// A mask that names lanes which wait at a barrier: neither can go on.
const Case kStuck[] = {
    {"half", "if (lane < 16) v = __shfl_down_sync(~0u, v, 1); __syncthreads(); out[0] = v;"},
    {"in_step", "if (v & 1) __syncwarp(); __syncthreads(); out[0] = v;"},
    {"guarded",
     "if (t >= n) return; if (lane < 8) v = __ballot_sync(~0u, v & 1); __syncthreads();"
     " out[0] = v;",
     false},
    {"rounds_of_own",
     "for (int i = 0; i < (v & 3); ++i) v += 4 * __shfl_xor_sync(~0u, v, 1); __syncthreads();"
     " out[0] = v;"},
    {"own_masks",
     "if (lane < 16) v = __shfl_sync(lane < 8 ? 0xffu : 0x1ff00u, v, lane); __syncthreads();"
     " out[0] = v;"},
    {"behind_a_barrier",
     "__syncthreads(); v += 1; if (lane == 3) v += __reduce_add_sync(0x18u, v); __syncthreads();"
     " out[0] = v;"},
    {"others_leave",
     "if (lane < 16) { __syncthreads(); out[0] = v; } else out[1] = __any_sync(~0u, v & 1);",
     false},
};

TEST(WarpLanes, NamesLanesAtABarrier) {
    std::string text;
    for (const Case& test : kStuck) text += text_of(test);
    for (const char* lanes : {"0", "1", "32"}) {
        const ScopedVariable asked("TRILANE_LANES", lanes);
        Program program(text);
        for (const Case& test : kStuck) {
            core::ErrorKind kind{};
            const std::string error =
                testing::error_of([&] { run(program, test, {1}, {64}); }, &kind);
            EXPECT_EQ(kind, core::ErrorKind::KernelFault) << test.name;
            EXPECT_NE(error.find(std::string(test.name) + ": deadlock in block (0,0,0)"),
                      std::string::npos)
                << test.name << ": " << error;
            EXPECT_NE(error.find("first is thread"), std::string::npos) << error;
        }
    }
    core::Program program;
    program.source = text;
    LoweredModule module = lower(run_front_end(program, false), 16);
    for (size_t i = 0; i < module.kernels.size(); ++i)
        EXPECT_EQ(module.kernels[i].lanes, kStuck[i].lanes ? 32u : 1u) << kStuck[i].name;
}

}  // namespace
}  // namespace trilane::cpu
