// Pinned host memory: pinning costs about as much as copying the page, so blocks are kept.
#include "core/host_memory.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/stream.h"

namespace trilane::core {

namespace {

struct Block {
    void* address;
    size_t nbytes;
    unsigned flags;
};

struct Waiting {
    Block block;
    std::vector<RawEvent> events;  // of the streams that used it
};

size_t block_size(size_t nbytes) {
    if (nbytes <= size_t{1} << 20) return std::bit_ceil(std::max<size_t>(nbytes, 512));
    const size_t step = std::bit_floor(nbytes) / 8;
    return (nbytes + step - 1) / step * step;
}

}  // namespace

struct HostMemoryPool::Impl {
    Device& device;
    mutable std::mutex mutex;
    std::map<std::pair<unsigned, size_t>, std::vector<void*>> free;  // by flags and size
    std::vector<Waiting> waiting;
    HostPoolStatistics stats;

    // Adds an event for what each stream holds now, unless that is nothing.
    void record(std::span<const StreamPtr> streams, std::vector<RawEvent>& events) {
        for (const StreamPtr& stream : streams) {
            Device& other = stream->context()->device();
            if (&other != &device) {
                stream->synchronize();
            } else if (!device.stream_done(stream->raw())) {
                events.reserve(events.size() + 1);
                events.push_back(device.create_event(false, false));
                device.record_event(events.back(), stream->raw());
            }
        }
    }

    bool passed(Waiting& entry) {
        while (!entry.events.empty()) {
            if (!device.event_done(entry.events.back())) return false;
            device.destroy_event(entry.events.back());
            entry.events.pop_back();
        }
        return true;
    }

    void poll() {
        for (size_t i = 0; i < waiting.size();) {
            if (!passed(waiting[i])) {
                ++i;
                continue;
            }
            const Block block = waiting[i].block;
            free[{block.flags, block.nbytes}].push_back(block.address);
            waiting[i] = std::move(waiting.back());
            waiting.pop_back();
        }
    }

    // What can go back; the caller does that without the lock, for it may wait for the device.
    std::vector<void*> take_free() {
        std::vector<void*> taken;
        taken.reserve(stats.free_blocks);
        for (auto& [key, blocks] : free) {
            taken.insert(taken.end(), blocks.begin(), blocks.end());
            stats.held_bytes -= key.second * blocks.size();
            stats.free_bytes -= key.second * blocks.size();
            stats.free_blocks -= blocks.size();
        }
        free.clear();
        return taken;
    }
};

HostMemoryPool::HostMemoryPool(Device& device) : impl_(new Impl{device, {}, {}, {}, {}}) {}

HostMemoryPool::~HostMemoryPool() {
    Impl& p = *impl_;
    try {
        if (!p.waiting.empty()) p.device.synchronize();
        free_all_free_blocks();
    } catch (const std::exception& error) {
        report_cleanup_failure("freeing pinned memory", error.what());
    }
    for (const Waiting& entry : p.waiting)
        for (const RawEvent event : entry.events) p.device.destroy_event(event);
}

void* HostMemoryPool::allocate(size_t nbytes, unsigned flags, size_t& block_bytes, bool may_wait) {
    TRILANE_CHECK(nbytes > 0, "HostMemoryPool::allocate of 0 bytes");
    if (nbytes > SIZE_MAX / 4)
        throw_error(ErrorKind::OutOfMemory,
                    "allocate_host: out of pinned host memory: asked for {} bytes", nbytes);
    const size_t size = block_size(nbytes);
    Impl& p = *impl_;
    block_bytes = size;
    {
        std::lock_guard lock(p.mutex);
        if (may_wait && !p.waiting.empty()) p.poll();
        auto found = p.free.find({flags, size});
        if (found != p.free.end() && !found->second.empty()) {
            void* address = found->second.back();
            found->second.pop_back();
            p.stats.free_bytes -= size;
            --p.stats.free_blocks;
            return address;
        }
    }
    void* address = nullptr;
    try {
        address = p.device.allocate_host(size, flags);
    } catch (const Error& error) {
        if (!may_wait || error.kind() != ErrorKind::OutOfMemory || statistics().free_bytes == 0)
            throw;
        p.device.synchronize();
        free_all_free_blocks();
        address = p.device.allocate_host(size, flags);
    }
    std::lock_guard lock(p.mutex);
    p.stats.held_bytes += size;
    return address;
}

void HostMemoryPool::free(void* address, size_t block_bytes, unsigned flags,
                          std::span<const StreamPtr> used_on) noexcept {
    Impl& p = *impl_;
    std::vector<RawEvent> events;
    try {
        p.record(used_on, events);
        std::lock_guard lock(p.mutex);
        if (events.empty())
            p.free[{flags, block_bytes}].push_back(address);
        else
            p.waiting.push_back({{address, block_bytes, flags}, std::move(events)});
        p.stats.free_bytes += block_bytes;
        ++p.stats.free_blocks;
    } catch (const std::exception& error) {
        // What may still use the block is not known: it stays marked as used.
        for (const RawEvent event : events) p.device.destroy_event(event);
        report_cleanup_failure("freeing pinned memory (the block is lost)", error.what());
    }
}

void HostMemoryPool::free_all_free_blocks() {
    std::vector<void*> taken;
    {
        std::lock_guard lock(impl_->mutex);
        impl_->poll();
        taken = impl_->take_free();
    }
    for (void* address : taken) impl_->device.free_host(address);
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
        buffer->data_ = context->host_pool().allocate(nbytes, flags, buffer->block_bytes_,
                                                      !context->captures().any());
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
    const CapturePtr capture = stream->context()->captures().of(*stream);
    std::lock_guard lock(mutex_);
    std::erase_if(captured_in_, [](const auto& known) { return known.expired(); });
    if (capture != nullptr) captured_in_.push_back(capture);
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
        keep_for_graphs(data);
    } catch (const std::exception& error) {
        return report_cleanup_failure("freeing pinned memory (the block is lost)", error.what());
    }
    used_on_.clear();
    captured_in_.clear();
}

