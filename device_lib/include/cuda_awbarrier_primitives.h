// <cuda_awbarrier_primitives.h> for kernels: a barrier in 64 bits of shared memory, of which 20 count
// the arrivals that are missing, 20 those of a whole phase, and 24 the phases.
#pragma once

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

#define TRILANE_MBARRIER_COUNT 0xfffffull

TRILANE_D unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1u; }
TRILANE_D void __mbarrier_init(__mbarrier_t* barrier, unsigned int expected) {
    *barrier = (unsigned long long)expected << 20 | expected;
}
TRILANE_D void __mbarrier_inval(__mbarrier_t* barrier) { *barrier = ~0ull; }
// Takes `missing` arrivals and `dropped` members away; the last begins the next phase.
TRILANE_D __mbarrier_token_t trilane_mbarrier_arrive(__mbarrier_t* barrier,
                                                     unsigned long long dropped) {
    unsigned long long old =
        __atomic_fetch_sub(barrier, dropped << 20 | 1ull, __ATOMIC_SEQ_CST);
    if ((old & TRILANE_MBARRIER_COUNT) == 1) {
        unsigned long long whole = ((old >> 20) - dropped) & TRILANE_MBARRIER_COUNT;
        __atomic_store_n(barrier, ((old >> 40) + 1) << 40 | whole << 20 | whole, __ATOMIC_RELEASE);
    }
    return old;
}
TRILANE_D __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
    return trilane_mbarrier_arrive(barrier, 0);
}
TRILANE_D __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
    return trilane_mbarrier_arrive(barrier, 1);
}
TRILANE_D bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
    return (__atomic_load_n(barrier, __ATOMIC_ACQUIRE) ^ token) >> 40 != 0;
}
TRILANE_D unsigned int __mbarrier_token_pending_count(__mbarrier_token_t token) {
    return (unsigned int)(token & TRILANE_MBARRIER_COUNT);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
TRILANE_D bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token,
                                   unsigned int) {
    return __mbarrier_test_wait(barrier, token);
}
TRILANE_D bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
    return ((__atomic_load_n(barrier, __ATOMIC_ACQUIRE) >> 40 & 1) != 0) != parity;
}
TRILANE_D bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, unsigned int) {
    return __mbarrier_test_wait_parity(barrier, parity);
}
#endif

#undef TRILANE_MBARRIER_COUNT
