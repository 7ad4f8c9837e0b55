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

}  // namespace
}  // namespace trilane::cpu
