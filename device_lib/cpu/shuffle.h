// __shfl_sync and its three forms, with `width` segments. 64-bit values are two exchanges.
#pragma once

// Bits 8..12: lanes of other segments; bits 0..4: the last lane of the own segment.
TRILANE_D int trilane_shuffle_segment(int width, int last) { return ((32 - width) << 8) | last; }

TRILANE_D unsigned int trilane_shfl_idx(unsigned int m, unsigned int v, int lane, int c) {
    return (unsigned int)__nvvm_shfl_sync_idx_i32(m, (int)v, lane, c);
}
TRILANE_D unsigned int trilane_shfl_up(unsigned int m, unsigned int v, int delta, int c) {
    return (unsigned int)__nvvm_shfl_sync_up_i32(m, (int)v, delta, c);
}
TRILANE_D unsigned int trilane_shfl_down(unsigned int m, unsigned int v, int delta, int c) {
    return (unsigned int)__nvvm_shfl_sync_down_i32(m, (int)v, delta, c);
}
TRILANE_D unsigned int trilane_shfl_xor(unsigned int m, unsigned int v, int lanes, int c) {
    return (unsigned int)__nvvm_shfl_sync_bfly_i32(m, (int)v, lanes, c);
}

#define TRILANE_SHUFFLE_WIDE(form)                                                              \
    TRILANE_D unsigned long long trilane_shfl_##form(unsigned int m, unsigned long long v,      \
                                                     int by, int c) {                           \
        unsigned int low = trilane_shfl_##form(m, (unsigned int)v, by, c);                      \
        unsigned int high = trilane_shfl_##form(m, (unsigned int)(v >> 32), by, c);             \
        return ((unsigned long long)high << 32) | low;                                          \
    }
TRILANE_SHUFFLE_WIDE(idx)
TRILANE_SHUFFLE_WIDE(up)
TRILANE_SHUFFLE_WIDE(down)
TRILANE_SHUFFLE_WIDE(xor)
#undef TRILANE_SHUFFLE_WIDE

#define TRILANE_SHUFFLE(type, bits_type)                                                        \
    TRILANE_D type __shfl_sync(unsigned int mask, type value, int lane, int width = 32) {       \
        return __builtin_bit_cast(                                                              \
            type, trilane_shfl_idx(mask, __builtin_bit_cast(bits_type, value), lane,            \
                                   trilane_shuffle_segment(width, 31)));                        \
    }                                                                                           \
    TRILANE_D type __shfl_up_sync(unsigned int mask, type value, unsigned int delta,            \
                                  int width = 32) {                                             \
        return __builtin_bit_cast(                                                              \
            type, trilane_shfl_up(mask, __builtin_bit_cast(bits_type, value), (int)delta,       \
                                  trilane_shuffle_segment(width, 0)));                          \
    }                                                                                           \
    TRILANE_D type __shfl_down_sync(unsigned int mask, type value, unsigned int delta,          \
                                    int width = 32) {                                           \
        return __builtin_bit_cast(                                                              \
            type, trilane_shfl_down(mask, __builtin_bit_cast(bits_type, value), (int)delta,     \
                                    trilane_shuffle_segment(width, 31)));                       \
    }                                                                                           \
    TRILANE_D type __shfl_xor_sync(unsigned int mask, type value, int lanes, int width = 32) {  \
        return __builtin_bit_cast(                                                              \
            type, trilane_shfl_xor(mask, __builtin_bit_cast(bits_type, value), lanes,           \
                                   trilane_shuffle_segment(width, 31)));                        \
    }

TRILANE_SHUFFLE(int, unsigned int)
TRILANE_SHUFFLE(unsigned int, unsigned int)
TRILANE_SHUFFLE(float, unsigned int)
TRILANE_SHUFFLE(long, unsigned long long)
TRILANE_SHUFFLE(unsigned long, unsigned long long)
TRILANE_SHUFFLE(long long, unsigned long long)
TRILANE_SHUFFLE(unsigned long long, unsigned long long)
TRILANE_SHUFFLE(double, unsigned long long)
#undef TRILANE_SHUFFLE
