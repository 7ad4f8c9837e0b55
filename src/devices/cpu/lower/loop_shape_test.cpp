// Kernels without synchronisation.
#include <numeric>

#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using testing::Program;

TEST(LoopShape, VectorAdd) {
    Program program(R"(
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
})");
    for (int n : {0, 1, 5, 255, 256, 257, 1000, 100000}) {
        std::vector<float> a(n + 1), b(n + 1), c(n + 1, -1);
        std::iota(a.begin(), a.end(), 0.f);
        std::iota(b.begin(), b.end(), 100.f);
        unsigned grid = std::max(1, (n + 255) / 256 + 1);
        program.launch("add", {grid}, {256}, a.data(), b.data(), c.data(), n);
        for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i << " of " << n;
        EXPECT_EQ(c[n], -1);
    }
}

TEST(LoopShape, GridStrideLoopsOfAllTypes) {
    Program program(R"(
extern "C" __global__ void f_int(const int* a, int* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] += a[i] * 3;
}
extern "C" __global__ void f_unsigned(const int* a, int* c, int n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (unsigned)n; i += blockDim.x * gridDim.x) c[i] += a[i] * 3;
}
extern "C" __global__ void f_size(const int* a, int* c, int n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) c[i] += a[i] * 3;
}
extern "C" __global__ void f_long(const int* a, int* c, int n) {
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (long long)n; i += (long long)gridDim.x * blockDim.x) c[i] += a[i] * 3;
}
extern "C" __global__ void f_range(const int* a, int* c, int n) {
    long long start = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
    long long length = start < n ? (n - start + step - 1) / step : 0;
    for (long long k = 0; k < length; ++k) { long long i = start + k * step; c[i] += a[i] * 3; }
}
extern "C" __global__ void f_inner(const int* a, int* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n - 1; i += gridDim.x * blockDim.x) {
        int sum = 0;
        for (int k = 0; k < i % 5; ++k) sum += a[i];
        if (sum >= 0) c[i] += a[i] * 3;
    }
}
extern "C" __global__ void f_two(const int* a, int* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] += a[i];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] += 2 * a[i];
}
extern "C" __global__ void f_sum(const int* a, int* c, int n) {
    int seen = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { seen += a[i]; c[i] += a[i] * 3; }
    if (n > 0) atomicAdd(&c[n], seen);
}
)");
    for (const char* name :
         {"f_int", "f_unsigned", "f_size", "f_long", "f_range", "f_inner", "f_two", "f_sum"}) {
        for (int n : {0, 1, 31, 64, 100, 1000, 5000}) {
            for (unsigned block : {1u, 32u, 100u}) {
                std::vector<int> a(n + 1), c(n + 1, 7);
                std::iota(a.begin(), a.end(), 1);
                program.launch(name, {3}, {block}, a.data(), c.data(), n);
                int sum = 0;
                for (int i = 0; i < n; ++i) {
                    ASSERT_EQ(c[i], 7 + 3 * (i + 1)) << name << " " << i << " of " << n;
                    sum += i + 1;
                }
                EXPECT_EQ(c[n], std::string(name) == "f_sum" && n > 0 ? 7 + sum : 7);
            }
        }
    }
}

TEST(LoopShape, GuardsOfManyForms) {
    Program program(R"(
#define I (int)(blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void f0(int* c, int n, int m) { int i = I; if (i >= n) return; c[i] = i; }
extern "C" __global__ void f1(int* c, int n, int m) { int i = I; if (i < n && m > 0) c[i] = i; }
extern "C" __global__ void f2(int* c, int n, int m) { int i = I; if (!(n <= i || m <= 0)) c[i] = i; }
extern "C" __global__ void f3(int* c, int n, int m) { long long i = I; if (i < (long long)n && m > 0) c[i] = i; }
extern "C" __global__ void f4(int* c, int n, int m) { unsigned i = I; if (i < (unsigned)n && i % 2 == 0 && m > 0) c[i] = i; }
extern "C" __global__ void f5(int* c, int n, int m) { int i = I; if (i <= n - 1) if (threadIdx.x < 40) c[i] = i; }
extern "C" __global__ void f7(int* c, long long n, int m) { long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = i; }
extern "C" __global__ void f6(int* c, int n, int m) { int i = I; if (i < n) c[i] = i; else if (i == n) c[n + 1] = 5; }
)");
    for (int which = 0; which < 8; ++which)
        for (int n : {0, 1, 17, 64, 130})
            for (int m : {0, 1}) {
                std::vector<int> c(200, -1);
                if (which == 7)
                    program.launch("f7", {3}, {64}, c.data(), int64_t{n}, m);
                else
                    program.launch("f" + std::to_string(which), {3}, {64}, c.data(), n, m);
                for (int i = 0; i < 200; ++i) {
                    bool on = i < n && (m > 0 || which == 0 || which > 4);
                    if (which == 4) on = on && i % 2 == 0;
                    if (which == 5) on = on && i % 64 < 40;
                    int expected = on ? i : -1;
                    if (which == 6 && i == n + 1) expected = 5;
                    ASSERT_EQ(c[size_t(i)], expected) << which << " " << n << " " << m << " " << i;
                }
            }
}

TEST(LoopShape, PrivateArraysStayPrivate) {
    Program program(R"(
extern "C" __global__ void f(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int history[8];
    for (int k = 0; k < 8; ++k) history[k] = in[i] + k;
    int at = in[i] & 7;
    history[at] += 100;
    if (i < n) out[i] = history[(at + i) & 7] + history[i & 7];
})");
    std::vector<int> in(128), out(128, -1);
    for (int i = 0; i < 128; ++i) in[size_t(i)] = i * 37 % 101;
    program.launch("f", {2}, {64}, in.data(), out.data(), 128);
    for (int i = 0; i < 128; ++i) {
        int v = in[size_t(i)], at = v & 7;
        auto item = [&](int k) { return v + k + (k == at ? 100 : 0); };
        EXPECT_EQ(out[size_t(i)], item((at + i) & 7) + item(i & 7));
    }
}

}  // namespace
}  // namespace trilane::cpu
