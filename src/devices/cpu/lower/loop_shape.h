// Loop shape: a kernel without synchronisation becomes three nested loops over the threads of the
// block, x innermost, around its body.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "devices/cpu/lower/lower.h"
#include "devices/cpu/lower/passes.h"
#include "devices/cpu/lower/registers.h"

namespace trilane::cpu {

// Attribute of functions in which interchange_strided_loop() has put a loop around the x loop.
inline constexpr const char* kStridedMark = "trilane-strided";

// Builds `void symbol(BlockContext*)` around `kernel`, which is inlined and may be dropped after.
// Sets description-independent fields of `lowered` (narrow_axes).
// `whole_warps`: the function holds only for blocks whose size along x is a multiple of 32.
llvm::Function* build_loop_shape(llvm::Function& kernel, const SharedLayout& layout,
                                 const std::string& symbol, LoweredKernel& lowered,
                                 bool whole_warps = false);

// for (index = 0; index < limit; ++index), at least once. `before` had no end and leads into
// `header`; `header` and `exit` have no end yet; whoever goes on jumps to `latch`.
struct CountedLoop {
    llvm::BasicBlock *header = nullptr, *latch = nullptr, *exit = nullptr;
    llvm::PHINode* index = nullptr;
};
CountedLoop make_counted_loop(llvm::BasicBlock* before, llvm::Value* limit,
                              const llvm::Twine& name);

// Loops over all threads of a block, x innermost. `body` is x's header, which jumps on; the builder
// stood in a block without an end, which now leads into the loops.
struct ThreadLoops {
    llvm::PHINode *x = nullptr, *y = nullptr, *z = nullptr;
    llvm::BasicBlock *body = nullptr, *exit = nullptr;  // `exit` has no end yet
};
ThreadLoops make_thread_loops(llvm::IRBuilder<>& builder, const BlockValues& values);
// Some call in the function asks the runtime which thread runs.
bool kernel_needs_thread(llvm::Function& function);
// Tells the runtime which thread runs.
void store_thread(llvm::IRBuilder<>& builder, const BlockValues& values);

// Guards of the whole body by `i < n`, where i counts with the thread along x, become bounds of the
// x loop, so that the loop in the middle has no branch and vectorises without masks.
// Needs simplified IR. True if something changed.
bool clamp_thread_loop(llvm::Function& function, Optimizer& optimizer);

// for (i = index; i < n; i += gridDim * blockDim) around the whole body: the loop goes outside the
// thread loop, so that memory is walked in order. Sets narrow_axes. True if that was possible.
bool interchange_strided_loop(llvm::Function& function, Optimizer& optimizer,
                              LoweredKernel& lowered);

// The loop reads memory in steps of the grid.
bool strides_by_grid(llvm::Loop& loop);

// Back edges of such loops. Where they can neither be interchanged nor go in rounds (rounds.h) the
// threads of a block take turns at each: see docs/design/cpu-lowering.md.
std::vector<llvm::BasicBlock*> strided_latches(llvm::Function& function, Optimizer& optimizer);

// The x loop, wherever the stages have put it; nullptr if it is gone.
llvm::Loop* thread_loop(llvm::Function& function, Optimizer& optimizer);

// `value` = base + x without wrap, x the index of the thread loop: the base as i64, else nullptr.
llvm::Value* thread_base(llvm::IRBuilder<>& builder, llvm::Loop& loop, llvm::PHINode* index,
                         llvm::Value* value);
// First x, as i64, for which `left predicate right` fails where it holds for all below; nullptr if
// it is not of that kind.
llvm::Value* thread_bound(llvm::IRBuilder<>& builder, llvm::CmpInst::Predicate predicate,
                          llvm::Value* base, llvm::Value* right);

// Tells the vectoriser that threads do not depend on one another: docs/design/cpu-lowering.md says
// why this holds in loop shape. Accesses that may reach a private array are left out.
void mark_threads_independent(llvm::Function& function, Optimizer& optimizer);

// blockIdx * blockDim + threadIdx cannot wrap if the launch has less than 2^31 threads along the
// axis: says so in IR, for each of the axes found, which are returned (bit 0: x).
uint32_t narrow_global_indices(llvm::Function& function, const BlockValues& values);

}  // namespace trilane::cpu
