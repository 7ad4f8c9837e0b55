// Texts of the kernels that bench/cpu_lanes measures, as a user writes them. Nothing but text, so
// that tests may compile them too. REAL is float unless the options say -DREAL=double.
#pragma once

namespace trilane::bench {

// One thread per element. add, saxpy, triad: (a, b, c, scale, n).
inline constexpr const char* kElementKernels = R"(
#ifndef REAL
#define REAL float
#endif
extern "C" __global__ void add(const REAL* a, const REAL* b, REAL* c, REAL scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void saxpy(const REAL* x, const REAL* unused, REAL* y, REAL scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = scale * x[i] + y[i];
}
extern "C" __global__ void triad(const REAL* a, const REAL* b, REAL* c, REAL scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + scale * b[i];
}
extern "C" __global__ void add_stride(const REAL* a, const REAL* b, REAL* c, REAL scale, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i] + b[i];
}
extern "C" __global__ void saxpy_stride(const REAL* x, const REAL* unused, REAL* y, REAL scale,
                                        int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = scale * x[i] + y[i];
}
extern "C" __global__ void triad_stride(const REAL* a, const REAL* b, REAL* c, REAL scale, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i] + scale * b[i];
}
)";

// One thread per element. exp_map, sin_map, pow_map: (x, p, y, n); only pow_map reads p.
inline constexpr const char* kMathKernels = R"(
extern "C" __global__ void exp_map(const float* x, const float* p, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = expf(x[i]);
}
extern "C" __global__ void sin_map(const float* x, const float* p, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(x[i]);
}
extern "C" __global__ void pow_map(const float* x, const float* p, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = powf(x[i], p[i]);
}
)";

// Square matrices, row by row: (a, b, c, n). tiled needs 16x16 blocks and n a multiple of 16.
inline constexpr const char* kMatmulKernels = R"(
extern "C" __global__ void naive(const float* a, const float* b, float* c, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int column = blockIdx.x * 16 + threadIdx.x;
    int row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
)";

// Blocks of 256. reduce_tree, reduce_shuffle: (x, partial sum of each block, n), grid-stride;
// block_scan: (x, inclusive sums within each block of 256, n).
inline constexpr const char* kReductionKernels = R"(
extern "C" __global__ void reduce_tree(const float* x, float* partial, int n) {
    __shared__ float sums[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}
extern "C" __global__ void reduce_shuffle(const float* x, float* partial, int n) {
    __shared__ float sums[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    sum = warp_sum(sum);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? sums[lane] : 0.0f;
        sum = warp_sum(sum);
        if (lane == 0) partial[blockIdx.x] = sum;
    }
}
extern "C" __global__ void block_scan(const float* x, float* y, int n) {
    __shared__ float sums[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        float other = threadIdx.x >= offset ? sums[threadIdx.x - offset] : 0.0f;
        __syncthreads();
        sums[threadIdx.x] += other;
        __syncthreads();
    }
    if (i < n) y[i] = sums[threadIdx.x];
}
)";

// Blocks of 256: (values, 256 counts, n). The counts are added to.
inline constexpr const char* kHistogramKernel = R"(
extern "C" __global__ void histogram(const unsigned char* values, unsigned int* counts, int n) {
    __shared__ unsigned int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[values[i]], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
)";

// mandelbrot: (counts, width, height, x0, y0, step, limit), one thread per pixel.
// early_exit: (x, steps, n): Newton's square root until it stands still, threads leave early.
inline constexpr const char* kDivergentKernels = R"(
extern "C" __global__ void mandelbrot(int* counts, int width, int height, float x0, float y0,
                                      float step, int limit) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float cx = x0 + column * step, cy = y0 + row * step;
    float x = 0, y = 0;
    int count = 0;
    while (count < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        ++count;
    }
    counts[row * width + column] = count;
}
extern "C" __global__ void early_exit(const float* x, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    if (value <= 0.0f) {
        steps[i] = -1;
        return;
    }
    float root = value;
    int step = 0;
    for (; step < 64; ++step) {
        float next = 0.5f * (root + value / root);
        if (fabsf(next - root) <= 1e-4f * next) break;
        root = next;
    }
    steps[i] = step;
}
)";

// nbody: (position and mass, acceleration, n), one thread per body.
inline constexpr const char* kNbodyKernel = R"(
extern "C" __global__ void nbody(const float4* bodies, float4* acceleration, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 self = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; ++j) {
        float4 other = bodies[j];
        float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
        float square = dx * dx + dy * dy + dz * dz + 1e-4f;
        float inverse = 1.0f / sqrtf(square);
        float force = other.w * inverse * inverse * inverse;
        ax += force * dx;
        ay += force * dy;
        az += force * dz;
    }
    acceleration[i] = make_float4(ax, ay, az, 0.0f);
}
)";

// black_scholes: (spot, strike, years, call, put, rate, volatility, n), one thread per option.
inline constexpr const char* kBlackScholesKernel = R"(
__device__ float normal_cdf(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * expf(-0.5f * d * d) *
                 (k * (0.31938153f +
                       k * (-0.356563782f +
                            k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}
extern "C" __global__ void black_scholes(const float* spot, const float* strike,
                                         const float* years, float* call, float* put, float rate,
                                         float volatility, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = spot[i], x = strike[i], t = years[i];
    float root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
    float discounted = x * expf(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
)";

// stencil: (in, out, width, height), inner points only. transpose: (in, out, n), blocks 32x8.
inline constexpr const char* kImageKernels = R"(
extern "C" __global__ void stencil(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    int i = y * width + x;
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}
extern "C" __global__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
)";

// One step of a bitonic sort of `n`, a power of two: (values, j, k), one thread per element.
inline constexpr const char* kBitonicKernel = R"(
extern "C" __global__ void bitonic_step(float* values, int j, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int other = i ^ j;
    if (other > i) {
        float a = values[i], b = values[other];
        bool ascending = (i & k) == 0;
        if (ascending ? a > b : a < b) {
            values[i] = b;
            values[other] = a;
        }
    }
}
)";

}  // namespace trilane::bench
