// Errors of a Python kernel: where, what, and the line with a caret.
#pragma once

#include <string>

#include "core/error.h"
#include "jit/tree.h"

namespace trilane::jit {

enum class Fault { Typing, Unsupported, Syntax, Resources };

// Faces turn it into numba's TypingError, UnsupportedError or LinkerError (Resources: the kernel
// needs more of the device than there is).
class KernelError : public core::Error {
  public:
    KernelError(Fault fault, std::string message);
    Fault fault() const { return fault_; }

  private:
    Fault fault_;
};

// "MESSAGE\n\nFile "k.py", line 5:\n    c = a + s\n        ^^^^^"
[[noreturn]] void fail(Fault fault, const FunctionTree& function, const Node& node,
                       const std::string& message);
// The text of an expression as the user wrote it, if it is on one line; else "".
std::string source_of(const FunctionTree& function, const Node& node);

}  // namespace trilane::jit
