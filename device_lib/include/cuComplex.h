// cuComplex.h: float2 and double2 as complex numbers, with CUDA's C functions on them.
#pragma once

#define TRILANE_CU_COMPLEX(type, real, pair, suffix, hypot_name, fma_name)                        \
    TRILANE_HD real cuCreal##suffix(type z) { return z.x; }                                       \
    TRILANE_HD real cuCimag##suffix(type z) { return z.y; }                                       \
    TRILANE_HD type cuConj##suffix(type z) { return make_##pair(z.x, -z.y); }                     \
    TRILANE_HD type cuCadd##suffix(type a, type b) { return make_##pair(a.x + b.x, a.y + b.y); }  \
    TRILANE_HD type cuCsub##suffix(type a, type b) { return make_##pair(a.x - b.x, a.y - b.y); }  \
    TRILANE_HD type cuCmul##suffix(type a, type b) {                                              \
        return make_##pair(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                         \
    }                                                                                             \
    /* scaled by |re| + |im| of the divisor, so that its square does not overflow */              \
    TRILANE_HD type cuCdiv##suffix(type a, type b) {                                              \
        real scale = (real)1 / (fabs(b.x) + fabs(b.y));                                           \
        real ar = a.x * scale, ai = a.y * scale, br = b.x * scale, bi = b.y * scale;              \
        real size = (real)1 / (br * br + bi * bi);                                                \
        return make_##pair((ar * br + ai * bi) * size, (ai * br - ar * bi) * size);               \
    }                                                                                             \
    TRILANE_HD real cuCabs##suffix(type z) { return hypot_name(z.x, z.y); }                       \
    TRILANE_HD type cuCfma##suffix(type a, type b, type c) {                                      \
        return make_##pair(fma_name(a.x, b.x, fma_name(-a.y, b.y, c.x)),                          \
                           fma_name(a.x, b.y, fma_name(a.y, b.x, c.y)));                          \
    }

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
TRILANE_HD cuFloatComplex make_cuFloatComplex(float re, float im) { return make_float2(re, im); }
TRILANE_HD cuDoubleComplex make_cuDoubleComplex(double re, double im) {
    return make_double2(re, im);
}
TRILANE_HD cuComplex make_cuComplex(float re, float im) { return make_float2(re, im); }
TRILANE_CU_COMPLEX(cuFloatComplex, float, float2, f, hypotf, fmaf)
TRILANE_CU_COMPLEX(cuDoubleComplex, double, double2, , hypot, fma)
#undef TRILANE_CU_COMPLEX
TRILANE_HD cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
    return make_float2((float)z.x, (float)z.y);
}
TRILANE_HD cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
    return make_double2((double)z.x, (double)z.y);
}
