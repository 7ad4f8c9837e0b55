// The pool of a device: stream-ordered, with record-stream semantics. A freed block is reused at
// once on the stream that it was allocated on, and elsewhere only when the work that may still use
// it is done. The pools that PyCUDA and CuPy show are views of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/stream.h"

namespace trilane::core {

struct PoolStatistics {
    size_t used_bytes = 0;        // in live buffers, rounded sizes
    size_t held_bytes = 0;        // taken from the device and not given back
    size_t free_bytes = 0;        // held and not used
    size_t free_blocks = 0;
    size_t live_buffers = 0;
    size_t peak_used_bytes = 0;
    uint64_t allocations = 0;     // calls served
    uint64_t device_allocations = 0;  // calls that had to ask the device
};

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
  public:
    explicit MemoryPool(Device& device);
    ~MemoryPool();

    static constexpr size_t kGranularity = 512;   // sizes are rounded up to this

    struct Block {
        DevicePtr address = 0;
        size_t nbytes = 0;        // rounded
    };
    // On failure: free what is free, retry, then OutOfMemory saying asked, held, used, free.
    Block allocate(size_t nbytes, const Stream& stream);
    // `events` guard uses on other streams; the block waits for them.
    void free(Block block, const StreamPtr& stream, std::vector<EventPtr> events) noexcept;

    void free_all_free_blocks();
    void set_limit(size_t nbytes);   // 0: none
    size_t limit() const;
    PoolStatistics statistics() const;
    // With `enabled` false every allocation goes to the device and every free back to it.
    void set_enabled(bool enabled);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace trilane::core
