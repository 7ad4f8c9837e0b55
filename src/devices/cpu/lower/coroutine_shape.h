// Coroutine shape: each thread of a block is a coroutine that stands still at barriers, warp
// operations and the back edges of loops that wait; run/scheduler.h resumes them.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "devices/cpu/lower/lower.h"
#include "devices/cpu/lower/passes.h"
#include "devices/cpu/lower/registers.h"

namespace trilane::cpu {

// Does the kernel have to be run this way?
// Of the kernels that do: threads stand still at warp operations only.
bool waits_in_warps_only(llvm::Function& kernel, Optimizer& optimizer);
bool needs_coroutines(llvm::Function& kernel, Optimizer& optimizer);

// The kernel waits for its cluster, or asks for memory of the cluster's other blocks: these must
// run side by side.
bool meets_cluster(const llvm::Function& kernel);

// Marks what must run in step, before shared arrays become offsets.
void mark_volatile_shared(llvm::Function& kernel);

// Builds the start function (run/block_context.h) around `kernel`, which is inlined. Suspending
// calls are still in it: the next stage can optimise.
llvm::Function* build_coroutine_body(llvm::Function& kernel, const SharedLayout& layout,
                                     const std::string& symbol);

// Turns suspending calls, waiting loops and volatile accesses of shared arrays into suspensions.
// Sets waits_on_blocks, grid_sync and sites of `lowered`.
void insert_suspensions(llvm::Function& function, Optimizer& optimizer, LoweredKernel& lowered);

// After Optimizer::split_coroutines(): reads the frame's size into `lowered`, drops the parts that
// nobody calls. Returns the function that resumes (nullptr if the kernel never stops).
llvm::Function* finish_coroutine(llvm::Function& function, LoweredKernel& lowered);

// When all coroutines are finished.
void drop_frame_mark(llvm::Module& module);

}  // namespace trilane::cpu
