// One thread's function -> the function of W threads whose x follow one another.
#pragma once

#include <llvm/IR/Function.h>

#include <string>

#include "devices/cpu/lanes/plan.h"
#include "devices/cpu/lower/passes.h"

namespace trilane::cpu {

// Stores that tell the runtime which thread runs: marked by the shape, written anew before calls.
inline constexpr const char* kThreadMark = "trilane.thread";
// Loads of and atomic operations on memory that only this block reaches.
inline constexpr const char* kBlockMemoryMark = "trilane.block_memory";

// The line of a warp operation, where there is no debug information.
inline constexpr const char* kLineMark = "trilane.line";

// Brings a function of one thread into the form that can be put into lanes. Once per function.
void prepare_for_lanes(llvm::Function& scalar, Optimizer& optimizer);

// Some loop is entered in its middle: LanePlan knows no order for it.
bool is_irreducible(llvm::Function& function);

// `lane` is the number of the i32 argument that counts with the lane. Makes
// `symbol(arguments..., i32 active)`, or without the last argument if `full`: then all lanes are
// active. Returns nullptr, with the reason in `why`, if the function cannot run in lanes.
// Warp operations need 32 lanes that are one warp. Of the guards that stand first up to `guards`
// get a version for vectors whose lanes all pass, if `full`.
llvm::Function* put_into_lanes(llvm::Function& scalar, unsigned lane, const LaneVector& kind,
                               const std::string& symbol, std::string& why, unsigned guards = 2);

// The x loop of a function in loop shape becomes a loop over vectors of `lanes` threads. False,
// with nothing changed, if it cannot be.
bool vectorize_thread_loop(llvm::Function& function, Optimizer& optimizer, unsigned lanes);

}  // namespace trilane::cpu
