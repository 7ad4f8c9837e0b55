// The rows of the table: what is run on both sides, how the results are compared, what is aimed at.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "session.h"

namespace trilane::bench {

// Both sides of one row, with the memory they work on.
struct Work {
    // New inputs for both sides, outputs poisoned. Not timed.
    std::function<void(uint64_t seed)> refresh;
    // One run. What they start from is what refresh() left: each runs `repeats` times per round.
    std::function<void()> trilane, reference;
    // How far the results are apart after a round.
    std::function<double()> error;
    double tolerance = 0;
    int repeats = 1;  // runs per timed round, for short work
};

struct Row {
    std::string name;
    double at_least = 0, goal = 0;  // C++ time / Trilane time; 0: no aim, to know
    // Compiles and allocates. `shrink`: for --quick, divides the work where it is long.
    std::function<Work(Session& session, int shrink)> make;
};

std::vector<Row> element_rows();    // vector add, SAXPY, triad
std::vector<Row> math_rows();       // expf, sinf, powf
std::vector<Row> matrix_rows();     // matmul
std::vector<Row> reduction_rows();  // sums, scan, histogram
std::vector<Row> divergent_rows();  // Mandelbrot, early exit, n-body, Black-Scholes
std::vector<Row> image_rows();      // stencil, transpose, bitonic sort

// Times of compiling and of the disk cache, which have no C++ beside them.
inline constexpr const char* kNewKernel = "new small kernel, warm process";
inline constexpr const char* kCachedKernel = "small kernel from the disk cache";
struct CompileRow {
    std::string name;
    std::vector<double> ms;
    double at_most = 0;
};
std::vector<CompileRow> compile_rows(Session& session, int rounds);

}  // namespace trilane::bench
