// Counter-based random numbers: Philox 4x32 with 10 rounds (Salmon et al., SC'11) and the mappings
// to uniform and normal numbers. A number depends on (key, counter) alone, on both devices.
#ifndef TRILANE_PHILOX_H_INCLUDED
#define TRILANE_PHILOX_H_INCLUDED

#include "trilane/constants.h"

#ifndef TRILANE_FN
#define TRILANE_FN __host__ __device__ __forceinline__
#define TRILANE_FN_CALL __host__ __device__ inline
#endif

namespace trilane {

struct philox_counter {
    unsigned int v[4];
};

TRILANE_FN_CALL philox_counter philox4x32_10(philox_counter c, unsigned int k0, unsigned int k1) {
    for (int round = 0; round < 10; ++round) {
        unsigned long long a = 0xD2511F53ull * c.v[0], b = 0xCD9E8D57ull * c.v[2];
        philox_counter n;
        n.v[0] = (unsigned int)(b >> 32) ^ c.v[1] ^ k0;
        n.v[1] = (unsigned int)b;
        n.v[2] = (unsigned int)(a >> 32) ^ c.v[3] ^ k1;
        n.v[3] = (unsigned int)a;
        c = n;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

// The four words of block `index` of stream (seed, stream).
TRILANE_FN philox_counter philox(unsigned long long seed, unsigned long long stream,
                                 unsigned long long index) {
    philox_counter c;
    c.v[0] = (unsigned int)index;
    c.v[1] = (unsigned int)(index >> 32);
    c.v[2] = (unsigned int)stream;
    c.v[3] = (unsigned int)(stream >> 32);
    return philox4x32_10(c, (unsigned int)seed, (unsigned int)(seed >> 32));
}

// [0, 1): 24 and 53 random bits. The factors are 2^-24 and 2^-53: hexadecimal literals need C++17.
TRILANE_FN float uniform_float(unsigned int bits) {
    return (float)(bits >> 8) * 5.9604644775390625e-8f;
}
TRILANE_FN double uniform_double(unsigned int low, unsigned int high) {
    unsigned long long bits = ((unsigned long long)high << 32) | low;
    return (double)(bits >> 11) * 1.1102230246251565e-16;
}
// (0, 1]: for logarithms.
TRILANE_FN float uniform_float_open(unsigned int bits) {
    return (float)((bits >> 8) + 1u) * 5.9604644775390625e-8f;
}
TRILANE_FN double uniform_double_open(unsigned int low, unsigned int high) {
    unsigned long long bits = ((unsigned long long)high << 32) | low;
    return (double)((bits >> 11) + 1ull) * 1.1102230246251565e-16;
}

// Box and Muller: two normal numbers from two words, or from four for doubles.
TRILANE_FN void normal_pair(unsigned int a, unsigned int b, float* x, float* y) {
    float radius = ::sqrtf(-2.0f * ::logf(uniform_float_open(a)));
    float angle = 6.28318530717958647693f * uniform_float(b);
    *x = radius * ::cosf(angle);
    *y = radius * ::sinf(angle);
}
TRILANE_FN void normal_pair(const philox_counter& c, double* x, double* y) {
    double radius = ::sqrt(-2.0 * ::log(uniform_double_open(c.v[0], c.v[1])));
    double angle = 6.28318530717958647693 * uniform_double(c.v[2], c.v[3]);
    *x = radius * ::cos(angle);
    *y = radius * ::sin(angle);
}

// [0, n): the high part of the product; the bias is below n / 2^64.
TRILANE_FN unsigned long long below(unsigned int low, unsigned int high, unsigned long long n) {
    unsigned long long bits = ((unsigned long long)high << 32) | low;
    return __umul64hi(bits, n);
}

}  // namespace trilane

#endif  // TRILANE_PHILOX_H_INCLUDED
