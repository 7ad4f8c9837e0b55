// Events: points in a stream that can be waited for and timed.
#include "core/error.h"
#include "core/stream.h"

namespace trilane::core {

Event::Event(ContextPtr context, RawEvent raw, bool timing)
    : context_(std::move(context)), raw_(raw), timing_(timing) {}

EventPtr Event::create(const ContextPtr& context, bool timing, bool blocking) {
    context->require_usable("Event");
    EventPtr event(new Event(context, 0, timing));
    event->raw_ = context->device().create_event(timing, blocking);
    return event;
}

EventPtr Event::create_shared(const ContextPtr& context, bool blocking) {
    context->require_usable("Event");
    EventPtr event(new Event(context, 0, false));
    event->raw_ = context->device().create_shared_event(blocking);
    return event;
}

EventPtr Event::open(const ContextPtr& context, std::string_view handle) {
    context->require_usable("Event.open");
    EventPtr event(new Event(context, 0, false));
    event->raw_ = context->device().open_shared_event(handle);
    return event;
}

std::string Event::share() {
    context_->require_usable("Event.share");
    return context_->device().share_event(raw_);
}

Event::~Event() {
    if (raw_ != 0 && context_->usable()) context_->device().destroy_event(raw_);
}

void Event::record(const Stream& stream) {
    context_->require_usable("Event.record");
    if (stream.context() != context_)
        throw_error(ErrorKind::InvalidArgument,
                    "Event.record: event and stream belong to different devices: got a stream of "
                    "device {}, expected one of device {}",
                    stream.context()->index(), context_->index());
    CapturePtr capture = context_->captures().of(stream);
    context_->device().record_event(raw_, stream.raw());
    if (capture != nullptr || captured_.load(std::memory_order_relaxed)) [[unlikely]] {
        std::lock_guard lock(mutex_);
        captured_in_ = capture;
        captured_.store(capture != nullptr, std::memory_order_relaxed);
    }
    recorded_.store(true, std::memory_order_release);
}

CapturePtr Event::captured_in() const {
    std::lock_guard lock(mutex_);
    return captured_in_.lock();
}

bool Event::done() {
    context_->require_usable("Event.done");
    return context_->device().event_done(raw_);
}

void Event::synchronize() {
    context_->require_usable("Event.synchronize");
    context_->device().synchronize_event(raw_);
}

float Event::elapsed_ms_since(const Event& start) {
    context_->require_usable("Event.elapsed_ms_since");
    for (const Event* event : {&start, static_cast<const Event*>(this)}) {
        const char* which = event == this ? "end" : "start";
        if (!event->timing_)
            throw_error(ErrorKind::InvalidArgument,
                        "Event.elapsed_ms_since: the {} event was made without timing: make it "
                        "with timing enabled",
                        which);
        if (!event->recorded_.load(std::memory_order_acquire))
            throw_error(ErrorKind::InvalidArgument,
                        "Event.elapsed_ms_since: the {} event was never recorded: record it on a "
                        "stream first",
                        which);
    }
    if (start.context_ != context_)
        throw_error(ErrorKind::InvalidArgument,
                    "Event.elapsed_ms_since: the events belong to different devices: got {} and {}",
                    start.context_->index(), context_->index());
    return context_->device().event_elapsed_ms(start.raw_, raw_);
}

}  // namespace trilane::core
