// CUDA C++ text -> LLVM IR, with clang in process. The result is x86-64 IR (triple and layout set,
// target attributes replaced) that still holds what makes it a kernel, for lower/:
//   - kernels are the functions listed in `kernels`; aggregates come as byval pointers, otherwise
//     one IR argument per C parameter;
//   - address spaces 1 (global), 3 (shared), 4 (constant), 5 (local) as nvptx has them;
//   - indices and all synchronisation are llvm.nvvm.* intrinsics (read.ptx.sreg.*, barrier0*,
//     bar.warp.sync, shfl.sync.*, vote.*.sync, match.*, activemask, membar.*);
//   - the only external functions are those of run/runtime_symbols.h and libm's;
//   - shifts, divisions, remainders, float-to-int conversions and min/max already mean what they
//     mean on a GPU, and contraction is decided (compile/semantics.h).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/program.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace trilane::cpu {

struct KernelDescription {
    std::string name;                         // symbol in the module
    std::vector<core::Parameter> parameters;  // as the AST has them
    int max_threads_per_block = 1024;         // __launch_bounds__
    core::Dim3 cluster{0, 0, 0};              // __cluster_dims__; 0: none
    int line = 0;
    std::string file;
};

struct CompileOptions {
    bool line_info = false;  // keep line tables (-lineinfo, -G, or checks on)
    bool check = false;      // instrument accesses (check/instrument.h)
    bool fmad = true;        // contract a*b+c
    bool fast_math = false;
    int optimize = 2;
    int lanes = 0;  // 0: chosen by the lowering
};

struct FrontEndResult {
    std::unique_ptr<llvm::LLVMContext> context;  // destroyed after module
    std::unique_ptr<llvm::Module> module;
    std::vector<KernelDescription> kernels;
    std::map<std::string, std::string> lowered_names;
    CompileOptions options;
    std::string log;
    std::vector<std::string> files;  // of the disk, absolute: what the text included from there
    // The program asked to be linked (-dc): the module keeps its linkage, names what it does not
    // define, and no use has been made of what its functions do; compile/link.h goes on from there.
    bool separate = false;
    std::set<std::string> keep;  // the kernels, and the variables that the host can ask for
};

// Throws core::Error CompileError with clang's diagnostics (file:line:col, source line, caret).
FrontEndResult run_front_end(const core::Program& program, bool check);

}  // namespace trilane::cpu
