// What captures keep, and when it is let go.
#include "core/capture.h"

#include <algorithm>
#include <utility>

#include "core/context.h"
#include "core/error.h"
#include "core/graph.h"
#include "core/memory_pool.h"
#include "core/stream.h"

namespace trilane::core {

Capture::Capture(uint64_t id, const Stream& origin)
    : id_(id), origin_id_(origin.id()), origin_raw_(origin.raw()) {}

bool Capture::has(uint64_t stream_id) const {
    if (stream_id == origin_id_) return true;
    std::lock_guard lock(mutex_);
    return std::any_of(streams_.begin(), streams_.end(),
                       [&](const StreamPtr& stream) { return stream->id() == stream_id; });
}

void Capture::add_stream(const StreamPtr& stream) {
    if (is_open() && stream->id() == origin_id_) return;
    std::lock_guard lock(mutex_);
    for (const StreamPtr& known : streams_)
        if (known->id() == stream->id()) return;
    streams_.push_back(stream);
}

bool Capture::hold(const std::shared_ptr<const void>& thing) {
    std::lock_guard lock(mutex_);
    if (over_) return false;
    if (held_once_.insert(thing.get()).second) held_.push_back(thing);
    return true;
}

bool Capture::hold_memory(const std::shared_ptr<KeptMemory>& memory) {
    std::lock_guard lock(mutex_);
    if (over_) return false;
    memory_.push_back(memory);
    return true;
}

std::vector<std::shared_ptr<KeptMemory>> Capture::memory() const {
    std::lock_guard lock(mutex_);
    return memory_;
}

void Capture::close() {
    std::vector<StreamPtr> members;
    std::lock_guard lock(mutex_);
    members.swap(streams_);
    open_.store(false, std::memory_order_release);
}

std::vector<StreamPtr> Capture::streams() const {
    std::lock_guard lock(mutex_);
    return streams_;
}

void Capture::let_go() noexcept {
    std::vector<std::shared_ptr<const void>> held;
    std::vector<std::shared_ptr<KeptMemory>> memory;
    std::vector<StreamPtr> streams;
    {
        std::lock_guard lock(mutex_);
        over_ = true;
        memory.swap(memory_);
        held.swap(held_);
        streams.swap(streams_);
        held_once_.clear();
    }
}

CapturePtr Captures::find(uint64_t stream_id) const {
    std::lock_guard lock(mutex_);
    for (const CapturePtr& capture : open_)
        if (capture->has(stream_id)) return capture;
    return nullptr;
}

CapturePtr Captures::of(const Stream& stream) {
    if (!any()) return nullptr;
    if (CapturePtr known = find(stream.id())) return known;
    if (stream.raw() == 0 || !context_.device().capturing(stream.raw())) return nullptr;
    // An event of another library made it take part.
    std::vector<CapturePtr> all = open();
    if (all.size() != 1)
        throw_error(ErrorKind::NotSupported,
                    "capture: a stream takes part by an event of another library while {} captures "
                    "go on: expected one: end the others first",
                    all.size());
    all.front()->add_stream(std::const_pointer_cast<Stream>(stream.shared_from_this()));
    return all.front();
}

std::vector<CapturePtr> Captures::open() const {
    std::lock_guard lock(mutex_);
    return open_;
}

void Captures::begin(Stream& origin, CaptureMode mode) {
    poll();
    Device& device = context_.device();
    if (find(origin.id()) != nullptr)
        throw_capture_fault(CaptureFault::IllegalState, "begin_capture",
                            "the stream is being captured already: end that capture first");
    // What is free on the stream may be used by a graph, which runs anywhere, if the stream itself
    // has nothing to do with it any more.
    const bool idle = origin.raw() != 0 && origin.owned() && !device.capturing(origin.raw()) &&
                      device.stream_done(origin.raw());
    auto capture = std::make_shared<Capture>(Stream::next_id(), origin);
    {
        std::lock_guard lock(mutex_);
        open_.push_back(capture);
        open_count_.fetch_add(1);
    }
    context_.pool().begin_capture(capture->id(), origin, idle);
    try {
        device.begin_capture(origin.raw(), mode);
    } catch (...) {
        close(capture, origin, true);
        retire(std::move(capture), 0);
        throw;
    }
}

bool Captures::still_captured(const Capture& capture) noexcept {
    try {
        return context_.device().capturing(capture.origin_raw());
    } catch (...) {
        return false;
    }
}

GraphPtr Captures::end(Stream& stream) {
    CapturePtr capture = find(stream.id());
    RawGraph raw = 0;
    try {
        raw = context_.device().end_capture(stream.raw());
    } catch (...) {
        if (capture != nullptr && capture->origin_id() == stream.id() &&
            !still_captured(*capture)) {
            close(capture, stream, true);
            retire(std::move(capture), 0);
        }
        throw;
    }
    if (capture == nullptr) {  // another library began it: what it used is that library's matter
        capture = std::make_shared<Capture>(Stream::next_id(), stream);
        capture->close();
    } else {
        close(capture, stream, true);
    }
    return GraphPtr(new Graph(context_.shared_from_this(), raw, std::move(capture)));
}

void Captures::abort(Stream& origin) noexcept {
    if (!any()) return;
    CapturePtr capture = find(origin.id());
    if (capture == nullptr || capture->origin_id() != origin.id()) return;
    RawGraph raw = 0;
    try {
        raw = context_.device().end_capture(origin.raw());
    } catch (const std::exception&) {
        // Nobody can end it any more: whether it was lost before makes no difference.
    }
    close(capture, origin, false);
    retire(std::move(capture), raw);
}

void Captures::close(const CapturePtr& capture, const Stream& origin, bool origin_stays) {
    std::vector<std::shared_ptr<const void>> later;  // goes last
    {
        std::lock_guard lock(mutex_);
        const auto found = std::find(open_.begin(), open_.end(), capture);
        if (found == open_.end()) return;
        open_.erase(found);
        context_.pool().end_capture(capture->id());
        if (open_count_.fetch_sub(1) == 1) later.swap(later_);
    }
    capture->close();
    const StreamPtr held =
        origin_stays ? std::const_pointer_cast<Stream>(origin.shared_from_this()) : nullptr;
    for (const auto& memory : capture->memory())
        if (origin_stays)
            memory->origin_stays(held);
        else
            memory->origin_goes(origin);
}

void Captures::later(std::shared_ptr<const void> thing) {
    std::lock_guard lock(mutex_);
    if (any()) later_.push_back(std::move(thing));
}

void Captures::retire(CapturePtr capture, RawGraph graph) noexcept {
    try {
        std::lock_guard lock(mutex_);
        retired_.push_back({std::move(capture), graph, {}, false});
        retired_count_.fetch_add(1);
    } catch (const std::exception& error) {
        return report_cleanup_failure("destroying a graph (what it used is lost)", error.what());
    }
    poll_retired();
}

// True if no launch of the graph can be running any more.
bool Captures::finished(Retired& entry) noexcept {
    Device& device = context_.device();
    try {
        if (!entry.marked) {
            for (const StreamPtr& stream : entry.capture->streams()) {
                if (device.stream_done(stream->raw())) continue;
                entry.events.reserve(entry.events.size() + 1);
                entry.events.push_back(device.create_event(false, false));
                device.record_event(entry.events.back(), stream->raw());
            }
            entry.marked = true;
        }
        while (!entry.events.empty()) {
            if (!device.event_done(entry.events.back())) return false;
            device.destroy_event(entry.events.back());
            entry.events.pop_back();
        }
        return true;
    } catch (const std::exception&) {
        return false;  // nothing can tell: asked again another time
    }
}

void Captures::finish(Retired& entry) noexcept {
    if (entry.graph != 0) context_.device().destroy_graph(entry.graph);
    context_.pool().release_capture(entry.capture->id());
    entry.capture->let_go();
}

bool Captures::poll_retired() noexcept {
    std::vector<Retired> entries;
    {
        std::lock_guard lock(mutex_);
        if (any()) return false;  // no stream may be asked
        entries.swap(retired_);
    }
    std::vector<Retired> done;
    try {
        done.reserve(entries.size());
    } catch (const std::exception&) {
        // Nothing is finished now.
    }
    for (size_t i = 0; i < entries.size() && done.capacity() >= entries.size();) {
        if (!finished(entries[i])) {
            ++i;
            continue;
        }
        done.push_back(std::move(entries[i]));
        entries[i] = std::move(entries.back());
        entries.pop_back();
    }
    {
        std::lock_guard lock(mutex_);
        retired_count_.fetch_sub(static_cast<int>(done.size()));
        if (retired_.empty())
            retired_.swap(entries);
        else
            for (Retired& entry : entries) retired_.push_back(std::move(entry));
    }
    for (Retired& entry : done) finish(entry);
    return !done.empty();
}

void refuse_wait(const char* who, const Stream& stream) {
    if (stream.context()->captures().of(stream) == nullptr) [[likely]]
        return;
    throw_capture_fault(CaptureFault::Unsupported, who,
                        "got something that waits on a stream that is captured, expected what does "
                        "not: do it before begin_capture() or after end_capture(), or "
                        "asynchronously");
}

}  // namespace trilane::core
