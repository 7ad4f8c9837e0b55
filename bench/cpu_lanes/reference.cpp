// Hand-written C++: elements, matrices, sums, sort. What clang vectorises is left to clang.
#include "reference.h"

#include <algorithm>
#include <utility>

namespace trilane::bench::reference {

const char* compiler() {
#ifdef __clang__
    return "clang++ " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

template <typename Real>
void add(const Real* __restrict a, const Real* __restrict b, Real* __restrict c, size_t begin,
         size_t end) {
    for (size_t i = begin; i < end; ++i) c[i] = a[i] + b[i];
}
template void add(const float*, const float*, float*, size_t, size_t);
template void add(const double*, const double*, double*, size_t, size_t);

template <typename Real>
void saxpy(const Real* __restrict x, Real* __restrict y, Real scale, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) y[i] = scale * x[i] + y[i];
}
template void saxpy(const float*, float*, float, size_t, size_t);
template void saxpy(const double*, double*, double, size_t, size_t);

template <typename Real>
void triad(const Real* __restrict a, const Real* __restrict b, Real* __restrict c, Real scale,
           size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) c[i] = a[i] + scale * b[i];
}
template void triad(const float*, const float*, float*, float, size_t, size_t);
template void triad(const double*, const double*, double*, double, size_t, size_t);

void matmul_ikj(const float* __restrict a, const float* __restrict b, float* __restrict c, size_t n,
                size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
        std::fill_n(c + i * n, n, 0.0f);
        for (size_t k = 0; k < n; ++k) {
            const float factor = a[i * n + k];
            for (size_t j = 0; j < n; ++j) c[i * n + j] += factor * b[k * n + j];
        }
    }
}

// The kernel's algorithm: tiles of a and b copied to where they are near, then multiplied.
void matmul_tiled(const float* __restrict a, const float* __restrict b, float* __restrict c,
                  size_t n, size_t begin, size_t end) {
    constexpr size_t kTile = 16;
    for (size_t row = begin; row < end; row += kTile) {
        for (size_t column = 0; column < n; column += kTile) {
            float ta[kTile][kTile], tb[kTile][kTile], sums[kTile][kTile] = {};
            for (size_t t = 0; t < n; t += kTile) {
                for (size_t i = 0; i < kTile; ++i) {
                    std::copy_n(a + (row + i) * n + t, kTile, ta[i]);
                    std::copy_n(b + (t + i) * n + column, kTile, tb[i]);
                }
                for (size_t i = 0; i < kTile; ++i)
                    for (size_t k = 0; k < kTile; ++k)
                        for (size_t j = 0; j < kTile; ++j) sums[i][j] += ta[i][k] * tb[k][j];
            }
            for (size_t i = 0; i < kTile; ++i)
                std::copy_n(sums[i], kTile, c + (row + i) * n + column);
        }
    }
}

void stencil(const float* __restrict in, float* __restrict out, size_t width, size_t height,
             size_t begin, size_t end) {
    begin = std::max<size_t>(begin, 1);
    end = std::min(end, height - 1);
    for (size_t y = begin; y < end; ++y) {
        const float* line = in + y * width;
        float* target = out + y * width;
        for (size_t x = 1; x < width - 1; ++x)
            target[x] = 0.5f * line[x] +
                        0.125f * (line[x - 1] + line[x + 1] + line[x - width] + line[x + width]);
    }
}

// The kernel's algorithm: lines are read and written, never columns; the tile turns them.
void transpose(const float* __restrict in, float* __restrict out, size_t n, size_t begin,
               size_t end) {
    constexpr size_t kTile = 32;
    for (size_t y = begin; y < end; y += kTile) {
        for (size_t x = 0; x < n; x += kTile) {
            float tile[kTile][kTile + 1];
            for (size_t i = 0; i < kTile; ++i)
                for (size_t j = 0; j < kTile; ++j) tile[i][j] = in[(x + i) * n + y + j];
            for (size_t i = 0; i < kTile; ++i)
                for (size_t j = 0; j < kTile; ++j) out[(y + i) * n + x + j] = tile[j][i];
        }
    }
}

