// The same work as the kernels of kernels.h in hand-written C++, on the part [begin, end) of it.
// Compiled on its own, with clang 19 at -O3 -march=native where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trilane::bench::reference {

const char* compiler();  // name and version

// Elements.
template <typename Real>
void add(const Real* a, const Real* b, Real* c, size_t begin, size_t end);
template <typename Real>
void saxpy(const Real* x, Real* y, Real scale, size_t begin, size_t end);
template <typename Real>
void triad(const Real* a, const Real* b, Real* c, Real scale, size_t begin, size_t end);

// Vector forms of libmvec, called by name: 16, 8 or 4 floats by the machine.
bool has_vector_math();  // false: exp_map and the others are plain loops over libm
void exp_map(const float* x, float* y, size_t begin, size_t end);
void sin_map(const float* x, float* y, size_t begin, size_t end);
void pow_map(const float* x, const float* p, float* y, size_t begin, size_t end);

// Matrices, n by n: rows [begin, end).
void matmul_ikj(const float* a, const float* b, float* c, size_t n, size_t begin, size_t end);
void matmul_tiled(const float* a, const float* b, float* c, size_t n, size_t begin, size_t end);
void stencil(const float* in, float* out, size_t width, size_t height, size_t begin, size_t end);
void transpose(const float* in, float* out, size_t n, size_t begin, size_t end);

// Sums.
float sum(const float* x, size_t begin, size_t end);
void block_scan(const float* x, float* y, size_t block, size_t begin, size_t end);  // of elements
void histogram(const uint8_t* values, uint32_t* counts, size_t begin, size_t end);  // adds

// A step of a bitonic sort: pairs whose lower element is in [begin, end), multiples of 16.
// `vectors`: small steps are written with vectors, not as a plain loop.
void bitonic_step(float* values, size_t j, size_t k, bool vectors, size_t begin, size_t end);

// Plain C++ as one writes it for one element at a time.
void mandelbrot(int* counts, int width, float x0, float y0, float step, int limit, size_t row_begin,
                size_t row_end);
void early_exit(const float* x, int* steps, size_t begin, size_t end);
struct Body {
    float x, y, z, w;
};
void nbody(const Body* bodies, Body* acceleration, size_t n, size_t begin, size_t end);
void black_scholes(const float* spot, const float* strike, const float* years, float* call,
                   float* put, float rate, float volatility, size_t begin, size_t end);

}  // namespace trilane::bench::reference
