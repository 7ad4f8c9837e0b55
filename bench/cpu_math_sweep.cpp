// Sweeps the float functions of the cpu device: every input of the unary ones, samples and a grid
// of corners for the binary ones, against libm in double. Exits with 1 where a bound is broken.
//
// ninja cpu_math_sweep; build/dev/src/devices/cpu/cpu_math_sweep [--stride N] [--samples N]
//   [--only NAME] [--table FILE]
//   --stride N   every N-th float (default 1: all 2^32; a minute or two each)
//   --samples N  pairs of the binary functions (2^26)
//   --table FILE writes the table of docs/math-accuracy.md
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "core/error.h"
#include "cpu_math.h"
#include "devices/cpu/device.h"

namespace {

using namespace trilane;
using namespace trilane::bench::math;
using cpu::CpuDevice;

constexpr int kChunk = 1 << 16;

struct Options {
    uint64_t stride = 1, samples = 1ull << 26;
    std::string only, table;
};

Options parse(int count, char** words) {
    Options options;
    for (int i = 1; i < count; i += 2) {
        const std::string word = words[i];
        if (i + 1 >= count)
            core::throw_error(core::ErrorKind::InvalidArgument, "cpu_math_sweep: {} has no value",
                              word);
        if (word == "--stride")
            options.stride = std::max(1ull, std::strtoull(words[i + 1], nullptr, 0));
        else if (word == "--samples")
            options.samples = std::strtoull(words[i + 1], nullptr, 0);
        else if (word == "--only")
            options.only = words[i + 1];
        else if (word == "--table")
            options.table = words[i + 1];
        else
            core::throw_error(
                core::ErrorKind::InvalidArgument,
                "cpu_math_sweep: unknown option {}: see the first lines of its source", word);
    }
    return options;
}

// One function on the device, in chunks.
class Sweep {
  public:
    Sweep(CpuDevice& device, const MathFunction& function)
        : device_(device), function_(function), x_(kChunk), y_(kChunk), out_(kChunk) {
        core::Program program;
        program.source = kernel_text(function);
        module_ = device_.load(device_.compile(program));
        kernel_ = device_.function(module_, "map_" + std::string(function.name)).raw;
    }
    ~Sweep() { device_.unload(module_); }
    Sweep(const Sweep&) = delete;

    void all_floats(uint64_t stride) {
        for (uint64_t bits = 0; bits < (1ull << 32); bits += stride)
            add(of_bits(uint32_t(bits)), 0);
        flush();
    }
    void pairs(uint64_t samples) {
        for (float a : corners())
            for (float b : corners()) add(a, b);
        uint64_t state = 1;
        auto random = [&] {
            state = state * 6364136223846793005u + 1442695040888963407u;
            return uint32_t(state >> 32);
        };
        for (uint64_t i = 0; i < samples / 2; ++i) {
            add(of_bits(random()), of_bits(random()));
            // where powers are in range
            float base = float(random()) * 0x1p-28f;
            add(base, float(int32_t(random())) * 0x1p-26f);
        }
        flush();
    }
    const Found& found() const { return found_; }
    double nanoseconds() const { return busy_ * 1e9 / double(std::max<uint64_t>(1, found_.tried)); }

  private:
    void add(float x, float y) {
        x_[size_t(count_)] = x;
        y_[size_t(count_)] = y;
        if (++count_ == kChunk) flush();
    }
    void flush() {
        const float *x = x_.data(), *y = y_.data();
        float* out = out_.data();
        const void* pointers[] = {&x, &y, &out, &count_};
        core::LaunchParams params;
        params.function = kernel_;
        params.grid = {unsigned(count_ + 255) / 256};
        params.block = {256};
        params.arguments = const_cast<void* const*>(pointers);
        params.argument_count = 4;
        auto start = std::chrono::steady_clock::now();
        if (count_ > 0) device_.launch(params);
        busy_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        for (int i = 0; i < count_; ++i)
            found_.add(function_, x_[size_t(i)], y_[size_t(i)], out_[size_t(i)]);
        count_ = 0;
    }

    CpuDevice& device_;
    const MathFunction& function_;
    std::vector<float> x_, y_, out_;
    core::RawModule module_ = 0;
    core::RawFunction kernel_ = 0;
    int count_ = 0;
    double busy_ = 0;
    Found found_;
};

std::string table_row(const MathFunction& f, const Found& found) {
    char line[256];
    char bound[64];
    if (f.absolute != nullptr)
        std::snprintf(bound, sizeof bound, "see below; absolute 2^%.2f found",
                      std::log2(found.absolute));
    else if (f.ulps(0) != f.ulps(100))
        std::snprintf(bound, sizeof bound, "see below");
    else
        std::snprintf(bound, sizeof bound, "%g", f.ulps(0));
    std::snprintf(line, sizeof line, "| `%s` | %.0f | %.3f | %a%s | %s | %llu |\n", f.call,
                  found.ulps, found.error, double(found.x), f.binary ? " ..." : "", bound,
                  static_cast<unsigned long long>(found.tried));
    return line;
}

}  // namespace

int main(int count, char** words) {
    try {
        Options options = parse(count, words);
        CpuDevice device(0, nullptr);
        std::string table;
        bool good = true;
        for (const MathFunction& f : float_functions()) {
            if (!options.only.empty() && options.only != f.name) continue;
            Sweep sweep(device, f);
            f.binary ? sweep.pairs(options.samples) : sweep.all_floats(options.stride);
            const Found& found = sweep.found();
            table += table_row(f, found);
            std::printf("%-10s %4.0f ulp, error %.3f at %a, %a; absolute %.3g; %.2f ns\n", f.name,
                        found.ulps, found.error, double(found.x), double(found.y), found.absolute,
                        sweep.nanoseconds());
            if (found.wrong > 0) {
                good = false;
                std::printf("  beyond the bound %llu times, first at %a, %a: %a, expected %a\n",
                            static_cast<unsigned long long>(found.wrong), double(found.wrong_x),
                            double(found.wrong_y), double(found.got), double(found.expected));
            }
            std::fflush(stdout);
        }
        if (!options.table.empty()) {
            FILE* file = std::fopen(options.table.c_str(), "w");
            if (file == nullptr)
                core::throw_error(core::ErrorKind::InvalidArgument,
                                  "cpu_math_sweep: cannot write {}", options.table);
            std::fputs(table.c_str(), file);
            std::fclose(file);
        }
        return good ? 0 : 1;
    } catch (const core::Error& error) {
        std::fprintf(stderr, "%s\n%s\n", error.what(), error.detail().c_str());
        return 2;
    }
}
