// Device memory of other processes. A handle is bytes that mean one allocation, whoever gets them;
// the process that made it keeps the memory alive as long as others have it open. Nothing orders
// the work of two processes: a wait or an event of other processes does (Event::create_shared).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "core/context.h"
#include "core/device.h"

namespace trilane::core {

struct ExportedMemory {
    // 64 bytes, the driver's own handle, where the allocation starts a piece of the device's
    // memory; 72 where it lies inside of one: then the last eight are its place, little-endian.
    // Other libraries take the first form only.
    std::string handle;
    size_t offset = 0;  // of `address` in the allocation
};

// `address`: anywhere in a live allocation of the context's pool, or in memory of another library.
// InvalidArgument where the pool's memory is free; NotSupported on devices that have no such thing.
ExportedMemory export_memory(const ContextPtr& context, DevicePtr address);

// Memory that another process exported. One handle may be opened several times.
class IpcMemory {
  public:
    static std::shared_ptr<IpcMemory> open(const ContextPtr& context, std::string_view handle);
    // Closes, reporting what goes wrong.
    ~IpcMemory();
    IpcMemory(const IpcMemory&) = delete;
    IpcMemory& operator=(const IpcMemory&) = delete;

    const ContextPtr& context() const { return context_; }
    DevicePtr address() const { return address_; }  // of the allocation
    // Waits for the device, whose work may use the memory. InvalidArgument the second time.
    void close();
    bool closed() const { return closed_.load(std::memory_order_acquire); }

  private:
    IpcMemory() = default;
    void unmap();
    ContextPtr context_;
    DevicePtr base_ = 0, address_ = 0;
    std::atomic<bool> closed_{false};
};
using IpcMemoryPtr = std::shared_ptr<IpcMemory>;

}  // namespace trilane::core
