// The cpu device beside hand-written C++: ratio = C++ time / Trilane time, 1 is the speed of C++.
//
// make bench-cpu [ARGS="--quick --only matmul"], or ninja -C build/dev cpu_lanes_bench and
// build/dev/src/devices/cpu/cpu_lanes_bench with
//   --threads N   on both sides (default 1)        --lanes N    TRILANE_LANES: 1 is the oracle,
//   --only TEXT   rows whose name holds the text                0 the choice of the lowering
//   --rounds N    timed rounds of each row (7)     --quick      smaller work, 3 rounds
//   --json FILE   the figures as JSON              --list       names of the rows
// Both sides run in turn in this process, on fresh inputs in each round; their outputs are compared
// in each round, and an error above the row's tolerance ends the program with 1 at the end.
// `ratio` is the median of the rounds' ratios, `fastest` that of the fastest rounds.
// TRILANE_DUMP_IR=1 shows what the lowering made.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "reference.h"
#include "works.h"

namespace {

using namespace trilane;
using namespace trilane::bench;

struct Options {
    int threads = 1, lanes = 0, rounds = 0;
    bool quick = false, list = false;
    std::string only, json;
};

Options parse(int count, char** words) {
    Options options;
    auto number = [&](int& i) {
        if (i + 1 >= count) core::throw_error(core::ErrorKind::InvalidArgument, "a number misses");
        return std::atoi(words[++i]);
    };
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--threads")
            options.threads = std::max(1, number(i));
        else if (word == "--lanes")
            options.lanes = number(i);
        else if (word == "--rounds")
            options.rounds = std::max(1, number(i));
        else if (word == "--quick")
            options.quick = true;
        else if (word == "--list")
            options.list = true;
        else if (word == "--only" && i + 1 < count)
            options.only = words[++i];
        else if (word == "--json" && i + 1 < count)
            options.json = words[++i];
        else
            core::throw_error(core::ErrorKind::InvalidArgument,
                              "cpu_lanes_bench: unknown option {}: see the first lines of main.cpp",
                              word);
    }
    if (options.rounds == 0) options.rounds = options.quick ? 3 : 7;
    return options;
}

struct Times {
    std::vector<double> ms;
    double least() const { return *std::min_element(ms.begin(), ms.end()); }
    double median() const {
        std::vector<double> sorted = ms;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

double time_ms(int repeats, const std::function<void()>& function) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) function();
    const auto stop = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(stop - start).count() / repeats;
}

struct Result {
    const Row* row;
    Times trilane, plain;
    double error = 0, tolerance = 0;
    std::string failure;  // what the device said, if it could not run
    // The median of the rounds' ratios: both sides of a round meet the same load of the machine.
    double ratio() const {
        Times ratios;
        for (size_t i = 0; i < plain.ms.size(); ++i)
            ratios.ms.push_back(plain.ms[i] / trilane.ms[i]);
        return ratios.median();
    }
    double least_ratio() const { return plain.least() / trilane.least(); }
    bool right() const { return failure.empty() && error <= tolerance; }
};

Result measure(Session& session, const Row& row, const Options& options) {
    Result result{&row, {}, {}, 0, 0, {}};
    try {
        Work work = row.make(session, options.quick ? 16 : 1);
        result.tolerance = work.tolerance;
        for (int round = -1; round < options.rounds; ++round) {  // -1 warms up
            work.refresh(uint64_t(round + 2) * 1000);
            const int repeats = round < 0 ? 1 : work.repeats;
            double ours = 0, plain = 0;
            if (round % 2 == 0) ours = time_ms(repeats, work.trilane);
            plain = time_ms(repeats, work.reference);
            if (round % 2 != 0) ours = time_ms(repeats, work.trilane);
            result.error = std::max(result.error, work.error());
            if (round < 0) continue;
            result.trilane.ms.push_back(ours);
            result.plain.ms.push_back(plain);
        }
    } catch (const core::Error& error) {
        result.failure = error.message();
    }
    return result;
}

void print(const Result& result) {
    const Row& row = *result.row;
    if (!result.failure.empty()) {
        std::printf("%-34s FAILED: %s\n", row.name.c_str(), result.failure.c_str());
        return;
    }
    const double ratio = result.ratio();
    const char* mark = row.goal == 0           ? "-"
                       : ratio >= row.goal     ? "goal"
                       : ratio >= row.at_least ? "pass"
                                               : "below";
    std::printf("%-34s %9.3f %9.3f %9.3f %9.3f %7.2f %7.2f %8.2f %6.2f  %-5s  %.1e (%.0e)%s\n",
                row.name.c_str(), result.trilane.least(), result.trilane.median(),
                result.plain.least(), result.plain.median(), ratio, result.least_ratio(),
                row.at_least, row.goal, mark, result.error, result.tolerance,
                result.right() ? "" : "  WRONG");
    std::fflush(stdout);
}

