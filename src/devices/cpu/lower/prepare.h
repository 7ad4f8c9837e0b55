// First stage of the lowering: everything that a kernel calls is inlined into it, as far as it can
// be; what cannot (recursion, calls through pointers) stays as ordinary functions and is checked.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "devices/cpu/compile/front_end.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

// What a call instruction is to the lowering.
enum class CallClass {
    Plain,     // computes something, or an ordinary function
    Register,  // reads a thread index or another special register
    Suspend,   // barrier or warp operation: the thread may have to wait
};
CallClass classify_call(const llvm::CallBase& call);

// The runtime symbols which need to know the running thread or block.
bool needs_thread(llvm::StringRef runtime_symbol);

// Inlines, drops what nobody uses, makes symbols internal. The kernels keep their names.
void inline_into_kernels(llvm::Module& module, const std::vector<KernelDescription>& kernels);

// Functions that stay callable besides the kernels. Throws CompileError if one of them holds a
// barrier or a warp operation.
std::vector<llvm::Function*> check_outlined(llvm::Module& module,
                                            const std::vector<KernelDescription>& kernels);

std::string readable_name(const llvm::Function& function);  // demangled

}  // namespace trilane::cpu
