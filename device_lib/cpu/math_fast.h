// The fast forms (__sinf, __expf ...): within the bounds that the CUDA guide states for them.
#pragma once

TRILANE_HD float __sinf(float x) { return trilane_sin_fast(x); }
TRILANE_HD float __cosf(float x) { return trilane_cos_fast(x); }
TRILANE_HD float __tanf(float x) { return trilane_tan_fast(x); }
TRILANE_HD void __sincosf(float x, float* s, float* c) {
    *s = trilane_sin_fast(x);
    *c = trilane_cos_fast(x);
}
TRILANE_HD float __expf(float x) { return trilane_exp_fast(x); }
TRILANE_HD float __exp10f(float x) { return trilane_exp10_fast(x); }
TRILANE_HD float __logf(float x) { return trilane_log_fast(x); }
TRILANE_HD float __log2f(float x) { return trilane_log2_fast(x); }
TRILANE_HD float __log10f(float x) { return trilane_log10_fast(x); }
TRILANE_HD float __powf(float x, float y) { return trilane_pow_fast(x, y); }
TRILANE_HD float __tanhf(float x) { return trilane_tanh(x); }
TRILANE_HD float __fdividef(float x, float y) { return x / y; }
TRILANE_HD double __fdivide(double x, double y) { return x / y; }
// NaN saturates to +0.
TRILANE_HD float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
