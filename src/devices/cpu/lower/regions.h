// Region shape: a kernel whose barriers every thread of the block reaches together is cut at them.
// Each region runs as a loop over the threads, which then goes W threads at a time; what a thread
// carries from one region into the next lies in the block's memory.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "devices/cpu/lower/lower.h"
#include "devices/cpu/lower/passes.h"
#include "devices/cpu/lower/registers.h"

namespace trilane::cpu {

// Builds `void symbol(BlockContext*)`; nullptr, with nothing left behind, if the kernel has
// barriers that not all threads reach together, warp operations to which lanes may come apart, or
// loops that wait. With warp operations it is for blocks whose size along x is a multiple of 32.
// Sets scratch_bytes, narrow_axes and lanes of `lowered`.
llvm::Function* build_region_shape(llvm::Function& kernel, const SharedLayout& layout,
                                   const std::string& symbol, Optimizer& optimizer, unsigned lanes,
                                   LoweredKernel& lowered);

}  // namespace trilane::cpu
