// Accuracy of the cpu device's math functions: what is measured, against what, and the bounds of
// the CUDA C++ programming guide. Used by cpu_math_sweep and by a test.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace trilane::bench::math {

// ulps: how far a result may lie from the correctly rounded one, in units of the last place, as the
// guide counts. absolute: where the error itself decides; 0 where it does not. Both at x.
struct MathFunction {
    const char* name;
    const char* call;  // of x, and of y where there is one
    double (*reference)(double x, double y);
    double (*ulps)(double x);
    double (*absolute)(double x) = nullptr;
    bool binary = false;
};

// The value within [-2, 2) half turns is exact, so that the libm only sees small arguments.
inline double reference_sinpi(double x) {
    if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
    if (x == std::trunc(x)) return std::copysign(0.0, x);
    double y = x - 2 * std::rint(x / 2), q = std::rint(2 * y), r = M_PI * (y - q / 2);
    int k = int(q) & 3;
    return k == 0 ? std::sin(r) : k == 1 ? std::cos(r) : k == 2 ? -std::sin(r) : -std::cos(r);
}
inline double reference_cospi(double x) {
    if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
    double y = x - 2 * std::rint(x / 2), q = std::rint(2 * y), r = M_PI * (y - q / 2);
    int k = int(q) & 3;
    if (r == 0 && (k & 1) != 0) return 0.0;
    return k == 0 ? std::cos(r) : k == 1 ? -std::sin(r) : k == 2 ? -std::cos(r) : std::sin(r);
}

template <int limit>
double at_most(double) {
    return limit;
}
inline bool near_one(double x) { return x >= 0.5 && x <= 2.0; }
inline bool one_turn(double x) { return std::fabs(x) <= M_PI; }

