// -ftz=true: floats below the normal ones are zeros to arithmetic, with their sign.
#pragma once

namespace llvm {
class Module;
}

namespace trilane::cpu {

// Over every function of the module: operands and results of arithmetic on floats, comparisons and
// conversions. What only moves bits keeps them, and doubles stay as they are. After
// apply_gpu_semantics().
void flush_small_floats(llvm::Module& module);

}  // namespace trilane::cpu
