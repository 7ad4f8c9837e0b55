// Memory that other libraries own and buffers adopted: known to the device once per range, so that
// its checks accept accesses to it.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "core/device.h"

namespace trilane::core {

class MemoryPool;

class ForeignMemory {
  public:
    explicit ForeignMemory(const MemoryPool& pool) : pool_(pool) {}
    // False if there is nothing to do at the end: the range lies in memory that the pool knows.
    bool add(Device& device, DevicePtr address, size_t nbytes);
    void remove(Device& device, DevicePtr address) noexcept;

  private:
    struct Range {
        size_t nbytes = 0;  // of the longest of those adopted at this address
        int users = 0;
    };
    const MemoryPool& pool_;
    std::mutex mutex_;
    std::map<DevicePtr, Range> ranges_;
};

}  // namespace trilane::core
