// Whether neighbouring blocks of a row may run as one wide block: kernels that know of x only
// blockIdx.x * blockDim.x + threadIdx.x (and gridDim.x * blockDim.x) cannot tell.
#pragma once

#include "devices/cpu/lower/lower.h"
#include "devices/cpu/lower/registers.h"

namespace trilane::cpu {

// Of a function in loop shape whose registers are lowered and which is not simplified since. `x` is
// the index of its x loop. Unless the answer is None, the range of blockDim.x is widened.
RowFold find_row_fold(const BlockValues& values, const llvm::PHINode& x);

}  // namespace trilane::cpu
