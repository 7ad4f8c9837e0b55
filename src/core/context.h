// A Context is one device with everything that belongs to it: pool, default stream, caches. There
// is one per device (CUDA's primary context), made on first use and kept until the process ends.
// Which device and stream are current is a matter of the calling thread alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device.h"

namespace trilane::core {

class Captures;
class CompileCache;
class ForeignMemory;
class HostMemoryPool;
class MemoryPool;
class Stream;
using StreamPtr = std::shared_ptr<Stream>;

class Context : public std::enable_shared_from_this<Context> {
  public:
    static std::shared_ptr<Context> create(std::unique_ptr<Device> device, int index);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    Device& device() { return *device_; }
    const DeviceProperties& properties() const { return device_->properties(); }
    int index() const { return index_; }  // position in the list of devices
    MemoryPool& pool() { return *pool_; }
    HostMemoryPool& host_pool() { return *host_pool_; }
    CompileCache& compile_cache() { return *compile_cache_; }
    Captures& captures() { return *captures_; }
    ForeignMemory& foreign() { return *foreign_; }  // what Buffer::adopt() took
    StreamPtr default_stream();                     // the null stream; its id never changes

    // False in the child of a fork when the device does not survive one (a cuda device). A cpu
    // device starts its threads anew in the child. Costs one load.
    bool usable() const noexcept;
    void require_usable(const char* who) const {  // DeviceError if not usable()
        if (!usable()) [[unlikely]]
            throw_forked(who);
    }
    // The registry keeps it until the process ends; threads may then keep handles of it at hand.
    bool kept() const { return kept_.load(std::memory_order_relaxed); }
    void keep() { kept_.store(true, std::memory_order_relaxed); }
    void unkeep() { kept_.store(false, std::memory_order_relaxed); }

  private:
    friend class Stream;  // keeps own_streams_
    Context(std::unique_ptr<Device> device, int index);
    [[noreturn]] void throw_forked(const char* who) const;
    std::unique_ptr<Device> device_;
    int index_;
    uint32_t fork_generation_;
    bool survives_fork_;
    std::atomic<bool> kept_{false};
    uint64_t default_stream_id_;
    std::mutex default_stream_mutex_;
    std::shared_ptr<MemoryPool> pool_;
    std::shared_ptr<HostMemoryPool> host_pool_;
    std::unique_ptr<Captures> captures_;
    std::unique_ptr<ForeignMemory> foreign_;
    std::unique_ptr<CompileCache> compile_cache_;
    std::weak_ptr<Stream> default_stream_;
    std::mutex own_streams_mutex_;
    std::unordered_map<RawStream, std::weak_ptr<Stream>> own_streams_;  // made here, alive
};
using ContextPtr = std::shared_ptr<Context>;

// --- the current device and stream of the calling thread
ContextPtr current_context();  // device 0 unless set; makes it on first use
int current_device_index();
void set_current_device(int index);                   // InvalidArgument if there is none such
StreamPtr current_stream();                           // of the current device
StreamPtr current_stream(const ContextPtr& context);  // of that device; the null stream unless set
void set_current_stream(const StreamPtr& stream);     // for the stream's own device
void forget_current_for_tests();                      // of this thread: drops its handles

}  // namespace trilane::core
