// Masked accesses that the processor has no instruction for.
#pragma once

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Function.h>

namespace trilane::cpu {

// Gathers, scatters, masked loads and stores that `target` would split into one branch per lane
// become one scalar access per lane without any branch: lanes that are off read a zero or write a
// word of their own on the stack. A branch per lane costs up to 32 mispredictions an access, and
// the code generator's time grows faster than the number of blocks: a kernel with some hundred
// accesses took it 40 s. Last of all: after it nothing tells such accesses from others. Masks that
// are constants are left to the code generator, which knows them.
void lower_masked_memory(llvm::Function& function, const llvm::TargetTransformInfo& target);

}  // namespace trilane::cpu
