// Ranges and marks reach a profiler that NVTX_INJECTION64_PATH names.
#include "core/nvtx.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/testing/scoped_variable.h"
#include "core/testing/temporary_directory.h"

namespace trilane::core {
namespace {

class NvtxTest : public ::testing::Test {
  protected:
    NvtxTest() { nvtx::forget_profiler_for_tests(); }
    ~NvtxTest() override { nvtx::forget_profiler_for_tests(); }
    std::string heard() const {
        std::ifstream file(log_path_);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    testing::TemporaryDirectory directory_;
    std::string log_path_ = directory_.path() + "/heard";
    testing::ScopedVariable log_{"TRILANE_FAKE_NVTX_LOG", log_path_.c_str()};
};

TEST_F(NvtxTest, WithoutAProfilerNothingHappens) {
    const testing::ScopedVariable none("NVTX_INJECTION64_PATH", nullptr);
    EXPECT_FALSE(nvtx::listening());
    nvtx::mark("here", {});
    EXPECT_LT(nvtx::push_range("work", {}), 0);
    EXPECT_LT(nvtx::pop_range(), 0);
    EXPECT_EQ(nvtx::start_range("long", 1), 0u);
    nvtx::end_range(0);
    EXPECT_EQ(heard(), "");
}

TEST_F(NvtxTest, AProfilerHearsMarksAndRanges) {
    const testing::ScopedVariable tool("NVTX_INJECTION64_PATH", TRILANE_FAKE_NVTX_TOOL);
    EXPECT_TRUE(nvtx::listening());
    nvtx::mark("here", {});
    EXPECT_EQ(nvtx::push_range("outer", 0xff00ff00u), 0);
    EXPECT_EQ(nvtx::push_range("inner", {}), 1);
    EXPECT_EQ(nvtx::pop_range(), 1);
    EXPECT_EQ(nvtx::pop_range(), 0);
    const uint64_t range = nvtx::start_range("long", 0u);
    EXPECT_GT(range, 0u);
    nvtx::end_range(range);
    EXPECT_EQ(heard(),
              "mark 'here'\npush 'outer' ff00ff00\npush 'inner'\npop 1\npop 0\n"
              "start 'long' 00000000\nend " +
                  std::to_string(range) + "\n");
}

TEST_F(NvtxTest, AProfilerThatDoesNotStartIsLeftAlone) {
    const testing::ScopedVariable tool("NVTX_INJECTION64_PATH", TRILANE_FAKE_NVTX_TOOL);
    const testing::ScopedVariable refuses("TRILANE_FAKE_NVTX_REFUSES", "1");
    EXPECT_FALSE(nvtx::listening());
    nvtx::push_range("work", {});
    EXPECT_EQ(heard(), "");
}

TEST_F(NvtxTest, ALibraryThatIsNotThereIsNamedOnce) {
    const testing::ScopedVariable tool("NVTX_INJECTION64_PATH", "/nowhere/profiler.so");
    ::testing::internal::CaptureStderr();
    EXPECT_FALSE(nvtx::listening());
    EXPECT_FALSE(nvtx::listening());
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("/nowhere/profiler.so"), std::string::npos);
    EXPECT_EQ(told.find('\n'), told.size() - 1);
}

}  // namespace
}  // namespace trilane::core