float sum(const float* x, size_t begin, size_t end) {
    constexpr size_t kParts = 128;
    float parts[kParts] = {};
    size_t i = begin;
    for (; i + kParts <= end; i += kParts)
        for (size_t j = 0; j < kParts; ++j) parts[j] += x[i + j];
    for (; i < end; ++i) parts[0] += x[i];
    for (size_t half = kParts / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; ++j) parts[j] += parts[j + half];
    return parts[0];
}

void block_scan(const float* __restrict x, float* __restrict y, size_t block, size_t begin,
                size_t end) {
    for (size_t first = begin; first < end; first += block) {
        float sum = 0;
        const size_t last = std::min(first + block, end);
        for (size_t i = first; i < last; ++i) y[i] = sum += x[i];
    }
}

// Four tables, so that equal neighbours do not wait for each other.
void histogram(const uint8_t* values, uint32_t* counts, size_t begin, size_t end) {
    uint32_t bins[4][256] = {};
    size_t i = begin;
    for (; i + 4 <= end; i += 4)
        for (size_t j = 0; j < 4; ++j) ++bins[j][values[i + j]];
    for (; i < end; ++i) ++bins[0][values[i]];
    for (size_t bin = 0; bin < 256; ++bin)
        counts[bin] += bins[0][bin] + bins[1][bin] + bins[2][bin] + bins[3][bin];
}

namespace {

void exchange(float* __restrict left, float* __restrict right, size_t count, bool ascending) {
    if (!ascending) std::swap(left, right);
    for (size_t i = 0; i < count; ++i) {
        const float a = left[i], b = right[i];
        left[i] = a > b ? b : a;
        right[i] = a > b ? a : b;
    }
}

// Steps of less than 16 elements: with vectors, the partner is a shuffle away.
using Floats = float __attribute__((vector_size(64), aligned(4)));
using Ints = int __attribute__((vector_size(64)));

template <int J>
void vector_step(float* values, size_t k, size_t begin, size_t end) {
    const Ints lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Ints lower = (lane & J) == 0;
    for (size_t i = begin; i < end; i += 16) {
        auto& place = *reinterpret_cast<Floats*>(values + i);
        const Floats a = place;
        const Floats b =
            __builtin_shufflevector(a, a, 0 ^ J, 1 ^ J, 2 ^ J, 3 ^ J, 4 ^ J, 5 ^ J, 6 ^ J, 7 ^ J,
                                    8 ^ J, 9 ^ J, 10 ^ J, 11 ^ J, 12 ^ J, 13 ^ J, 14 ^ J, 15 ^ J);
        const Ints ascending = ((lane + int(i)) & int(k)) == 0;
        const Floats low = a < b ? a : b, high = a < b ? b : a;
        place = (ascending == lower) ? low : high;
    }
}

}  // namespace

void bitonic_step(float* values, size_t j, size_t k, bool vectors, size_t begin, size_t end) {
    if (j < 16 && vectors) {
        auto* step = j == 8   ? vector_step<8>
                     : j == 4 ? vector_step<4>
                     : j == 2 ? vector_step<2>
                              : vector_step<1>;
        return step(values, k, begin, end);
    }
    if (j < 16) {
        for (size_t i = begin; i < end; ++i) {
            const size_t other = i ^ j;
            if (other < i) continue;
            const float low = std::min(values[i], values[other]);
            const float high = std::max(values[i], values[other]);
            const bool ascending = (i & k) == 0;
            values[i] = ascending ? low : high;
            values[other] = ascending ? high : low;
        }
        return;
    }
    // Pairs are runs of j elements, j apart; a run has one direction.
    for (size_t first = begin; first < end;) {
        const size_t next = std::min((first | (j - 1)) + 1, end);
        if ((first & j) == 0)
            exchange(values + first, values + first + j, next - first, (first & k) == 0);
        first = next;
    }
}

}  // namespace trilane::bench::reference
