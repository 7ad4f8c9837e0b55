// The kernels of bench/cpu_lanes at every number of lanes: the same bits as one lane.
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>

#include "core/env.h"
#include "cpu_lanes/kernels.h"
#include "devices/cpu/compile/front_end.h"
#include "devices/cpu/lower/lower.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {

namespace {

using testing::Program;

class Lanes {
  public:
    explicit Lanes(int lanes) {
        setenv("TRILANE_LANES", std::to_string(lanes).c_str(), 1);
        core::reset_env_for_tests();
    }
    ~Lanes() {
        unsetenv("TRILANE_LANES");
        core::reset_env_for_tests();
    }
};

template <typename T>
std::vector<T> values(size_t count, double low, double high, uint32_t seed) {
    std::vector<T> result(count);
    for (T& value : result) {
        seed = seed * 1664525u + 1013904223u;
        value = T(low + (high - low) * double(seed >> 8) * 0x1p-24);
    }
    return result;
}

template <typename T>
std::string bytes_of(const std::vector<T>& data) {
    return std::string(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}

struct Case {
    const char* kernel;
    const char* source;
    std::vector<std::string> options;
    // Launches the kernel and gives what it wrote.
    std::function<std::string(Program& program, const char* kernel)> run;
};

template <typename Real>
std::string run_elements(Program& program, const char* kernel) {
    const int n = 1003;  // no multiple of any W; the last block is not full
    auto a = values<Real>(n, -1, 1, 1), b = values<Real>(n, -1, 1, 2), c = values<Real>(n, 0, 1, 3);
    program.launch(kernel, {n / 96 + 1}, {96}, a.data(), b.data(), c.data(), Real(1.5), n);
    return bytes_of(c);
}

std::string run_math(Program& program, const char* kernel) {
    const int n = 1003;
    auto x = values<float>(n, 0.01, 80, 1), p = values<float>(n, -3, 3, 2);
    std::vector<float> y(n);
    program.launch(kernel, {n / 96 + 1}, {96}, x.data(), p.data(), y.data(), n);
    return bytes_of(y);
}

std::string run_matmul(Program& program, const char* kernel) {
    const int n = 48;
    auto a = values<float>(n * n, -1, 1, 1), b = values<float>(n * n, -1, 1, 2);
    std::vector<float> c(n * n);
    program.launch(kernel, {3, 3}, {16, 16}, a.data(), b.data(), c.data(), n);
    return bytes_of(c);
}

// Blocks of a shape that no W divides; threads beyond the matrix leave.
std::string run_odd_matmul(Program& program, const char* kernel) {
    const int n = 37;
    auto a = values<float>(n * n, -1, 1, 1), b = values<float>(n * n, -1, 1, 2);
    std::vector<float> c(n * n);
    program.launch(kernel, {6, 8}, {7, 5}, a.data(), b.data(), c.data(), n);
    return bytes_of(c);
}

std::string run_reduction(Program& program, const char* kernel) {
    const int n = 5003;
    auto x = values<float>(n, 0, 1, 1);
    std::vector<float> partial(3, -1.0f);
    program.launch(kernel, {3}, {256}, x.data(), partial.data(), n);
    return bytes_of(partial);
}

std::string run_scan(Program& program, const char* kernel) {
    const int n = 1003;
    auto x = values<float>(n, 0, 1, 1);
    std::vector<float> y(n);
    program.launch(kernel, {4}, {256}, x.data(), y.data(), n);
    return bytes_of(y);
}

std::string run_histogram(Program& program, const char* kernel) {
    const int n = 5003;
    auto data = values<unsigned char>(n, 0, 40, 1);  // lanes of a vector meet in a bin
    std::vector<unsigned> counts(256, 7);
    program.launch(kernel, {3}, {256}, data.data(), counts.data(), n);
    return bytes_of(counts);
}

std::string run_mandelbrot(Program& program, const char* kernel) {
    const int width = 61, height = 43;
    std::vector<int> counts(width * height);
    program.launch(kernel, {4, 3}, {16, 16}, counts.data(), width, height, -2.0f, -1.25f,
                   2.5f / width, 100);
    return bytes_of(counts);
}

std::string run_early_exit(Program& program, const char* kernel) {
    const int n = 1003;
    auto x = values<float>(n, -100, 1000, 1);
    std::vector<int> steps(n);
    program.launch(kernel, {n / 96 + 1}, {96}, x.data(), steps.data(), n);
    return bytes_of(steps);
}

std::string run_nbody(Program& program, const char* kernel) {
    const int n = 131;
    auto bodies = values<float>(4 * n, 0, 1, 1);
    std::vector<float> acceleration(4 * n);
    program.launch(kernel, {3}, {64}, bodies.data(), acceleration.data(), n);
    return bytes_of(acceleration);
}

std::string run_black_scholes(Program& program, const char* kernel) {
    const int n = 1003;
    auto spot = values<float>(n, 5, 30, 1), strike = values<float>(n, 1, 100, 2);
    auto years = values<float>(n, 0.25, 10, 3);
    std::vector<float> call(n), put(n);
    program.launch(kernel, {n / 96 + 1}, {96}, spot.data(), strike.data(), years.data(),
                   call.data(), put.data(), 0.02f, 0.3f, n);
    return bytes_of(call) + bytes_of(put);
}

std::string run_stencil(Program& program, const char* kernel) {
    const int width = 75, height = 41;
    auto in = values<float>(width * height, -1, 1, 1);
    std::vector<float> out(width * height);
    program.launch(kernel, {3, 6}, {32, 8}, in.data(), out.data(), width, height);
    return bytes_of(out);
}

std::string run_transpose(Program& program, const char* kernel) {
    const int n = 96;
    auto in = values<float>(n * n, -1, 1, 1);
    std::vector<float> out(n * n);
    program.launch(kernel, {3, 3}, {32, 8}, in.data(), out.data(), n);
    return bytes_of(out);
}

std::string run_bitonic(Program& program, const char* kernel) {
    const int n = 1024;
    auto data = values<float>(n, -1, 1, 1);
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) program.launch(kernel, {4}, {256}, data.data(), j, k);
    EXPECT_TRUE(std::is_sorted(data.begin(), data.end()));
    return bytes_of(data);
}

std::vector<Case> all_cases() {
    using namespace trilane::bench;
    std::vector<Case> cases;
    for (const char* kernel :
         {"add", "saxpy", "triad", "add_stride", "saxpy_stride", "triad_stride"}) {
        cases.push_back({kernel, kElementKernels, {}, run_elements<float>});
        cases.push_back({kernel, kElementKernels, {"-DREAL=double"}, run_elements<double>});
    }
    for (const char* kernel : {"exp_map", "sin_map", "pow_map"})
        cases.push_back({kernel, kMathKernels, {}, run_math});
    cases.push_back({"naive", kMatmulKernels, {}, run_matmul});
    cases.push_back({"naive", kMatmulKernels, {}, run_odd_matmul});
    cases.push_back({"tiled", kMatmulKernels, {}, run_matmul});
    cases.push_back({"reduce_tree", kReductionKernels, {}, run_reduction});
    cases.push_back({"reduce_shuffle", kReductionKernels, {}, run_reduction});
    cases.push_back({"block_scan", kReductionKernels, {}, run_scan});
    cases.push_back({"histogram", kHistogramKernel, {}, run_histogram});
    cases.push_back({"mandelbrot", kDivergentKernels, {}, run_mandelbrot});
    cases.push_back({"early_exit", kDivergentKernels, {}, run_early_exit});
    cases.push_back({"nbody", kNbodyKernel, {}, run_nbody});
    cases.push_back({"black_scholes", kBlackScholesKernel, {}, run_black_scholes});
    cases.push_back({"stencil", kImageKernels, {}, run_stencil});
    cases.push_back({"transpose", kImageKernels, {}, run_transpose});
    cases.push_back({"bitonic_step", kBitonicKernel, {}, run_bitonic});
    return cases;
}

// Each text is compiled once per number of lanes.
class Programs {
  public:
    explicit Programs(int lanes) : lanes_(lanes) {}
    std::string run(const Case& test) {
        const auto key = std::make_pair(test.source, test.options);
        if (programs_.count(key) == 0) {
            Lanes asked(lanes_);
            programs_[key] = std::make_unique<Program>(test.source, test.options);
        }
        return test.run(*programs_[key], test.kernel);
    }

