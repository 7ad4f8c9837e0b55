// Loops that wait: their exit depends on memory that another thread changes.
#pragma once

#include <llvm/IR/Module.h>

#include <vector>

#include "devices/cpu/lower/passes.h"

namespace trilane::cpu {

struct WaitingLoops {
    std::vector<llvm::BasicBlock*> latches;  // a thread must let others run on these back edges
    bool on_blocks = false;                  // the memory may be another block's
};

// A loop waits if a condition of its exits depends on a volatile or atomic load, on a plain load
// with a fence in the loop, or on an atomic operation that gives the same again until another
// thread acts (exchange, compare-exchange with a fixed expectation, adding 0). Loops that retry a
// compare-exchange with the value just seen do not wait: they end when run alone.
WaitingLoops find_waiting_loops(llvm::Function& function, Optimizer& optimizer);

// Volatile accesses of shared arrays: texts from before __syncwarp rely on the lanes of a warp
// running them in step.
std::vector<llvm::Instruction*> volatile_shared_accesses(llvm::Function& function);

}  // namespace trilane::cpu
