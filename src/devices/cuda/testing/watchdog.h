// For tests: one that hangs says so, with its name and where its threads' first stands, and ends
// the program instead of the machine's time.
#pragma once

#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

namespace trilane::cuda::testing {

class Watchdog {
  public:
    explicit Watchdog(unsigned seconds = 60) {
        signal(SIGALRM, [](int) {
            const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
            char line[256];
            const int length = std::snprintf(line, sizeof line, "hangs: %s.%s\n",
                                             test != nullptr ? test->test_suite_name() : "?",
                                             test != nullptr ? test->name() : "?");
            // Standard error may be captured; standard output is not.
            (void)!write(STDOUT_FILENO, line, static_cast<size_t>(length));
            void* frames[40];
            backtrace_symbols_fd(frames, backtrace(frames, 40), STDOUT_FILENO);
            _exit(3);
        });
        alarm(seconds);
    }
    ~Watchdog() { alarm(0); }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace trilane::cuda::testing
