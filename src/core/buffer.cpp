// Buffers: where their memory comes from, what may still use it, and how it goes back.
#include "core/buffer.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/foreign_memory.h"

namespace trilane::core {

BufferPtr Buffer::allocate(const StreamPtr& stream, size_t nbytes) {
    const ContextPtr& context = stream->context();
    context->require_usable("allocate");
    BufferPtr buffer(new Buffer);
    buffer->context_ = context;
    buffer->stream_ = stream;
    buffer->nbytes_ = nbytes;
    if (nbytes == 0) return buffer;
    Captures& captures = context->captures();
    captures.poll();
    if (CapturePtr capture = captures.of(*stream)) [[unlikely]] {
        buffer->made_in_ = capture->id();
        buffer->note_capture(capture);
    }
    try {
        buffer->block_ = context->pool().allocate(nbytes, *stream, buffer->made_in_);
    } catch (const Error& error) {
        // The pool has waited: what graphs kept that are gone by now may do.
        if (error.kind() != ErrorKind::OutOfMemory || !captures.poll()) throw;
        buffer->block_ = context->pool().allocate(nbytes, *stream, buffer->made_in_);
    }
    buffer->pooled_ = true;
    buffer->address_ = buffer->block_.address;
    context->device().note_allocation(buffer->address_, nbytes, {});
    return buffer;
}

BufferPtr Buffer::allocate_managed(const ContextPtr& context, size_t nbytes, unsigned flags) {
    context->require_usable("allocate_managed");
    BufferPtr buffer(new Buffer);
    buffer->context_ = context;
    buffer->nbytes_ = nbytes;
    if (nbytes == 0) return buffer;
    buffer->address_ = context->device().allocate_managed(nbytes, flags);
    buffer->managed_ = true;
    context->device().note_allocation(buffer->address_, nbytes, {});
    return buffer;
}

BufferPtr Buffer::adopt(const ContextPtr& context, DevicePtr address, size_t nbytes,
                        std::function<void()> release) {
    BufferPtr buffer(new Buffer);
    buffer->context_ = context;
    buffer->nbytes_ = nbytes;
    buffer->address_ = address;
    if (address != 0 && nbytes != 0)
        buffer->foreign_ = context->foreign().add(context->device(), address, nbytes);
    buffer->release_ = std::move(release);
    return buffer;
}

Buffer::~Buffer() { release(); }

void Buffer::free_now() {
    require_live("free");
    release();
}

void Buffer::require_live(const char* who) const {
    if (freed()) [[unlikely]]
        throw_error(ErrorKind::InvalidArgument,
                    "{}: this memory was freed: got a buffer of {} bytes that free() gave back, "
                    "expected a live one",
                    who, nbytes_);
}

void Buffer::record_other_use(const StreamPtr& stream) {
    const CapturePtr capture = stream->context()->captures().of(*stream);
    if (capture == nullptr && !pooled_) return;
    std::lock_guard lock(mutex_);
    if (capture != nullptr) note_capture(capture);
    if (!pooled_ || (stream_ != nullptr && stream->id() == stream_->id())) return;
    for (const StreamPtr& used : used_on_)
        if (used->id() == stream->id()) return;
    used_on_.push_back(stream);
}

void Buffer::note_capture(const CapturePtr& capture) {
    std::erase_if(captured_in_, [](const auto& known) { return known.expired(); });
    for (const auto& known : captured_in_)
        if (known.lock() == capture) return;
    captured_in_.push_back(capture);
}

void Buffer::set_name(std::string name) {
    if ((pooled_ || managed_ || foreign_) && !freed())
        context_->device().note_allocation(address_, nbytes_, name);
}

void Buffer::release() noexcept {
    if (freed_.exchange(true, std::memory_order_acq_rel) || context_ == nullptr) return;
    try {
        release_memory();
    } catch (const std::exception& error) {
        report_cleanup_failure("freeing device memory", error.what());
    } catch (...) {
        report_cleanup_failure("freeing device memory", "unknown error");
    }
}

// What a buffer leaves to graphs. Given back when the last that it is kept for is gone.
class Buffer::Kept : public KeptMemory {
  public:
    explicit Kept(Buffer& from) {
        buffer_.context_ = from.context_;
        buffer_.stream_ = from.stream_;
        buffer_.address_ = from.address_;
        buffer_.nbytes_ = from.nbytes_;
        buffer_.block_ = from.block_;
        buffer_.pooled_ = from.pooled_;
        buffer_.managed_ = from.managed_;
        buffer_.foreign_ = from.foreign_;
        buffer_.escaped_.store(from.escaped(), std::memory_order_relaxed);
        buffer_.freed_.store(true, std::memory_order_relaxed);
        buffer_.used_on_ = std::move(from.used_on_);
        buffer_.release_ = std::exchange(from.release_, nullptr);
    }
    ~Kept() override {
        try {
            buffer_.give_back();
        } catch (const std::exception& error) {
            report_cleanup_failure("freeing device memory of a graph", error.what());
        } catch (...) {
            report_cleanup_failure("freeing device memory of a graph", "unknown error");
        }
    }

