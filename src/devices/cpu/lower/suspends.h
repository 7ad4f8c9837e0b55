// The table of the operations at which a thread may have to wait for others: how each comes from
// the front end, and what the runtime is told.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Function.h>

#include <optional>

#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

struct SuspendForm {
    Suspend kind = Suspend::Barrier;
    // Positions of the arguments in the call, -1: none.
    int mask = -1;
    int value = -1;
    int operand[2] = {-1, -1};
    // What the call gives.
    enum class Result { None, I32, I1, ValueAndPredicate, F32 } result = Result::None;
};

inline bool is_warp_operation(const SuspendForm& form) {
    return static_cast<uint32_t>(form.kind) >= kFirstWarpSuspend;
}
bool has_warp_operation(const llvm::Function& function);

// The form of a callee, nullopt if it never waits.
std::optional<SuspendForm> suspend_of(const llvm::Function& callee);

}  // namespace trilane::cpu
