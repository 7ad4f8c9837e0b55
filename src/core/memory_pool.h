// The pool of a device: stream-ordered, with record-stream semantics. A freed block is reused at
// once on the stream that it was allocated on, and elsewhere only when the work that may still use
// it is done. The pools that PyCUDA and CuPy show are views of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/stream.h"

namespace trilane::core {

struct PoolStatistics {
    size_t used_bytes = 0;     // in live buffers, rounded sizes
    size_t held_bytes = 0;     // taken from the device and not given back
    size_t free_bytes = 0;     // held and not used
    size_t free_blocks = 0;    // pieces that free_bytes is in
    size_t waiting_bytes = 0;  // of free_bytes: freed, but other streams may still use them
    size_t live_buffers = 0;
    size_t peak_used_bytes = 0;
    uint64_t allocations = 0;         // calls served
    uint64_t device_allocations = 0;  // calls that had to ask the device
};

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
  public:
    explicit MemoryPool(Device& device);
    ~MemoryPool();  // gives everything back; buffers keep their pool alive

    static constexpr size_t kGranularity = 512;  // sizes are rounded up to this
    // Requests up to the first never cut pieces off blocks above the second: a small array that
    // lives long would keep a large block from being used whole.
    static constexpr size_t kSmallRequest = size_t{1} << 20;
    static constexpr size_t kLargeBlock = size_t{64} << 20;

    struct Block {
        DevicePtr address = 0;
        size_t nbytes = 0;      // rounded
        void* chunk = nullptr;  // the pool's own
        bool direct = false;    // not pooled: goes back to the device when freed
    };
    // nbytes > 0. On failure: free what is free, collect garbage, retry, then OutOfMemory saying
    // asked, held, used, free. Costs about 50 ns when a block fits; no device call then. `capture`:
    // of the capture that the stream takes part in; the block is then for its graph alone until
    // release_capture().
    Block allocate(size_t nbytes, const Stream& stream, uint64_t capture = 0);
    // `home` is the stream of allocate(). `used_on`: other streams that used it. `escaped`: any
    // stream may have used it. The block is reused on `home` and elsewhere after what those streams
    // hold now.
    void free(const Block& block, const Stream& home, std::span<const StreamPtr> used_on,
              bool escaped) noexcept;

    void free_all_free_blocks();    // waits for blocks that other streams may still use
    void set_limit(size_t nbytes);  // of held_bytes; 0: none
    size_t limit() const;
    PoolStatistics statistics() const;
    void reset_peak();
    // With `enabled` false every allocation goes to the device and every free back to it.
    void set_enabled(bool enabled);
    bool enabled() const;
    bool owns(DevicePtr address) const;  // inside memory that the pool holds
    // Where an address lies: one allocation, in one piece of the device's memory. nbytes 0: not in
    // the pool's memory. InvalidArgument where nothing is allocated.
    struct Place {
        DevicePtr segment = 0, block = 0;
        size_t nbytes = 0;  // of the block, rounded
    };
    Place place_of(DevicePtr address) const;

    // Called by the pool when memory runs out, with no lock held: frees what garbage holds (the
    // cycle collector of Python). One for all pools.
    static void set_collector(std::function<void()> collector);

    // Called by Captures. While there is a capture no stream is asked and nothing goes back to the
    // device. `idle`: the origin has nothing left to do, so what is free there may be used.
    void begin_capture(uint64_t capture, const Stream& origin, bool idle);
    void end_capture(uint64_t capture);
    // The graph is gone and its launches are done: its free memory is for every stream, and what is
    // still used belongs to the stream that it was allocated on.
    void release_capture(uint64_t capture) noexcept;

    // Called by Stream: which streams are alive.
    void add_stream(const Stream& stream);
    void retire_stream(const Stream& stream) noexcept;  // before it is destroyed

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace trilane::core
