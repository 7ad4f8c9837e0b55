// Gives the GPU's meaning to what C++ and LLVM leave undefined. Runs before anything may fold.
#pragma once

namespace llvm {
class Module;
}

namespace trilane::cpu {

// Over every function of the module:
//   - shifts by the width or more: 0, or the sign for signed right shifts (amounts are unsigned);
//   - integer x / 0 and x % 0 give all ones; INT_MIN / -1 wraps, INT_MIN % -1 is 0; no trap;
//   - float to integer rounds toward zero and saturates; NaN gives 0, or the pattern of the sign
//   bit
//     when source or destination has 64 bits; integers below 32 bits are the low bits of that;
//   - min and max: a NaN loses against a number, -0 < +0;
//   - counts of leading and trailing zeros of 0 give the width, abs(INT_MIN) is INT_MIN;
//   - contraction: llvm.fmuladd becomes llvm.fma, and no instruction may be contracted any more;
//   - loops need not end (a thread may wait for another).
// Idempotent.
void apply_gpu_semantics(llvm::Module& module);

}  // namespace trilane::cpu
