// Pinned host memory: pinning costs about as much as copying the page, so blocks are kept.
#include "core/host_memory.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/stream.h"

namespace trilane::core {

struct HostMemoryPool::Impl {
    Device& device;
    mutable std::mutex mutex;
    std::map<std::pair<unsigned, size_t>, std::vector<void*>> free;  // by flags and size
    HostPoolStatistics stats;

    void trim() noexcept {
        for (auto& [key, blocks] : free) {
            for (void* address : blocks) device.free_host(address);
            stats.held_bytes -= key.second * blocks.size();
            stats.free_bytes -= key.second * blocks.size();
            stats.free_blocks -= blocks.size();
        }
        free.clear();
    }
};

namespace {

size_t block_size(size_t nbytes) {
    if (nbytes <= size_t{1} << 20) return std::bit_ceil(std::max<size_t>(nbytes, 512));
    const size_t step = std::bit_floor(nbytes) / 8;
    return (nbytes + step - 1) / step * step;
}

}  // namespace

HostMemoryPool::HostMemoryPool(Device& device) : impl_(new Impl{device, {}, {}, {}}) {}

HostMemoryPool::~HostMemoryPool() { impl_->trim(); }

void* HostMemoryPool::allocate(size_t nbytes, unsigned flags, size_t& block_bytes) {
    TRILANE_CHECK(nbytes > 0, "HostMemoryPool::allocate of 0 bytes");
    if (nbytes > SIZE_MAX / 4)
        throw_error(ErrorKind::OutOfMemory,
                    "allocate_host: out of pinned host memory: asked for {} bytes", nbytes);
    const size_t size = block_size(nbytes);
    Impl& p = *impl_;
    std::lock_guard lock(p.mutex);
    if (auto found = p.free.find({flags, size}); found != p.free.end() && !found->second.empty()) {
        void* address = found->second.back();
        found->second.pop_back();
        p.stats.free_bytes -= size;
        --p.stats.free_blocks;
        block_bytes = size;
        return address;
    }
    void* address = nullptr;
    try {
        address = p.device.allocate_host(size, flags);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::OutOfMemory || p.stats.free_bytes == 0) throw;
        p.trim();
        address = p.device.allocate_host(size, flags);
    }
    p.stats.held_bytes += size;
    block_bytes = size;
    return address;
}

void HostMemoryPool::free(void* address, size_t block_bytes, unsigned flags) noexcept {
    Impl& p = *impl_;
    std::lock_guard lock(p.mutex);
    try {
        p.free[{flags, block_bytes}].push_back(address);
        p.stats.free_bytes += block_bytes;
        ++p.stats.free_blocks;
    } catch (const std::exception&) {  // no memory for the list: the block goes back instead
        p.device.free_host(address);
        p.stats.held_bytes -= block_bytes;
    }
}

void HostMemoryPool::free_all_free_blocks() {
    std::lock_guard lock(impl_->mutex);
    impl_->trim();
}

HostPoolStatistics HostMemoryPool::statistics() const {
    std::lock_guard lock(impl_->mutex);
    return impl_->stats;
}

HostBufferPtr HostBuffer::allocate(const ContextPtr& context, size_t nbytes, unsigned flags) {
    context->require_usable("allocate_host");
    HostBufferPtr buffer(new HostBuffer);
    buffer->context_ = context;
    buffer->nbytes_ = nbytes;
    buffer->flags_ = flags;
    if (nbytes != 0)
        buffer->data_ = context->host_pool().allocate(nbytes, flags, buffer->block_bytes_);
    return buffer;
}

HostBuffer::~HostBuffer() { release(); }

DevicePtr HostBuffer::device_pointer() const {
    if (data_ == nullptr)
        throw_error(ErrorKind::InvalidArgument,
                    "HostBuffer.device_pointer: no memory: the buffer is empty or was freed");
    return context_->device().host_device_pointer(data_);
}

void HostBuffer::record_use(const StreamPtr& stream) {
    std::lock_guard lock(mutex_);
    for (const StreamPtr& used : used_on_)
        if (used->id() == stream->id()) return;
    used_on_.push_back(stream);
}

void HostBuffer::free_now() {
    if (freed())
        throw_error(ErrorKind::InvalidArgument, "free: this pinned memory was freed before");
    release();
}

void HostBuffer::release() noexcept {
    if (data_ == nullptr) return;
    void* data = std::exchange(data_, nullptr);
    if (!context_->usable()) return;
    try {
        for (const StreamPtr& stream : used_on_) stream->synchronize();
    } catch (const std::exception& error) {
        report_cleanup_failure("freeing pinned memory (the block is lost)", error.what());
        return;
    }
    used_on_.clear();
    context_->host_pool().free(data, block_bytes_, flags_);
}

}  // namespace trilane::core
