// curand_kernel.h: the XORWOW and Philox4x32-10 generators with cuRAND's seeding, sequences and
// mappings to uniform, normal, log-normal numbers. Poisson numbers follow an algorithm of our own.
// MRG32k3a, MTGP32 and the Sobol generators do not exist here.
#pragma once

#include "../cpu/xorwow_jumps.h"
#include "trilane/philox.h"

#define CURAND_2POW32_INV 0x1p-32f
#define CURAND_2POW32_INV_DOUBLE 0x1p-32
#define CURAND_2POW53_INV_DOUBLE 0x1p-53
#define CURAND_2POW32_INV_2PI 0x1.921fb6p-30f
#define CURAND_2PI 6.2831855f

// --- states: the sizes are cuRAND's, since hosts allocate them --------------------------------
struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned int STATE;
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// --- XORWOW -----------------------------------------------------------------------------------
TRILANE_HD void trilane_xorwow_step(unsigned int* v) {
    unsigned int t = v[0] ^ (v[0] >> 2);
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}
// Applies the jumps of the set bits of n: 160 steps each.
__device__ inline void trilane_xorwow_jump(unsigned int* v, const unsigned int (*jumps)[5],
                                           unsigned long long n) {
    for (int k = 0; n; ++k, n >>= 1) {
        if (!(n & 1)) continue;
        unsigned int sum[5] = {0, 0, 0, 0, 0};
        for (int bit = 0; bit < 160; ++bit) {
            if ((jumps[k][bit >> 5] >> (bit & 31)) & 1u)
                for (int i = 0; i < 5; ++i) sum[i] ^= v[i];
            trilane_xorwow_step(v);
        }
        for (int i = 0; i < 5; ++i) v[i] = sum[i];
    }
}
TRILANE_D unsigned int curand(curandStateXORWOW_t* state) {
    trilane_xorwow_step(state->v);
    state->d += 362437u;
    return state->v[4] + state->d;
}
TRILANE_D void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
    trilane_xorwow_jump(state->v, trilane_xorwow_step_jumps, n);
    state->d += 362437u * (unsigned int)n;
}
// 2^67 numbers each, a multiple of the period of d.
TRILANE_D void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
    trilane_xorwow_jump(state->v, trilane_xorwow_sequence_jumps, n);
}
TRILANE_D void curand_init(unsigned long long seed, unsigned long long subsequence,
                           unsigned long long offset, curandStateXORWOW_t* state) {
    unsigned int t0 = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u);
    unsigned int t1 = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
    state->d = 6615241u + t1 + t0;
    state->v[0] = 123456789u + t0;
    state->v[1] = 362436069u ^ t0;
    state->v[2] = 521288629u + t1;
    state->v[3] = 88675123u ^ t1;
    state->v[4] = 5783321u + t0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0.0f;
    state->boxmuller_extra_double = 0.0;
}

