// The environment of all tests of the core: a cache of their own, no choice of device from outside.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>

#include "core/env.h"
#include "core/testing/temporary_directory.h"

namespace trilane::core {
namespace {

class OwnEnvironment : public ::testing::Environment {
  public:
    void SetUp() override {
        cache_ = std::make_unique<testing::TemporaryDirectory>();
        ::setenv("TRILANE_CACHE_DIR", cache_->path().c_str(), 1);
        for (const char* name : {"TRILANE_CACHE", "TRILANE_DEVICE", "TRILANE_POOL"})
            ::unsetenv(name);
        reset_env_for_tests();
    }
    void TearDown() override { cache_.reset(); }

  private:
    std::unique_ptr<testing::TemporaryDirectory> cache_;
};

const auto* const registered = ::testing::AddGlobalTestEnvironment(new OwnEnvironment);

TEST(OwnEnvironment, IsThere) { EXPECT_NE(registered, nullptr); }

}  // namespace
}  // namespace trilane::core
