// Language features and failures of kernels, from source to result.
#include <cmath>
#include <numeric>
#include <thread>

#include "devices/cpu/run/print.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::ErrorKind;
using testing::error_of;
using testing::Program;
using testing::test_device;

TEST(KernelFeatures, StructsByValueAndThreeDimensions) {
    Program program(R"(
struct Box { float a[5]; int n; };
extern "C" __global__ void f(Box b, int* out, float4 v) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    unsigned nx = gridDim.x * blockDim.x, ny = gridDim.y * blockDim.y;
    b.n += x;
    b.a[x % 5] += 1;
    out[(z * ny + y) * nx + x] = b.n * 1000 + y * 100 + z * 10 + (int)(b.a[x % 5] + v.w);
})");
    struct Box {
        float a[5] = {0, 1, 2, 3, 4};
        int n = 7;
    } box;
    struct alignas(16) Float4 {
        float x = 0, y = 0, z = 0, w = 2;
    } v;
    std::vector<int> out(6 * 4 * 4, -1);
    program.launch("f", {2, 2, 2}, {3, 2, 2}, box, out.data(), v);
    for (int z = 0; z < 4; ++z)
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 6; ++x)
                EXPECT_EQ(out[(z * 4 + y) * 6 + x], (7 + x) * 1000 + y * 100 + z * 10 + x % 5 + 3);
}

TEST(KernelFeatures, RecursionAndThreadIndexInside) {
    Program program(R"(
__device__ int fib(int n) { return n < 2 ? n + (int)threadIdx.x * 0 : fib(n - 1) + fib(n - 2); }
__device__ int deep(int n) { return n == 0 ? (int)(threadIdx.x + blockIdx.x * blockDim.x) : 1 + deep(n - 1); }
extern "C" __global__ void f(int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fib(i % 12) * 1000 + deep(3);
}
extern "C" __global__ void g(int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    out[i] = fib(i % 12) * 1000 + deep(3);
})");
    for (const char* name : {"f", "g"}) {
        std::vector<int> out(64, -1);
        program.launch(name, {4}, {16}, out.data());
        int fib[12] = {0, 1};
        for (int i = 2; i < 12; ++i) fib[i] = fib[i - 1] + fib[i - 2];
        for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], fib[i % 12] * 1000 + i + 3);
    }
}

