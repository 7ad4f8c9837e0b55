// Buffers: where their memory comes from, what may still use it, and how it goes back.
#include "core/buffer.h"

#include <algorithm>

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
    buffer->block_ = context->pool().allocate(nbytes, *stream);
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

void Buffer::record_use(const StreamPtr& stream) {
    if (stream_ != nullptr && stream->id() == stream_->id()) return;
    if (pooled_) record_other_use(stream);
}

void Buffer::record_other_use(const StreamPtr& stream) {
    std::lock_guard lock(mutex_);
    for (const StreamPtr& used : used_on_)
        if (used->id() == stream->id()) return;
    used_on_.push_back(stream);
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

void Buffer::release_memory() {
    Device& device = context_->device();
    if (context_->usable()) {
        if (foreign_) context_->foreign().remove(device, address_);
        if (managed_) {
            device.forget_allocation(address_);
            try {
                device.synchronize();  // nothing says which streams used it
            } catch (const std::exception& error) {
                report_cleanup_failure("waiting before managed memory is freed", error.what());
            }
            device.free(address_, 0);
        }
        if (pooled_) {
            device.forget_allocation(address_);
            context_->pool().free(block_, *stream_, used_on_, escaped());
        }
    }
    used_on_.clear();
    if (release_) std::exchange(release_, nullptr)();
}

}  // namespace trilane::core
