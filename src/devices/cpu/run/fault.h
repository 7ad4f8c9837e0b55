// Faults inside kernels: signals of the machine and aborts by the runtime end the kernel on this
// thread, not the process. Signals outside a kernel go to whoever handled them before.
#pragma once

#include <signal.h>

#include <cstdint>
#include <string>

#include "core/error.h"

namespace trilane::cpu {

// Addresses of machine code.
struct CodeRange {
    uintptr_t begin = 0, end = 0;
};

struct Fault {
    int signal = 0;        // SIGSEGV ...; 0: abort by the runtime
    bool stopped = false;  // from outside, by a knock
    const void* address = nullptr;
    core::FaultCode code = core::FaultCode::LaunchFailure;  // of an abort
    std::string message;                                    // of an abort
};

// Calls body(argument) on this thread; true if it returned. False after a fault: frames between are
// left without running destructors, so `body` owns nothing on its stack while a kernel runs.
// C++ exceptions of `body` pass through. Does not nest. `code` is where a knock may end it, while
// the wait `serial` (interrupt.h) is stopped.
bool run_guarded(void (*body)(void*), void* argument, Fault& fault, CodeRange code = {},
                 uint64_t serial = 0);

// For runtime functions that kernels call: ends the kernel. Frames that own memory must be gone.
[[noreturn]] void abort_kernel(core::FaultCode code, std::string message);

// Done by the first kernel; the device does it before the compiler puts its own handlers on top for
// a while and restores what it found.
void install_fault_handlers();

bool inside_kernel();  // on this thread

// Sent to a thread to end its kernel; does nothing outside the code of a kernel that is to end.
// Ignored by default, and by programs too, so that a late one does no harm.
inline constexpr int kKnockSignal = SIGURG;
void install_knock_handler();

}  // namespace trilane::cpu
