// The CUDA C++ that translated kernels stand on: namespace tl.
#pragma once

#include <set>
#include <string>

namespace trilane::jit {

// The parts named by `features`, in order, behind the base: "complex", "complex_math", "records",
// "views", "atomics", "random", "half".
std::string support_text(const std::set<std::string>& features);

}  // namespace trilane::jit
