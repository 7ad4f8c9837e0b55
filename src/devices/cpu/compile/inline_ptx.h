// Inline PTX that kernels use for what CUDA C++ has no name for: special registers, named barriers,
// fences. Everything else stays and is refused by name (unsupported.h).
#pragma once

namespace llvm {
class Module;
}

namespace trilane::cpu {

// One statement per asm: mov of a special register; bar.sync and barrier.sync with constant or
// register operands; bar.warp.sync; membar and fence; nanosleep; trap and exit.
void lower_inline_ptx(llvm::Module& module);

}  // namespace trilane::cpu
