// What the AST knows of a kernel: parameters, launch bounds, place in the source.
#pragma once

#include "devices/cpu/compile/front_end.h"

namespace clang {
class ASTContext;
class FunctionDecl;
}  // namespace clang

namespace trilane::cpu {

// `symbol` is the kernel's name in the module.
KernelDescription describe_kernel(const clang::ASTContext& context,
                                  const clang::FunctionDecl& function, std::string symbol);

}  // namespace trilane::cpu
