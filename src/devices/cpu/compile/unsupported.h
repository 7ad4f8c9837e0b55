// Features of CUDA C++ that the cpu device has not: found in the code that kernels reach, reported
// as compile errors that name the feature and the line.
#pragma once

namespace clang {
class ASTContext;
class CodeGenerator;
}  // namespace clang
namespace llvm {
class Module;
}

namespace trilane::cpu {

// To be run on the retargeted module, so that code no kernel reaches is not complained of. Reports
// through the context's diagnostics:
//   - inline PTX assembly that inline_ptx.h does not know, with its text;
//   - calls of functions declared with __attribute__((error("..."))): how the device library says
//     that textures, matrix fragments and the like are missing;
//   - functions and variables that are declared and used but not defined;
//     unless the module is `separate`, a piece to be linked;
//   - static shared, constant and local memory beyond the limits of a GPU.
void report_unsupported(llvm::Module& module, clang::ASTContext& context,
                        clang::CodeGenerator& generator, bool separate = false);

}  // namespace trilane::cpu
