// Captured streams: who takes part, what is refused, what a graph is made of.
#include "devices/cpu/capture.h"

#include <algorithm>

namespace trilane::cpu {

using core::CaptureFault;
using core::RawStream;
using core::throw_capture_fault;

namespace {

void add_once(std::vector<uint32_t>& all, const std::vector<uint32_t>& more) {
    for (const uint32_t step : more)
        if (std::find(all.begin(), all.end(), step) == all.end()) all.push_back(step);
}

// Whether every step comes before the end of the origin.
bool all_joined(const CaptureState& capture) {
    std::vector<bool> reached(capture.work.size(), false);
    for (const uint32_t step : capture.members.at(capture.origin).last) reached[step] = true;
    for (size_t i = capture.work.size(); i-- > 0;) {
        if (!reached[i]) return false;  // whatever comes after it was looked at
        for (const uint32_t before : capture.work[i].after) reached[before] = true;
    }
    return true;
}

// The steps that no other one comes after.
std::vector<uint32_t> leaves_of(const GraphWork& work) {
    std::vector<bool> followed(work.size(), false);
    for (const GraphStep& step : work)
        for (const uint32_t before : step.after) followed[before] = true;
    std::vector<uint32_t> leaves;
    for (size_t i = 0; i < work.size(); ++i)
        if (!followed[i]) leaves.push_back(static_cast<uint32_t>(i));
    return leaves;
}

}  // namespace

CaptureState* DeviceCaptures::find(RawStream stream) {
    for (const auto& capture : open_)
        if (capture->members.contains(stream)) return capture.get();
    return nullptr;
}

CaptureState* DeviceCaptures::usable(RawStream stream, const char* what) {
    if (stream == 0) {
        refuse_null_stream(what);
        return nullptr;
    }
    CaptureState* capture = find(stream);
    if (capture != nullptr && capture->lost)
        throw_capture_fault(CaptureFault::Invalidated, what,
                            "the capture was lost before: end it by end_capture()");
    return capture;
}

// The null stream would wait for captured work, or that for it.
void DeviceCaptures::refuse_null_stream(const char* what) {
    bool met = false;
    for (const auto& capture : open_)
        for (const auto& [stream, member] : capture->members)
            if (member.blocking) met = capture->lost = true;
    if (met)
        throw_capture_fault(CaptureFault::Implicit, what,
                            "the default stream was used while a stream that it waits for is "
                            "captured; that capture is lost: use another stream, or capture one "
                            "made with non_blocking=True");
}

void DeviceCaptures::refuse_captured(RawStream stream, const char* what) {
    std::lock_guard lock(mutex_);
    if (stream == 0) return refuse_null_stream(what);
    CaptureState* capture = find(stream);
    if (capture == nullptr) return;
    capture->lost = true;
    throw_capture_fault(CaptureFault::Unsupported, what,
                        "the stream is captured, its work has not been done; the capture is lost");
}

void DeviceCaptures::refuse_all(const char* what) {
    if (!any()) [[likely]]
        return;
    std::lock_guard lock(mutex_);
    if (open_.empty()) return;
    for (const auto& capture : open_) capture->lost = true;
    throw_capture_fault(CaptureFault::Unsupported, what,
                        "a stream of the device is captured; the capture is lost");
}

void DeviceCaptures::refuse_point(const CapturedPoint& point, const char* what) {
    {
        std::lock_guard lock(mutex_);
        if (point.capture->open) point.capture->lost = true;
    }
    throw_capture_fault(CaptureFault::CapturedEvent, what,
                        "the event is a point in captured work: record it on a stream that is not "
                        "captured first");
}

void DeviceCaptures::append(CaptureState& capture, RawStream stream,
                            std::shared_ptr<const GraphNode> node) {
    std::vector<uint32_t>& last = capture.members.at(stream).last;
    capture.work.push_back({std::move(node), last});
    last.assign(1, static_cast<uint32_t>(capture.work.size() - 1));
}

bool DeviceCaptures::keep_all(RawStream stream, const char* what, const GraphWork& work) {
    if (!any()) [[likely]]
        return false;
    std::lock_guard lock(mutex_);
    CaptureState* capture = usable(stream, what);
    if (capture == nullptr) return false;
    if (work.empty()) return true;
    std::vector<uint32_t>& last = capture->members.at(stream).last;
    const auto first = static_cast<uint32_t>(capture->work.size());
    for (GraphStep step : work) {
        for (uint32_t& before : step.after) before += first;
        if (step.after.empty()) step.after = last;
        capture->work.push_back(std::move(step));
    }
    last = leaves_of(work);
    for (uint32_t& leaf : last) leaf += first;
    return true;
}

void DeviceCaptures::begin(RawStream stream, bool blocking, core::CaptureMode mode) {
    std::lock_guard lock(mutex_);
    if (stream == 0)
        throw_capture_fault(CaptureFault::Unsupported, "begin_capture",
                            "the default stream cannot be captured: make a stream");
    if (find(stream) != nullptr)
        throw_capture_fault(CaptureFault::IllegalState, "begin_capture",
                            "the stream is being captured already: end that capture first");
    auto capture = std::make_shared<CaptureState>();
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->members[stream].blocking = blocking;
    open_.push_back(std::move(capture));
    open_count_.fetch_add(1);
}

// Every stream that took part is an ordinary one again. It may be gone after this.
void DeviceCaptures::close(CaptureState& capture) {
    capture.open = false;
    capture.members.clear();
    std::erase_if(open_, [&](const auto& known) { return known.get() == &capture; });
    open_count_.fetch_sub(1);
}

GraphWork DeviceCaptures::end(RawStream stream) {
    GraphWork work;  // what it holds may call us when it goes: after the lock
    std::lock_guard lock(mutex_);
    CaptureState* found = find(stream);
    if (found == nullptr)
        throw_capture_fault(CaptureFault::IllegalState, "end_capture",
                            "the stream is not captured: call begin_capture() first");
    if (found->origin != stream) {
        found->lost = true;
        throw_capture_fault(CaptureFault::Unmatched, "end_capture",
                            "the capture was begun on another stream and is lost: end it there");
    }
    if (found->mode != core::CaptureMode::Relaxed && found->thread != std::this_thread::get_id())
        throw_capture_fault(CaptureFault::WrongThread, "end_capture",
                            "expected the thread that began the capture: end it there, or begin it "
                            "in the relaxed mode");
    const bool lost = found->lost, joined = lost || all_joined(*found);
    work = std::move(found->work);
    close(*found);
    if (lost)
        throw_capture_fault(CaptureFault::Invalidated, "end_capture",
                            "the capture was lost by something that was refused before");
    if (!joined)
        throw_capture_fault(CaptureFault::Unjoined, "end_capture",
                            "expected the stream that began the capture to wait for all others "
                            "that took part: record an event on each, and wait for it");
    return work;
}

bool DeviceCaptures::capturing(RawStream stream) {
    if (!any()) return false;
    std::lock_guard lock(mutex_);
    if (stream != 0) return find(stream) != nullptr;
    for (const auto& capture : open_)
        for (const auto& [raw, member] : capture->members)
            if (member.blocking)
                throw_capture_fault(CaptureFault::Implicit, "is_capturing",
                                    "asked of the default stream, which waits for a stream that "
                                    "is captured");
    return false;
}

void DeviceCaptures::leave(RawStream stream) noexcept {
    if (!any()) return;
    GraphWork work;
    std::lock_guard lock(mutex_);
    CaptureState* capture = find(stream);
    if (capture == nullptr) return;
    capture->lost = true;
    work.swap(capture->work);
    if (capture->origin == stream)
        close(*capture);
    else
        capture->members.erase(stream);
}

CapturedPoint DeviceCaptures::record(RawStream stream, const char* what) {
    if (!any()) [[likely]]
        return {};
    std::lock_guard lock(mutex_);
    CaptureState* found = usable(stream, what);
    if (found == nullptr) return {};
    for (const auto& capture : open_)
        if (capture.get() == found) return {capture, found->members.at(stream).last};
    return {};
}

bool DeviceCaptures::wait(RawStream stream, bool blocking, const CapturedPoint& point,
                          bool recorded) {
    if (!any() && point.capture == nullptr) [[likely]]
        return false;
    std::lock_guard lock(mutex_);
    CaptureState* theirs = point.capture.get();
    if (theirs != nullptr && !theirs->open)
        throw_capture_fault(CaptureFault::CapturedEvent, "wait",
                            "the event is a point in work that was captured: record it again");
    if (theirs != nullptr && stream == 0) {
        theirs->lost = true;
        throw_capture_fault(CaptureFault::Implicit, "wait",
                            "the default stream cannot take part in a capture, which is lost");
    }
    CaptureState* own = usable(stream, "wait");
    if (theirs == nullptr) {
        if (own == nullptr) return false;
        if (!recorded) return true;
        own->lost = true;
        throw_capture_fault(CaptureFault::Isolation, "wait",
                            "a captured stream cannot wait for work that is not captured; the "
                            "capture is lost: let it wait before begin_capture()");
    }
    if (theirs->lost)
        throw_capture_fault(CaptureFault::Invalidated, "wait",
                            "the capture of the event was lost before");
    if (own != nullptr && own != theirs) {
        own->lost = theirs->lost = true;
        throw_capture_fault(CaptureFault::Merge, "wait",
                            "stream and event belong to two captures, which are lost");
    }
    CaptureState::Member& member = theirs->members[stream];
    member.blocking = blocking;
    add_once(member.last, point.after);
    return true;
}

}  // namespace trilane::cpu
