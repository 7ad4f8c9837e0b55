// Pinned host memory, pooled.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/capture.h"
#include "core/context.h"

namespace trilane::core {

class HostBuffer;
using HostBufferPtr = std::shared_ptr<HostBuffer>;

struct HostPoolStatistics {
    size_t held_bytes = 0, free_bytes = 0, free_blocks = 0;
};

// Blocks of powers of two, 512 bytes at least, in steps of an eighth of that above 1 MiB; reused
// among requests of the same flags.
class HostMemoryPool {
  public:
    explicit HostMemoryPool(Device& device);
    ~HostMemoryPool();
    // nbytes > 0. OutOfMemory if neither the pool nor, after trimming, the device has it.
    // `may_wait` false: the device cannot be waited for now, so memory in use is not tried for.
    void* allocate(size_t nbytes, unsigned flags, size_t& block_bytes, bool may_wait = true);
    // Reused after what the streams hold now. Does not wait for them.
    void free(void* address, size_t block_bytes, unsigned flags,
              std::span<const StreamPtr> used_on = {}) noexcept;
    void free_all_free_blocks();  // but those that a stream may still use
    HostPoolStatistics statistics() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Flags are CUDA's CU_MEMHOSTALLOC_* bits (1 portable, 2 device-mapped, 4 write-combined).
class HostBuffer {
  public:
    static HostBufferPtr allocate(const ContextPtr& context, size_t nbytes, unsigned flags = 0);
    ~HostBuffer();
    void* data() const { return data_; }
    size_t nbytes() const { return nbytes_; }
    unsigned flags() const { return flags_; }
    DevicePtr device_pointer() const;
    const ContextPtr& context() const { return context_; }
    // Work on `stream` reads or writes it: it is reused after what the stream holds at its free,
    // and after the end of the graph if the stream is captured.
    void record_use(const StreamPtr& stream);
    void free_now();
    bool freed() const { return data_ == nullptr && nbytes_ > 0; }

  private:
    HostBuffer() = default;
    void release() noexcept;
    void keep_for_graphs(void* data);
    ContextPtr context_;
    void* data_ = nullptr;
    size_t nbytes_ = 0, block_bytes_ = 0;
    unsigned flags_ = 0;
    std::mutex mutex_;
    std::vector<StreamPtr> used_on_;
    std::vector<std::weak_ptr<Capture>> captured_in_;
};

}  // namespace trilane::core