// --- Philox: counter (x, y) counts blocks of four, (z, w) is the subsequence --------------------
TRILANE_D void trilane_philox_fill(curandStatePhilox4_32_10_t* state) {
    trilane::philox_counter c;
    c.v[0] = state->ctr.x;
    c.v[1] = state->ctr.y;
    c.v[2] = state->ctr.z;
    c.v[3] = state->ctr.w;
    c = trilane::philox4x32_10(c, state->key.x, state->key.y);
    state->output = make_uint4(c.v[0], c.v[1], c.v[2], c.v[3]);
}
TRILANE_D void trilane_philox_add(curandStatePhilox4_32_10_t* state, unsigned long long n) {
    unsigned long long low = ((unsigned long long)state->ctr.y << 32) | state->ctr.x;
    unsigned long long high = ((unsigned long long)state->ctr.w << 32) | state->ctr.z;
    unsigned long long sum = low + n;
    high += sum < low ? 1 : 0;
    state->ctr = make_uint4((unsigned int)sum, (unsigned int)(sum >> 32), (unsigned int)high,
                            (unsigned int)(high >> 32));
}
TRILANE_D void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    state->STATE += (unsigned int)(n & 3);
    n /= 4;
    if (state->STATE > 3) {
        n += 1;
        state->STATE -= 4;
    }
    trilane_philox_add(state, n);
    trilane_philox_fill(state);
}
TRILANE_D void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    unsigned long long high = ((unsigned long long)state->ctr.w << 32) | state->ctr.z;
    high += n;
    state->ctr.z = (unsigned int)high;
    state->ctr.w = (unsigned int)(high >> 32);
    trilane_philox_fill(state);
}
TRILANE_D void curand_init(unsigned long long seed, unsigned long long subsequence,
                           unsigned long long offset, curandStatePhilox4_32_10_t* state) {
    state->ctr = make_uint4(0, 0, 0, 0);
    state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    state->STATE = 0;
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0.0f;
    state->boxmuller_extra_double = 0.0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
TRILANE_D unsigned int curand(curandStatePhilox4_32_10_t* state) {
    unsigned int index = state->STATE++;
    unsigned int result = index == 0   ? state->output.x
                          : index == 1 ? state->output.y
                          : index == 2 ? state->output.z
                                       : state->output.w;
    if (state->STATE == 4) {
        trilane_philox_add(state, 1);
        trilane_philox_fill(state);
        state->STATE = 0;
    }
    return result;
}
// The next four; what is left of the present block comes first.
TRILANE_D uint4 curand4(curandStatePhilox4_32_10_t* state) {
    uint4 a = state->output;
    trilane_philox_add(state, 1);
    trilane_philox_fill(state);
    uint4 b = state->output;
    switch (state->STATE) {
        case 1: return make_uint4(a.y, a.z, a.w, b.x);
        case 2: return make_uint4(a.z, a.w, b.x, b.y);
        case 3: return make_uint4(a.w, b.x, b.y, b.z);
        default: return a;
    }
}

// --- mappings ---------------------------------------------------------------------------------
TRILANE_D float trilane_curand_uniform(unsigned int x) {
    return x * CURAND_2POW32_INV + CURAND_2POW32_INV / 2.0f;
}
TRILANE_D double trilane_curand_uniform(unsigned int x, unsigned int y) {
    unsigned long long z = (unsigned long long)x ^ ((unsigned long long)y << 21);
    return z * CURAND_2POW53_INV_DOUBLE + CURAND_2POW53_INV_DOUBLE / 2.0;
}
TRILANE_D float2 trilane_box_muller(unsigned int x, unsigned int y) {
    float u = x * CURAND_2POW32_INV + CURAND_2POW32_INV / 2;
    float v = y * CURAND_2POW32_INV_2PI + CURAND_2POW32_INV_2PI / 2;
    float radius = sqrtf(-2.0f * logf(u));
    return make_float2(radius * sinf(v), radius * cosf(v));
}
TRILANE_D double2 trilane_box_muller(uint4 w) {
    double u = trilane_curand_uniform(w.x, w.y);
    unsigned long long z = (unsigned long long)w.z ^ ((unsigned long long)w.w << 21);
    double v = z * (CURAND_2POW53_INV_DOUBLE * 2.0) + CURAND_2POW53_INV_DOUBLE;
    double radius = sqrt(-2.0 * log(u)), s, c;
    sincospi(v, &s, &c);
    return make_double2(radius * s, radius * c);
}
TRILANE_D uint4 trilane_curand_four(curandStateXORWOW_t* state) {
    uint4 w;
    w.x = curand(state);
    w.y = curand(state);
    w.z = curand(state);
    w.w = curand(state);
    return w;
}
TRILANE_D uint4 trilane_curand_four(curandStatePhilox4_32_10_t* state) { return curand4(state); }

template <class State> TRILANE_D float curand_uniform(State* state) {
    return trilane_curand_uniform(curand(state));
}
TRILANE_D double curand_uniform_double(curandStateXORWOW_t* state) {
    unsigned int x = curand(state), y = curand(state);
    return trilane_curand_uniform(x, y);
}
TRILANE_D double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
    return curand(state) * CURAND_2POW32_INV_DOUBLE + CURAND_2POW32_INV_DOUBLE;
}
TRILANE_D float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
    uint4 w = curand4(state);
    return make_float4(trilane_curand_uniform(w.x), trilane_curand_uniform(w.y),
                       trilane_curand_uniform(w.z), trilane_curand_uniform(w.w));
}
TRILANE_D double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
    uint4 w = curand4(state);
    return make_double2(trilane_curand_uniform(w.x, w.y), trilane_curand_uniform(w.z, w.w));
}
template <class State> TRILANE_D float2 curand_normal2(State* state) {
    unsigned int x = curand(state), y = curand(state);
    return trilane_box_muller(x, y);
}
TRILANE_D float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
    uint4 w = curand4(state);
    float2 a = trilane_box_muller(w.x, w.y), b = trilane_box_muller(w.z, w.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
template <class State> TRILANE_D double2 curand_normal2_double(State* state) {
    return trilane_box_muller(trilane_curand_four(state));
}
// One of a pair is kept for the next call of the same kind; a call of the other kind drops it.
enum { trilane_kept_normal = 1, trilane_kept_log_normal = 2 };
template <class State> TRILANE_D float curand_normal(State* state) {
    if (state->boxmuller_flag == trilane_kept_normal) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    float2 pair = curand_normal2(state);
    state->boxmuller_extra = pair.y;
    state->boxmuller_flag = trilane_kept_normal;
    return pair.x;
}
template <class State> TRILANE_D double curand_normal_double(State* state) {
    if (state->boxmuller_flag_double == trilane_kept_normal) {
        state->boxmuller_flag_double = 0;
        return state->boxmuller_extra_double;
    }
    double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = pair.y;
    state->boxmuller_flag_double = trilane_kept_normal;
    return pair.x;
}
template <class State> TRILANE_D float curand_log_normal(State* state, float mean, float stddev) {
    if (state->boxmuller_flag == trilane_kept_log_normal) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    float2 pair = curand_normal2(state);
    state->boxmuller_extra = expf(mean + stddev * pair.y);
    state->boxmuller_flag = trilane_kept_log_normal;
    return expf(mean + stddev * pair.x);
}
template <class State>
TRILANE_D double curand_log_normal_double(State* state, double mean, double stddev) {
    if (state->boxmuller_flag_double == trilane_kept_log_normal) {
        state->boxmuller_flag_double = 0;
        return state->boxmuller_extra_double;
    }
    double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = exp(mean + stddev * pair.y);
    state->boxmuller_flag_double = trilane_kept_log_normal;
    return exp(mean + stddev * pair.x);
}
template <class State>
TRILANE_D float2 curand_log_normal2(State* state, float mean, float stddev) {
    float2 n = curand_normal2(state);
    return make_float2(expf(mean + stddev * n.x), expf(mean + stddev * n.y));
}
template <class State>
TRILANE_D double2 curand_log_normal2_double(State* state, double mean, double stddev) {
    double2 n = curand_normal2_double(state);
    return make_double2(exp(mean + stddev * n.x), exp(mean + stddev * n.y));
}

TRILANE_D float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean,
                                    float stddev) {
    float4 n = curand_normal4(state);
    return make_float4(expf(mean + stddev * n.x), expf(mean + stddev * n.y),
                       expf(mean + stddev * n.z), expf(mean + stddev * n.w));
}

// Products of uniforms for small lambda; else Hormann's transformed rejection (PTRS, 1993).
template <class State> __device__ unsigned int curand_poisson(State* state, double lambda) {
    if (!(lambda > 0)) return 0;
    if (lambda < 10) {
        double limit = exp(-lambda), product = 1.0;
        unsigned int count = 0;
        for (;;) {
            product *= curand_uniform_double(state);
            if (product <= limit) return count;
            ++count;
        }
    }
    double root = sqrt(lambda), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        double u = curand_uniform_double(state) - 0.5, v = curand_uniform_double(state);
        double us = 0.5 - fabs(u), k = floor((2.0 * a / us + b) * u + lambda + 0.43);
        if (us >= 0.07 && v <= v_r) return (unsigned int)k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <=
            -lambda + k * log(lambda) - lgamma(k + 1.0))
            return (unsigned int)k;
    }
}
