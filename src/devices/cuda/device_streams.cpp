// Streams, events, and functions of the host in streams.
#include "core/error.h"
#include "devices/cuda/device.h"
#include "devices/cuda/device_state.h"

namespace trilane::cuda {

using core::RawEvent;
using core::RawStream;

RawStream CudaDevice::create_stream(bool non_blocking, int priority) {
    const Scope scope(*this, "create_stream");
    const RelaxedCapture relaxed(driver_);
    StreamHandle stream = nullptr;
    check(driver_.cuStreamCreateWithPriority(&stream, non_blocking ? kStreamNonBlocking : 0,
                                             priority),
          "cuStreamCreateWithPriority");
    {
        std::lock_guard lock(mutex_);
        streams_.insert(stream);
    }
    return reinterpret_cast<RawStream>(stream);
}

void CudaDevice::destroy_stream(RawStream stream) noexcept {
    {
        std::lock_guard lock(mutex_);
        streams_.erase(stream_of(stream));
    }
    Scope scope(*this);
    if (stream != 0 && try_enter(scope))
        faults_.report(driver_.cuStreamDestroy(stream_of(stream)), "cuStreamDestroy");
}

bool CudaDevice::stream_done(RawStream stream) {
    const Scope scope(*this, "query");
    const RelaxedCapture relaxed(driver_);
    const Result result = driver_.cuStreamQuery(stream_of(stream));
    if (result == result::kNotReady) return false;
    check(result, "cuStreamQuery");
    return true;
}

void CudaDevice::stream_wait_event(RawStream stream, RawEvent event) {
    const Scope scope(*this, "wait");
    check(driver_.cuStreamWaitEvent(stream_of(stream), event_of(event), 0), "cuStreamWaitEvent");
}

// Owned by the set of calls that have not run, until it runs.
struct CudaDevice::HostCall {
    CudaDevice* device;
    std::function<void()> function;

    static void run(void* user) noexcept {
        auto* call = static_cast<HostCall*>(user);
        try {
            call->function();
        } catch (const std::exception& error) {
            core::report_cleanup_failure("host function", error.what());
        } catch (...) {
            core::report_cleanup_failure("host function", "unknown exception");
        }
        {
            std::lock_guard lock(call->device->mutex_);
            call->device->host_calls_.erase(call);
        }
        delete call;
    }
};

void CudaDevice::host_function(RawStream stream, std::function<void()> function) {
    const Scope scope(*this, "host_function");
    auto call = std::make_unique<HostCall>(HostCall{this, std::move(function)});
    {
        std::lock_guard lock(mutex_);
        host_calls_.insert(call.get());
    }
    const Result result = driver_.cuLaunchHostFunc(stream_of(stream), &HostCall::run, call.get());
    if (result == result::kSuccess) {
        (void)call.release();
        return;
    }
    {
        std::lock_guard lock(mutex_);
        host_calls_.erase(call.get());
    }
    check(result, "cuLaunchHostFunc");
}

void CudaDevice::free_host_calls() noexcept {
    std::lock_guard lock(mutex_);
    for (HostCall* call : host_calls_) delete call;  // a fault kept them from running
    host_calls_.clear();
}

RawEvent CudaDevice::create_event(bool timing, bool blocking) {
    const Scope scope(*this, "create_event");
    EventHandle event = nullptr;
    const unsigned flags = (timing ? 0 : kEventDisableTiming) | (blocking ? kEventBlockingSync : 0);
    check(driver_.cuEventCreate(&event, flags), "cuEventCreate");
    return reinterpret_cast<RawEvent>(event);
}

void CudaDevice::destroy_event(RawEvent event) noexcept {
    Scope scope(*this);
    if (event != 0 && try_enter(scope))
        faults_.report(driver_.cuEventDestroy(event_of(event)), "cuEventDestroy");
}

void CudaDevice::record_event(RawEvent event, RawStream stream) {
    const Scope scope(*this, "record");
    check(driver_.cuEventRecord(event_of(event), stream_of(stream)), "cuEventRecord");
}

bool CudaDevice::event_done(RawEvent event) {
    const Scope scope(*this, "query");
    const RelaxedCapture relaxed(driver_);
    const Result result = driver_.cuEventQuery(event_of(event));
    if (result == result::kNotReady) return false;
    check(result, "cuEventQuery");
    return true;
}

float CudaDevice::event_elapsed_ms(RawEvent start, RawEvent stop) {
    const Scope scope(*this, "elapsed time");
    const RelaxedCapture relaxed(driver_);
    float ms = 0;
    const Result result = driver_.cuEventElapsedTime(&ms, event_of(start), event_of(stop));
    if (result == result::kNotReady)
        core::throw_error(core::ErrorKind::DeviceError,
                          "cuEventElapsedTime: CUDA_ERROR_NOT_READY (600): the device has not "
                          "reached an event yet: synchronize the later one first");
    check(result, "cuEventElapsedTime");
    return ms;
}

}  // namespace trilane::cuda
