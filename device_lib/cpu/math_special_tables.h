// Polynomials behind math_special.h; written by tools/fit_device_math.py.
#pragma once

// (1 + 2x) erfcx(x), u = (x - 4) / (x + 4), x >= 0; error 1.0e-17.
TRILANE_HD_CALL double trilane_erfcx_poly(double u) {
    TRILANE_EXACT
    double p = -0x1.2feb115e10ff8p-32;
    p = __builtin_fma(p, u, 0x1.ff247156a53a2p-31);
    p = __builtin_fma(p, u, 0x1.bc41def3d5cc5p-29);
    p = __builtin_fma(p, u, -0x1.a7f4a11380e73p-27);
    p = __builtin_fma(p, u, -0x1.64110b1736fb3p-26);
    p = __builtin_fma(p, u, 0x1.c8a212189b424p-24);
    p = __builtin_fma(p, u, 0x1.4dcd6b6d85452p-24);
    p = __builtin_fma(p, u, -0x1.b8ce493292da5p-21);
    p = __builtin_fma(p, u, 0x1.393f4d359a7fdp-22);
    p = __builtin_fma(p, u, 0x1.7ef644c7815aap-18);
    p = __builtin_fma(p, u, -0x1.7884d2487d5efp-17);
    p = __builtin_fma(p, u, -0x1.99537515467bep-16);
    p = __builtin_fma(p, u, 0x1.3be0432bfa860p-13);
    p = __builtin_fma(p, u, -0x1.a1df5e81f57b4p-13);
    p = __builtin_fma(p, u, -0x1.8d4a9a6465372p-11);
    p = __builtin_fma(p, u, 0x1.49c672e199469p-8);
    p = __builtin_fma(p, u, -0x1.09623884747dbp-6);
    p = __builtin_fma(p, u, 0x1.3079edf5181dfp-5);
    p = __builtin_fma(p, u, -0x1.0fb06dfe4c6c0p-4);
    p = __builtin_fma(p, u, 0x1.7fee004e1eefep-4);
    p = __builtin_fma(p, u, -0x1.9ddb23c3e8f13p-4);
    p = __builtin_fma(p, u, 0x1.16ecefcfa4d10p-4);
    p = __builtin_fma(p, u, 0x1.f7f5df66fd797p-7);
    p = __builtin_fma(p, u, -0x1.1df1ad154a286p-3);
    p = __builtin_fma(p, u, 0x1.3ba5916e9fd7fp+0);
    return p;
}
// erfinv(x) / s, s = sqrt(-log(1 - x^2)) in [0, 3], u = s / 1.5 - 1; error 1.3e-7.
TRILANE_HD_CALL double trilane_erfinv_near(double u) {
    TRILANE_EXACT
    double p = 0x1.09783b658e1d2p-13;
    p = __builtin_fma(p, u, 0x1.ca2bd724f78e2p-13);
    p = __builtin_fma(p, u, -0x1.15e30384c1401p-11);
    p = __builtin_fma(p, u, -0x1.2077b4e0a8803p-10);
    p = __builtin_fma(p, u, 0x1.12c00bf316922p-10);
    p = __builtin_fma(p, u, 0x1.b199bd026a85cp-9);
    p = __builtin_fma(p, u, -0x1.4c210eb40a755p-10);
    p = __builtin_fma(p, u, -0x1.756b53ddbe4a8p-7);
    p = __builtin_fma(p, u, 0x1.0c04ea8c1b4c2p-7);
    p = __builtin_fma(p, u, 0x1.3736b27d16e17p-5);
    p = __builtin_fma(p, u, 0x1.d0bcc54116e69p-1);
    return p;
}
// erfinv(x) / s, 1/s in [1/28, 1/3], u = (2/s - (1/28 + 1/3)) / (1/3 - 1/28); error 5.5e-9.
TRILANE_HD_CALL double trilane_erfinv_far(double u) {
    TRILANE_EXACT
    double p = -0x1.54c6725bac3c1p-17;
    p = __builtin_fma(p, u, 0x1.14dfad55aa0cbp-16);
    p = __builtin_fma(p, u, 0x1.0588a2bbbca71p-17);
    p = __builtin_fma(p, u, -0x1.c1f28a6fa395fp-17);
    p = __builtin_fma(p, u, -0x1.dc98e2395c566p-16);
    p = __builtin_fma(p, u, 0x1.ae5453c764836p-15);
    p = __builtin_fma(p, u, -0x1.279c10e5f5addp-14);
    p = __builtin_fma(p, u, 0x1.6d8a4f09add92p-13);
    p = __builtin_fma(p, u, -0x1.64488109d0712p-11);
    p = __builtin_fma(p, u, 0x1.6a7325a455a9dp-9);
    p = __builtin_fma(p, u, -0x1.3bb739f6d7aeap-10);
    p = __builtin_fma(p, u, -0x1.e8d3d12fc1cd2p-6);
    p = __builtin_fma(p, u, 0x1.f2396680c7318p-1);
    return p;
}
// I0(x) sqrt(x) exp(-x), x >= 10, u = 20/x - 1; error 6.0e-17.
TRILANE_HD_CALL double trilane_bessel_i0_far(double u) {
    TRILANE_EXACT
    double p = -0x1.08ed8e811256dp-37;
    p = __builtin_fma(p, u, -0x1.859cb2e37e7efp-37);
    p = __builtin_fma(p, u, 0x1.458cf3204b833p-35);
    p = __builtin_fma(p, u, 0x1.4c0379d4a22acp-34);
    p = __builtin_fma(p, u, -0x1.93d1d08b5e850p-35);
    p = __builtin_fma(p, u, -0x1.d5e0613fec9cep-33);
    p = __builtin_fma(p, u, -0x1.3c8b6ddef7826p-33);
    p = __builtin_fma(p, u, 0x1.241be4e82bd9fp-33);
    p = __builtin_fma(p, u, 0x1.aa6bcfc649beap-32);
    p = __builtin_fma(p, u, 0x1.605b555a18235p-31);
    p = __builtin_fma(p, u, 0x1.5ed70eb3d00e1p-30);
    p = __builtin_fma(p, u, 0x1.e8f9fdef20802p-29);
    p = __builtin_fma(p, u, 0x1.d484cc44ee21bp-27);
    p = __builtin_fma(p, u, 0x1.3004115063caep-24);
    p = __builtin_fma(p, u, 0x1.0ea6830152863p-21);
    p = __builtin_fma(p, u, 0x1.59bf44e4368eap-18);
    p = __builtin_fma(p, u, 0x1.5c9a326c0130ap-14);
    p = __builtin_fma(p, u, 0x1.5acd336561b08p-9);
    p = __builtin_fma(p, u, 0x1.9b255fef2de3ap-2);
    return p;
}
// I1(x) sqrt(x) exp(-x), x >= 10, u = 20/x - 1; error 6.5e-17.
TRILANE_HD_CALL double trilane_bessel_i1_far(double u) {
    TRILANE_EXACT
    double p = 0x1.18fd25b75aa08p-37;
    p = __builtin_fma(p, u, 0x1.8e5f80df7549dp-37);
    p = __builtin_fma(p, u, -0x1.5dbc3775a2087p-35);
    p = __builtin_fma(p, u, -0x1.5715bfea28e86p-34);
    p = __builtin_fma(p, u, 0x1.cb28343f793ffp-35);
    p = __builtin_fma(p, u, 0x1.ed69fb0c1d0c9p-33);
    p = __builtin_fma(p, u, 0x1.3d7a151b4af8cp-33);
    p = __builtin_fma(p, u, -0x1.427ac3f06a74dp-33);
    p = __builtin_fma(p, u, -0x1.c5d2da04ef4e6p-32);
    p = __builtin_fma(p, u, -0x1.797774315e493p-31);
    p = __builtin_fma(p, u, -0x1.7e880a8211b65p-30);
    p = __builtin_fma(p, u, -0x1.105c5defddb72p-28);
    p = __builtin_fma(p, u, -0x1.0bfbe65a8e091p-26);
    p = __builtin_fma(p, u, -0x1.6855537af629ap-24);
    p = __builtin_fma(p, u, -0x1.51ec258906442p-21);
    p = __builtin_fma(p, u, -0x1.d697732869455p-18);
    p = __builtin_fma(p, u, -0x1.1ab2fc75c453ap-13);
    p = __builtin_fma(p, u, -0x1.faa710b019f94p-8);
    p = __builtin_fma(p, u, 0x1.90bb5c37429aap-2);
    return p;
}
// I0(x), q = x^2/4 <= 25.
TRILANE_HD_CALL double trilane_bessel_i0_near(double q) {
    TRILANE_EXACT
    double p = 0x1.7f2d2fd687f7dp-216;
    p = __builtin_fma(p, q, 0x1.50c6b70b8d80dp-206);
    p = __builtin_fma(p, q, 0x1.149733d53cf71p-196);
    p = __builtin_fma(p, q, 0x1.a787875e855a5p-187);
    p = __builtin_fma(p, q, 0x1.2d843c1f0a6f9p-177);
    p = __builtin_fma(p, q, 0x1.8e189760fbc74p-168);
    p = __builtin_fma(p, q, 0x1.e5f504c9e358cp-159);
    p = __builtin_fma(p, q, 0x1.1159d2b18fe1fp-149);
    p = __builtin_fma(p, q, 0x1.1a6d4e307528fp-140);
    p = __builtin_fma(p, q, 0x1.0afb53e9cec0bp-131);
    p = __builtin_fma(p, q, 0x1.cbeaf38dc529fp-123);
    p = __builtin_fma(p, q, 0x1.674f8e46c208cp-114);
    p = __builtin_fma(p, q, 0x1.faaf2fa1c79e5p-106);
    p = __builtin_fma(p, q, 0x1.40a2dc2460523p-97);
    p = __builtin_fma(p, q, 0x1.69f7da8510bcdp-89);
    p = __builtin_fma(p, q, 0x1.69f7da8510bcdp-81);
    p = __builtin_fma(p, q, 0x1.3e22d70ef3b5fp-73);
    p = __builtin_fma(p, q, 0x1.e725594ee52e9p-66);
    p = __builtin_fma(p, q, 0x1.4197a7f5154bcp-58);
    p = __builtin_fma(p, q, 0x1.69ca9cf3b7f54p-51);
    p = __builtin_fma(p, q, 0x1.5601885e63e5dp-44);
    p = __builtin_fma(p, q, 0x1.0b313289be0b9p-37);
    p = __builtin_fma(p, q, 0x1.522a43f65486ap-31);
    p = __builtin_fma(p, q, 0x1.522a43f65486ap-25);
    p = __builtin_fma(p, q, 0x1.02e85c0898b71p-19);
    p = __builtin_fma(p, q, 0x1.23456789abcdfp-14);
    p = __builtin_fma(p, q, 0x1.c71c71c71c71cp-10);
    p = __builtin_fma(p, q, 0x1.c71c71c71c71cp-6);
    p = __builtin_fma(p, q, 0x1.0000000000000p-2);
    p = __builtin_fma(p, q, 0x1.0000000000000p+0);
    p = __builtin_fma(p, q, 0x1.0000000000000p+0);
    return p;
}
// I1(x) / (x/2), q = x^2/4 <= 25.
TRILANE_HD_CALL double trilane_bessel_i1_near(double q) {
    TRILANE_EXACT
    double p = 0x1.8b897bb42941ep-221;
    p = __builtin_fma(p, q, 0x1.673a5cd91f786p-211);
    p = __builtin_fma(p, q, 0x1.313415e2783ccp-201);
    p = __builtin_fma(p, q, 0x1.e4089ab52ab05p-192);
    p = __builtin_fma(p, q, 0x1.655a5a37c0843p-182);
    p = __builtin_fma(p, q, 0x1.e9f6e1b270f54p-173);
    p = __builtin_fma(p, q, 0x1.37033643c4b3bp-163);
    p = __builtin_fma(p, q, 0x1.6c77c3976a829p-154);
    p = __builtin_fma(p, q, 0x1.88f11edf3ed4cp-145);
    p = __builtin_fma(p, q, 0x1.84564b82a1184p-136);
    p = __builtin_fma(p, q, 0x1.5e69de22df5cep-127);
    p = __builtin_fma(p, q, 0x1.1f72d8389b3a3p-118);
    p = __builtin_fma(p, q, 0x1.aaae78f4066a6p-110);
    p = __builtin_fma(p, q, 0x1.1d028acb00491p-101);
    p = __builtin_fma(p, q, 0x1.54ad09e6a6575p-93);
    p = __builtin_fma(p, q, 0x1.69f7da8510bcdp-85);
    p = __builtin_fma(p, q, 0x1.53585cdcbfb10p-77);
    p = __builtin_fma(p, q, 0x1.165e7c2d153f3p-69);
    p = __builtin_fma(p, q, 0x1.8bce58901a35ep-62);
    p = __builtin_fma(p, q, 0x1.e2637bef9ff1ap-55);
    p = __builtin_fma(p, q, 0x1.f17697cf1cf13p-48);
    p = __builtin_fma(p, q, 0x1.ab81ea75fcdf4p-41);
    p = __builtin_fma(p, q, 0x1.2c9758daf5cd0p-34);
    p = __builtin_fma(p, q, 0x1.522a43f65486ap-28);
    p = __builtin_fma(p, q, 0x1.27e4fb7789f5cp-22);
    p = __builtin_fma(p, q, 0x1.845c8a0ce5129p-17);
    p = __builtin_fma(p, q, 0x1.6c16c16c16c17p-12);
    p = __builtin_fma(p, q, 0x1.c71c71c71c71cp-8);
    p = __builtin_fma(p, q, 0x1.5555555555555p-4);
    p = __builtin_fma(p, q, 0x1.0000000000000p-1);
    p = __builtin_fma(p, q, 0x1.0000000000000p+0);
    return p;
}
