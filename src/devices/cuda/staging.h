// Copies between pageable host memory and the device through a ring of pinned buffers: several
// threads move pieces between the user's memory and the ring while the copy engine moves others
// between ring and device. The driver alone uses one thread and reaches a fraction of the link.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "devices/cuda/errors.h"

namespace trilane::cuda {

class Staging {
  public:
    // `context` is made current in the threads.
    Staging(const DriverTable& driver, FaultState& faults) : driver_(driver), faults_(faults) {}
    ~Staging();  // the context must be current
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    // Copies of at least so many bytes go this way. TRILANE_CUDA_STAGING_KIB; 0 turns it off.
    static size_t least_bytes();
    // What the ring holds: of a larger copy to the device the rest waits for the stream.
    static size_t ring_bytes();

    // Ordered on `stream`. On return the host memory has been read. False, with nothing done, if
    // there is no pinned memory for the ring: the caller copies plainly.
    bool to_device(ContextHandle context, DeviceAddress dst, const void* src, size_t nbytes,
                   StreamHandle stream);
    // Ordered on `stream`. On return the data is there.
    bool to_host(ContextHandle context, void* dst, DeviceAddress src, size_t nbytes,
                 StreamHandle stream);

  private:
    struct Slot {
        void* memory = nullptr;
        EventHandle event = nullptr;
    };
    bool prepare(ContextHandle context);
    void release() noexcept;
    void start_threads(ContextHandle context);
    void run_thread(ContextHandle context, size_t index);
    // Runs `work(thread)` on every thread and waits; throws the first failure.
    void run_all(const std::function<void(size_t)>& work, StreamHandle stream);
    void check(Result result, const char* call) const {
        if (result != result::kSuccess) faults_.fail(result, call);
    }

    const DriverTable& driver_;
    FaultState& faults_;
    std::mutex turn_;  // one copy at a time
    bool unavailable_ = false;
    std::vector<Slot> slots_;
    std::vector<std::thread> threads_;

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(size_t)>* work_ = nullptr;
    uint64_t round_ = 0;
    size_t running_ = 0;
    bool stop_ = false;
    std::exception_ptr failure_;
};

}  // namespace trilane::cuda
