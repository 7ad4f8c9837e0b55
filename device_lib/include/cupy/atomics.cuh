// cupy/atomics.cuh: atomics on the types that CUDA leaves out.
#pragma once

#include <cuda_fp16.h>

#define TRILANE_ATOMIC_BY_CAS(name, type, bits_type, expression)                              \
    TRILANE_D type name(type* p, type v) {                                                    \
        bits_type* bits = (bits_type*)p;                                                      \
        bits_type seen = __atomic_load_n(bits, __ATOMIC_RELAXED);                             \
        for (;;) {                                                                            \
            type old = __builtin_bit_cast(type, seen);                                        \
            bits_type next = __builtin_bit_cast(bits_type, (type)(expression));               \
            if (__atomic_compare_exchange_n(bits, &seen, next, false, __ATOMIC_ACQ_REL,       \
                                            __ATOMIC_RELAXED))                                \
                return old;                                                                   \
        }                                                                                     \
    }
TRILANE_ATOMIC_BY_CAS(atomicMax, float, unsigned int, isnan(old) || old >= v ? old : v)
TRILANE_ATOMIC_BY_CAS(atomicMin, float, unsigned int, isnan(old) || old <= v ? old : v)
TRILANE_ATOMIC_BY_CAS(atomicMax, double, unsigned long long, isnan(old) || old >= v ? old : v)
TRILANE_ATOMIC_BY_CAS(atomicMin, double, unsigned long long, isnan(old) || old <= v ? old : v)
#undef TRILANE_ATOMIC_BY_CAS
TRILANE_D long long atomicAdd(long long* p, long long v) {
    return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
}
TRILANE_D long atomicAdd(long* p, long v) { return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL); }
