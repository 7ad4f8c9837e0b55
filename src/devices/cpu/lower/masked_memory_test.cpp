// Accesses that the processor has no instruction for: one scalar access per lane, and no branch.
#include "devices/cpu/lower/masked_memory.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "core/testing/scoped_variable.h"
#include "devices/cpu/lower/target.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::Program;

constexpr int kElements = 500;

// Gathers and scatters by a table, rows under a mask, lanes that meet at one place; what a lane
// that is off would reach lies in no memory at all.
std::string kernel(const std::string& type) {
    return "typedef " + type + R"( T;
extern "C" __global__ void f(const T* x, const int* where, T* out, T* row, T* met, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long far = i % 3 == 0 ? 0 : 1LL << 44;
    if (i < n && i % 3 == 0) {
        T value = x[where[i] + far] + x[i];
        out[where[i] + far] = value;
        row[i] = value + x[i];
        met[(where[i] & 3) + far] = value;
    }
})";
}

template <typename T>
void expect_same(const std::string& type) {
    std::vector<T> x(kElements);
    std::vector<int> where(kElements);
    for (int i = 0; i < kElements; ++i) {
        x[size_t(i)] = T(i * 7 % 101);
        where[size_t(i)] = i * 137 % kElements;
    }
    for (auto [lanes, features] :
         {std::pair{1, ""}, {4, "sse2"}, {8, "avx2"}, {8, "sse2"}, {16, ""}, {32, "avx2"}}) {
        const ScopedVariable asked("TRILANE_LANES", std::to_string(lanes).c_str());
        const ScopedVariable restricted("TRILANE_CPU_FEATURES", features);
        Program program(kernel(type));
        for (int n : {0, 1, 31, 64, 487}) {
            std::vector<T> out(kElements), row(kElements), met(4);
            std::vector<T> expected_out(kElements), expected_row(kElements), expected_met(4);
            for (int i = 0; i < n; i += 3) {
                const auto at = size_t(where[size_t(i)]), me = size_t(i);
                const T value = T(x[at] + x[me]);
                expected_out[at] = value;
                expected_row[me] = T(value + x[me]);
                expected_met[at & 3] = value;
            }
            program.launch("f", {5}, {100}, x.data(), where.data(), out.data(), row.data(),
                           met.data(), n);
            ASSERT_EQ(out, expected_out) << type << ' ' << lanes << features << ' ' << n;
            ASSERT_EQ(row, expected_row) << type << ' ' << lanes << features << ' ' << n;
            ASSERT_EQ(met, expected_met) << type << ' ' << lanes << features << ' ' << n;
        }
    }
}

TEST(MaskedMemory, LanesThatAreOffReachNothing) {
    expect_same<int8_t>("signed char");
    expect_same<uint16_t>("unsigned short");
    expect_same<int>("int");
    expect_same<int64_t>("long long");
    expect_same<float>("float");
    expect_same<double>("double");
}

// The code generator takes more than twice the time for twice the blocks.
constexpr const char* kAccesses = R"(
declare <8 x i16> @llvm.masked.gather.v8i16.v8p0(<8 x ptr>, i32, <8 x i1>, <8 x i16>)
declare void @llvm.masked.scatter.v8i16.v8p0(<8 x i16>, <8 x ptr>, i32, <8 x i1>)
declare <8 x i32> @llvm.masked.load.v8i32.p0(ptr, i32, <8 x i1>, <8 x i32>)
declare void @llvm.masked.store.v8i32.p0(<8 x i32>, ptr, i32, <8 x i1>)
define void @f(<8 x ptr> %there, ptr %row, <8 x i1> %on, <8 x i16> %other, ptr %out) {
  %a = call <8 x i16> @llvm.masked.gather.v8i16.v8p0(<8 x ptr> %there, i32 2, <8 x i1> %on, <8 x i16> %other)
  call void @llvm.masked.scatter.v8i16.v8p0(<8 x i16> %a, <8 x ptr> %there, i32 2, <8 x i1> %on)
  %b = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr %row, i32 4, <8 x i1> %on, <8 x i32> zeroinitializer)
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %b, ptr %out, i32 4, <8 x i1> %on)
  ret void
})";

size_t masked_left(const llvm::Function& function) {
    size_t count = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(function))
        count += llvm::isa<llvm::IntrinsicInst>(instruction);
    return count;
}

TEST(MaskedMemory, WhatTheProcessorHasNotIsReplacedWithoutABlock) {
    struct Case {
        const char* features;
        size_t left;  // AVX2 has the row of integers
    };
    for (auto [features, left] : {Case{"sse2", 0}, {"avx2", 2}}) {
        const ScopedVariable restricted("TRILANE_CPU_FEATURES", features);
        llvm::LLVMContext context;
        llvm::SMDiagnostic why;
        std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(kAccesses, why, context);
        ASSERT_TRUE(module) << why.getMessage().str();
        set_target(*module);
        llvm::Function& function = *module->getFunction("f");
        ASSERT_EQ(masked_left(function), 4u);
        lower_masked_memory(function, target_machine().getTargetTransformInfo(function));
        EXPECT_EQ(function.size(), 1u) << features;
        EXPECT_EQ(masked_left(function), left) << features;
        EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
    }
}

}  // namespace
}  // namespace trilane::cpu