    // The stream that began the capture must not live by what the capture keeps.
    void let_go_of_origin(const Capture& capture) {
        const uint64_t id = capture.origin_id();
        if (buffer_.stream_ != nullptr && buffer_.stream_->id() == id)
            buffer_.stream_ = StreamPtr(StreamPtr(), buffer_.stream_.get());
        if (std::erase_if(buffer_.used_on_, [&](const auto& used) { return used->id() == id; }))
            buffer_.mark_escaped();  // waits for every stream then
    }
    void origin_stays(const StreamPtr& origin) override {
        if (buffer_.stream_.get() == origin.get()) buffer_.stream_ = origin;
    }
    void origin_goes(const Stream& origin) override {
        if (buffer_.stream_.get() != &origin) return;
        buffer_.stream_ = buffer_.context_->default_stream();
        buffer_.mark_escaped();
    }

  private:
    Buffer buffer_;
};

std::vector<CapturePtr> Buffer::captures_to_keep_for() {
    std::vector<CapturePtr> all;
    auto add = [&](CapturePtr capture) {
        if (capture != nullptr && std::find(all.begin(), all.end(), capture) == all.end())
            all.push_back(std::move(capture));
    };
    for (const auto& known : captured_in_) add(known.lock());
    Captures& captures = context_->captures();
    if (!captures.any() || (!pooled_ && !managed_)) return all;
    if (escaped()) {  // the captured work may hold its address
        for (CapturePtr& capture : captures.open()) add(std::move(capture));
    } else if (stream_ != nullptr) {
        add(captures.of(*stream_));
    }
    return all;
}

// True if the memory lives on for a graph, or until nothing is captured.
bool Buffer::keep_for_graphs() {
    Captures& captures = context_->captures();
    if (captured_in_.empty() && !captures.any()) [[likely]]
        return false;
    const std::vector<CapturePtr> all = captures_to_keep_for();
    const bool alone = used_on_.empty() && !escaped() && !block_.direct;
    // Within one capture the order of its stream is that of the graph. Checks know one owner of an
    // address.
    if (made_in_ != 0 && alone && all.size() == 1 && all.front()->id() == made_in_ &&
        all.front()->is_open() && !context_->device().checks_accesses())
        return false;
    const bool asks = pooled_ ? !alone || !stream_->owned() : managed_;  // to be given back
    if (all.empty() && !(asks && captures.any())) return false;
    const auto kept = std::make_shared<Kept>(*this);
    for (const CapturePtr& capture : captures.open()) kept->let_go_of_origin(*capture);
    for (const CapturePtr& capture : all) {
        if (capture->is_open()) kept->let_go_of_origin(*capture);  // it may be of another device
        capture->hold_memory(kept);
    }
    captures.later(kept);
    return true;
}

void Buffer::release_memory() {
    if (!context_->usable()) {
        if (release_) std::exchange(release_, nullptr)();
        return;
    }
    if (!keep_for_graphs()) give_back();
}

void Buffer::give_back() {
    Device& device = context_->device();
    if (context_->usable()) {
        if (foreign_) context_->foreign().remove(device, address_);
        if (pooled_ || managed_) device.forget_allocation(address_);
        if (managed_) {
            try {
                device.synchronize();  // nothing says which streams used it
            } catch (const std::exception& error) {
                report_cleanup_failure("waiting before managed memory is freed", error.what());
            }
            device.free(address_, 0);
        }
        if (pooled_) context_->pool().free(block_, *stream_, used_on_, escaped());
    }
    used_on_.clear();
    if (release_) std::exchange(release_, nullptr)();
}

}  // namespace trilane::core
