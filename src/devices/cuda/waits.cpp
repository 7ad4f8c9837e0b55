// Waits that Ctrl-C can leave. A wait of the driver's cannot be left, so the thread that Ctrl-C is
// for asks instead whether the work is done, and goes into the driver when nothing is in its way.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "core/background.h"
#include "devices/cuda/device.h"
#include "devices/cuda/device_state.h"

namespace trilane::cuda {

// At once for a while, as the driver does, then in steps that are short beside what has passed.
void CudaDevice::poll(const std::function<Result()>& ask, const char* call) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kAtOnce = std::chrono::milliseconds(1), kLongest = std::chrono::milliseconds(1);
    constexpr auto kSlice = std::chrono::milliseconds(50);
    const auto start = Clock::now();
    auto looked = start;
    for (Result result = ask();; result = ask()) {
        if (result != result::kNotReady) return check(result, call);
        const auto now = Clock::now();
        if (now - start < kAtOnce) continue;
        if (now - looked >= kSlice) {
            core::poll_wait();
            looked = now;
        }
        std::this_thread::sleep_for(std::min<Clock::duration>(kLongest, (now - start) / 32));
    }
}

// What is put on a stream waits for the null stream, and on the null stream for all others that
// do not exclude themselves. The driver's answer about a stream knows nothing of that; an event put
// on it does. Without other streams there is nothing to know.
void CudaDevice::await_earlier(StreamHandle stream) {
    poll([&] { return driver_.cuStreamQuery(stream); }, "cuStreamQuery");
    {
        std::lock_guard lock(mutex_);
        if (streams_.empty()) return;
        if (wait_event_ == nullptr)
            check(driver_.cuEventCreate(&wait_event_, kEventDisableTiming), "cuEventCreate");
    }
    check(driver_.cuEventRecord(wait_event_, stream), "cuEventRecord");
    poll([&] { return driver_.cuEventQuery(wait_event_); }, "cuEventQuery");
}

bool CudaDevice::may_hold_up(StreamHandle stream) {
    if (!core::wait_may_be_left()) return false;
    int status = 0;
    // The null stream refuses to tell while others are captured.
    return driver_.cuStreamIsCapturing(stream, &status) == result::kSuccess && status == 0;
}

void CudaDevice::await_everything() {
    await_earlier(nullptr);
    std::vector<StreamHandle> streams;
    {
        std::lock_guard lock(mutex_);
        streams.assign(streams_.begin(), streams_.end());
    }
    for (StreamHandle stream : streams)
        poll(
            [&] {
                // It may be destroyed meanwhile, by a thread that does not wait for it.
                std::lock_guard lock(mutex_);
                return streams_.contains(stream) ? driver_.cuStreamQuery(stream) : result::kSuccess;
            },
            "cuStreamQuery");
}

void CudaDevice::synchronize() {
    const Scope scope(*this, "synchronize");
    if (core::wait_may_be_left()) await_everything();
    check(driver_.cuCtxSynchronize(), "cuCtxSynchronize");
}

void CudaDevice::synchronize_stream(core::RawStream stream) {
    const Scope scope(*this, "synchronize");
    const RelaxedCapture relaxed(driver_);
    if (core::wait_may_be_left())
        poll([&] { return driver_.cuStreamQuery(stream_of(stream)); }, "cuStreamQuery");
    check(driver_.cuStreamSynchronize(stream_of(stream)), "cuStreamSynchronize");
}

void CudaDevice::synchronize_event(core::RawEvent event) {
    const Scope scope(*this, "synchronize");
    const RelaxedCapture relaxed(driver_);
    if (core::wait_may_be_left())
        poll([&] { return driver_.cuEventQuery(event_of(event)); }, "cuEventQuery");
    check(driver_.cuEventSynchronize(event_of(event)), "cuEventSynchronize");
}

}  // namespace trilane::cuda
