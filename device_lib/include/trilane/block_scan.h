// Prefixes over the threads of a block, for any type and any associative operation.
#ifndef TRILANE_BLOCK_SCAN_H
#define TRILANE_BLOCK_SCAN_H

#include "trilane/numeric.h"

namespace trilane {

// combine(value of thread 0, ..., value of this thread). `shared` has room for one T per thread and
// is free again when the call returns; every thread of the block calls it.
template <typename T, typename Combine>
__device__ __forceinline__ T block_prefix(T value, T* shared, Combine combine) {
    const int thread = threadIdx.x, threads = blockDim.x;
    shared[thread] = value;
    for (int step = 1; step < threads; step *= 2) {
        __syncthreads();
        T before = shared[thread >= step ? thread - step : 0];
        if (thread >= step) value = combine(before, value);
        __syncthreads();
        shared[thread] = value;
    }
    __syncthreads();
    return value;
}

}  // namespace trilane

#endif
