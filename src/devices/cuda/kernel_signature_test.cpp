// Reading types of parameters from mangled names.
#include "devices/cuda/kernel_signature.h"

#include <gtest/gtest.h>

namespace trilane::cuda {
namespace {

using core::ParameterKind;

TEST(KernelSignature, OfAMangledKernel) {
    // void k<float>(float*, int, unsigned long long, double const* const*, float4, bool)
    const auto signature = signature_of_mangled("_Z1kIfEvPT_iyPKPKd6float4b");
    ASSERT_TRUE(signature);
    const auto& p = signature->parameters;
    ASSERT_EQ(p.size(), 6u);
    EXPECT_EQ(p[0].c_type, "float *");
    EXPECT_EQ(p[0].pointee_size, 4u);
    EXPECT_EQ(p[1].kind, ParameterKind::Int);
    EXPECT_EQ(p[2].kind, ParameterKind::UInt);
    EXPECT_EQ(p[2].size, 8u);
    EXPECT_EQ(p[3].kind, ParameterKind::Pointer);
    EXPECT_EQ(p[3].pointee_kind, ParameterKind::Pointer);
    EXPECT_EQ(p[4].kind, ParameterKind::Struct);
    EXPECT_EQ(p[4].size, 0u);  // the driver knows it
    EXPECT_EQ(p[5].kind, ParameterKind::Bool);
}

TEST(KernelSignature, OfACNameThereIsNone) {
    EXPECT_FALSE(signature_of_mangled("scale"));
    EXPECT_FALSE(signature_of_mangled("_Z"));
    EXPECT_FALSE(read_signature("_ZN18trilane_signatures3tag1aE"));
    EXPECT_FALSE(read_signature("_ZN18trilane_signatures6kernelIJEEE"));
    EXPECT_FALSE(read_signature("trilane_signatures"));
}

TEST(KernelSignature, OfAKernelWithoutParameters) {
    const auto signature = read_signature("_ZN18trilane_signatures6kernelIJFvvENS_3tag4noneEEEE");
    ASSERT_TRUE(signature);
    EXPECT_EQ(signature->kernel, "none");
    EXPECT_TRUE(signature->parameters.empty());
}

}  // namespace
}  // namespace trilane::cuda
