// nvptx64 IR -> x86-64 IR that lower/ takes: triple, layout, attributes, linkage, dead code.
#pragma once

#include <set>
#include <string>

namespace llvm {
class Module;
}

namespace trilane::cpu {

// `keep` names the kernels and the variables that the user can ask for; everything else becomes
// internal and goes if it is not used. Functions that hold a barrier, a warp operation or a thread
// index are marked alwaysinline unless they are recursive or their address is taken; `convergent`
// stays only on calls that reach such an operation.
void retarget(llvm::Module& module, const std::set<std::string>& keep);

// The first part of it, for a module that will be linked with others: triple, layout, attributes,
// and no code that nothing outside could reach. Kernels become external. The linked module takes
// retarget() itself.
void retarget_piece(llvm::Module& module, const std::set<std::string>& kernels);

}  // namespace trilane::cpu
