// Exchanges with the partner i ^ j: rows in a turned order, and what is none.
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "core/testing/scoped_variable.h"
#include "devices/cpu/compile/front_end.h"
#include "devices/cpu/lower/lower.h"
#include "devices/cpu/testing.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::Program;

constexpr int kElements = 4096;

std::unique_ptr<Program> compiled(const std::string& text, int lanes, const char* features = "") {
    const ScopedVariable asked("TRILANE_LANES", std::to_string(lanes).c_str());
    const ScopedVariable restricted("TRILANE_CPU_FEATURES", features);
    return std::make_unique<Program>(text);
}

template <typename T>
std::vector<T> numbers() {
    std::vector<T> result(kElements);
    for (int i = 0; i < kElements; ++i) result[size_t(i)] = T((i * 37 + 11) % 251);
    return result;
}

// `f(in, out, j, first)` of one type: every lane reads and writes what the host does.
// `partner` is its text as a function of i and j, `on` of i alone.
template <typename T, typename Partner, typename On>
void expect_exchange(const std::string& type, const std::string& partner_text, Partner partner,
                     const std::string& on_text, On on) {
    const std::string text = "extern \"C\" __global__ void f(const " + type + "* in, " + type +
                             "* out, int j, int first) {\n"
                             "int t = threadIdx.x + blockDim.x * threadIdx.y;\n"
                             "int i = first + t + blockDim.x * blockDim.y * blockIdx.x;\n"
                             "if (!(" +
                             on_text +
                             ")) return;\n"
                             "out[" +
                             partner_text + "] = in[" + partner_text + "] + in[i];\n}";
    const std::vector<T> in = numbers<T>();
    for (auto [lanes, features] :
         {std::pair{1, ""}, {4, ""}, {8, "avx2"}, {8, "sse2"}, {16, ""}, {16, "avx2"}, {32, ""}}) {
        auto program = compiled(text, lanes, features);
        for (core::Dim3 block : {core::Dim3{7}, {33}, {64}, {16, 16}, {48}, {5, 6}}) {
            for (int j : {0, 1, 2, 3, 5, 8, 15, 16, 17, 24, 32, 40, 64, 1000}) {
                for (int first : {0, 1, 16, 100}) {
                    std::vector<T> out(kElements), expected(kElements);
                    const int threads = int(block.x * block.y) * 3;
                    for (int i = first; i < first + threads; ++i)
                        if (on(i)) {
                            const auto other = size_t(partner(i, j));
                            expected[other] = T(in[other] + in[size_t(i)]);
                        }
                    program->launch("f", {3}, block, in.data(), out.data(), j, first);
                    ASSERT_TRUE(out == expected)
                        << text << "\n"
                        << lanes << " lanes " << features << ", block (" << block.x << ", "
                        << block.y << "), j " << j << ", first " << first;
                }
            }
        }
    }
}

bool all(int) { return true; }

TEST(TurnedRows, FloatsWithAllLanes) {
    expect_exchange<float>("float", "i ^ j", [](int i, int j) { return i ^ j; }, "true", all);
}

TEST(TurnedRows, EarlyLanesOff) {
    expect_exchange<int>(
        "int", "i ^ j", [](int i, int j) { return i ^ j; }, "i % 3 == 2",
        [](int i) { return i % 3 == 2; });
}

TEST(TurnedRows, OneOfEachPair) {
    expect_exchange<double>(
        "double", "j ^ i", [](int i, int j) { return i ^ j; }, "(i & 4) == 0",
        [](int i) { return (i & 4) == 0; });
}

TEST(TurnedRows, SmallElementsAndUnsignedIndices) {
    expect_exchange<unsigned char>(
        "unsigned char", "(unsigned)i ^ (unsigned)j", [](int i, int j) { return i ^ j; }, "i != 20",
        [](int i) { return i != 20; });
    expect_exchange<short>(
        "short", "(long long)i ^ (long long)j", [](int i, int j) { return i ^ j; }, "i > 5",
        [](int i) { return i > 5; });
}

TEST(TurnedRows, ConstantPartners) {
    for (int by : {1, 6, 31, 64})
        expect_exchange<float>(
            "float", "i ^ " + std::to_string(by), [by](int i, int) { return i ^ by; }, "i % 5 != 0",
            [](int i) { return i % 5 != 0; });
}

// Indices that are not partners of one row: other strides, other operations on top.
TEST(TurnedRows, OtherIndices) {
    expect_exchange<int>(
        "int", "((2 * i) ^ j)", [](int i, int j) { return (2 * i) ^ j; }, "true", all);
    expect_exchange<int>(
        "int", "((i ^ j) & 4095) ^ 1", [](int i, int j) { return ((i ^ j) & 4095) ^ 1; }, "true",
        all);
    expect_exchange<int>(
        "int", "3000 - i ^ j", [](int i, int j) { return (3000 - i) ^ j; }, "true", all);
}

// Negative numbers: the extension keeps the sign. Pointers into the middle of the array.
TEST(TurnedRows, NegativeIndices) {
    constexpr const char* kText = R"(
extern "C" __global__ void f(const int* in, int* out, int j) {
    int i = (int)threadIdx.x - 64 * (int)blockIdx.x;
    out[i ^ j] = in[i ^ j] * 2;
})";
    const std::vector<int> in = numbers<int>();
    for (int lanes : {1, 4, 8, 16, 32}) {
        auto program = compiled(kText, lanes);
        for (int j : {0, 1, 6, 32, 100, -1, -64}) {
            std::vector<int> out(kElements), expected(kElements);
            for (int block = 0; block < 4; ++block)
                for (int x = 0; x < 64; ++x) {
                    const auto at = size_t(2001 + ((x - 64 * block) ^ j));
                    expected[at] = in[at] * 2;
                }
            program->launch("f", {4}, {64}, in.data() + 2001, out.data() + 2001, j);
            EXPECT_TRUE(out == expected) << lanes << " lanes, j " << j;
        }
    }
}

// A whole sort, in shared memory and in blocks of a warp's size too.
TEST(TurnedRows, SortOfABlock) {
    constexpr const char* kText = R"(
extern "C" __global__ void f(int* values) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = values[t + blockIdx.x * blockDim.x];
    __syncthreads();
    for (int k = 2; k <= blockDim.x; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                int a = s[t], b = s[other];
                if (((t & k) == 0) == (a > b)) { s[t] = b; s[other] = a; }
            }
            __syncthreads();
        }
    values[t + blockIdx.x * blockDim.x] = s[t];
})";
    for (int lanes : {1, 4, 8, 16, 32}) {
        auto program = compiled(kText, lanes);
        for (unsigned block : {1u, 2u, 8u, 16u, 64u, 256u}) {
            std::vector<int> values(size_t(block) * 2);
            for (size_t i = 0; i < values.size(); ++i) values[i] = int(i * 7919 % 1009);
            std::vector<int> expected = values;
            for (auto first = expected.begin(); first != expected.end(); first += block)
                std::sort(first, first + block);
            program->launch("f", {2}, {block}, values.data());
            EXPECT_TRUE(values == expected) << lanes << " lanes, block of " << block;
        }
    }
}

}  // namespace
}  // namespace trilane::cpu
