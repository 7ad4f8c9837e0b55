// atomicAdd and the others, in device, _block and _system scope. The order is acquire-release: on
// this target it costs what relaxed does, and it keeps texts right that use a lock without a fence.
// Each becomes one atomicrmw or cmpxchg; inc and dec are the nvvm intrinsics.
#pragma once

#define TRILANE_ATOMIC_SCOPES(name, type)                                                        \
    TRILANE_D type name##_block(type* p, type v) { return name(p, v); }                          \
    TRILANE_D type name##_system(type* p, type v) { return name(p, v); }
#define TRILANE_ATOMIC(name, builtin, type)                                                      \
    TRILANE_D type name(type* p, type v) { return builtin(p, v, __ATOMIC_ACQ_REL); }             \
    TRILANE_ATOMIC_SCOPES(name, type)

TRILANE_ATOMIC(atomicAdd, __atomic_fetch_add, int)
TRILANE_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned int)
TRILANE_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned long)
TRILANE_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned long long)
TRILANE_ATOMIC(atomicAdd, __atomic_fetch_add, float)
// Texts for older architectures bring their own.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
TRILANE_ATOMIC(atomicAdd, __atomic_fetch_add, double)
#endif
TRILANE_ATOMIC(atomicSub, __atomic_fetch_sub, int)
TRILANE_ATOMIC(atomicSub, __atomic_fetch_sub, unsigned int)
TRILANE_ATOMIC(atomicExch, __atomic_exchange_n, int)
TRILANE_ATOMIC(atomicExch, __atomic_exchange_n, unsigned int)
TRILANE_ATOMIC(atomicExch, __atomic_exchange_n, unsigned long)
TRILANE_ATOMIC(atomicExch, __atomic_exchange_n, unsigned long long)

#define TRILANE_ATOMIC_ORDER(type)                          \
    TRILANE_ATOMIC(atomicMin, __atomic_fetch_min, type)     \
    TRILANE_ATOMIC(atomicMax, __atomic_fetch_max, type)
TRILANE_ATOMIC_ORDER(int)
TRILANE_ATOMIC_ORDER(unsigned int)
TRILANE_ATOMIC_ORDER(long)
TRILANE_ATOMIC_ORDER(unsigned long)
TRILANE_ATOMIC_ORDER(long long)
TRILANE_ATOMIC_ORDER(unsigned long long)
#undef TRILANE_ATOMIC_ORDER

#define TRILANE_ATOMIC_BITS(type)                           \
    TRILANE_ATOMIC(atomicAnd, __atomic_fetch_and, type)     \
    TRILANE_ATOMIC(atomicOr, __atomic_fetch_or, type)       \
    TRILANE_ATOMIC(atomicXor, __atomic_fetch_xor, type)
TRILANE_ATOMIC_BITS(int)
TRILANE_ATOMIC_BITS(unsigned int)
TRILANE_ATOMIC_BITS(long)
TRILANE_ATOMIC_BITS(unsigned long)
TRILANE_ATOMIC_BITS(long long)
TRILANE_ATOMIC_BITS(unsigned long long)
#undef TRILANE_ATOMIC_BITS

TRILANE_D float atomicExch(float* p, float v) {
    return __builtin_bit_cast(float, __atomic_exchange_n((unsigned int*)p,
                                                         __builtin_bit_cast(unsigned int, v),
                                                         __ATOMIC_ACQ_REL));
}
TRILANE_ATOMIC_SCOPES(atomicExch, float)

TRILANE_D unsigned int atomicInc(unsigned int* p, unsigned int limit) {
    return __nvvm_atom_inc_gen_ui(p, limit);
}
TRILANE_ATOMIC_SCOPES(atomicInc, unsigned int)
TRILANE_D unsigned int atomicDec(unsigned int* p, unsigned int limit) {
    return __nvvm_atom_dec_gen_ui(p, limit);
}
TRILANE_ATOMIC_SCOPES(atomicDec, unsigned int)

#define TRILANE_ATOMIC_CAS(type)                                                        \
    TRILANE_D type atomicCAS(type* p, type expected, type desired) {                    \
        __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,     \
                                    __ATOMIC_ACQUIRE);                                  \
        return expected;                                                                \
    }                                                                                   \
    TRILANE_D type atomicCAS_block(type* p, type expected, type desired) {              \
        return atomicCAS(p, expected, desired);                                         \
    }                                                                                   \
    TRILANE_D type atomicCAS_system(type* p, type expected, type desired) {             \
        return atomicCAS(p, expected, desired);                                         \
    }
TRILANE_ATOMIC_CAS(unsigned short)
TRILANE_ATOMIC_CAS(int)
TRILANE_ATOMIC_CAS(unsigned int)
TRILANE_ATOMIC_CAS(unsigned long)
TRILANE_ATOMIC_CAS(unsigned long long)
#undef TRILANE_ATOMIC_CAS

#define TRILANE_ATOMIC_VECTOR2(type)                                                   \
    TRILANE_D type atomicAdd(type* p, type v) {                                        \
        type old;                                                                      \
        old.x = atomicAdd(&p->x, v.x);                                                 \
        old.y = atomicAdd(&p->y, v.y);                                                 \
        return old;                                                                    \
    }
TRILANE_ATOMIC_VECTOR2(float2)
#undef TRILANE_ATOMIC_VECTOR2
TRILANE_D float4 atomicAdd(float4* p, float4 v) {
    float4 old;
    old.x = atomicAdd(&p->x, v.x);
    old.y = atomicAdd(&p->y, v.y);
    old.z = atomicAdd(&p->z, v.z);
    old.w = atomicAdd(&p->w, v.w);
    return old;
}

#undef TRILANE_ATOMIC
#undef TRILANE_ATOMIC_SCOPES
