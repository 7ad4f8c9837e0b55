// The float functions of the device library against libm in double, within the CUDA guide's bounds.
#include "cpu_math.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using bench::math::MathFunction;
using testing::Program;

// Launches the map of `f` on the pairs and gives what it found.
bench::math::Found run_pairs(Program& program, const MathFunction& f, const std::vector<float>& x,
                             const std::vector<float>& y) {
    std::vector<float> out(x.size());
    const int count = int(x.size());
    program.launch("map_" + std::string(f.name), {unsigned(count + 255) / 256}, {256}, x.data(),
                   y.data(), out.data(), count);
    bench::math::Found found;
    for (size_t i = 0; i < x.size(); ++i) found.add(f, x[i], y[i], out[i]);
    return found;
}

void expect_bounds(const MathFunction& f, const bench::math::Found& found) {
    EXPECT_EQ(found.wrong, 0u) << f.name << "(" << found.wrong_x << ", " << found.wrong_y << ") is "
                               << found.got << ", expected " << found.expected;
    EXPECT_GT(found.tried, 1000u);
}

class MathAccuracy : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        std::string text;
        for (const MathFunction& f : bench::math::float_functions())
            text += bench::math::kernel_text(f);
        program_ = new Program(text);
    }
    static void TearDownTestSuite() { delete program_; }
    static inline Program* program_ = nullptr;
};

// Every 65,003rd float, and all of the corners.
TEST_F(MathAccuracy, UnaryFunctionsOverAllMagnitudes) {
    std::vector<float> x = bench::math::corners();
    for (uint64_t bits = 0; bits < (1ull << 32); bits += 65003)
        x.push_back(bench::math::of_bits(uint32_t(bits)));
    for (const MathFunction& f : bench::math::float_functions())
        if (!f.binary) expect_bounds(f, run_pairs(*program_, f, x, x));
}

TEST_F(MathAccuracy, BinaryFunctionsOnCornersAndSamples) {
    std::vector<float> x, y;
    for (float a : bench::math::corners())
        for (float b : bench::math::corners()) x.push_back(a), y.push_back(b);
    uint64_t state = 1;
    auto random = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return uint32_t(state >> 32);
    };
    for (int i = 0; i < 20000; ++i) {
        x.push_back(bench::math::of_bits(random()));
        y.push_back(bench::math::of_bits(random()));
        x.push_back(float(random()) * 0x1p-28f);  // where powers are in range
        y.push_back(float(int32_t(random())) * 0x1p-26f);
    }
    for (const MathFunction& f : bench::math::float_functions())
        if (f.binary) expect_bounds(f, run_pairs(*program_, f, x, y));
}

// -use_fast_math takes the fast forms: expf(x) has the bits of __expf(x).
TEST(MathOptions, FastMathTakesTheFastForms) {
    Program program(R"(
extern "C" __global__ void f(float x, float* out) {
    out[0] = expf(x) - __expf(x);
    out[1] = sinf(x) - __sinf(x);
    out[2] = logf(x) - __logf(x);
    out[3] = powf(x, 1.7f) - __powf(x, 1.7f);
    out[4] = expf(x);
})",
                    {"-use_fast_math"});
    std::vector<float> out(5, 1.0f);
    program.launch("f", {1}, {1}, 20.3f, out.data());
    for (int i = 0; i < 4; ++i) EXPECT_EQ(out[size_t(i)], 0.0f) << i;
    EXPECT_NEAR(out[4] / std::exp(20.3f), 1.0f, 1e-5f);
}

}  // namespace
}  // namespace trilane::cpu
