// The cpu device against plain C++: vector add, launch cost, compile and reload times, barriers.
// Build: ninja cpu_bench; run: build/dev/src/devices/cpu/cpu_bench.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "core/error.h"
#include "cpu_reference.h"
#include "devices/cpu/device.h"
#include "devices/cpu/lower/lower.h"

namespace {

using namespace trilane;

double now_us() {
    return double(std::chrono::steady_clock::now().time_since_epoch().count()) * 1e-3;
}

// Median of `rounds` in microseconds.
double median_us(int rounds, const std::function<void()>& work) {
    work();
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
        double start = now_us();
        work();
        times.push_back(now_us() - start);
    }
    std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
    return times[size_t(rounds / 2)];
}

const char* kSource = R"(
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void add_stride(const float* a, const float* b, float* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i] + b[i];
}
extern "C" __global__ void empty() {}
extern "C" __global__ void barriers(float* c) {
    for (int i = 0; i < 100; ++i) { __syncthreads(); }
    c[threadIdx.x] = 1;
}
extern "C" __global__ void shuffles(int* c) {
    int v = threadIdx.x;
    for (int i = 0; i < 100; ++i) v += __shfl_xor_sync(0xffffffffu, v, 1 << (i & 3));
    c[threadIdx.x] = v;
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        ta[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
})";

class Bench {
  public:
    Bench() : device_(0, nullptr) {
        core::Program program;
        program.source = kSource;
        image_ = device_.compile(program);
        module_ = device_.load(image_);
    }

    void launch(const char* name, core::Dim3 grid, core::Dim3 block, std::vector<void*> arguments) {
        core::LaunchParams params;
        params.function = device_.function(module_, name).raw;
        params.grid = grid;
        params.block = block;
        params.arguments = arguments.data();
        params.argument_count = arguments.size();
        device_.launch(params);
    }

    void vector_add() {
        for (int n : {1 << 12, 1 << 16, 1 << 20, 1 << 24}) {
            std::vector<float> a(size_t(n), 1.f), b(size_t(n), 2.f), c(size_t(n), 0.f);
            float *pa = a.data(), *pb = b.data(), *pc = c.data();
            int rounds = n > (1 << 20) ? 21 : 201;
            double plain = median_us(rounds, [&] { bench::add(pa, pb, pc, n); });
            std::vector<void*> arguments{&pa, &pb, &pc, &n};
            unsigned grid = unsigned(n + 255) / 256;
            double ours = median_us(rounds, [&] { launch("add", {grid}, {256}, arguments); });
            double strided =
                median_us(rounds, [&] { launch("add_stride", {64}, {256}, arguments); });
            std::printf(
                "vector add %9d: C++ %9.2f us, kernel %9.2f us, speed %.2f of C++; "
                "grid-stride %9.2f us (%.2f)\n",
                n, plain, ours, plain / ours, strided, plain / strided);
        }
    }

    void launches() {
        core::LaunchParams params;
        params.function = device_.function(module_, "empty").raw;
        params.grid = {1};
        params.block = {32};
        constexpr int kMany = 100000;
        double start = now_us();
        for (int i = 0; i < kMany; ++i) device_.launch(params);
        std::printf("launch of one empty block: %.0f ns\n", (now_us() - start) / kMany * 1e3);
        std::vector<float> out(256);
        float* pointer = out.data();
        double barriers = median_us(51, [&] { launch("barriers", {1}, {256}, {&pointer}); });
        std::printf("barrier: %.1f ns per thread\n", barriers * 1e3 / 256 / 100);
        double shuffles = median_us(51, [&] { launch("shuffles", {1}, {256}, {&pointer}); });
        std::printf("shuffle: %.1f ns per thread\n", shuffles * 1e3 / 256 / 100);
    }

    void matmul() {
        int n = 512;
        std::vector<float> a(size_t(n) * size_t(n), 1.f), b = a, c = a;
        float *pa = a.data(), *pb = b.data(), *pc = c.data();
        double plain = median_us(5, [&] { bench::matmul(pa, pb, pc, n); });
        double ours = median_us(5, [&] {
            launch("matmul", {unsigned(n) / 16, unsigned(n) / 16}, {16, 16}, {&pa, &pb, &pc, &n});
        });
        std::printf("tiled matmul 512: C++ (i-j-k) %.1f ms, kernel %.1f ms\n", plain * 1e-3,
                    ours * 1e-3);
    }

    void compile() {
        int serial = 0;
        double first = median_us(11, [&] {
            core::Program program;
            program.source = "#define K " + std::to_string(serial++) + R"(
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i] + K;
})";
            image_of_one_ = device_.compile(program);
        });
        cpu::LowerTimes times = cpu::last_lower_times();
        std::printf(
            "compile vector add: %.1f ms (prepare %.1f, shape %.1f, optimise %.1f, "
            "code %.1f)\n",
            first * 1e-3, double(times.prepare_ns) * 1e-6, double(times.shape_ns) * 1e-6,
            double(times.optimize_ns) * 1e-6, double(times.codegen_ns) * 1e-6);
        double load = median_us(21, [&] { device_.unload(device_.load(image_of_one_)); });
        std::printf("load and unload of its image (%zu bytes): %.2f ms\n",
                    image_of_one_.bytes.size(), load * 1e-3);
    }

  private:
    cpu::CpuDevice device_;
    core::Image image_, image_of_one_;
    core::RawModule module_ = 0;
};

}  // namespace

int main() {
    try {
        Bench bench;
        bench.launches();
        bench.vector_add();
        bench.matmul();
        bench.compile();
    } catch (const core::Error& error) {
        std::fprintf(stderr, "%s\n%s\n", error.what(), error.detail().c_str());
        return 1;
    }
    return 0;
}
