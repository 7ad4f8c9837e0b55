// Hand-written C++: mathematics. Maps over libmvec's vectors; divergent loops as plain C++.
#include <cmath>

#include "reference.h"

#if defined(__x86_64__) && defined(__GLIBC__)
#include <immintrin.h>
#define HAS_LIBMVEC 1
#endif

namespace {

#ifdef HAS_LIBMVEC
#if defined(__AVX512F__)
using Floats = __m512;
extern "C" Floats _ZGVeN16v_expf(Floats);
extern "C" Floats _ZGVeN16v_sinf(Floats);
extern "C" Floats _ZGVeN16vv_powf(Floats, Floats);
constexpr auto kExp = _ZGVeN16v_expf, kSin = _ZGVeN16v_sinf;
constexpr auto kPow = _ZGVeN16vv_powf;
inline Floats load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Floats v) { _mm512_storeu_ps(p, v); }
#elif defined(__AVX2__)
using Floats = __m256;
extern "C" Floats _ZGVdN8v_expf(Floats);
extern "C" Floats _ZGVdN8v_sinf(Floats);
extern "C" Floats _ZGVdN8vv_powf(Floats, Floats);
constexpr auto kExp = _ZGVdN8v_expf, kSin = _ZGVdN8v_sinf;
constexpr auto kPow = _ZGVdN8vv_powf;
inline Floats load(const float* p) { return _mm256_loadu_ps(p); }
inline void store(float* p, Floats v) { _mm256_storeu_ps(p, v); }
#else
using Floats = __m128;
extern "C" Floats _ZGVbN4v_expf(Floats);
extern "C" Floats _ZGVbN4v_sinf(Floats);
extern "C" Floats _ZGVbN4vv_powf(Floats, Floats);
constexpr auto kExp = _ZGVbN4v_expf, kSin = _ZGVbN4v_sinf;
constexpr auto kPow = _ZGVbN4vv_powf;
inline Floats load(const float* p) { return _mm_loadu_ps(p); }
inline void store(float* p, Floats v) { _mm_storeu_ps(p, v); }
#endif
constexpr size_t kWidth = sizeof(Floats) / sizeof(float);
#endif

}  // namespace

namespace trilane::bench::reference {

#ifdef HAS_LIBMVEC
bool has_vector_math() { return true; }

void exp_map(const float* x, float* y, size_t begin, size_t end) {
    size_t i = begin;
    for (; i + kWidth <= end; i += kWidth) store(y + i, kExp(load(x + i)));
    for (; i < end; ++i) y[i] = std::exp(x[i]);
}

void sin_map(const float* x, float* y, size_t begin, size_t end) {
    size_t i = begin;
    for (; i + kWidth <= end; i += kWidth) store(y + i, kSin(load(x + i)));
    for (; i < end; ++i) y[i] = std::sin(x[i]);
}

void pow_map(const float* x, const float* p, float* y, size_t begin, size_t end) {
    size_t i = begin;
    for (; i + kWidth <= end; i += kWidth) store(y + i, kPow(load(x + i), load(p + i)));
    for (; i < end; ++i) y[i] = std::pow(x[i], p[i]);
}
#else
bool has_vector_math() { return false; }

void exp_map(const float* x, float* y, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) y[i] = std::exp(x[i]);
}

void sin_map(const float* x, float* y, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) y[i] = std::sin(x[i]);
}

void pow_map(const float* x, const float* p, float* y, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) y[i] = std::pow(x[i], p[i]);
}
#endif

void mandelbrot(int* counts, int width, float x0, float y0, float step, int limit, size_t row_begin,
                size_t row_end) {
    for (size_t row = row_begin; row < row_end; ++row) {
        for (int column = 0; column < width; ++column) {
            const float cx = x0 + float(column) * step, cy = y0 + float(row) * step;
            float x = 0, y = 0;
            int count = 0;
            while (count < limit && x * x + y * y <= 4.0f) {
                const float next = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = next;
                ++count;
            }
            counts[row * size_t(width) + size_t(column)] = count;
        }
    }
}

void early_exit(const float* x, int* steps, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
        const float value = x[i];
        if (value <= 0.0f) {
            steps[i] = -1;
            continue;
        }
        float root = value;
        int step = 0;
        for (; step < 64; ++step) {
            const float next = 0.5f * (root + value / root);
            if (std::fabs(next - root) <= 1e-4f * next) break;
            root = next;
        }
        steps[i] = step;
    }
}

void nbody(const Body* bodies, Body* acceleration, size_t n, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
        const Body self = bodies[i];
        float ax = 0, ay = 0, az = 0;
        for (size_t j = 0; j < n; ++j) {
            const Body other = bodies[j];
            const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
            const float square = dx * dx + dy * dy + dz * dz + 1e-4f;
            const float inverse = 1.0f / std::sqrt(square);
            const float force = other.w * inverse * inverse * inverse;
            ax += force * dx;
            ay += force * dy;
            az += force * dz;
        }
        acceleration[i] = {ax, ay, az, 0.0f};
    }
}

namespace {

float normal_cdf(float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
    const float tail =
        0.39894228f * std::exp(-0.5f * d * d) *
        (k * (0.31938153f +
              k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

}  // namespace

void black_scholes(const float* spot, const float* strike, const float* years, float* call,
                   float* put, float rate, float volatility, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
        const float s = spot[i], x = strike[i], t = years[i];
        const float root = std::sqrt(t);
        const float d1 =
            (std::log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        const float d2 = d1 - volatility * root;
        const float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
        const float discounted = x * std::exp(-rate * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}

}  // namespace trilane::bench::reference
