// For tests: an environment variable set, or removed, for the length of a scope.
#pragma once

#include <stdlib.h>

#include <optional>
#include <string>
#include <utility>

#include "core/env.h"

namespace trilane::core::testing {

class ScopedVariable {
  public:
    // nullptr removes it.
    ScopedVariable(std::string name, const char* value) : name_(std::move(name)) {
        if (const char* before = ::getenv(name_.c_str())) before_ = before;
        put(value);
    }
    ~ScopedVariable() { put(before_ ? before_->c_str() : nullptr); }
    ScopedVariable(const ScopedVariable&) = delete;
    ScopedVariable& operator=(const ScopedVariable&) = delete;

  private:
    void put(const char* value) {
        if (value == nullptr)
            ::unsetenv(name_.c_str());
        else
            ::setenv(name_.c_str(), value, 1);
        reset_env_for_tests();
    }
    std::string name_;
    std::optional<std::string> before_;
};

}  // namespace trilane::core::testing
