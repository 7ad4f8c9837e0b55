// Streams: creation, waiting, and telling the pool which are alive.
#include "core/stream.h"

#include "core/error.h"
#include "core/graph.h"
#include "core/memory_pool.h"

namespace trilane::core {

uint64_t Stream::next_id() {
    static std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Stream::Stream(ContextPtr context, RawStream raw, bool owned, bool non_blocking, int priority,
               uint64_t id)
    : context_(std::move(context)),
      raw_(raw),
      owned_(owned),
      non_blocking_(non_blocking),
      priority_(priority),
      id_(id) {}

StreamPtr Stream::create(const ContextPtr& context, bool non_blocking, int priority) {
    context->require_usable("Stream");
    StreamPtr stream(new Stream(context, 0, false, non_blocking, priority, next_id()));
    stream->raw_ = context->device().create_stream(non_blocking, priority);
    stream->owned_ = true;
    {
        std::lock_guard lock(context->own_streams_mutex_);
        context->own_streams_.insert_or_assign(stream->raw_, stream);
    }
    context->pool().add_stream(*stream);
    return stream;
}

StreamPtr Stream::find_own(Context& context, RawStream raw) {
    std::lock_guard lock(context.own_streams_mutex_);
    const auto found = context.own_streams_.find(raw);
    return found == context.own_streams_.end() ? nullptr : found->second.lock();
}

void Stream::forget() noexcept {
    std::lock_guard lock(context_->own_streams_mutex_);
    context_->own_streams_.erase(raw_);
}

StreamPtr Stream::wrap(const ContextPtr& context, RawStream raw) {
    if (raw == 0) return context->default_stream();
    context->require_usable("Stream");
    // Two objects for one stream would end at different times: the memory of one would be guarded
    // by a handle that the other has destroyed.
    if (StreamPtr own = find_own(*context, raw)) return own;
    StreamPtr stream(new Stream(context, raw, false, false, 0, next_id()));
    context->pool().add_stream(*stream);
    return stream;
}

Stream::~Stream() {
    if (raw_ == 0 || !context_->usable()) return;
    context_->captures().abort(*this);
    if (owned_) forget();  // before the driver may give the handle to another
    context_->pool().retire_stream(*this);
    if (owned_) context_->device().destroy_stream(raw_);
}

void Stream::synchronize() {
    context_->require_usable("Stream.synchronize");
    context_->device().synchronize_stream(raw_);
}

bool Stream::done() {
    context_->require_usable("Stream.done");
    return context_->device().stream_done(raw_);
}

void Stream::wait_for(const Event& event) {
    context_->require_usable("Stream.wait_for");
    // Only a driver knows events of other devices; elsewhere what the event stands for is waited
    // for here.
    if (event.context() != context_ && context_->properties().type != DeviceType::Cuda) {
        if (context_->captures().of(*this) != nullptr)
            throw_capture_fault(CaptureFault::Isolation, "Stream.wait_for",
                                "a captured stream cannot wait for another device: let it wait "
                                "before begin_capture()");
        return event.context()->device().synchronize_event(event.raw());
    }
    context_->device().stream_wait_event(raw_, event.raw());
    if (!context_->captures().any()) [[likely]]
        return;
    if (CapturePtr capture = event.captured_in(); capture != nullptr && capture->is_open())
        capture->add_stream(shared_from_this());
}

void Stream::host_function(std::function<void()> function) {
    context_->require_usable("Stream.host_function");
    if (CapturePtr capture = context_->captures().of(*this)) {
        auto kept = std::make_shared<const std::function<void()>>(std::move(function));
        capture->hold(kept);
        return context_->device().capture_host_function(raw_, kept.get());
    }
    context_->device().host_function(raw_, std::move(function));
}

void Stream::begin_capture(CaptureMode mode) {
    context_->require_usable("Stream.begin_capture");
    context_->captures().begin(*this, mode);
}

GraphPtr Stream::end_capture() {
    context_->require_usable("Stream.end_capture");
    return context_->captures().end(*this);
}

bool Stream::capturing() {
    context_->require_usable("Stream.capturing");
    return context_->device().capturing(raw_);
}

}  // namespace trilane::core
