// Barriers, fences, votes, match and warp reductions. Each is one llvm.nvvm intrinsic.
#pragma once

// __syncthreads() itself is a builtin of the compiler for this target.
TRILANE_D int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
TRILANE_D int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
TRILANE_D int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
TRILANE_D void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }

TRILANE_D void __threadfence_block() { __nvvm_membar_cta(); }
TRILANE_D void __threadfence() { __nvvm_membar_gl(); }
TRILANE_D void __threadfence_system() { __nvvm_membar_sys(); }

TRILANE_D unsigned int __activemask() { return __nvvm_activemask(); }
TRILANE_D int __all_sync(unsigned int mask, int p) { return __nvvm_vote_all_sync(mask, p); }
TRILANE_D int __any_sync(unsigned int mask, int p) { return __nvvm_vote_any_sync(mask, p); }
TRILANE_D int __uni_sync(unsigned int mask, int p) { return __nvvm_vote_uni_sync(mask, p); }
TRILANE_D unsigned int __ballot_sync(unsigned int mask, int p) {
    return __nvvm_vote_ballot_sync(mask, p);
}

TRILANE_D unsigned int trilane_match_any(unsigned int mask, unsigned int bits) {
    return __nvvm_match_any_sync_i32(mask, bits);
}
TRILANE_D unsigned int trilane_match_any(unsigned int mask, unsigned long long bits) {
    return (unsigned int)__nvvm_match_any_sync_i64(mask, (long)bits);
}
TRILANE_D unsigned int trilane_match_all(unsigned int mask, unsigned int bits, int* pred) {
    return __nvvm_match_all_sync_i32p(mask, bits, pred);
}
TRILANE_D unsigned int trilane_match_all(unsigned int mask, unsigned long long bits, int* pred) {
    return (unsigned int)__nvvm_match_all_sync_i64p(mask, (long)bits, pred);
}

#define TRILANE_MATCH(type, bits_type)                                                    \
    TRILANE_D unsigned int __match_any_sync(unsigned int mask, type value) {              \
        return trilane_match_any(mask, __builtin_bit_cast(bits_type, value));             \
    }                                                                                     \
    TRILANE_D unsigned int __match_all_sync(unsigned int mask, type value, int* pred) {   \
        return trilane_match_all(mask, __builtin_bit_cast(bits_type, value), pred);       \
    }
TRILANE_MATCH(int, unsigned int)
TRILANE_MATCH(unsigned int, unsigned int)
TRILANE_MATCH(float, unsigned int)
TRILANE_MATCH(long, unsigned long long)
TRILANE_MATCH(unsigned long, unsigned long long)
TRILANE_MATCH(long long, unsigned long long)
TRILANE_MATCH(unsigned long long, unsigned long long)
TRILANE_MATCH(double, unsigned long long)
#undef TRILANE_MATCH

TRILANE_D int __reduce_add_sync(unsigned int mask, int v) {
    return __nvvm_redux_sync_add(v, mask);
}
TRILANE_D unsigned int __reduce_add_sync(unsigned int mask, unsigned int v) {
    return (unsigned int)__nvvm_redux_sync_add((int)v, mask);
}
TRILANE_D int __reduce_min_sync(unsigned int mask, int v) {
    return __nvvm_redux_sync_min(v, mask);
}
TRILANE_D unsigned int __reduce_min_sync(unsigned int mask, unsigned int v) {
    return (unsigned int)__nvvm_redux_sync_umin((int)v, mask);
}
TRILANE_D int __reduce_max_sync(unsigned int mask, int v) {
    return __nvvm_redux_sync_max(v, mask);
}
TRILANE_D unsigned int __reduce_max_sync(unsigned int mask, unsigned int v) {
    return (unsigned int)__nvvm_redux_sync_umax((int)v, mask);
}
TRILANE_D unsigned int __reduce_and_sync(unsigned int mask, unsigned int v) {
    return (unsigned int)__nvvm_redux_sync_and((int)v, mask);
}
TRILANE_D unsigned int __reduce_or_sync(unsigned int mask, unsigned int v) {
    return (unsigned int)__nvvm_redux_sync_or((int)v, mask);
}
TRILANE_D unsigned int __reduce_xor_sync(unsigned int mask, unsigned int v) {
    return (unsigned int)__nvvm_redux_sync_xor((int)v, mask);
}