  private:
    int lanes_;
    std::map<std::pair<const char*, std::vector<std::string>>, std::unique_ptr<Program>> programs_;
};

class BenchKernels : public ::testing::TestWithParam<int> {};

TEST_P(BenchKernels, SameBitsAsOneLane) {
    Programs oracle(1), lanes(GetParam());
    for (const Case& test : all_cases()) {
        const std::string expected = oracle.run(test);
        ASSERT_NE(expected.find_first_not_of('\0'), std::string::npos) << test.kernel;
        EXPECT_TRUE(lanes.run(test) == expected)
            << test.kernel << (test.options.empty() ? "" : " " + test.options[0])
            << " differs from one lane";
    }
}

// Without this the comparison above could be of one lane with one lane.
TEST(BenchKernelsInLanes, KernelsWithoutWarpOperationsHaveThem) {
    using namespace trilane::bench;
    for (const char* source : {kElementKernels, kDivergentKernels, kNbodyKernel, kBitonicKernel,
                               kMatmulKernels, kHistogramKernel, kImageKernels}) {
        core::Program program;
        program.source = source;
        for (const LoweredKernel& kernel : lower(run_front_end(program, false), 8).kernels)
            EXPECT_EQ(kernel.lanes, 8u) << kernel.description.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Lanes, BenchKernels, ::testing::Values(0, 4, 8, 16, 32));

}  // namespace

}  // namespace trilane::cpu