TEST(KernelFeatures, FunctionPointersAndVirtualFunctions) {
    Program program(R"(
typedef int (*op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int mul(int a, int b) { return a * b + threadIdx.x; }
__device__ op table[2] = {add, mul};
struct Base { __device__ virtual int value(int x) { return x; } };
struct Twice : Base { __device__ int value(int x) override { return 2 * x; } };
extern "C" __global__ void f(int* out, int which) {
    int i = threadIdx.x;
    Twice twice; Base base;
    Base* b = (i + which) % 2 ? (Base*)&twice : &base;
    out[i] = table[(i + which) % 2](i, 10) * 1000 + b->value(i);
})");
    std::vector<int> out(40, -1);
    program.launch("f", {1}, {40}, out.data(), 0);
    for (int i = 0; i < 40; ++i)
        EXPECT_EQ(out[i], (i % 2 ? i * 10 + i : i + 10) * 1000 + (i % 2 ? 2 * i : i));
}

TEST(KernelFeatures, GlobalsAreVisibleToTheHost) {
    Program program(R"(
__constant__ float factor[4] = {1, 2, 3, 4};
__device__ int counter = 5;
extern "C" __global__ void f(float* out) { out[threadIdx.x] = factor[threadIdx.x]; atomicAdd(&counter, 1); }
)");
    core::SymbolInfo factor = Program::device().global(program.module(), "factor");
    core::SymbolInfo counter = Program::device().global(program.module(), "counter");
    EXPECT_EQ(factor.nbytes, 16u);
    EXPECT_EQ(counter.nbytes, 4u);
    std::vector<float> out(4);
    program.launch("f", {1}, {4}, out.data());
    EXPECT_EQ(out, (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(*reinterpret_cast<int*>(counter.address), 9);
    std::vector<float> next{5, 6, 7, 8};
    Program::device().copy(core::CopyKind::HostToDevice, factor.address,
                           reinterpret_cast<core::DevicePtr>(next.data()), 16, 0, true);
    program.launch("f", {1}, {4}, out.data());
    EXPECT_EQ(out, next);
    ErrorKind kind = ErrorKind::Internal;
    error_of([&] { Program::device().global(program.module(), "nothing"); }, &kind);
    EXPECT_EQ(kind, ErrorKind::NotFound);
}

TEST(KernelFeatures, DynamicSharedMemory) {
    Program program(R"(
extern __shared__ double room[];
extern "C" __global__ void f(double* out) {
    __shared__ char odd[3];
    odd[threadIdx.x % 3] = 1;
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x] + odd[threadIdx.x % 3];
})");
    std::vector<double> out(128);
    program.launch_with("f", {1}, {128}, 1024, false, out.data());
    for (int i = 0; i < 128; ++i) EXPECT_EQ(out[i], 128 - i);
    EXPECT_EQ(program.function("f").attributes.shared_bytes, 3u);
    ErrorKind kind = ErrorKind::Internal;
    std::string text =
        error_of([&] { program.launch_with("f", {1}, {128}, 60000, false, out.data()); }, &kind);
    EXPECT_EQ(kind, ErrorKind::LaunchError) << text;
    Program::device().set_function_attribute(program.function("f").raw, 8, 65536);
    program.launch_with("f", {1}, {128}, 60000, false, out.data());
}

TEST(KernelFeatures, PrintfInOrderOfBlocks) {
    Program program(R"(
extern "C" __global__ void f(const char* name) {
    if (threadIdx.x == 0)
        printf("%s block %d of %u: %5.2f %lld %c %%\n", name, blockIdx.x, gridDim.x, 1.5f * blockIdx.x,
               1LL << 40, 'x');
})");
    test_device().printed.clear();
    const char* name = "hello";
    program.launch("f", {3}, {32}, name);
    EXPECT_EQ(test_device().printed,
              "hello block 0 of 3:  0.00 1099511627776 x %\n"
              "hello block 1 of 3:  1.50 1099511627776 x %\n"
              "hello block 2 of 3:  3.00 1099511627776 x %\n");
}

TEST(KernelFeatures, FormatRefusesWritesAndCapsWidths) {
    std::string out;
    int value = 3;
    int* pointer = &value;
    EXPECT_EQ(format_device_text(out, "a%nb", &pointer), -1);
    EXPECT_EQ(value, 3);
    out.clear();
    EXPECT_EQ(format_device_text(out, "%999999999d", &value), 1);
    EXPECT_EQ(out.size(), 4096u);
    out.clear();
    struct {
        int a = -1;
        int b = 300;
        double c = 0.1;
    } values;
    EXPECT_EQ(format_device_text(out, "%hhu %hd %.3e", &values), 3);
    EXPECT_EQ(out, "255 300 1.000e-01");
}

TEST(KernelFeatures, AssertAndTrapNameThePlace) {
    Program program(R"(
#line 40 "user.cu"
extern "C" __global__ void f(int n) { assert((int)(blockIdx.x * blockDim.x + threadIdx.x) < n); }
extern "C" __global__ void g(int n) { __syncthreads(); assert((int)threadIdx.y < n); }
extern "C" __global__ void h(int n) { if (threadIdx.x == n) __trap(); }
)");
    program.launch("f", {2}, {8}, 16);
    ErrorKind kind = ErrorKind::Internal;
    std::string text = error_of([&] { program.launch("f", {2}, {8}, 11); }, &kind);
    EXPECT_EQ(kind, ErrorKind::KernelFault);
    EXPECT_NE(text.find("user.cu:40"), std::string::npos) << text;
    EXPECT_NE(text.find("block (1,0,0), thread (3,0,0)"), std::string::npos) << text;
    text = error_of([&] { program.launch("g", {1}, {4, 4}, 2); });
    EXPECT_NE(text.find("thread (0,2,0)"), std::string::npos) << text;
    text = error_of([&] { program.launch("h", {1}, {8}, 5); });
    EXPECT_NE(text.find("trap in block (0,0,0), thread (5,0,0)"), std::string::npos) << text;
    program.launch("f", {1}, {8}, 16);  // the device goes on
}

TEST(KernelFeatures, FaultsBecomeErrors) {
    Program program(R"(
extern "C" __global__ void store(int* p, long long at) { p[at + threadIdx.x] = 1; }
extern "C" __global__ void synced(int* p, long long at) { __syncthreads(); p[at + threadIdx.x] = 1; }
__device__ int endless(int n) { int a[100]; a[n % 100] = n; return n < 0 ? 0 : endless(n + 1) + a[(n * 7) % 100]; }
extern "C" __global__ void deep(int* p, long long at) { p[0] = endless(0); }
)");
    std::vector<int> data(64);
    for (const char* name : {"store", "synced", "deep"}) {
        for (int round = 0; round < 3; ++round) {
            ErrorKind kind = ErrorKind::Internal;
            std::string text = error_of(
                [&] { program.launch(name, {500}, {64}, data.data(), int64_t{1} << 42); }, &kind);
            EXPECT_EQ(kind, ErrorKind::KernelFault) << name;
            EXPECT_NE(text.find("illegal memory access"), std::string::npos) << text;
            EXPECT_NE(text.find("TRILANE_CHECK=1"), std::string::npos) << text;
        }
    }
    program.launch("store", {1}, {64}, data.data(), int64_t{0});
    EXPECT_EQ(data[63], 1);
}

TEST(KernelFeatures, BarrierInRecursiveFunctionIsACompileError) {
    ErrorKind kind = ErrorKind::Internal;
    std::string text = error_of(
        [] {
            Program program(R"(
__device__ int walk(int n) { __syncthreads(); return n < 1 ? 0 : walk(n - 1) + 1; }
extern "C" __global__ void f(int* out) { *out = walk(3); })");
        },
        &kind);
    EXPECT_EQ(kind, ErrorKind::CompileError);
    EXPECT_NE(text.find("walk(int)"), std::string::npos) << text;
    EXPECT_NE(text.find("__syncthreads"), std::string::npos) << text;
}

TEST(KernelFeatures, AtomicsOfAllKinds) {
    Program program(R"(
extern "C" __global__ void f(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i[0], 1); atomicSub(&i[1], 2); atomicMax(&i[2], (int)t); atomicMin(&i[3], -(int)t);
    atomicInc(&u[0], 9); atomicDec(&u[1], 4); atomicXor(&u[2], t); atomicOr(&u[3], 1u << (t & 31));
    atomicAdd(&l[0], 1ull << 33); atomicMax(&l[1], (unsigned long long)t);
    atomicAdd(&f[0], 0.5f); atomicAdd(&d[0], 0.25);
    unsigned old = u[4], seen;
    do { seen = old; old = atomicCAS(&u[4], seen, seen + 3); } while (old != seen);
})");
    std::vector<int> i{0, 0, -1, 1};
    std::vector<unsigned> u{0, 0, 0, 0, 0};
    std::vector<unsigned long long> l{0, 0};
    std::vector<float> f{0};
    std::vector<double> d{0};
    program.launch("f", {10}, {100}, i.data(), u.data(), l.data(), f.data(), d.data());
    EXPECT_EQ(i, (std::vector<int>{1000, -2000, 999, -999}));
    unsigned x = 0;
    for (unsigned t = 0; t < 1000; ++t) x ^= t;
    EXPECT_EQ(u, (std::vector<unsigned>{0, 0, x, ~0u, 3000}));
    EXPECT_EQ(l[0], 1000ull << 33);
    EXPECT_EQ(l[1], 999u);
    EXPECT_EQ(f[0], 500.f);
    EXPECT_EQ(d[0], 250.);
}

TEST(KernelFeatures, LaunchConfigurationIsChecked) {
    Program program(R"(
extern "C" __global__ void __launch_bounds__(128) f(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; })");
    std::vector<int> p(2048);
    auto kind_of = [&](core::Dim3 grid, core::Dim3 block) {
        ErrorKind kind = ErrorKind::Internal;
        error_of([&] { program.launch("f", grid, block, p.data()); }, &kind);
        return kind;
    };
    EXPECT_EQ(kind_of({1}, {129}), ErrorKind::LaunchError);
    EXPECT_EQ(kind_of({1}, {0}), ErrorKind::LaunchError);
    EXPECT_EQ(kind_of({0}, {1}), ErrorKind::LaunchError);
    EXPECT_EQ(kind_of({1, 65536}, {1}), ErrorKind::LaunchError);
    EXPECT_EQ(kind_of({1}, {1, 1, 65}), ErrorKind::LaunchError);
    EXPECT_EQ(kind_of({1u << 30}, {2}), ErrorKind::NotSupported);
    EXPECT_EQ(error_of([&] { program.launch("f", {1}, {128}, p.data(), 3); }).empty(), false);
}

TEST(KernelFeatures, LaunchesFromSeveralThreads) {
    Program program(R"(
extern "C" __global__ void f(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int s[64];
    s[threadIdx.x] = i;
    __syncthreads();
    if (i < n) p[i] += s[63 - threadIdx.x];
})");
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            int n = 20000;
            core::RawStream stream = Program::device().create_stream(true, 0);
            core::FunctionInfo info = program.function("f");
            for (int round = 0; round < 20; ++round) {
                std::vector<int> p(n, 1);
                int* data = p.data();
                void* arguments[] = {&data, &n};
                core::LaunchParams params;
                params.function = info.raw;
                params.grid = {unsigned(n + 63) / 64};
                params.block = {64};
                params.stream = stream;
                params.arguments = arguments;
                params.argument_count = 2;
                Program::device().launch(params);
                for (int i = 0; i < n; ++i)
                    if (p[i] != 1 + i / 64 * 64 + 63 - i % 64) ++wrong;
            }
            Program::device().destroy_stream(stream);
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0);
}

