// A Buffer is one piece of device memory with its owner. It is the only thing that holds device
// memory: arrays of all three faces, PyCUDA allocations, globals of modules and foreign memory.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/memory_pool.h"
#include "core/stream.h"

namespace trilane::core {

class Buffer;
using BufferPtr = std::shared_ptr<Buffer>;

class Buffer {
  public:
    // From the pool of the stream's device. nbytes 0 gives a buffer with address 0.
    static BufferPtr allocate(const StreamPtr& stream, size_t nbytes);
    // Straight from the device, not through the pool (managed memory has its own flags).
    static BufferPtr allocate_managed(const ContextPtr& context, size_t nbytes, unsigned flags);
    // Memory that something else owns: `release` runs when the last handle is gone, or at
    // free_now(). It does not wait for work in flight: the owner must outlive that.
    static BufferPtr adopt(const ContextPtr& context, DevicePtr address, size_t nbytes,
                           std::function<void()> release);
    ~Buffer();

    DevicePtr address() const { return address_; }
    size_t nbytes() const { return nbytes_; }
    const ContextPtr& context() const { return context_; }
    // Null for adopted and managed memory.
    const StreamPtr& stream() const { return stream_; }

    // Gives the memory back before the last handle is gone; later use throws InvalidArgument.
    void free_now();
    bool freed() const { return freed_.load(std::memory_order_acquire); }
    void require_live(const char* who) const;

    // The memory was used on `stream`, which is not the one it was allocated on: it is reused only
    // after what is now on that stream.
    // If the stream is captured, it is kept as it is until the graph is gone.
    void record_use(const StreamPtr& stream) {
        if (stream.get() == stream_.get() && !stream->context()->captures().any()) [[likely]]
            return;
        record_other_use(stream);
    }
    // The address left as a bare integer: reused only after every stream alive at its free.
    void mark_escaped() { escaped_.store(true, std::memory_order_relaxed); }
    bool escaped() const { return escaped_.load(std::memory_order_relaxed); }

    // What reports call the memory: the name of the variable, where a face knows it.
    void set_name(std::string name);

  private:
    Buffer() = default;
    class Kept;  // the memory of a buffer that is gone, for a graph
    void release() noexcept;
    void release_memory();
    void give_back();
    bool keep_for_graphs();
    std::vector<CapturePtr> captures_to_keep_for();
    void record_other_use(const StreamPtr& stream);
    void note_capture(const CapturePtr& capture);
    ContextPtr context_;
    StreamPtr stream_;
    DevicePtr address_ = 0;
    size_t nbytes_ = 0;
    MemoryPool::Block block_;  // of pooled memory
    bool pooled_ = false, managed_ = false, foreign_ = false;
    std::atomic<bool> escaped_{false}, freed_{false};
    std::function<void()> release_;
    uint64_t made_in_ = 0;  // the capture that it was allocated in
    std::mutex mutex_;
    std::vector<StreamPtr> used_on_;
    std::vector<std::weak_ptr<Capture>> captured_in_;  // whose work uses it
};

// Copies between host and device, ordered on `stream`; done on return when `wait`. Ranges are
// checked against the buffers' sizes (InvalidArgument). On a captured stream a copy that waits is
// refused, and others read and write the host's memory at each launch of the graph: it must live as
// long.
void copy_to_device(Buffer& dst, size_t dst_offset, const void* src, size_t nbytes,
                    const StreamPtr& stream, bool wait);
// The same for bytes that are as they are now at each launch of a graph, too, if the stream is
// captured. Done with `src` on return.
void copy_constant(Buffer& dst, size_t dst_offset, const void* src, size_t nbytes,
                   const StreamPtr& stream);
void copy_to_host(void* dst, const Buffer& src, size_t src_offset, size_t nbytes,
                  const StreamPtr& stream, bool wait);
// Device to device, also between devices. Stream-ordered.
void copy_on_device(Buffer& dst, size_t dst_offset, const Buffer& src, size_t src_offset,
                    size_t nbytes, const StreamPtr& stream);
// `pattern` of 1, 2 or 4 bytes, `count` times from `dst_offset` on. Stream-ordered.
void fill(Buffer& dst, size_t dst_offset, uint32_t pattern, int pattern_bytes, size_t count,
          const StreamPtr& stream);

}  // namespace trilane::core