std::string json_numbers(const std::vector<double>& values) {
    std::string text = "[";
    for (double value : values) text += fmt::format("{}{:.4f}", text == "[" ? "" : ", ", value);
    return text + "]";
}

void write_json(const Options& options, const std::vector<Result>& results,
                const std::vector<CompileRow>& compiles) {
    std::ofstream file(options.json);
    file << fmt::format(
        "{{\n  \"threads\": {}, \"lanes\": {}, \"quick\": {},\n  \"reference\": \"{}\",\n"
        "  \"rows\": [",
        options.threads, options.lanes, options.quick, reference::compiler());
    const char* separator = "\n";
    for (const Result& result : results) {
        if (!result.failure.empty()) continue;
        file << separator
             << fmt::format(
                    "    {{\"work\": \"{}\", \"ratio\": {:.4f}, \"fastest\": {:.4f}, \"at_least\": "
                    "{}, \"goal\": {}, "
                    "\"error\": {:.3g}, \"tolerance\": {:.3g},\n     \"trilane_ms\": {},\n"
                    "     \"cpp_ms\": {}}}",
                    result.row->name, result.ratio(), result.least_ratio(), result.row->at_least,
                    result.row->goal, result.error, result.tolerance,
                    json_numbers(result.trilane.ms), json_numbers(result.plain.ms));
        separator = ",\n";
    }
    for (const CompileRow& row : compiles) {
        file << separator
             << fmt::format("    {{\"work\": \"{}\", \"at_most_ms\": {}, \"trilane_ms\": {}}}",
                            row.name, row.at_most, json_numbers(row.ms));
        separator = ",\n";
    }
    file << "\n  ]\n}\n";
}

bool chosen(const Options& options, const std::string& name) {
    return name.find(options.only) != std::string::npos;
}

std::vector<Row> all_rows() {
    std::vector<Row> rows;
    for (auto* part :
         {element_rows, matrix_rows, reduction_rows, divergent_rows, image_rows, math_rows}) {
        for (Row& row : part()) rows.push_back(std::move(row));
    }
    return rows;
}

// Runs the rows of compile times, with a cache of their own on disk.
std::vector<CompileRow> measure_compiles(Session& session, const Options& options) {
    std::vector<CompileRow> rows = compile_rows(session, 2 * options.rounds + 1);
    std::erase_if(rows, [&](const CompileRow& row) { return !chosen(options, row.name); });
    for (const CompileRow& row : rows) {
        const Times times{row.ms};
        std::printf("%-34s %9.3f %9.3f %46s %4.0f ms  %s\n", row.name.c_str(), times.least(),
                    times.median(), "at most", row.at_most,
                    times.median() <= row.at_most ? "pass" : "above");
    }
    return rows;
}

// A folder for the disk cache of this run, gone at the end.
class CacheFolder {
  public:
    CacheFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "cpu_lanes_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) return;
        path_ = name;
        setenv("TRILANE_CACHE_DIR", name.c_str(), 1);
        unsetenv("TRILANE_CACHE");
    }
    ~CacheFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    CacheFolder(const CacheFolder&) = delete;

  private:
    std::filesystem::path path_;
};

int run(const Options& options) {
    const std::vector<Row> rows = all_rows();
    if (options.list) {
        for (const Row& row : rows) std::printf("%s\n", row.name.c_str());
        std::printf("%s\n%s\n", kNewKernel, kCachedKernel);
        return 0;
    }
    // Before anything reads them.
    setenv("TRILANE_CPU_THREADS", std::to_string(options.threads).c_str(), 1);
    setenv("TRILANE_LANES", std::to_string(options.lanes).c_str(), 1);
    const CacheFolder folder;
    Session session(options.threads);
    std::printf("threads %d on both sides, lanes %s, %d rounds%s\nC++ by %s -O3 -march=native%s\n",
                options.threads,
                options.lanes == 0 ? "chosen" : std::to_string(options.lanes).c_str(),
                options.rounds, options.quick ? " (quick)" : "", reference::compiler(),
                reference::has_vector_math() ? ", maps by libmvec" : "");
    std::printf("%-34s %9s %9s %9s %9s %7s %7s %8s %6s  %-5s  %s\n", "work", "ms least", "median",
                "C++ least", "median", "ratio", "fastest", "at least", "goal", "",
                "error (tolerance)");
    std::vector<Result> results;
    bool right = true;
    for (const Row& row : rows) {
        if (!chosen(options, row.name)) continue;
        results.push_back(measure(session, row, options));
        print(results.back());
        right &= results.back().right();
    }
    std::vector<CompileRow> compiles;
    if (chosen(options, kNewKernel) || chosen(options, kCachedKernel))
        compiles = measure_compiles(session, options);
    if (!options.json.empty()) write_json(options, results, compiles);
    if (!right) std::printf("WRONG RESULTS: see above\n");
    return right ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    try {
        return run(parse(count, words));
    } catch (const core::Error& error) {
        std::fprintf(stderr, "%s\n%s\n", error.what(), error.detail().c_str());
        return 1;
    }
}
