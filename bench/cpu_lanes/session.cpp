// Device, launches, threads, inputs and comparison of bench/cpu_lanes.
#include "session.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trilane::bench {

namespace {

// Whether `ready` became true while looking, which lasts as long as waking a thread does.
template <typename Ready>
bool soon(const Ready& ready) {
    for (int i = 0; i < 2000; ++i) {
        if (ready()) return true;
        __builtin_ia32_pause();
    }
    return false;
}

}  // namespace

Team::Team(int threads) : threads_(threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

Team::~Team() {
    {
        std::lock_guard lock(mutex_);
        leaving_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void Team::run(size_t count, size_t grain, const Part& part) {
    {
        std::lock_guard lock(mutex_);
        count_ = count;
        grain_ = grain;
        part_ = &part;
        running_ = threads_ - 1;
        ++call_;
    }
    if (threads_ > 1) wake_.notify_all();
    run_part(0);
    if (soon([&] { return running_ == 0; })) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return running_ == 0; });
}

void Team::work(int index) {
    uint64_t seen = 0;
    while (true) {
        soon([&] { return call_ != seen; });
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return leaving_ || call_ != seen; });
        if (leaving_) return;
        seen = call_;
        lock.unlock();
        run_part(index);
        if (--running_ > 0) continue;
        lock.lock();  // not between the caller's look and its sleep
        done_.notify_one();
    }
}

void Team::run_part(int index) {
    const size_t grains = (count_ + grain_ - 1) / grain_;
    const size_t begin = grains * size_t(index) / size_t(threads_) * grain_;
    const size_t end = std::min(count_, grains * size_t(index + 1) / size_t(threads_) * grain_);
    if (begin < end) (*part_)(begin, end);
}

Kernel::Kernel(Session& session, const char* source, const char* name,
               std::vector<std::string> options)
    : device_(&session.device) {
    core::Program program;
    program.source = source;
    program.options = std::move(options);
    module_ = device_->load(device_->compile(program));
    function_ = device_->function(module_, name).raw;
}

Kernel::~Kernel() { device_->unload(module_); }

void Kernel::launch_packed(core::Dim3 grid, core::Dim3 block, void* const* arguments,
                           size_t count) {
    core::LaunchParams params;
    params.function = function_;
    params.grid = grid;
    params.block = block;
    params.arguments = arguments;
    params.argument_count = count;
    device_->launch(params);
}

namespace {

uint64_t mix(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

template <typename Real>
void fill(Buffer<Real>& buffer, uint64_t seed, Real low, Real high) {
    Real* data = buffer.data();
    const Real scale = (high - low) * Real(0x1p-24);
    const uint64_t start = mix(seed);
    for (size_t i = 0; i < buffer.size(); ++i)
        data[i] = low + scale * Real(int32_t(mix(start + i) >> 40));
}

template <typename Real>
double largest(const Real* a, const Real* b, size_t count, double floor) {
    double worst = 0;
    for (size_t i = 0; i < count; ++i) {
        if (a[i] == b[i]) continue;
        const double error = std::fabs(double(a[i]) - double(b[i])) / (std::fabs(b[i]) + floor);
        // Not "error > worst": a NaN must be seen.
        if (!(error <= worst)) worst = std::isnan(error) ? HUGE_VAL : error;
    }
    return worst;
}

}  // namespace

void fill_uniform(Buffer<float>& buffer, uint64_t seed, float low, float high) {
    fill(buffer, seed, low, high);
}

void fill_uniform(Buffer<double>& buffer, uint64_t seed, double low, double high) {
    fill(buffer, seed, low, high);
}

void fill_bytes(Buffer<uint8_t>& buffer, uint64_t seed) {
    const uint64_t start = mix(seed);
    for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = uint8_t(mix(start + i));
}

double largest_error(const float* a, const float* b, size_t count, double floor) {
    return largest(a, b, count, floor);
}

double largest_error(const double* a, const double* b, size_t count, double floor) {
    return largest(a, b, count, floor);
}

double part_different(const int* a, const int* b, size_t count) {
    size_t different = 0;
    for (size_t i = 0; i < count; ++i) different += a[i] != b[i];
    return double(different) / double(count);
}

}  // namespace trilane::bench
