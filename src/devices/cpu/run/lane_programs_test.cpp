// Random kernels have the same results for every number of lanes as with one lane.
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "core/env.h"
#include "core/testing/scoped_variable.h"
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

constexpr int kParts = 8;      // tests, so that ctest runs them side by side
constexpr int kTogether = 5;   // kernels in one module
constexpr int kPrograms = 96;  // by default; TRILANE_FUZZ asks for another number

// The lanes that are compared with one lane; TRILANE_FUZZ_LANES asks for one of them.
std::vector<int> lanes_compared() {
    if (long long one = core::env_int("TRILANE_FUZZ_LANES", 0)) return {int(one)};
    return {4, 8, 16, 32};
}

std::unique_ptr<Program> compile(const std::string& text, int lanes) {
    ScopedVariable asked("TRILANE_LANES", std::to_string(lanes).c_str());
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

std::string described(const GeneratedKernel& kernel, int lanes) {
    const auto &g = kernel.grid, &b = kernel.block;
    return fmt::format(
        "lanes {}, grid ({}, {}, {}), block ({}, {}, {}), N {} n {} trips {} width {} "
        "height {}\n{}",
        lanes, g.x, g.y, g.z, b.x, b.y, b.z, kernel.elements, kernel.n, kernel.trips, kernel.width,
        kernel.height, text_of(kernel, "k"));
}

LaneResult run(Program& program, const std::string& name, const GeneratedKernel& kernel,
               int lanes) {
    Watch watch(described(kernel, lanes));
    return launch_generated(program, name, kernel);
}

// How the kernel's result with `lanes` differs from that with one. Nothing if it does not compile.
std::optional<std::string> difference(const GeneratedKernel& kernel, int lanes) {
    std::string text = testing::common_text() + text_of(kernel, "k");
    try {
        auto one = compile(text, 1);
        LaneResult expected = run(*one, "k", kernel, 1);
        if (!expected.error.empty()) return {};
        auto many = compile(text, lanes);
        return expected.difference(run(*many, "k", kernel, lanes));
    } catch (const core::Error&) {
        return {};
    }
}

// Drops pieces, large ones first, as long as the results still differ.
class Minimizer {
  public:
    Minimizer(GeneratedKernel kernel, int lanes) : kernel_(std::move(kernel)), lanes_(lanes) {}

    GeneratedKernel run() {
        for (uint32_t* size : {&kernel_.grid.z, &kernel_.grid.y, &kernel_.grid.x}) {
            uint32_t before = *size;
            *size = 1;
            if (before != 1 && !difference(kernel_, lanes_)) *size = before;
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
                if (difference(kernel_, lanes_)) {
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
    int lanes_;
    std::chrono::steady_clock::time_point until_ =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
};

void report(uint32_t seed, const GeneratedKernel& kernel, int lanes, const std::string& what) {
    GeneratedKernel small = Minimizer(kernel, lanes).run();
    std::string of_small = difference(small, lanes).value_or("does not differ alone");
    ADD_FAILURE() << "seed " << seed << ": " << what << "\n"
                  << described(kernel, lanes) << "\nas small as it gets: " << of_small << "\n"
                  << described(small, lanes);
}

// Kernels of these seeds, at every number of lanes. Gives the number that differ.
int compare(const std::vector<uint32_t>& seeds) {
    std::vector<GeneratedKernel> kernels;
    std::vector<LaneResult> expected;
    std::string text = testing::common_text();
    auto name = [](size_t k) { return "k" + std::to_string(k); };
    for (uint32_t seed : seeds) {
        kernels.push_back(testing::generate_kernel(seed));
        text += text_of(kernels.back(), name(kernels.size() - 1));
    }
    auto program = compile(text, 1);
    for (size_t k = 0; k < kernels.size(); ++k) {
        expected.push_back(run(*program, name(k), kernels[k], 1));
        EXPECT_EQ(expected.back().error, "") << seeds[k] << "\n" << described(kernels[k], 1);
    }
    int differing = 0;
    std::vector<bool> seen(kernels.size());
    for (int lanes : lanes_compared()) {
        try {
            program = compile(text, lanes);
        } catch (const core::Error& error) {
            ADD_FAILURE() << "lanes " << lanes << " do not compile: " << error.message() << "\n"
                          << error.detail() << "\n"
                          << text;
            return differing + 1;
        }
        for (size_t k = 0; k < kernels.size(); ++k) {
            if (seen[k]) continue;
            LaneResult result = run(*program, name(k), kernels[k], lanes);
            if (auto what = expected[k].difference(result)) {
                seen[k] = true;
                ++differing;
                report(seeds[k], kernels[k], lanes, *what);
            }
        }
    }
    return differing;
}

class LanePrograms : public ::testing::TestWithParam<int> {};

TEST_P(LanePrograms, AgreeWithOneLane) {
    const int programs = int(core::env_int("TRILANE_FUZZ", kPrograms));
    const auto first = uint32_t(core::env_int("TRILANE_FUZZ_SEED", 1));
    int differing = 0;
    std::vector<uint32_t> seeds;
    for (int p = GetParam(); p < programs && differing < 5; p += kParts) {
        seeds.push_back(first + uint32_t(p));
        if (seeds.size() < size_t(kTogether) && p + kParts < programs) continue;
        differing += compare(seeds);
        seeds.clear();
    }
}

INSTANTIATE_TEST_SUITE_P(All, LanePrograms, ::testing::Range(0, kParts));

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
