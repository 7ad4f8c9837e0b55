// Streams and events.
#include "devices/cpu/device_streams.h"

#include <atomic>
#include <chrono>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "devices/cpu/device.h"
#include "devices/cpu/run/interrupt.h"

namespace trilane::cpu {

using core::ErrorKind;
using core::throw_error;

void DeviceStreams::Turn::wait() {
    MainWait main(true);
    if (main.serial() == 0) return lock_.lock();
    while (!lock_.try_lock_for(std::chrono::milliseconds(10)))
        if (is_stopped(main.serial()))
            throw core::Interrupted("the wait for another thread's work was ended by SIGINT");
}

std::shared_ptr<DeviceStreams::Stream> DeviceStreams::find(core::RawStream stream,
                                                           const char* what) {
    std::shared_lock lock(mutex_);
    auto entry = streams_.find(stream);
    if (entry == streams_.end())
        throw_error(ErrorKind::InvalidArgument, "{}: the stream was destroyed", what);
    return entry->second;
}

DeviceStreams::Turn DeviceStreams::enter(core::RawStream stream, const char* what) {
    if (stream == 0) return Turn(nullptr, default_stream_);
    std::shared_ptr<Stream> found = find(stream, what);
    Stream& raw = *found;
    return Turn(std::move(found), raw);
}

bool DeviceStreams::is_blocking(core::RawStream stream, const char* what) {
    return stream != 0 && !find(stream, what)->non_blocking;
}

void DeviceStreams::synchronize() {
    std::vector<std::shared_ptr<Stream>> all;
    {
        std::shared_lock lock(mutex_);
        for (auto& entry : streams_) all.push_back(entry.second);
    }
    for (auto& stream : all) {
        Stream& raw = *stream;
        Turn turn(std::move(stream), raw);
    }
    Turn turn(nullptr, default_stream_);
}

namespace {

// One count for all devices: a handle means one stream or event, whichever device is asked. Small
// numbers stand for CUDA's default streams.
uint64_t next_handle() {
    static std::atomic<uint64_t> last{15};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

core::RawStream DeviceStreams::create(bool non_blocking, int priority) {
    auto stream = std::make_shared<Stream>();
    stream->non_blocking = non_blocking;
    stream->priority = priority;
    const core::RawStream handle = next_handle();
    std::unique_lock lock(mutex_);
    streams_.emplace(handle, std::move(stream));
    return handle;
}

bool DeviceStreams::destroy(core::RawStream stream) {
    std::unique_lock lock(mutex_);
    return streams_.erase(stream) != 0;
}

core::RawEvent DeviceStreams::create_event(bool timing) {
    auto event = std::make_shared<Event>();
    event->timing = timing;
    const core::RawEvent handle = next_handle();
    std::unique_lock lock(mutex_);
    events_.emplace(handle, std::move(event));
    return handle;
}

bool DeviceStreams::destroy_event(core::RawEvent event) {
    std::unique_lock lock(mutex_);
    return events_.erase(event) != 0;
}

std::shared_ptr<DeviceStreams::Event> DeviceStreams::event(core::RawEvent event, const char* what) {
    std::shared_lock lock(mutex_);
    auto entry = events_.find(event);
    if (entry == events_.end())
        throw_error(ErrorKind::InvalidArgument, "{}: the event was destroyed", what);
    return entry->second;
}

core::RawStream CpuDevice::create_stream(bool non_blocking, int priority) {
    return streams_.create(non_blocking, priority);
}

void CpuDevice::destroy_stream(core::RawStream stream) noexcept {
    captures_.leave(stream);
    if (!streams_.destroy(stream))
        core::report_cleanup_failure("destroy_stream", "there is no such stream");
}

void CpuDevice::synchronize() {
    captures_.refuse_all("synchronize");
    streams_.synchronize();
}

void CpuDevice::synchronize_stream(core::RawStream stream) {
    captures_.refuse(stream, "synchronize");
    auto turn = streams_.enter(stream, "synchronize");
}

bool CpuDevice::stream_done(core::RawStream stream) {
    captures_.refuse(stream, "query");
    auto turn = streams_.enter(stream, "query");
    return true;
}

void CpuDevice::stream_wait_event(core::RawStream stream, core::RawEvent event) {
    const auto state = streams_.event(event, "wait");
    {
        std::lock_guard lock(state->mutex);
        const bool captured = captures_.any() || state->point.capture != nullptr;
        if (captured && captures_.wait(stream, streams_.is_blocking(stream, "wait"), state->point,
                                       state->recorded))
            return;
    }
    auto turn = streams_.enter(stream, "wait");
}

void CpuDevice::host_function(core::RawStream stream, std::function<void()> function) {
    if (captures_.keep(stream, "host_function",
                       [&] { return GraphNode{[function](uint64_t) { function(); }, true}; }))
        return;
    // All work before it is done. The stream is free again when it runs: it may use the device.
    {
        auto turn = streams_.enter(stream, "host_function");
    }
    function();
}

core::RawEvent CpuDevice::create_event(bool timing, bool) { return streams_.create_event(timing); }

void CpuDevice::destroy_event(core::RawEvent event) noexcept {
    if (!streams_.destroy_event(event))
        core::report_cleanup_failure("destroy_event", "there is no such event");
}

void CpuDevice::record_event(core::RawEvent event, core::RawStream stream) {
    auto state = streams_.event(event, "record");
    CapturedPoint point = captures_.record(stream, "record");
    if (point.capture != nullptr) {
        std::lock_guard lock(state->mutex);
        state->point = std::move(point);
        return;
    }
    auto turn = streams_.enter(stream, "record");
    std::lock_guard lock(state->mutex);
    state->recorded = true;
    state->point = {};
    state->time_ns = std::chrono::steady_clock::now().time_since_epoch().count();
}

void CpuDevice::refuse_captured(DeviceStreams::Event& event, const char* what) {
    std::lock_guard lock(event.mutex);
    if (event.point.capture != nullptr) captures_.refuse_point(event.point, what);
}

bool CpuDevice::event_done(core::RawEvent event) {
    refuse_captured(*streams_.event(event, "query"), "query");
    return true;
}

void CpuDevice::synchronize_event(core::RawEvent event) {
    refuse_captured(*streams_.event(event, "synchronize"), "synchronize");
}

float CpuDevice::event_elapsed_ms(core::RawEvent start, core::RawEvent stop) {
    int64_t times[2] = {};
    core::RawEvent events[2] = {start, stop};
    for (int i = 0; i < 2; ++i) {
        auto state = streams_.event(events[i], "elapsed time");
        refuse_captured(*state, "elapsed time");
        std::lock_guard lock(state->mutex);
        if (!state->timing)
            throw_error(ErrorKind::InvalidArgument,
                        "elapsed time: an event was made without timing");
        if (!state->recorded)
            throw_error(ErrorKind::InvalidArgument, "elapsed time: an event was never recorded");
        times[i] = state->time_ns;
    }
    return float(double(times[1] - times[0]) * 1e-6);
}

}  // namespace trilane::cpu
