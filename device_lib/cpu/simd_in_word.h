// The __v...2 and __v...4 intrinsics: two 16-bit or four 8-bit lanes in one 32-bit word.
#pragma once

// Each lane is widened, treated, cut back and put in its place; the optimiser joins the lanes.
#define TRILANE_WORD(name, lanes, get, expression)                                    \
    TRILANE_HD unsigned int __v##name##lanes(unsigned int a, unsigned int b) {        \
        unsigned int result = 0;                                                      \
        constexpr int bits = 32 / lanes;                                              \
        constexpr int top = (1 << (bits - 1)) - 1, low = -top - 1;                    \
        constexpr unsigned int all = (1u << bits) - 1u;                               \
        (void)top, (void)low, (void)all;                                              \
        for (int i = 0; i < lanes; ++i) {                                             \
            auto x = get((a), i);                                                     \
            auto y = get((b), i);                                                     \
            result |= ((unsigned int)(expression) & all) << (bits * i);               \
        }                                                                             \
        return result;                                                                \
    }
#define TRILANE_S4(v, i) trilane_signed_byte((int)v, i)
#define TRILANE_U4(v, i) ((int)trilane_byte(v, i))
#define TRILANE_S2(v, i) trilane_signed_half((int)v, i)
#define TRILANE_U2(v, i) ((int)trilane_half(v, i))

#define TRILANE_WORD_BOTH(name, kind, expression)      \
    TRILANE_WORD(name, 2, TRILANE_##kind##2, expression) \
    TRILANE_WORD(name, 4, TRILANE_##kind##4, expression)

TRILANE_WORD_BOTH(add, U, x + y)
TRILANE_WORD_BOTH(sub, U, x - y)
TRILANE_WORD_BOTH(addus, U, x + y > (int)all ? (int)all : x + y)
TRILANE_WORD_BOTH(subus, U, x > y ? x - y : 0)
TRILANE_WORD_BOTH(addss, S, x + y > top ? top : x + y < low ? low : x + y)
TRILANE_WORD_BOTH(subss, S, x - y > top ? top : x - y < low ? low : x - y)
TRILANE_WORD_BOTH(absdiffu, U, x > y ? x - y : y - x)
TRILANE_WORD_BOTH(absdiffs, S, x > y ? x - y : y - x)
TRILANE_WORD_BOTH(minu, U, x < y ? x : y)
TRILANE_WORD_BOTH(maxu, U, x > y ? x : y)
TRILANE_WORD_BOTH(mins, S, x < y ? x : y)
TRILANE_WORD_BOTH(maxs, S, x > y ? x : y)
TRILANE_WORD_BOTH(avgu, U, (x + y + 1) >> 1)
TRILANE_WORD_BOTH(haddu, U, (x + y) >> 1)
// Halves rounded away from zero.
TRILANE_WORD_BOTH(avgs, S, (x + y + (x + y >= 0 ? 1 : 0)) >> 1)
TRILANE_WORD_BOTH(cmpeq, U, x == y ? all : 0)
TRILANE_WORD_BOTH(cmpne, U, x != y ? all : 0)
TRILANE_WORD_BOTH(cmpltu, U, x < y ? all : 0)
TRILANE_WORD_BOTH(cmpleu, U, x <= y ? all : 0)
TRILANE_WORD_BOTH(cmpgtu, U, x > y ? all : 0)
TRILANE_WORD_BOTH(cmpgeu, U, x >= y ? all : 0)
TRILANE_WORD_BOTH(cmplts, S, x < y ? all : 0)
TRILANE_WORD_BOTH(cmples, S, x <= y ? all : 0)
TRILANE_WORD_BOTH(cmpgts, S, x > y ? all : 0)
TRILANE_WORD_BOTH(cmpges, S, x >= y ? all : 0)
TRILANE_WORD_BOTH(seteq, U, x == y ? 1 : 0)
TRILANE_WORD_BOTH(setne, U, x != y ? 1 : 0)
TRILANE_WORD_BOTH(setltu, U, x < y ? 1 : 0)
TRILANE_WORD_BOTH(setleu, U, x <= y ? 1 : 0)
TRILANE_WORD_BOTH(setgtu, U, x > y ? 1 : 0)
TRILANE_WORD_BOTH(setgeu, U, x >= y ? 1 : 0)
TRILANE_WORD_BOTH(setlts, S, x < y ? 1 : 0)
TRILANE_WORD_BOTH(setles, S, x <= y ? 1 : 0)
TRILANE_WORD_BOTH(setgts, S, x > y ? 1 : 0)
TRILANE_WORD_BOTH(setges, S, x >= y ? 1 : 0)

TRILANE_HD unsigned int __vabs2(unsigned int a) { return __vabsdiffs2(a, 0); }
TRILANE_HD unsigned int __vabs4(unsigned int a) { return __vabsdiffs4(a, 0); }
TRILANE_HD unsigned int __vneg2(unsigned int a) { return __vsub2(0, a); }
TRILANE_HD unsigned int __vneg4(unsigned int a) { return __vsub4(0, a); }
TRILANE_HD unsigned int __vnegss2(unsigned int a) { return __vsubss2(0, a); }
TRILANE_HD unsigned int __vnegss4(unsigned int a) { return __vsubss4(0, a); }
TRILANE_HD unsigned int __vabsss2(unsigned int a) { return __vmaxs2(a, __vnegss2(a)); }
TRILANE_HD unsigned int __vabsss4(unsigned int a) { return __vmaxs4(a, __vnegss4(a)); }

#define TRILANE_WORD_SAD(name, lanes, difference, get)                                \
    TRILANE_HD unsigned int __vsad##name##lanes(unsigned int a, unsigned int b) {     \
        unsigned int d = difference(a, b), sum = 0;                                   \
        for (int i = 0; i < lanes; ++i) sum += get(d, i);                             \
        return sum;                                                                   \
    }
TRILANE_WORD_SAD(u, 2, __vabsdiffu2, trilane_half)
TRILANE_WORD_SAD(u, 4, __vabsdiffu4, trilane_byte)
TRILANE_WORD_SAD(s, 2, __vabsdiffs2, trilane_half)
TRILANE_WORD_SAD(s, 4, __vabsdiffs4, trilane_byte)

#undef TRILANE_WORD_SAD
#undef TRILANE_WORD_BOTH
#undef TRILANE_WORD
#undef TRILANE_S4
#undef TRILANE_U4
#undef TRILANE_S2
#undef TRILANE_U2

// Three-way and fused minimum and maximum of 32-bit integers.
TRILANE_HD int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
TRILANE_HD int __vimin3_s32(int a, int b, int c) { return min(min(a, b), c); }
TRILANE_HD unsigned int __vimax3_u32(unsigned int a, unsigned int b, unsigned int c) {
    return max(max(a, b), c);
}
TRILANE_HD unsigned int __vimin3_u32(unsigned int a, unsigned int b, unsigned int c) {
    return min(min(a, b), c);
}
TRILANE_HD int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
TRILANE_HD int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
TRILANE_HD int __viaddmax_s32(int a, int b, int c) {
    return max((int)((unsigned int)a + (unsigned int)b), c);
}
TRILANE_HD int __viaddmin_s32(int a, int b, int c) {
    return min((int)((unsigned int)a + (unsigned int)b), c);
}
