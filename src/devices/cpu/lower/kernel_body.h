// Functions around a kernel's body: what the shapes of a block have in common.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>

#include "devices/cpu/lower/registers.h"

namespace trilane::cpu {

// An empty function without a result that is compiled as the kernel is.
llvm::Function* make_function_like(llvm::Function& kernel, llvm::ArrayRef<llvm::Type*> parameters,
                                   llvm::GlobalValue::LinkageTypes linkage,
                                   const std::string& symbol);
// `void symbol(BlockContext*)`, which runs a whole block.
llvm::Function* make_block_function(llvm::Function& kernel, const std::string& symbol);

// Arguments of `kernel` loaded from the context; byval ones are addresses.
llvm::SmallVector<llvm::Value*, 8> load_arguments(llvm::IRBuilder<>& builder,
                                                  llvm::Function& kernel, llvm::Value* context);

// Inlines the kernel at the builder's place, for the thread of `values`; in all of the function
// registers and shared arrays become values. The builder is no longer of use.
void inline_kernel(llvm::IRBuilder<>& builder, llvm::Function& kernel,
                   llvm::ArrayRef<llvm::Value*> arguments, const SharedLayout& layout,
                   const BlockValues& values);

}  // namespace trilane::cpu