namespace {

// Pinned memory that graphs use and its owner does not any more.
class KeptHostMemory : public KeptMemory {
  public:
    KeptHostMemory(ContextPtr context, void* data, size_t block_bytes, unsigned flags,
                   std::vector<StreamPtr> used_on)
        : context_(std::move(context)),
          data_(data),
          block_bytes_(block_bytes),
          flags_(flags),
          used_on_(std::move(used_on)) {}
    ~KeptHostMemory() override {
        if (!context_->usable()) return;
        try {
            if (wait_) context_->device().synchronize();
        } catch (const std::exception& error) {
            report_cleanup_failure("freeing pinned memory (it is lost)", error.what());
            return;
        }
        context_->host_pool().free(data_, block_bytes_, flags_, used_on_);
    }
    void let_go_of_origin(const Capture& capture) {
        for (StreamPtr& used : used_on_)
            if (used->id() == capture.origin_id()) used = StreamPtr(StreamPtr(), used.get());
    }
    void origin_stays(const StreamPtr& origin) override {
        for (StreamPtr& used : used_on_)
            if (used.get() == origin.get()) used = origin;
    }
    void origin_goes(const Stream& origin) override {
        if (std::erase_if(used_on_, [&](const auto& used) { return used.get() == &origin; }))
            wait_ = true;
    }

  private:
    ContextPtr context_;
    void* data_;
    size_t block_bytes_;
    unsigned flags_;
    std::vector<StreamPtr> used_on_;
    bool wait_ = false;  // for a stream that is gone
};

}  // namespace

// Gives the memory back now or, where graphs or a capture want it, when they are gone.
void HostBuffer::keep_for_graphs(void* data) {
    Captures& captures = context_->captures();
    if (captured_in_.empty() && !captures.any()) [[likely]]
        return context_->host_pool().free(data, block_bytes_, flags_, used_on_);
    const auto kept =
        std::make_shared<KeptHostMemory>(context_, data, block_bytes_, flags_, used_on_);
    for (const CapturePtr& capture : captures.open()) kept->let_go_of_origin(*capture);
    for (const auto& known : captured_in_)
        if (CapturePtr capture = known.lock()) capture->hold_memory(kept);
    captures.later(kept);
}

}  // namespace trilane::core