#define TRILANE_UNARY(name, reference, bound) \
    {#name, #name "(x)", [](double x, double) -> double { return reference; }, at_most<bound>}

inline std::vector<MathFunction> float_functions() {
    return {
        TRILANE_UNARY(expf, std::exp(x), 2),
        TRILANE_UNARY(exp2f, std::exp2(x), 2),
        TRILANE_UNARY(exp10f, std::pow(10.0, x), 2),
        TRILANE_UNARY(expm1f, std::expm1(x), 1),
        TRILANE_UNARY(logf, std::log(x), 1),
        TRILANE_UNARY(log2f, std::log2(x), 1),
        TRILANE_UNARY(log10f, std::log10(x), 2),
        TRILANE_UNARY(log1pf, std::log1p(x), 1),
        TRILANE_UNARY(sinf, std::sin(x), 2),
        TRILANE_UNARY(cosf, std::cos(x), 2),
        TRILANE_UNARY(tanf, std::tan(x), 4),
        TRILANE_UNARY(sinpif, reference_sinpi(x), 1),
        TRILANE_UNARY(cospif, reference_cospi(x), 1),
        TRILANE_UNARY(asinf, std::asin(x), 2),
        TRILANE_UNARY(acosf, std::acos(x), 2),
        TRILANE_UNARY(atanf, std::atan(x), 2),
        TRILANE_UNARY(sinhf, std::sinh(x), 3),
        TRILANE_UNARY(coshf, std::cosh(x), 2),
        TRILANE_UNARY(tanhf, std::tanh(x), 2),
        TRILANE_UNARY(asinhf, std::asinh(x), 3),
        TRILANE_UNARY(acoshf, std::acosh(x), 4),
        TRILANE_UNARY(atanhf, std::atanh(x), 3),
        TRILANE_UNARY(sqrtf, std::sqrt(x), 0),
        TRILANE_UNARY(rsqrtf, 1 / std::sqrt(x), 2),
        TRILANE_UNARY(cbrtf, std::cbrt(x), 1),
        TRILANE_UNARY(rcbrtf, 1 / std::cbrt(x), 1),
        TRILANE_UNARY(erff, std::erf(x), 2),
        TRILANE_UNARY(erfcf, std::erfc(x), 4),
        TRILANE_UNARY(tgammaf, std::tgamma(x), 5),
        {"powf", "powf(x, y)", [](double x, double y) { return std::pow(x, y); }, at_most<4>,
         nullptr, true},
        {"atan2f", "atan2f(x, y)", [](double x, double y) { return std::atan2(x, y); }, at_most<3>,
         nullptr, true},
        {"hypotf", "hypotf(x, y)", [](double x, double y) { return std::hypot(x, y); }, at_most<3>,
         nullptr, true},
        {"__expf", "__expf(x)", [](double x, double) { return std::exp(x); },
         [](double x) { return 2 + std::floor(std::fabs(1.173 * x)); }},
        {"__exp10f", "__exp10f(x)", [](double x, double) { return std::pow(10.0, x); },
         [](double x) { return 2 + std::floor(std::fabs(2.97 * x)); }},
        {"__logf", "__logf(x)", [](double x, double) { return std::log(x); },
         [](double x) { return near_one(x) ? 0.0 : 3.0; },
         [](double x) { return near_one(x) ? std::exp2(-21.41) : 0.0; }},
        {"__log2f", "__log2f(x)", [](double x, double) { return std::log2(x); },
         [](double x) { return near_one(x) ? 0.0 : 2.0; },
         [](double x) { return near_one(x) ? std::exp2(-22.0) : 0.0; }},
        {"__log10f", "__log10f(x)", [](double x, double) { return std::log10(x); },
         [](double x) { return near_one(x) ? 0.0 : 3.0; },
         [](double x) { return near_one(x) ? std::exp2(-24.0) : 0.0; }},
        // Beyond one turn the guide gives no figure; here the error stays below 2^-18.
        {"__sinf", "__sinf(x)", [](double x, double) { return std::sin(x); }, at_most<0>,
         [](double x) { return std::exp2(one_turn(x) ? -21.41 : -18.0); }},
        {"__cosf", "__cosf(x)", [](double x, double) { return std::cos(x); }, at_most<0>,
         [](double x) { return std::exp2(one_turn(x) ? -21.19 : -18.0); }},
    };
}
#undef TRILANE_UNARY

// The kernel of all functions: `name` of x[i] (and y[i]) for the i below n.
inline std::string kernel_text(const MathFunction& f) {
    std::string name(f.name);
    return "extern \"C\" __global__ void map_" + name +
           "(const float* a, const float* b, float* c, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i >= n) return;\n"
           "    float x = a[i], y = b[i];\n"
           "    c[i] = " +
           f.call + ";\n}\n";
}

inline float of_bits(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
}
// The place of a float in the order of all floats; both zeros are 0.
inline int64_t rank(float x) {
    int32_t bits;
    std::memcpy(&bits, &x, 4);
    return bits < 0 ? -int64_t(bits & 0x7fffffff) : int64_t(bits);
}

// What a run of one function has shown so far.
struct Found {
    uint64_t tried = 0, wrong = 0;  // wrong: beyond the bound, or another special value
    double ulps = 0;                // from the correctly rounded value, an integer
    double error = 0;               // from the exact value, in ulp of it
    double absolute = 0;            // the largest error where `absolute` decides
    float x = 0, y = 0;             // where `error` was found
    float wrong_x = 0, wrong_y = 0, got = 0, expected = 0;

    void add(const MathFunction& f, float px, float py, float value) {
        double exact = f.reference(double(px), double(py));
        float rounded = float(exact);
        ++tried;
        if (std::isnan(rounded) || std::isnan(value) || rounded == value) {
            bool same = std::isnan(rounded)
                            ? std::isnan(value)
                            : rounded == value && std::signbit(rounded) == std::signbit(value);
            if (!same) blame(px, py, value, rounded);
            if (!same || std::isnan(rounded) || std::isinf(rounded)) return;
        }
        double distance = double(std::llabs(rank(value) - rank(rounded)));
        double off = std::fabs(double(value) - exact);
        double tolerated = f.absolute ? f.absolute(double(px)) : 0.0;
        if (distance > f.ulps(double(px)) && !(off <= tolerated)) blame(px, py, value, rounded);
        if (tolerated > 0 && (f.binary || one_turn(double(px)))) absolute = std::max(absolute, off);
        if (tolerated > 0) return;
        ulps = std::max(ulps, distance);
        if (std::isinf(value) || std::isinf(rounded)) return;
        int exponent;
        std::frexp(exact, &exponent);
        double here = std::ldexp(off, 24 - std::max(exponent, -125));
        if (here > error) error = here, x = px, y = py;
    }
    void blame(float px, float py, float value, float rounded) {
        if (wrong++ == 0) wrong_x = px, wrong_y = py, got = value, expected = rounded;
    }
};

// Values where functions change their mind; a grid of pairs for the binary ones.
inline std::vector<float> corners() {
    std::vector<float> values;
    for (uint32_t bits :
         {0x0u,        0x1u,        0x2u,        0x7fffffu,   0x800000u,   0x800001u,   0x3effffffu,
          0x3f000000u, 0x3f000001u, 0x3f3504f3u, 0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3fb504f3u,
          0x3fc90fdbu, 0x40000000u, 0x40400000u, 0x40490fdbu, 0x40c00000u, 0x41200000u, 0x42000000u,
          0x421a209bu, 0x42b17217u, 0x42b17218u, 0x42b2d4fcu, 0x42cff1b5u, 0x42fe0000u, 0x43000000u,
          0x43150000u, 0x47ce4780u, 0x47ce4781u, 0x4affffffu, 0x4b000001u, 0x4b7fffffu, 0x4b800000u,
          0x4b800001u, 0x4c000000u, 0x5f000000u, 0x7f7ffffeu, 0x7f7fffffu, 0x7f800000u, 0x7f800001u,
          0x7fc00000u, 0x7fffffffu, 0x33000000u, 0x2f800000u, 0x1e3ce508u, 0x6f79be45u, 0x3ec1f40eu,
          0x3fc00000u, 0x40200000u})
        for (uint32_t sign : {0u, 0x80000000u}) values.push_back(of_bits(bits | sign));
    return values;
}

}  // namespace trilane::bench::math
