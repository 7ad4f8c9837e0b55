// The fast forms (__sinf, __expf ...). They may be less exact on a GPU; here they are the accurate
// functions, which keeps every bound a caller relies on.
#pragma once

TRILANE_HD float __sinf(float x) { return __builtin_sinf(x); }
TRILANE_HD float __cosf(float x) { return __builtin_cosf(x); }
TRILANE_HD float __tanf(float x) { return __builtin_tanf(x); }
TRILANE_HD void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
TRILANE_HD float __expf(float x) { return __builtin_expf(x); }
TRILANE_HD float __exp10f(float x) { return exp10f(x); }
TRILANE_HD float __logf(float x) { return __builtin_logf(x); }
TRILANE_HD float __log2f(float x) { return __builtin_log2f(x); }
TRILANE_HD float __log10f(float x) { return __builtin_log10f(x); }
TRILANE_HD float __powf(float x, float y) { return __builtin_powf(x, y); }
TRILANE_HD float __tanhf(float x) { return __builtin_tanhf(x); }
TRILANE_HD float __fdividef(float x, float y) { return x / y; }
TRILANE_HD double __fdivide(double x, double y) { return x / y; }
// NaN saturates to +0.
TRILANE_HD float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
