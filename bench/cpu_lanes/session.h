// What the rows of bench/cpu_lanes share: the device, buffers, launches, a team of C++ threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "devices/cpu/device.h"

namespace trilane::bench {

// Runs a function on parts of a range: the caller is one of the threads, the others wait between
// calls, awake for some microseconds and then asleep. Parts begin at multiples of `grain`.
class Team {
  public:
    explicit Team(int threads);
    ~Team();
    Team(const Team&) = delete;
    using Part = std::function<void(size_t begin, size_t end)>;
    void run(size_t count, size_t grain, const Part& part);
    int threads() const { return threads_; }

  private:
    void work(int index);
    void run_part(int index);

    int threads_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::atomic<uint64_t> call_ = 0;
    std::atomic<int> running_ = 0;
    bool leaving_ = false;
    size_t count_ = 0, grain_ = 1;
    const Part* part_ = nullptr;
    std::vector<std::thread> workers_;
};

struct Session {
    explicit Session(int threads) : device(0, nullptr), team(threads) {}
    cpu::CpuDevice device;
    Team team;
};

// Device memory, which on this device is the host's; the C++ reference works on the same kind.
template <typename T>
class Buffer {
  public:
    Buffer(Session& session, size_t count)
        : device_(&session.device),
          data_(reinterpret_cast<T*>(device_->allocate(count * sizeof(T), 0))),
          count_(count) {
        device_->note_allocation(core::DevicePtr(data_), nbytes(), "buffer");
    }
    ~Buffer() {
        device_->forget_allocation(core::DevicePtr(data_));
        device_->free(core::DevicePtr(data_), 0);
    }
    Buffer(const Buffer&) = delete;

    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return count_; }
    size_t nbytes() const { return count_ * sizeof(T); }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }

  private:
    cpu::CpuDevice* device_;
    T* data_;
    size_t count_;
};

// One kernel of one compiled text.
class Kernel {
  public:
    Kernel(Session& session, const char* source, const char* name,
           std::vector<std::string> options = {});
    ~Kernel();
    Kernel(const Kernel&) = delete;

    template <typename... Args>
    void launch(core::Dim3 grid, core::Dim3 block, Args... arguments) {
        const void* pointers[] = {static_cast<const void*>(&arguments)...};
        launch_packed(grid, block, const_cast<void* const*>(pointers), sizeof...(arguments));
    }

  private:
    void launch_packed(core::Dim3 grid, core::Dim3 block, void* const* arguments, size_t count);

    cpu::CpuDevice* device_;
    core::RawModule module_ = 0;
    core::RawFunction function_ = 0;
};

// Uniform in [low, high), the same for the same seed.
void fill_uniform(Buffer<float>& buffer, uint64_t seed, float low, float high);
void fill_uniform(Buffer<double>& buffer, uint64_t seed, double low, double high);
void fill_bytes(Buffer<uint8_t>& buffer, uint64_t seed);
// Every byte 0xff: NaN, -1 or 255, so that an element left out is seen.
template <typename T>
void poison(Buffer<T>& buffer) {
    __builtin_memset(buffer.data(), 0xff, buffer.nbytes());
}

// Largest |a - b| / (|b| + floor); infinite where one is NaN and the other is not.
double largest_error(const float* a, const float* b, size_t count, double floor);
double largest_error(const double* a, const double* b, size_t count, double floor);
// Part of the elements that differ.
double part_different(const int* a, const int* b, size_t count);

}  // namespace trilane::bench
