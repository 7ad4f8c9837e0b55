// Thread and block indices, shared memory and the other special registers become values that the
// block function holds, or, in functions that could not be inlined, calls of the runtime.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>

#include "devices/cpu/lower/lower.h"

namespace trilane::cpu {

// The values of one block, loaded in the entry of the function, and of one thread.
struct BlockValues {
    llvm::Value* context = nullptr;
    llvm::Value* shared = nullptr;   // ptr
    llvm::Value* block_idx[3] = {};  // i32
    llvm::Value* block_dim[3] = {};
    llvm::Value* grid_dim[3] = {};
    llvm::Value* thread_idx[3] = {};  // set by the shape
};

// Loads everything but the thread index at the builder's place.
BlockValues load_block_values(llvm::IRBuilder<>& builder, llvm::Value* context);
// i8 GEP of the context.
llvm::Value* context_field(llvm::IRBuilder<>& builder, llvm::Value* context, size_t offset);
// x + y * nx + z * nx * ny.
llvm::Value* linear_thread(llvm::IRBuilder<>& builder, const BlockValues& values);

// Replaces the register reads in `function`. With null `values` the running thread is asked of the
// runtime. CompileError for a register that is not known.
void lower_registers(llvm::Function& function, const BlockValues* values);

// Intrinsics without a wait: fences, counters, atomic inc/dec, address space tests, traps.
void lower_plain_intrinsics(llvm::Function& function, bool is_kernel);

// Offsets of shared arrays in the block's buffer.
struct SharedLayout {
    std::map<llvm::GlobalVariable*, uint64_t> offsets;
    uint64_t static_bytes = 0;
    uint64_t dynamic_offset = 0;
    uint64_t dynamic_align = 16;
};
// The arrays which functions outside the kernels use come first, at the same place in all kernels.
// Null `kernel`: only those.
SharedLayout layout_shared(llvm::Module& module, llvm::Function* kernel,
                           const std::vector<llvm::Function*>& outlined);
// Replaces uses of shared arrays in `function` by offsets from `shared` (null: asked of the
// runtime).
void lower_shared(llvm::Function& function, const SharedLayout& layout, llvm::Value* shared);
// Uses of shared arrays by constant expressions become instructions: right before the other two.
void expand_shared_constants(llvm::Module& module);
// At the end. A use that is left would be one array for all blocks: an internal error.
void drop_shared_variables(llvm::Module& module);

}  // namespace trilane::cpu
