// Random kernels have the same results for every number of lanes as with one lane.
#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "core/env.h"
#include "core/testing/scoped_variable.h"
#include "devices/cpu/compile/front_end.h"
#include "devices/cpu/lower/lower.h"
#include "devices/cpu/testing.h"
#include "devices/cpu/testing/lane_buffers.h"
#include "devices/cpu/testing/lane_generator.h"

namespace trilane::cpu {
namespace {

using core::testing::ScopedVariable;
using testing::GeneratedKernel;
using testing::LaneResult;
using testing::Piece;
using testing::Program;

constexpr int kParts = 16;     // tests, so that ctest runs them side by side
constexpr int kTogether = 5;   // kernels in one module
constexpr int kPrograms = 64;  // by default; TRILANE_FUZZ asks for another number

// One way to run kernels.
struct Way {
    int lanes = 1;
    const char* features = "";  // TRILANE_CPU_FEATURES
};

// The ways that are compared with one lane and all features; TRILANE_FUZZ_LANES asks for one number
// of lanes. Of the smaller processors each group of kernels meets one, by its number.
std::vector<Way> ways_compared(size_t group) {
    static const std::vector<Way> small{{8, "avx2"}, {4, "sse2"},  {16, "avx2"},
                                        {1, "sse2"}, {32, "avx2"}, {8, "sse2"}};
    if (long long one = core::env_int("TRILANE_FUZZ_LANES", 0)) return {{int(one), ""}};
    return {{4, ""}, {8, ""}, {16, ""}, {32, ""}, small[group % small.size()]};
}

std::unique_ptr<Program> compile(const std::string& text, Way way) {
    const ScopedVariable lanes("TRILANE_LANES", std::to_string(way.lanes).c_str());
    const ScopedVariable features("TRILANE_CPU_FEATURES", way.features);
    return std::make_unique<Program>(text);
}

// Says which kernel it was if a launch does not come back.
class Watch {
  public:
    explicit Watch(std::string what) : what_(std::move(what)), thread_([this] { wait(); }) {}
    ~Watch() {
        {
            std::lock_guard lock(mutex_);
            done_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    Watch(const Watch&) = delete;

  private:
    void wait() {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, std::chrono::seconds(60), [this] { return done_; })) return;
        fmt::print(stderr, "no end after 60 s: {}\n", what_);
        std::abort();
    }
    std::string what_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    std::thread thread_;
};

std::string described(const GeneratedKernel& kernel, Way way) {
    const auto &g = kernel.grid, &b = kernel.block;
    return fmt::format(
        "lanes {} {}, grid ({}, {}, {}), block ({}, {}, {}), N {} n {} trips {} width {} "
        "height {}\n{}",
        way.lanes, way.features, g.x, g.y, g.z, b.x, b.y, b.z, kernel.elements, kernel.n,
        kernel.trips, kernel.width, kernel.height, text_of(kernel, "k"));
}

LaneResult run(Program& program, const std::string& name, const GeneratedKernel& kernel, Way way) {
    Watch watch(described(kernel, way));
    return launch_generated(program, name, kernel);
}

std::string message(const core::Error& error) { return error.message() + "\n" + error.detail(); }

// How the kernel's result differs from that with one lane. Nothing if it is no kernel at all.
std::optional<std::string> difference(const GeneratedKernel& kernel, Way way) {
    std::string text = testing::common_text() + text_of(kernel, "k");
    LaneResult expected;
    try {
        expected = run(*compile(text, {}), "k", kernel, {});
    } catch (const core::Error&) {
        return {};
    }
    if (!expected.error.empty()) return {};
    try {
        return expected.difference(run(*compile(text, way), "k", kernel, way));
    } catch (const core::Error& error) {
        return "does not compile: " + message(error);
    }
}

// Drops pieces, large ones first, as long as the results still differ.
class Minimizer {
  public:
    Minimizer(GeneratedKernel kernel, Way way) : kernel_(std::move(kernel)), way_(way) {}

    GeneratedKernel run() {
        for (uint32_t* size : {&kernel_.grid.z, &kernel_.grid.y, &kernel_.grid.x}) {
            uint32_t before = *size;
            *size = 1;
            if (before != 1 && !difference(kernel_, way_)) *size = before;
        }
        for (bool smaller = true; smaller && !late();) smaller = drop_some(kernel_.root);
        return kernel_;
    }

  private:
    bool late() const { return std::chrono::steady_clock::now() > until_; }

