// Signal handlers, alternate stacks and the way out of a kernel.
#include "devices/cpu/run/fault.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <mutex>

#include "core/error.h"
#include "devices/cpu/run/interrupt.h"

namespace trilane::cpu {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t kStackBytes = 64 * 1024;

struct Guard {
    sigjmp_buf way_out;
    int signal = 0;
    const void* address = nullptr;
    Fault* fault = nullptr;  // of the caller
    CodeRange code;
    uint64_t serial = 0;
};

// Plain pointers: read by the signal handler.
thread_local Guard* active_guard = nullptr;

struct sigaction previous_action[64];

void pass_on(int signal, siginfo_t* info, void* context) {
    struct sigaction& previous = previous_action[signal];
    if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
        previous.sa_sigaction(signal, info, context);
        return;
    }
    if (previous.sa_handler == SIG_IGN) return;
    if (previous.sa_handler != SIG_DFL) {
        previous.sa_handler(signal);
        return;
    }
    // The faulting instruction runs again and ends the process as it would have without us. A
    // signal that was sent (kill) does not come by itself again.
    ::signal(signal, SIG_DFL);
    if (info->si_code <= 0) raise(signal);
}

void handle(int signal, siginfo_t* info, void* context) {
    Guard* guard = active_guard;
    // Also when it was raised again by a handler above ours, such as the compiler's.
    if (guard == nullptr) {
        pass_on(signal, info, context);
        return;
    }
    guard->signal = signal;
    guard->address = info->si_code > 0 ? info->si_addr : nullptr;
    active_guard = nullptr;
    siglongjmp(guard->way_out, 1);
}

uintptr_t interrupted_at(void* context) {
    const mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return static_cast<uintptr_t>(machine.pc);
#else
#error "where the program counter is in a signal's context is not known for this machine"
#endif
}

struct sigaction previous_knock;

// Generated code owns nothing: no lock, no memory. Anywhere else the thread goes on.
void handle_knock(int signal, siginfo_t* info, void* context) {
    Guard* guard = active_guard;
    if (guard != nullptr && is_stopped(guard->serial)) {
        uintptr_t at = interrupted_at(context);
        if (at < guard->code.begin || at >= guard->code.end) return;
        guard->fault->stopped = true;
        active_guard = nullptr;
        siglongjmp(guard->way_out, 1);
    }
    if ((previous_knock.sa_flags & SA_SIGINFO) != 0)
        previous_knock.sa_sigaction(signal, info, context);
    else if (previous_knock.sa_handler != SIG_DFL && previous_knock.sa_handler != SIG_IGN)
        previous_knock.sa_handler(signal);
}

void install_handler(int signal, void (*handler)(int, siginfo_t*, void*), int flags,
                     struct sigaction& previous) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    // SA_NODEFER: leaving by siglongjmp must not keep the signal blocked.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | flags;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, &previous);
}

}  // namespace

void install_knock_handler() {
    struct sigaction now;
    if (sigaction(kKnockSignal, nullptr, &now) == 0 && now.sa_sigaction == handle_knock) return;
    install_handler(kKnockSignal, handle_knock, SA_RESTART, previous_knock);
}

void install_fault_handlers() {
    static std::once_flag flag;
    std::call_once(flag, [] {
        for (int signal : kSignals) install_handler(signal, handle, 0, previous_action[signal]);
    });
}

namespace {

// A stack overflow in a kernel can only be handled on another stack.
class AlternateStack {
  public:
    AlternateStack() {
        stack_t current;
        if (sigaltstack(nullptr, &current) == 0 && (current.ss_flags & SS_DISABLE) == 0) return;
        memory_ =
            mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED) {
            memory_ = nullptr;
            return;
        }
        stack_t stack;
        memset(&stack, 0, sizeof stack);
        stack.ss_sp = memory_;
        stack.ss_size = kStackBytes;
        sigaltstack(&stack, nullptr);
    }
    ~AlternateStack() {
        if (memory_ == nullptr) return;
        stack_t current;
        if (sigaltstack(nullptr, &current) == 0 && current.ss_sp == memory_) {
            current.ss_flags = SS_DISABLE;
            sigaltstack(&current, nullptr);
        }
        munmap(memory_, kStackBytes);
    }
    void touch() const {}

  private:
    void* memory_ = nullptr;
};

class ActiveGuard {
  public:
    explicit ActiveGuard(Guard& guard) { active_guard = &guard; }
    ~ActiveGuard() { active_guard = nullptr; }
};

}  // namespace

bool inside_kernel() { return active_guard != nullptr; }

bool run_guarded(void (*body)(void*), void* argument, Fault& fault, CodeRange code,
                 uint64_t serial) {
    TRILANE_CHECK(active_guard == nullptr, "a kernel was started inside a kernel");
    install_fault_handlers();
    static thread_local AlternateStack stack;
    stack.touch();
    Guard guard;
    guard.fault = &fault;
    guard.code = code;
    guard.serial = serial;
    if (sigsetjmp(guard.way_out, 0) != 0) {
        fault.signal = guard.signal;
        fault.address = guard.address;
        return false;
    }
    ActiveGuard scope(guard);
    body(argument);
    return true;
}

void abort_kernel(core::FaultCode code, std::string message) {
    Guard* guard = active_guard;
    if (guard == nullptr) {
        core::report_cleanup_failure("kernel abort outside a kernel", message.c_str());
        abort();
    }
    guard->fault->code = code;
    guard->fault->message = std::move(message);
    {
        std::string emptied;
        emptied.swap(message);  // the parameter must own nothing when it is left
    }
    guard->signal = 0;
    active_guard = nullptr;
    siglongjmp(guard->way_out, 1);
}

}  // namespace trilane::cpu
