// Polynomials behind the math functions of the cpu device; written by tools/fit_math.py.
#pragma once

// exp(t), |t| <= ln 2 / 2; error 3.1e-9.
TRILANE_HD float trilane_poly_exp(float t) {
    float p = 0x1.6a51b8p-10f;
    p = __builtin_fmaf(p, t, 0x1.123982p-7f);
    p = __builtin_fmaf(p, t, 0x1.5558acp-5f);
    p = __builtin_fmaf(p, t, 0x1.555492p-3f);
    p = __builtin_fmaf(p, t, 0x1.fffffcp-2f);
    p = __builtin_fmaf(p, t, 0x1p+0f);
    p = __builtin_fmaf(p, t, 0x1p+0f);
    return p;
}
// 2^t, |t| <= 1/2; error 3.0e-9.
TRILANE_HD float trilane_poly_exp2(float t) {
    float p = 0x1.416d0ap-13f;
    p = __builtin_fmaf(p, t, 0x1.5f09a6p-10f);
    p = __builtin_fmaf(p, t, 0x1.3b2dep-7f);
    p = __builtin_fmaf(p, t, 0x1.c6af7ap-5f);
    p = __builtin_fmaf(p, t, 0x1.ebfbdcp-3f);
    p = __builtin_fmaf(p, t, 0x1.62e43p-1f);
    p = __builtin_fmaf(p, t, 0x1p+0f);
    return p;
}
// 10^t, |t| <= log10(2) / 2; error 2.6e-9.
TRILANE_HD float trilane_poly_exp10(float t) {
    float p = 0x1.a642a8p-3f;
    p = __builtin_fmaf(p, t, 0x1.156a28p-1f);
    p = __builtin_fmaf(p, t, 0x1.2bd9fap+0f);
    p = __builtin_fmaf(p, t, 0x1.046f9cp+1f);
    p = __builtin_fmaf(p, t, 0x1.53524ap+1f);
    p = __builtin_fmaf(p, t, 0x1.26bb1cp+1f);
    p = __builtin_fmaf(p, t, 0x1p+0f);
    return p;
}
// (exp(t) - 1 - t) / t^2, |t| <= ln 2 / 2; weight t^2 / (exp(t) - 1); error 1.4e-8.
TRILANE_HD float trilane_poly_expm1(float t) {
    float p = 0x1.6b99aap-10f;
    p = __builtin_fmaf(p, t, 0x1.122542p-7f);
    p = __builtin_fmaf(p, t, 0x1.5556f4p-5f);
    p = __builtin_fmaf(p, t, 0x1.5554b4p-3f);
    p = __builtin_fmaf(p, t, 0x1.fffffep-2f);
    return p;
}
// (tanh(x) / x - 1) / t, t = x^2, x <= 0.56; weight t x / tanh(x); error 1.4e-9.
TRILANE_HD float trilane_poly_tanh(float t) {
    float p = -0x1.9454f2p-8f;
    p = __builtin_fmaf(p, t, 0x1.5811f6p-6f);
    p = __builtin_fmaf(p, t, -0x1.b905c4p-5f);
    p = __builtin_fmaf(p, t, 0x1.110c5ep-3f);
    p = __builtin_fmaf(p, t, -0x1.555548p-2f);
    return p;
}
// (sinh(x) / x - 1) / t, t = x^2, x <= 1; weight t x / sinh(x); error 3.0e-10.
TRILANE_HD float trilane_poly_sinh(float t) {
    float p = 0x1.756dfap-19f;
    p = __builtin_fmaf(p, t, 0x1.a022b6p-13f);
    p = __builtin_fmaf(p, t, 0x1.1110ep-7f);
    p = __builtin_fmaf(p, t, 0x1.555556p-3f);
    return p;
}
// (log(1 + t) - t) / t^2, 1 + t in [1, 2] / sqrt 2; weight t^2 / log(1 + t); error 4.2e-9.
TRILANE_HD float trilane_poly_log(float t) {
    float p = -0x1.39baf2p-4f;
    p = __builtin_fmaf(p, t, 0x1.08cd18p-3f);
    p = __builtin_fmaf(p, t, -0x1.0f27d8p-3f);
    p = __builtin_fmaf(p, t, 0x1.225aap-3f);
    p = __builtin_fmaf(p, t, -0x1.54265p-3f);
    p = __builtin_fmaf(p, t, 0x1.99a52ap-3f);
    p = __builtin_fmaf(p, t, -0x1.000434p-2f);
    p = __builtin_fmaf(p, t, 0x1.55554ep-2f);
    p = __builtin_fmaf(p, t, -0x1.fffff8p-2f);
    return p;
}
// the same over ln 2; error 4.6e-9.
TRILANE_HD float trilane_poly_log2(float t) {
    float p = -0x1.c39b8cp-4f;
    p = __builtin_fmaf(p, t, 0x1.7f281cp-3f);
    p = __builtin_fmaf(p, t, -0x1.87f7eep-3f);
    p = __builtin_fmaf(p, t, 0x1.a2c9dcp-3f);
    p = __builtin_fmaf(p, t, -0x1.eaa24ap-3f);
    p = __builtin_fmaf(p, t, 0x1.277f44p-2f);
    p = __builtin_fmaf(p, t, -0x1.715afep-2f);
    p = __builtin_fmaf(p, t, 0x1.ec7094p-2f);
    p = __builtin_fmaf(p, t, -0x1.71547p-1f);
    return p;
}
// the same over ln 10; error 4.4e-9.
TRILANE_HD float trilane_poly_log10(float t) {
    float p = -0x1.108e5ep-5f;
    p = __builtin_fmaf(p, t, 0x1.cd0c1cp-5f);
    p = __builtin_fmaf(p, t, -0x1.d7919cp-5f);
    p = __builtin_fmaf(p, t, 0x1.f84b8cp-5f);
    p = __builtin_fmaf(p, t, -0x1.276a52p-4f);
    p = __builtin_fmaf(p, t, 0x1.63d06ap-4f);
    p = __builtin_fmaf(p, t, -0x1.bcbf52p-4f);
    p = __builtin_fmaf(p, t, 0x1.287a7p-3f);
    p = __builtin_fmaf(p, t, -0x1.bcb7aap-3f);
    return p;
}
// log(1 + t) / t; absolute error of the logarithm; error 3.4e-8.
TRILANE_HD float trilane_poly_log_fast(float t) {
    float p = -0x1.9db778p-4f;
    p = __builtin_fmaf(p, t, 0x1.503398p-3f);
    p = __builtin_fmaf(p, t, -0x1.62f868p-3f);
    p = __builtin_fmaf(p, t, 0x1.970374p-3f);
    p = __builtin_fmaf(p, t, -0x1.ff2bbp-3f);
    p = __builtin_fmaf(p, t, 0x1.555cb4p-2f);
    p = __builtin_fmaf(p, t, -0x1.0000dep-1f);
    p = __builtin_fmaf(p, t, 0x1.fffffap-1f);
    return p;
}
// log2(1 + t) / t; absolute error of the logarithm; error 4.9e-8.
TRILANE_HD float trilane_poly_log2_fast(float t) {
    float p = -0x1.2a5e28p-3f;
    p = __builtin_fmaf(p, t, 0x1.e50a82p-3f);
    p = __builtin_fmaf(p, t, -0x1.0011fap-2f);
    p = __builtin_fmaf(p, t, 0x1.25992ap-2f);
    p = __builtin_fmaf(p, t, -0x1.70baf4p-2f);
    p = __builtin_fmaf(p, t, 0x1.ec7b3ep-2f);
    p = __builtin_fmaf(p, t, -0x1.7155b8p-1f);
    p = __builtin_fmaf(p, t, 0x1.715472p+0f);
    return p;
}
// log(1 + t) / t, for results in float; error 1.6e-11.
TRILANE_HD double trilane_poly_log_wide(double t) {
    double p = 0x1.b750fb07a6119p-5;
    p = __builtin_fma(p, t, -0x1.95893cbea50d4p-4);
    p = __builtin_fma(p, t, 0x1.9af621feed8cfp-4);
    p = __builtin_fma(p, t, -0x1.9670dda550689p-4);
    p = __builtin_fma(p, t, 0x1.c2c4a06645792p-4);
    p = __builtin_fma(p, t, -0x1.ffe59b7e94b4p-4);
    p = __builtin_fma(p, t, 0x1.24adee3d81a5fp-3);
    p = __builtin_fma(p, t, -0x1.5556c8dccd964p-3);
    p = __builtin_fma(p, t, 0x1.9998fa11405ddp-3);
    p = __builtin_fma(p, t, -0x1.fffff80dbd1bcp-3);
    p = __builtin_fma(p, t, 0x1.5555560136123p-2);
    p = __builtin_fma(p, t, -0x1.00000002869b3p-1);
    p = __builtin_fma(p, t, 0x1.ffffffffe11dbp-1);
    return p;
}
// log2(1 + t) / t, for results in float; error 1.6e-11.
TRILANE_HD double trilane_poly_log2_wide(double t) {
    double p = 0x1.3ce655bad64e1p-4;
    p = __builtin_fma(p, t, -0x1.24884e838319p-3);
    p = __builtin_fma(p, t, 0x1.28722edaed1f2p-3);
    p = __builtin_fma(p, t, -0x1.252f642faef1bp-3);
    p = __builtin_fma(p, t, 0x1.452912082a774p-3);
    p = __builtin_fma(p, t, -0x1.71416c88dbb29p-3);
    p = __builtin_fma(p, t, 0x1.a63f44bf92292p-3);
    p = __builtin_fma(p, t, -0x1.ec72b5c478c16p-3);
    p = __builtin_fma(p, t, 0x1.277651fae4338p-2);
    p = __builtin_fma(p, t, -0x1.715470974f655p-2);
    p = __builtin_fma(p, t, 0x1.ec709ebb97e54p-2);
    p = __builtin_fma(p, t, -0x1.715476565d0aep-1);
    p = __builtin_fma(p, t, 0x1.71547652a1e8bp+0);
    return p;
}
// (sin(x) - x) / x^3, t = x^2, x <= pi/2; weight x^3 / sin(x); error 4.6e-10.
TRILANE_HD float trilane_poly_sin(float t) {
    float p = -0x1.b622fcp-26f;
    p = __builtin_fmaf(p, t, 0x1.72cdd8p-19f);
    p = __builtin_fmaf(p, t, -0x1.a023ccp-13f);
    p = __builtin_fmaf(p, t, 0x1.111136p-7f);
    p = __builtin_fmaf(p, t, -0x1.555556p-3f);
    return p;
}
// sin(x) / x, t = x^2, x <= pi/2; absolute error of sin; error 4.9e-9.
TRILANE_HD float trilane_poly_sin_fast(float t) {
    float p = 0x1.5ccd54p-19f;
    p = __builtin_fmaf(p, t, -0x1.9f5cc2p-13f);
    p = __builtin_fmaf(p, t, 0x1.110e58p-7f);
    p = __builtin_fmaf(p, t, -0x1.555548p-3f);
    p = __builtin_fmaf(p, t, 0x1p+0f);
    return p;
}
// (tan(x) - x) / x^3, t = x^2, x <= pi/4; weight x^3 / tan(x); error 1.9e-8.
TRILANE_HD float trilane_poly_tan(float t) {
    float p = 0x1.3584fcp-7f;
    p = __builtin_fmaf(p, t, 0x1.8bcb0ep-9f);
    p = __builtin_fmaf(p, t, 0x1.914482p-6f);
    p = __builtin_fmaf(p, t, 0x1.b5685ep-5f);
    p = __builtin_fmaf(p, t, 0x1.112ec2p-3f);
    p = __builtin_fmaf(p, t, 0x1.5554dap-2f);
    return p;
}
// (sin(pi x) - pi x) / x^3, t = x^2, x <= 1/4; weight x^3 / sin(pi x); error 8.8e-11.
TRILANE_HD float trilane_poly_sinpi(float t) {
    float p = 0x1.443bdcp-4f;
    p = __builtin_fmaf(p, t, -0x1.32adacp-1f);
    p = __builtin_fmaf(p, t, 0x1.466b78p+1f);
    p = __builtin_fmaf(p, t, -0x1.4abbcep+2f);
    return p;
}
// cos(pi x), t = x^2, x <= 1/4; error 4.4e-10.
TRILANE_HD float trilane_poly_cospi(float t) {
    float p = 0x1.d4f478p-3f;
    p = __builtin_fmaf(p, t, -0x1.55b2b2p+0f);
    p = __builtin_fmaf(p, t, 0x1.03c1bp+2f);
    p = __builtin_fmaf(p, t, -0x1.3bd3ccp+2f);
    p = __builtin_fmaf(p, t, 0x1p+0f);
    return p;
}
// (atan(x) - x) / x^3, t = x^2, x <= 1; weight x^3 / atan(x); error 1.7e-8.
TRILANE_HD float trilane_poly_atan(float t) {
    float p = 0x1.7eaae4p-9f;
    p = __builtin_fmaf(p, t, -0x1.0c1952p-6f);
    p = __builtin_fmaf(p, t, 0x1.61ef6ep-5f);
    p = __builtin_fmaf(p, t, -0x1.355102p-4f);
    p = __builtin_fmaf(p, t, 0x1.b4deb6p-4f);
    p = __builtin_fmaf(p, t, -0x1.230a94p-3f);
    p = __builtin_fmaf(p, t, 0x1.9978ecp-3f);
    p = __builtin_fmaf(p, t, -0x1.5554dcp-2f);
    return p;
}
// (asin(x) - x) / x^3, t = x^2, x <= 1/2; weight x^3 / asin(x); error 4.9e-9.
TRILANE_HD float trilane_poly_asin(float t) {
    float p = 0x1.595c92p-5f;
    p = __builtin_fmaf(p, t, 0x1.8c3e28p-6f);
    p = __builtin_fmaf(p, t, 0x1.747bbap-5f);
    p = __builtin_fmaf(p, t, 0x1.330204p-4f);
    p = __builtin_fmaf(p, t, 0x1.5555c8p-3f);
    return p;
}
// erf(x) / x - 1, t = x^2, x <= 1; weight x / erf(x); error 1.4e-9.
TRILANE_HD float trilane_poly_erf_near(float t) {
    float p = 0x1.4771fep-14f;
    p = __builtin_fmaf(p, t, -0x1.a3515ep-11f);
    p = __builtin_fmaf(p, t, 0x1.53f224p-8f);
    p = __builtin_fmaf(p, t, -0x1.b7f71ap-6f);
    p = __builtin_fmaf(p, t, 0x1.ce2ce6p-4f);
    p = __builtin_fmaf(p, t, -0x1.81273ep-2f);
    p = __builtin_fmaf(p, t, 0x1.06eba8p-3f);
    return p;
}
// log2(erfc(t)), 1 <= t <= 4; weight erfc(t) ln 2 / erf(t); error 2.5e-11.
TRILANE_HD float trilane_poly_erf_far(float t) {
    float p = -0x1.069112p-15f;
    p = __builtin_fmaf(p, t, 0x1.4de91ep-11f);
    p = __builtin_fmaf(p, t, -0x1.8d9896p-8f);
    p = __builtin_fmaf(p, t, 0x1.29f2aap-5f);
    p = __builtin_fmaf(p, t, -0x1.4058fep-3f);
    p = __builtin_fmaf(p, t, -0x1.d3bb4cp-1f);
    p = __builtin_fmaf(p, t, -0x1.a13014p+0f);
    p = __builtin_fmaf(p, t, 0x1.1d1b6ep-12f);
    return p;
}
// (1 + 2x) exp(x^2) erfc(x), t = (x - 4) / (x + 4), 0 <= x <= 11; error 1.6e-10.
TRILANE_HD double trilane_poly_erfcx_wide(double t) {
    double p = 0x1.6748d5cb4a1f3p-14;
    p = __builtin_fma(p, t, -0x1.7136867e06c96p-12);
    p = __builtin_fma(p, t, -0x1.ad15589ed975p-11);
    p = __builtin_fma(p, t, 0x1.4dfa296d3ce9p-8);
    p = __builtin_fma(p, t, -0x1.08976c22b2cf4p-6);
    p = __builtin_fma(p, t, 0x1.306ba26fd8e87p-5);
    p = __builtin_fma(p, t, -0x1.0fbbe74dc65a8p-4);
    p = __builtin_fma(p, t, 0x1.7fedb6f888f5cp-4);
    p = __builtin_fma(p, t, -0x1.9dda15b2e317dp-4);
    p = __builtin_fma(p, t, 0x1.16ecff8e1fc23p-4);
    p = __builtin_fma(p, t, 0x1.f7f597373e29fp-7);
    p = __builtin_fma(p, t, -0x1.1df1ad40aa807p-3);
    p = __builtin_fma(p, t, 0x1.3ba5916f6eabap+0);
    return p;
}
// exp(t), |t| <= ln 2 / 2, for results in float; error 7.8e-13.
TRILANE_HD double trilane_poly_exp_wide(double t) {
    double p = 0x1.9eda4738495e9p-16;
    p = __builtin_fma(p, t, 0x1.a1a82fef4eaafp-13);
    p = __builtin_fma(p, t, 0x1.6c18b3acdc7edp-10);
    p = __builtin_fma(p, t, 0x1.111082a137c4cp-7);
    p = __builtin_fma(p, t, 0x1.55555404b4f78p-5);
    p = __builtin_fma(p, t, 0x1.555555a08c713p-3);
    p = __builtin_fma(p, t, 0x1.00000000881e1p-1);
    p = __builtin_fma(p, t, 0x1.ffffffffd55bap-1);
    p = __builtin_fma(p, t, 0x1.ffffffffff7ap-1);
    return p;
}
// cbrt(t), 1 <= t <= 2; error 7.3e-5.
TRILANE_HD double trilane_poly_cbrt(double t) {
    double p = 0x1.7a8defc475c22p-6;
    p = __builtin_fma(p, t, -0x1.4dc36e64fcfcfp-3);
    p = __builtin_fma(p, t, 0x1.2c9a623390e89p-1);
    p = __builtin_fma(p, t, 0x1.1b0b9b57cb5f4p-1);
    return p;
}
