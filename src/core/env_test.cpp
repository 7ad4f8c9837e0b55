// Environment variables: flags, numbers, and that each is read once.
#include "core/env.h"

#include <stdlib.h>

#include "core/testing/expect_error.h"

namespace trilane::core {
namespace {

constexpr const char* kName = "TRILANE_ENV_TEST";

class Env : public ::testing::Test {
  protected:
    void set(const char* value) {
        reset_env_for_tests();
        if (value == nullptr)
            ::unsetenv(kName);
        else
            ::setenv(kName, value, 1);
    }
    ~Env() override {
        ::unsetenv(kName);
        reset_env_for_tests();
    }
};

TEST_F(Env, Strings) {
    set(nullptr);
    EXPECT_EQ(env_string(kName), std::nullopt);
    set("");
    EXPECT_EQ(env_string(kName), "");
    set("a b");
    EXPECT_EQ(env_string(kName), "a b");
}

TEST_F(Env, IsReadOnce) {
    set("first");
    EXPECT_EQ(env_string(kName), "first");
    ::setenv(kName, "second", 1);
    EXPECT_EQ(env_string(kName), "first");
}

TEST_F(Env, Flags) {
    for (const char* off : {"", "0", "false", "FALSE", "off", "No"}) {
        set(off);
        EXPECT_FALSE(env_flag(kName)) << off;
    }
    for (const char* on : {"1", "true", "yes", "2", "on"}) {
        set(on);
        EXPECT_TRUE(env_flag(kName)) << on;
    }
    set(nullptr);
    EXPECT_FALSE(env_flag(kName));
}

TEST_F(Env, Integers) {
    set(nullptr);
    EXPECT_EQ(env_int(kName, 7), 7);
    set("-12");
    EXPECT_EQ(env_int(kName, 7), -12);
    for (const char* bad : {"12x", "x", "99999999999999999999", "1.5"}) {
        set(bad);
        EXPECT_ERROR(env_int(kName, 7), InvalidArgument, kName, bad, "integer");
    }
}

}  // namespace
}  // namespace trilane::core
