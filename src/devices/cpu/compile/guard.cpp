// Crash recovery and a deep stack around clang and LLVM.
#include "devices/cpu/compile/guard.h"

#include <signal.h>

#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "clang/Basic/Stack.h"
#include "core/error.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"

namespace trilane::cpu {
namespace {

constexpr unsigned kStackBytes = 256u << 20;

thread_local std::string* t_fatal_message = nullptr;

// LLVM would print and exit; abort() instead lands in the crash recovery of this thread.
void on_fatal_error(void*, const char* reason, bool) {
    if (t_fatal_message != nullptr) *t_fatal_message = reason;
    if (auto* context = llvm::CrashRecoveryContext::GetCurrent()) context->HandleExit(70);
}

// Without it the handler of a stack overflow has no stack to run on.
void use_alternate_stack(int signal) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) != 0) return;
    action.sa_flags |= SA_ONSTACK;
    sigaction(signal, &action, nullptr);
}

// The signal stack of the calling thread, as long as this lives.
class AlternateStack {
  public:
    AlternateStack() : memory_(new char[kBytes]) {
        stack_t stack{};
        stack.ss_sp = memory_.get();
        stack.ss_size = kBytes;
        sigaltstack(&stack, &previous_);
    }
    ~AlternateStack() { sigaltstack(&previous_, nullptr); }

  private:
    static constexpr size_t kBytes = 64 * 1024;
    std::unique_ptr<char[]> memory_;
    stack_t previous_{};
};

// The handlers of crash signals are the process's: they stand only while some compile runs.
class RecoveryEnabled {
  public:
    RecoveryEnabled() {
        std::lock_guard lock(mutex());
        if (count()++ == 0) {
            llvm::CrashRecoveryContext::Enable();
            use_alternate_stack(SIGSEGV);
            use_alternate_stack(SIGBUS);
            llvm::remove_fatal_error_handler();
            llvm::install_fatal_error_handler(on_fatal_error);
        }
    }
    ~RecoveryEnabled() {
        std::lock_guard lock(mutex());
        if (--count() == 0) llvm::CrashRecoveryContext::Disable();
    }

  private:
    static std::mutex& mutex() {
        static std::mutex m;
        return m;
    }
    static int& count() {
        static int n = 0;
        return n;
    }
};

}  // namespace

void run_guarded(const char* what, const std::function<void()>& work) {
    if (t_fatal_message != nullptr) return work();
    RecoveryEnabled enabled;
    std::exception_ptr thrown;
    std::string fatal;
    llvm::CrashRecoveryContext context;
    bool survived = context.RunSafelyOnThread(
        [&] {
            clang::noteBottomOfStack();
            t_fatal_message = &fatal;
            AlternateStack signals;
            try {
                work();
            } catch (...) {
                thrown = std::current_exception();
            }
            t_fatal_message = nullptr;
        },
        kStackBytes);
    if (thrown) std::rethrow_exception(thrown);
    if (!survived)
        core::throw_error(
            core::ErrorKind::CompileError, "{}: the compiler failed: {}", what,
            fatal.empty() ? "it crashed on this source (too large or too deeply nested?)" : fatal);
}

}  // namespace trilane::cpu
