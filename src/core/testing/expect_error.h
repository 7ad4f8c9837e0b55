// For tests: that an expression throws core::Error of a kind, with pieces of text in its message.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "core/error.h"

namespace trilane::core::testing {

inline ::testing::AssertionResult throws_error(const std::function<void()>& function,
                                               ErrorKind kind,
                                               std::initializer_list<const char*> pieces) {
    try {
        function();
    } catch (const Error& error) {
        if (error.kind() != kind)
            return ::testing::AssertionFailure()
                   << "kind " << kind_name(error.kind()) << ", expected " << kind_name(kind) << ": "
                   << error.message();
        for (const char* piece : pieces)
            if (error.message().find(piece) == std::string::npos)
                return ::testing::AssertionFailure()
                       << "no '" << piece << "' in: " << error.message();
        return ::testing::AssertionSuccess();
    } catch (const std::exception& error) {
        return ::testing::AssertionFailure() << "another exception: " << error.what();
    }
    return ::testing::AssertionFailure() << "nothing was thrown";
}

}  // namespace trilane::core::testing

#define EXPECT_ERROR(expression, kind, ...)             \
    EXPECT_TRUE(::trilane::core::testing::throws_error( \
        [&] { (void)(expression); }, ::trilane::core::ErrorKind::kind, {__VA_ARGS__}))
