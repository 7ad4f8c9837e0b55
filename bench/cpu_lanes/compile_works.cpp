// Rows of compile times: a new small kernel in a warm process, and a kernel from the disk cache.
#include <unistd.h>

#include <chrono>

#include "core/compile_cache.h"
#include "core/error.h"
#include "works.h"

namespace trilane::bench {

namespace {

core::Program small_kernel(int serial) {
    core::Program program;
    program.source = fmt::format(R"(
extern "C" __global__ void scale_{0}(const float* x, float* y, float factor, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i] + {0}.0f;
}})",
                                 serial);
    return program;
}

// From text to a function that can be launched, in milliseconds.
double time_to_function(Session& session, core::CompileCache& cache, int serial) {
    const core::Program program = small_kernel(serial);
    const std::string name = fmt::format("scale_{}", serial);
    const auto start = std::chrono::steady_clock::now();
    const core::ImagePtr image = cache.get(program);
    const core::RawModule module = session.device.load(*image);
    session.device.function(module, name);
    const auto stop = std::chrono::steady_clock::now();
    session.device.unload(module);
    return std::chrono::duration<double, std::milli>(stop - start).count();
}

}  // namespace

std::vector<CompileRow> compile_rows(Session& session, int rounds) {
    CompileRow fresh{kNewKernel, {}, 35};
    CompileRow cached{kCachedKernel, {}, 1};
    core::CompileCache cache(session.device);
    // The first compiles of a process also start the compiler. Serials differ between runs, so
    // that nothing of an earlier run is found.
    const int first = int(getpid() % 100000) * 100;
    for (int i = 0; i < rounds + 2; ++i) {
        const double ms = time_to_function(session, cache, first + i);
        if (i >= 2) fresh.ms.push_back(ms);
    }
    cache.clear_memory();
    const uint64_t hits = cache.statistics().disk_hits;
    for (int i = 0; i < rounds; ++i)
        cached.ms.push_back(time_to_function(session, cache, first + 2 + i));
    if (cache.statistics().disk_hits - hits != uint64_t(rounds))
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "compile_rows: the disk cache gave {} of {} kernels: {}",
                          cache.statistics().disk_hits - hits, rounds, core::cache_state());
    return {std::move(fresh), std::move(cached)};
}

}  // namespace trilane::bench