TEST(KernelFeatures, EarlyExitAndLoops) {
    Program program(R"(
extern "C" __global__ void collatz(const int* in, int* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        long long v = in[i]; int steps = 0;
        while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; ++steps; if (steps > 1000) return; }
        out[i] = steps;
    }
})");
    int n = 1000;
    std::vector<int> in(n), out(n, -1);
    std::iota(in.begin(), in.end(), 1);
    program.launch("collatz", {3}, {32}, in.data(), out.data(), n);
    for (int i = 0; i < n; ++i) {
        long long v = in[i];
        int steps = 0;
        while (v != 1) {
            v = v & 1 ? 3 * v + 1 : v / 2;
            ++steps;
        }
        ASSERT_EQ(out[i], steps);
    }
}

TEST(KernelFeatures, FaultsWhileAnotherThreadCompiles) {
    Program program(R"(
extern "C" __global__ void f(int* p, long long at) { p[at + threadIdx.x] = 1; })");
    std::atomic<bool> stop{false};
    std::thread compiler([&] {
        for (int i = 0; !stop && i < 20; ++i)
            Program other("#define K " + std::to_string(i) + R"(
extern "C" __global__ void g(int* p) { p[threadIdx.x] = K; })");
    });
    std::vector<int> data(64);
    for (int round = 0; round < 50; ++round) {
        std::string text =
            error_of([&] { program.launch("f", {4}, {64}, data.data(), int64_t{1} << 42); });
        EXPECT_NE(text.find("illegal memory access"), std::string::npos) << text;
    }
    stop = true;
    compiler.join();
}

TEST(KernelFeatures, IndexVariablesAsValues) {
    Program program(R"(
__device__ int flat(dim3 size, uint3 at) { return (at.z * size.y + at.y) * size.x + at.x; }
extern "C" __global__ void f(int* out) {
    dim3 size = blockDim;
    uint3 at = threadIdx;
    out[flat(size, at)] = flat(blockDim, threadIdx) + flat(gridDim, blockIdx);
})");
    std::vector<int> out(24, -1);
    program.launch("f", {1}, {4, 3, 2}, out.data());
    for (int i = 0; i < 24; ++i) EXPECT_EQ(out[size_t(i)], i);
}

}  // namespace
}  // namespace trilane::cpu
