// Runs compiler work so that it can neither end the process nor overflow the caller's stack.
#pragma once

#include <functional>

namespace trilane::cpu {

// Runs `work` on a thread with a stack of 256 MiB (virtual) and waits for it. Exceptions come
// through. A crash inside (signal, abort, LLVM's fatal errors) becomes core::Error CompileError
// "WHAT: the compiler failed: ..."; what the work had allocated is then lost. About 50 us. Inside
// guarded work it just calls `work`.
void run_guarded(const char* what, const std::function<void()>& work);

}  // namespace trilane::cpu