    bool drop_some(Piece& parent) {
        bool smaller = false;
        for (size_t i = parent.body.size(); i-- > 0 && !late();) {
            if (!parent.body[i].fixed) {
                Piece dropped = std::move(parent.body[i]);
                parent.body.erase(parent.body.begin() + std::ptrdiff_t(i));
                if (difference(kernel_, way_)) {
                    smaller = true;
                    continue;
                }
                parent.body.insert(parent.body.begin() + std::ptrdiff_t(i), std::move(dropped));
            }
            smaller = drop_some(parent.body[i]) || smaller;
        }
        return smaller;
    }

    GeneratedKernel kernel_;
    Way way_;
    std::chrono::steady_clock::time_point until_ =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
};

void report(uint32_t seed, const GeneratedKernel& kernel, Way way, const std::string& what) {
    GeneratedKernel small = Minimizer(kernel, way).run();
    std::string of_small = difference(small, way).value_or("does not differ alone");
    ADD_FAILURE() << "seed " << seed << ": " << what << "\n"
                  << described(kernel, way) << "\nas small as it gets: " << of_small << "\n"
                  << described(small, way);
}

// A few kernels in one module.
class Group {
  public:
    explicit Group(std::vector<uint32_t> seeds) : seeds_(std::move(seeds)) {
        for (uint32_t seed : seeds_) {
            kernels_.push_back(testing::generate_kernel(seed));
            text_ += text_of(kernels_.back(), name(kernels_.size() - 1));
        }
        auto program = compile(text_, {});
        for (size_t k = 0; k < kernels_.size(); ++k) {
            expected_.push_back(run(*program, name(k), kernels_[k], {}));
            EXPECT_EQ(expected_.back().error, "") << seeds_[k] << "\n"
                                                  << described(kernels_[k], {});
        }
        differs_.resize(kernels_.size());
    }

    // The number of kernels that were right so far, and are not now.
    int compare(Way way) {
        std::unique_ptr<Program> program;
        try {
            program = compile(text_, way);
        } catch (const core::Error&) {
        }
        int differing = 0;
        for (size_t k = 0; k < kernels_.size(); ++k) {
            if (differs_[k]) continue;
            auto what = program ? expected_[k].difference(run(*program, name(k), kernels_[k], way))
                                : difference(kernels_[k], way);
            if (!what) continue;
            differs_[k] = true;
            ++differing;
            report(seeds_[k], kernels_[k], way, *what);
        }
        if (!program && differing == 0) ADD_FAILURE() << "does not compile together: " << text_;
        return differing;
    }

  private:
    static std::string name(size_t k) { return "k" + std::to_string(k); }

    std::vector<uint32_t> seeds_;
    std::vector<GeneratedKernel> kernels_;
    std::vector<LaneResult> expected_;
    std::vector<bool> differs_;
    std::string text_ = testing::common_text();
};

class LanePrograms : public ::testing::TestWithParam<int> {};

TEST_P(LanePrograms, AgreeWithOneLane) {
    const int programs = int(core::env_int("TRILANE_FUZZ", kPrograms));
    const auto first = uint32_t(core::env_int("TRILANE_FUZZ_SEED", 1));
    int differing = 0;
    std::vector<uint32_t> seeds;
    for (int p = GetParam(); p < programs && differing < 5; p += kParts) {
        seeds.push_back(first + uint32_t(p));
        if (seeds.size() < size_t(kTogether) && p + kParts < programs) continue;
        Group group(std::move(seeds));
        seeds.clear();
        for (Way way : ways_compared(size_t(p / (kParts * kTogether)) + size_t(GetParam())))
            differing += group.compare(way);
    }
}

INSTANTIATE_TEST_SUITE_P(All, LanePrograms, ::testing::Range(0, kParts));

// Without this the comparison could be of coroutines with coroutines.
TEST(LaneGenerator, KernelsWithBarriersAreCutInLanes) {
    int with_barriers = 0, in_regions = 0;
    for (uint32_t seed = 1; seed <= 60; ++seed) {
        std::string text = text_of(testing::generate_kernel(seed), "k");
        if (text.find("__syncthreads") == std::string::npos ||
            text.find("_sync(") != std::string::npos)
            continue;
        ++with_barriers;
        core::Program program;
        program.source = testing::common_text() + text;
        for (const LoweredKernel& kernel : lower(run_front_end(program, false), 8).kernels)
            in_regions += kernel.shape == BlockShape::Loop && kernel.lanes == 8;
    }
    EXPECT_GE(with_barriers, 10);
    EXPECT_GE(in_regions * 2, with_barriers);
}

// A row of elements guessed in a block other than the one that computes its index: the base was not
// kept there.
TEST(LanesOfText, BaseOfARowFromAnotherBlock) {
    constexpr const char* kText = R"(
__device__ __noinline__ int g(int a, int b) { int s = a; while (b & 7) { s += b; --b; } return s; }
extern "C" __global__ void f(const int* a, int* out) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < (t & 7); k += 2)
            if (!((t >> 1) & 1)) out[t] = g(a[t], blockIdx.x * 3 + 2);
})";
    const std::vector<int> a{5, 2, 7, -1, -5, 3, 0, 9};
    for (int lanes : {1, 4, 8}) {
        std::vector<int> out(8);
        compile(kText, {lanes, ""})->launch("f", {1}, {2, 2, 2}, a.data(), out.data());
        EXPECT_EQ(out, (std::vector<int>{0, 5, 0, 0, -2, 6, 0, 0})) << lanes;
    }
}

