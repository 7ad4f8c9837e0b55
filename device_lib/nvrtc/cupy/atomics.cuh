// cupy/atomics.cuh in NVRTC: atomics on the types that CUDA leaves out.
#pragma once

extern "C++" {

#define TRILANE_ATOMIC_BY_CAS(name, type, bits_type, to_bits, from_bits, expression) \
    __device__ __forceinline__ type name(type* p, type v) {                          \
        bits_type* bits = (bits_type*)p;                                             \
        bits_type seen = *bits, assumed;                                             \
        type old;                                                                    \
        do {                                                                         \
            assumed = seen;                                                          \
            old = from_bits(assumed);                                                \
            seen = atomicCAS(bits, assumed, (bits_type)to_bits(expression));         \
        } while (seen != assumed);                                                   \
        return old;                                                                  \
    }
TRILANE_ATOMIC_BY_CAS(atomicMax, float, unsigned int, __float_as_uint, __uint_as_float,
                      isnan(old) || old >= v ? old : v)
TRILANE_ATOMIC_BY_CAS(atomicMin, float, unsigned int, __float_as_uint, __uint_as_float,
                      isnan(old) || old <= v ? old : v)
TRILANE_ATOMIC_BY_CAS(atomicMax, double, unsigned long long, __double_as_longlong,
                      __longlong_as_double, isnan(old) || old >= v ? old : v)
TRILANE_ATOMIC_BY_CAS(atomicMin, double, unsigned long long, __double_as_longlong,
                      __longlong_as_double, isnan(old) || old <= v ? old : v)
#undef TRILANE_ATOMIC_BY_CAS
__device__ __forceinline__ long long atomicAdd(long long* p, long long v) {
    return (long long)atomicAdd((unsigned long long*)p, (unsigned long long)v);
}
__device__ __forceinline__ long atomicAdd(long* p, long v) {
    return (long)atomicAdd((unsigned long long*)p, (unsigned long long)v);
}

}  // extern "C++"
