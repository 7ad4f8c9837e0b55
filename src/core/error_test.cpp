// Errors: message, kind and detail arrive; our own faults say so.
#include "core/error.h"

#include "core/testing/expect_error.h"

namespace trilane::core {
namespace {

TEST(Error, CarriesKindMessageAndDetail) {
    try {
        throw_error_with_detail(ErrorKind::CompileError, "compile: failed", "line 1\nline 2");
    } catch (const std::exception& caught) {
        const auto& error = dynamic_cast<const Error&>(caught);
        EXPECT_EQ(error.kind(), ErrorKind::CompileError);
        EXPECT_STREQ(error.what(), "compile: failed");
        EXPECT_EQ(error.detail(), "line 1\nline 2");
    }
}

TEST(Error, FormatsItsMessage) {
    EXPECT_ERROR(throw_error(ErrorKind::IndexError, "f: got {}, expected {}", 5, "less"),
                 IndexError, "f: got 5, expected less");
}

TEST(Error, CheckNamesConditionPlaceAndValues) {
    const int n = 3;
    EXPECT_ERROR(([&] { TRILANE_CHECK(n == 4, "n is {}", n); }()), Internal, "n is 3", "n == 4",
                 "error_test.cpp", "internal error");
    EXPECT_NO_THROW(([&] { TRILANE_CHECK(n == 3, "n is {}", n); }()));
}

TEST(Error, EveryKindHasItsName) {
    for (int k = 0; k <= static_cast<int>(ErrorKind::Internal); ++k)
        EXPECT_STRNE(kind_name(static_cast<ErrorKind>(k)), "unknown") << k;
    EXPECT_STREQ(kind_name(ErrorKind::NotSupported), "NotSupported");
}

TEST(Error, AFaultHasCudasNumberAndNames) {
    try {
        throw_fault(FaultCode::Assert, "k: assertion failed: {}", "x > 0");
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::KernelFault);
        EXPECT_EQ(error.fault(), FaultCode::Assert);
        EXPECT_STREQ(error.what(), "k: assertion failed: x > 0");
    }
    EXPECT_EQ(Error(ErrorKind::LaunchError, "refused").fault(), FaultCode::None);
    EXPECT_STREQ(fault_names(FaultCode::IllegalAddress).runtime_name, "cudaErrorIllegalAddress");
    EXPECT_STREQ(fault_names(FaultCode::None).driver_name, "CUDA_ERROR_LAUNCH_FAILED");
}

TEST(Error, StatusesOfFaultsAreKnown) {
    EXPECT_EQ(fault_of_status(700), FaultCode::IllegalAddress);
    EXPECT_EQ(fault_of_status(719), FaultCode::LaunchFailure);
    EXPECT_EQ(fault_of_status(0), FaultCode::None);
    EXPECT_EQ(fault_of_status(1), FaultCode::None);
    EXPECT_EQ(fault_of_status(701), FaultCode::None);  // too many resources: nothing ran
}

}  // namespace
}  // namespace trilane::core