// `t + 1` for even t is `t | 1`: where lane 0 is off, t being odd there, that is not what the other
// lanes count from.
TEST(LanesOfText, BaseOfARowWhereLane0IsOff) {
    constexpr const char* kText = R"(
extern "C" __global__ void f(const int* a, int* out) {
    int t = threadIdx.x + blockDim.x * threadIdx.y;
    if (t % 2 == 0) out[t] = a[t + 1];
    if (t % 4 == 1) out[t] = a[t + 2] + a[t ^ 2];
})";
    constexpr int kRow = 11, kThreads = kRow * 5;
    std::vector<int> a(kThreads + 4), expected(kThreads);
    for (size_t i = 0; i < a.size(); ++i) a[i] = int(i) * 7 + 1;
    for (int t = 0; t < kThreads; ++t) {
        if (t % 2 == 0) expected[t] = a[t + 1];
        if (t % 4 == 1) expected[t] = a[t + 2] + a[t ^ 2];
    }
    for (int lanes : {1, 4, 8, 16, 32}) {
        std::vector<int> out(kThreads);
        compile(kText, {lanes, ""})->launch("f", {1}, {kRow, 5}, a.data(), out.data());
        EXPECT_EQ(out, expected) << lanes;
    }
}

// Each lane has arrays of its own: read and written by indices that differ, through pointers, by
// functions, with threads that return early.
constexpr const char* kPrivateArrays = R"(
__device__ __noinline__ int pick(const int* p, int k) { return p[k & 7]; }
__device__ __noinline__ void swap(short* p, int i, int j) { short x = p[i]; p[i] = p[j]; p[j] = x; }
struct Node { int left; short right; char tag; };
extern "C" __global__ void f(const int* a, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + threadIdx.y * 131;
    int own[8], sum = 0;
    short order[11];
    Node nodes[3];
    for (int k = 0; k < 8; ++k) own[k] = a[(i + k * 7) % n];
    for (int k = 0; k < 11; ++k) order[k] = (short)(k * i);
    for (int k = 0; k < 3; ++k) nodes[k] = {i + k, (short)(i * k), (char)k};
    if (i % 7 == 3) { out[i] = -1; return; }
    for (int k = 0; k < (i & 15); ++k) {
        int at = own[(k + i) & 7] & 7;
        own[at] ^= k * i;
        swap(order, k % 11, at);
        Node* node = nodes + at % 3;
        node->left += at;
        node->right = (short)(node->right - k);
        if (own[at] > 500) break;
        sum += pick(own, at + k) + order[(k * 5) % 11];
    }
    for (int k = 0; k < 3; ++k) sum = sum * 3 + nodes[k].left - nodes[k].right + nodes[k].tag;
    out[i] = sum;
})";

TEST(LanesOfText, PrivateArrays) {
    constexpr int kMost = 4096;
    std::vector<int> a(997);
    for (size_t i = 0; i < a.size(); ++i) a[i] = int(i * i * 31 % 1009) - 300;
    auto one = compile(kPrivateArrays, {1, ""});
    core::Program text;
    text.source = kPrivateArrays;
    EXPECT_EQ(lower(run_front_end(text, false), 8).kernels.at(0).lanes, 8u);
    for (int lanes : {4, 8, 16, 32}) {
        auto program = compile(kPrivateArrays, {lanes, ""});
        for (core::Dim3 block : {core::Dim3{1}, {7}, {33}, {64}, {13, 3}, {250}}) {
            std::vector<int> expected(kMost), out(kMost);
            one->launch("f", {3}, block, a.data(), expected.data(), int(a.size()));
            program->launch("f", {3}, block, a.data(), out.data(), int(a.size()));
            EXPECT_EQ(out, expected) << lanes << " lanes, block " << block.x << " x " << block.y;
        }
    }
}

