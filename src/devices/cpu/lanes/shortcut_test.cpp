// Versions without masks: which guards get one, and that vectors with and without lanes off agree.
#include "devices/cpu/lanes/shortcut.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include "core/testing/scoped_variable.h"
#include "devices/cpu/compile/front_end.h"
#include "devices/cpu/lower/lower.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::Program;

// The guard found in `f(i32 lane, i32 n, ptr p)`: its block's name and side, or nothing.
std::string guard_of(const std::string& body) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic problem;
    auto module = llvm::parseAssemblyString(
        "define void @f(i32 %x, i32 %n, ptr %p) {\n" + body + "\n}", problem, context);
    if (module == nullptr) return "no IR: " + problem.getMessage().str();
    llvm::Function& function = *module->getFunction("f");
    const LanePlan plan(function, *function.getArg(0), {16, true, {}, {}});
    auto guard = find_guard(plan);
    if (!guard) return "none";
    const llvm::Function* passing = without_guard(function, *guard);
    EXPECT_FALSE(llvm::verifyFunction(*passing, &llvm::errs()));
    EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
    return guard->block->getName().str() + " " + std::to_string(guard->side);
}

const std::string kWork = "\nwork:\n  store i32 %x, ptr %p\n  br label %end\nend:\n  ret void";

TEST(Shortcut, GuardsBeforeWhichNothingIsDone) {
    EXPECT_EQ(guard_of("start:\n  %c = icmp slt i32 %x, %n\n"
                       "  br i1 %c, label %work, label %end" +
                       kWork),
              "start 0");
    EXPECT_EQ(guard_of("start:\n  %c = icmp sgt i32 %x, %n\n"
                       "  br i1 %c, label %leave, label %work\nleave:\n  br label %end" +
                       kWork),
              "start 1");
    EXPECT_EQ(guard_of("start:\n  %l = load i32, ptr %p, !invariant.load !0\n  br label %next\n"
                       "next:\n  %c = icmp slt i32 %x, %l\n"
                       "  br i1 %c, label %work, label %end" +
                       kWork + "}\n!0 = !{}\ndefine void @g() {\n  ret void"),
              "next 0");
    // What the lanes that pass compute joins what the others have.
    EXPECT_EQ(guard_of("start:\n  %c = icmp slt i32 %x, %n\n"
                       "  br i1 %c, label %work, label %end\n"
                       "work:\n  %a = load i32, ptr %p\n  br label %end\n"
                       "end:\n  %v = phi i32 [ %a, %work ], [ 0, %start ]\n"
                       "  store i32 %v, ptr %p\n  ret void"),
              "start 0");
}

TEST(Shortcut, OthersHaveNone) {
    const std::string branch = "  br i1 %c, label %work, label %end";
    // What was read may have changed; what was written would be written twice.
    EXPECT_EQ(
        guard_of("start:\n  %l = load i32, ptr %p\n  %c = icmp slt i32 %x, %l\n" + branch + kWork),
        "none");
    EXPECT_EQ(
        guard_of("start:\n  store i32 1, ptr %p\n  %c = icmp slt i32 %x, %n\n" + branch + kWork),
        "none");
    // Lanes do not part.
    EXPECT_EQ(guard_of("start:\n  %c = icmp slt i32 %n, 7\n" + branch + kWork), "none");
    // Work on both sides.
    EXPECT_EQ(guard_of("start:\n  %c = icmp slt i32 %x, %n\n"
                       "  br i1 %c, label %work, label %other\n"
                       "other:\n  store i32 3, ptr %p\n  br label %end" +
                       kWork),
              "none");
}

// `f(in, out, n)`: results of all lanes as with one, in blocks and sizes that W does not divide.
void expect_same(const std::string& body) {
    const std::string text =
        "extern \"C\" __global__ void f(const int* in, int* out, int n) {\n"
        "int t = threadIdx.x + blockDim.x * threadIdx.y;\n"
        "int size = blockDim.x * blockDim.y, i = blockIdx.x * size + t;\n" +
        body + "\n}";
    constexpr int kMost = 2048;
    std::vector<int> in(kMost);
    for (int i = 0; i < kMost; ++i) in[size_t(i)] = (i * 7919) % 1013 - 300;
    auto run = [&](core::Dim3 block, int n, Program& program) {
        std::vector<int> out(kMost, -5);
        program.launch("f", {3}, block, in.data() + 100, out.data() + 100, n);
        return out;
    };
    auto compiled = [&](int lanes, const char* features) {
        const ScopedVariable asked("TRILANE_LANES", std::to_string(lanes).c_str());
        const ScopedVariable restricted("TRILANE_CPU_FEATURES", features);
        return std::make_unique<Program>(text);
    };
    auto one = compiled(1, "");
    for (auto [lanes, features] :
         {std::pair{4, ""}, {8, "avx2"}, {16, ""}, {8, "sse2"}, {32, ""}}) {
        auto program = compiled(lanes, features);
        for (core::Dim3 block : {core::Dim3{7}, {33}, {16, 16}, {64}, {128}, {5, 9}})
            for (int n : {0, 1, 15, 16, 17, 40, 64, 100, 700})
                ASSERT_TRUE(run(block, n, *program) == run(block, n, *one))
                    << text << "\n"
                    << lanes << " lanes " << features << ", block (" << block.x << ", " << block.y
                    << "), n " << n;
    }
}

TEST(Shortcut, FirstLanesOff) {
    expect_same("if (t < 1 || t >= n - 1) return; out[i] = in[i - 1] + in[i + 1];");
}

TEST(Shortcut, TwoGuardsOneAfterTheOther) {
    expect_same("if (t >= n) return; int v = in[i]; if (t % 20 < 3) return; out[i] = v + in[t];");
    expect_same("if (t >= n) return; if (t < 4) return; if (t == 50) return; out[i] = in[t] + 1;");
}

TEST(Shortcut, LoopsBehindTheGuard) {
    expect_same(
        "if (t + 3 > n) return; int s = 0; for (int k = 0; k < t % 5; ++k) s += in[i + k];"
        "for (int k = 0; k < n; ++k) { if ((s ^ k) & 64) break; s += in[k] * t; } out[i] = s;");
    expect_same(
        "int s = t; if (t > 2 && t < n) for (int k = 0; k < 9; ++k) if (s < k * 100) s += in[s & "
        "511];"
        "out[i] = s;");
}

TEST(Shortcut, BothSidesMeetInAValue) {
    expect_same("int v = t >= n ? 7 : in[i - n & 1023]; out[i] = v * t;");
    expect_same("int v = 3; if (n - t > 5) { v = in[t]; if (v & 1) v = -v; } out[i] = v;");
}

TEST(Shortcut, BehindBarriers) {
    expect_same(
        "__shared__ int s[512]; s[t] = in[i]; __syncthreads();"
        "for (int k = 1; k < size; k *= 2) { int o = t >= k ? s[t - k] : 0; __syncthreads();"
        "  s[t] += o; __syncthreads(); }"
        "if (t < n && t > 0) out[i] = s[t] + s[t - 1];");
}

}  // namespace
}  // namespace trilane::cpu
