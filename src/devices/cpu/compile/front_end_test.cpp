// run_front_end on simple texts: kernels found, names lowered, IR retargeted.
#include "devices/cpu/compile/front_end.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "devices/cpu/compile/testing.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

namespace trilane::cpu {
namespace {

using core::ParameterKind;
using testing::compile_error;
using testing::compile_text;
using testing::ir_of;

TEST(FrontEnd, VectorAdd) {
    FrontEndResult result = compile_text(R"(
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
)");
    ASSERT_EQ(result.kernels.size(), 1u);
    const KernelDescription& kernel = result.kernels[0];
    EXPECT_EQ(kernel.name, "_Z3addPKfS0_Pfi");
    EXPECT_EQ(kernel.line, 2);
    EXPECT_EQ(kernel.file, "kernel.cu");
    EXPECT_EQ(kernel.max_threads_per_block, 1024);
    ASSERT_EQ(kernel.parameters.size(), 4u);
    EXPECT_EQ(kernel.parameters[0].name, "a");
    EXPECT_EQ(kernel.parameters[0].c_type, "const float *");
    EXPECT_EQ(kernel.parameters[0].kind, ParameterKind::Pointer);
    EXPECT_EQ(kernel.parameters[0].pointee_size, 4u);
    EXPECT_EQ(kernel.parameters[0].pointee_kind, ParameterKind::Float);
    EXPECT_TRUE(kernel.parameters[0].pointee_const);
    EXPECT_FALSE(kernel.parameters[2].pointee_const);
    EXPECT_EQ(kernel.parameters[3].kind, ParameterKind::Int);
    EXPECT_EQ(kernel.parameters[3].size, 4u);
    EXPECT_EQ(result.module->getTargetTriple(), "x86_64-unknown-linux-gnu");
    EXPECT_FALSE(llvm::verifyModule(*result.module, &llvm::errs()));
    EXPECT_EQ(ir_of(result).find("target-features"), std::string::npos);
}

}  // namespace
}  // namespace trilane::cpu