// Functions that are called lane by lane take and give structures that hold arrays.
constexpr const char* kArraysByValue = R"(
struct Bag { char c; double d; short k[5]; };
struct Pairs { int pair[2][2]; };
__device__ __noinline__ Bag turned(Bag b) {
    Bag r = b;
    r.d = -b.d;
    r.c = b.c + 1;
    for (int i = 0; i < 5; ++i) r.k[i] = b.k[4 - i];
    return r;
}
__device__ __noinline__ Pairs crossed(Pairs p, bool flip) {
    if (!flip) return p;
    return {{{p.pair[1][1], p.pair[1][0]}, {p.pair[0][1], p.pair[0][0]}}};
}
extern "C" __global__ void f(const int* a, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = a[i % n];
    Bag b{(char)i, x * 0.5, {}};
    for (int k = 0; k < 5; ++k) b.k[k] = (short)(x >> k);
    if (i % 5 == 2) { out[i] = -1; return; }
    Bag r = turned(b);
    Pairs p = crossed({{{x, x + 1}, {x ^ i, i}}}, x & 1);
    out[i] = (int)r.d * 3 + r.c + r.k[0] * 7 - r.k[4] + p.pair[0][1] * 5 - p.pair[1][0];
})";

TEST(LanesOfText, ArraysByValue) {
    std::vector<int> a(97);
    for (size_t i = 0; i < a.size(); ++i) a[i] = int(i * i * 131 % 10007) - 900;
    auto one = compile(kArraysByValue, {1, ""});
    std::vector<int> expected(200);
    one->launch("f", {2}, {100}, a.data(), expected.data(), int(a.size()));
    for (int lanes : {4, 8, 16, 32}) {
        std::vector<int> out(200);
        compile(kArraysByValue, {lanes, ""})
            ->launch("f", {2}, {100}, a.data(), out.data(), int(a.size()));
        EXPECT_EQ(out, expected) << lanes << " lanes";
    }
}

// Arrays that would fill the stack if each of many lanes had one.
TEST(LanesOfText, LargePrivateArrays) {
    constexpr const char* kText = R"(
extern "C" __global__ void f(int* out) {
    int big[30000];
    for (int k = 0; k < 30000; ++k) big[k] = k * threadIdx.x;
    out[threadIdx.x] = big[(out[threadIdx.x] + 29999) % 30000] + big[threadIdx.x];
})";
    for (int lanes : {1, 8, 32}) {
        std::vector<int> out(40);
        compile(kText, {lanes, ""})->launch("f", {1}, {40}, out.data());
        for (int t = 0; t < 40; ++t) EXPECT_EQ(out[size_t(t)], 29999 * t + t * t) << lanes;
    }
}

TEST(LaneGenerator, SameTextForTheSameSeed) {
    std::string one = text_of(testing::generate_kernel(7), "k");
    EXPECT_EQ(one, text_of(testing::generate_kernel(7), "k"));
    EXPECT_NE(one, text_of(testing::generate_kernel(8), "k"));
}

// What the generator is there for does come up.
TEST(LaneGenerator, EveryFeatureComesUp) {
    std::string all;
    for (uint32_t seed = 1; seed <= 200; ++seed)
        all += text_of(testing::generate_kernel(seed), "k" + std::to_string(seed));
    for (const char* word : {"switch",
                             "goto ",
                             "do {",
                             "continue",
                             "break",
                             "return;",
                             "__syncthreads_count",
                             "__syncthreads_or",
                             "lane_xor",
                             "__match_any",
                             "__reduce_",
                             "__activemask",
                             "atomicCAS",
                             "atomicMin",
                             "while (atomicAdd",
                             "recursive",
                             "table",
                             "float4 x",
                             "s1.d[",
                             "la[",
                             "perm[",
                             "o8[",
                             "o64[",
                             "od[",
                             "+= threads",
                             "else {",
                             "__syncwarp",
                             "__shared__"})
        EXPECT_NE(all.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace trilane::cpu
