// Integer intrinsics: bit counts, byte permutation, high products, averages, funnel shifts, dots.
#pragma once

TRILANE_HD int __popc(unsigned int x) { return __builtin_popcount(x); }
TRILANE_HD int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
TRILANE_HD int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
TRILANE_HD int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
TRILANE_HD int __ffs(int x) { return __builtin_ffs(x); }
TRILANE_HD int __ffsll(long long x) { return __builtin_ffsll(x); }
TRILANE_HD int ffs(int x) { return __builtin_ffs(x); }
TRILANE_HD unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
TRILANE_HD unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
// The position of the n-th set bit from `base` on, as the PTX instruction counts; ~0: none.
TRILANE_HD_CALL unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    if (base > 31) return 0xffffffffu;
    if (offset == 0) return (mask >> base) & 1u ? base : 0xffffffffu;
    int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (int bit = (int)base; bit >= 0 && bit < 32; bit += step)
        if ((mask >> bit) & 1u)
            if (--left == 0) return (unsigned int)bit;
    return 0xffffffffu;
}

TRILANE_HD unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) {
    unsigned long long bytes = ((unsigned long long)y << 32) | x;
    unsigned int a = (unsigned int)(bytes >> ((s & 7u) * 8)) & 255u;
    unsigned int b = (unsigned int)(bytes >> (((s >> 4) & 7u) * 8)) & 255u;
    unsigned int c = (unsigned int)(bytes >> (((s >> 8) & 7u) * 8)) & 255u;
    unsigned int d = (unsigned int)(bytes >> (((s >> 12) & 7u) * 8)) & 255u;
    return a | (b << 8) | (c << 16) | (d << 24);
}

TRILANE_HD int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
TRILANE_HD unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a * b) >> 32);
}
TRILANE_HD long long __mul64hi(long long a, long long b) {
    return (long long)(((__int128)a * b) >> 64);
}
TRILANE_HD unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
TRILANE_HD int mulhi(int a, int b) { return __mulhi(a, b); }
TRILANE_HD unsigned int mulhi(unsigned int a, unsigned int b) { return __umulhi(a, b); }
TRILANE_HD long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
TRILANE_HD unsigned long long mul64hi(unsigned long long a, unsigned long long b) {
    return __umul64hi(a, b);
}
// The low 32 bits of the product of the low 24 bits.
TRILANE_HD int __mul24(int a, int b) {
    int x = (int)((unsigned int)a << 8) >> 8, y = (int)((unsigned int)b << 8) >> 8;
    return (int)((unsigned int)x * (unsigned int)y);
}
TRILANE_HD unsigned int __umul24(unsigned int a, unsigned int b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}
TRILANE_HD int mul24(int a, int b) { return __mul24(a, b); }
TRILANE_HD unsigned int umul24(unsigned int a, unsigned int b) { return __umul24(a, b); }

TRILANE_HD unsigned int __sad(int a, int b, unsigned int c) {
    return c + (a > b ? (unsigned int)a - (unsigned int)b : (unsigned int)b - (unsigned int)a);
}
TRILANE_HD unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) {
    return c + (a > b ? a - b : b - a);
}
TRILANE_HD int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
TRILANE_HD int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
TRILANE_HD unsigned int __uhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b) >> 1);
}
TRILANE_HD unsigned int __urhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b + 1) >> 1);
}

TRILANE_HD unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int by) {
    unsigned long long v = ((unsigned long long)high << 32) | low;
    return (unsigned int)((v << (by & 31u)) >> 32);
}
TRILANE_HD unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int by) {
    unsigned long long v = ((unsigned long long)high << 32) | low;
    return by >= 32u ? low : (unsigned int)((v << by) >> 32);
}
TRILANE_HD unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int by) {
    unsigned long long v = ((unsigned long long)high << 32) | low;
    return (unsigned int)(v >> (by & 31u));
}
TRILANE_HD unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int by) {
    unsigned long long v = ((unsigned long long)high << 32) | low;
    return by >= 32u ? high : (unsigned int)(v >> by);
}

TRILANE_HD int trilane_signed_byte(int x, int i) { return (int)(signed char)(x >> (8 * i)); }
TRILANE_HD unsigned int trilane_byte(unsigned int x, int i) { return (x >> (8 * i)) & 255u; }
TRILANE_HD int trilane_signed_half(int x, int i) { return (int)(short)(x >> (16 * i)); }
TRILANE_HD unsigned int trilane_half(unsigned int x, int i) { return (x >> (16 * i)) & 65535u; }

TRILANE_HD int __dp4a(int a, int b, int c) {
    unsigned int sum = (unsigned int)c;
    for (int i = 0; i < 4; ++i)
        sum += (unsigned int)(trilane_signed_byte(a, i) * trilane_signed_byte(b, i));
    return (int)sum;
}
TRILANE_HD unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 4; ++i) c += trilane_byte(a, i) * trilane_byte(b, i);
    return c;
}
TRILANE_HD int trilane_pack(char4 v) { return __builtin_bit_cast(int, v); }
TRILANE_HD unsigned int trilane_pack(uchar4 v) { return __builtin_bit_cast(unsigned int, v); }
TRILANE_HD int trilane_pack(short2 v) { return __builtin_bit_cast(int, v); }
TRILANE_HD unsigned int trilane_pack(ushort2 v) { return __builtin_bit_cast(unsigned int, v); }
TRILANE_HD int __dp4a(char4 a, char4 b, int c) {
    return __dp4a(trilane_pack(a), trilane_pack(b), c);
}
TRILANE_HD unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return __dp4a(trilane_pack(a), trilane_pack(b), c);
}
// The two 16-bit values of `a` with the low (lo) or high (hi) two bytes of `b`.
TRILANE_HD int __dp2a_lo(int a, int b, int c) {
    return (int)((unsigned int)c +
                 (unsigned int)(trilane_signed_half(a, 0) * trilane_signed_byte(b, 0)) +
                 (unsigned int)(trilane_signed_half(a, 1) * trilane_signed_byte(b, 1)));
}
TRILANE_HD int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
TRILANE_HD unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c) {
    return c + trilane_half(a, 0) * trilane_byte(b, 0) + trilane_half(a, 1) * trilane_byte(b, 1);
}
TRILANE_HD unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) {
    return __dp2a_lo(a, b >> 16, c);
}
TRILANE_HD int __dp2a_lo(short2 a, char4 b, int c) {
    return __dp2a_lo(trilane_pack(a), trilane_pack(b), c);
}
TRILANE_HD int __dp2a_hi(short2 a, char4 b, int c) {
    return __dp2a_hi(trilane_pack(a), trilane_pack(b), c);
}
TRILANE_HD unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) {
    return __dp2a_lo(trilane_pack(a), trilane_pack(b), c);
}
TRILANE_HD unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) {
    return __dp2a_hi(trilane_pack(a), trilane_pack(b), c);
}
