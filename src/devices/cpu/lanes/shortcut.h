// A version of a function for vectors whose lanes all pass its first guard.
#pragma once

#include <llvm/IR/Function.h>

#include <optional>

#include "devices/cpu/lanes/plan.h"

namespace trilane::cpu {

// Of a function in which all lanes enter: the branch `if (guard) { ... }` at the end of `block`
// before which nothing is done that a second time would change, and the side with the work.
struct Guard {
    llvm::BasicBlock* block = nullptr;
    unsigned side = 0;
};
std::optional<Guard> find_guard(const LanePlan& plan);

// The function of one thread in which the guard always holds. The caller owns it.
llvm::Function* without_guard(llvm::Function& scalar, const Guard& guard);

}  // namespace trilane::cpu
