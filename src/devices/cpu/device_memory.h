// Device memory of the cpu device: host memory with an account and a limit.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "core/device.h"

namespace trilane::cpu {

// TRILANE_CPU_MEMORY ("4GB", "512MB", bytes), else three quarters of what this process may use.
size_t memory_limit();
size_t parse_memory_size(const std::string& text);  // InvalidArgument on nonsense

class DeviceMemory {
  public:
    explicit DeviceMemory(size_t limit) : limit_(limit) {}
    ~DeviceMemory();
    core::MemoryInfo info();
    // Aligned to 256 bytes, uninitialised. OutOfMemory says what was asked and what is free.
    core::DevicePtr allocate(size_t nbytes);
    void free(core::DevicePtr address) noexcept;  // unknown addresses are reported, not freed
    void* allocate_host(size_t nbytes);
    void free_host(void* address) noexcept;
    void register_host(void* address, size_t nbytes);
    bool unregister_host(void* address);
    bool is_host_memory(const void* address);  // inside pinned or registered memory

  private:
    std::mutex mutex_;
    size_t limit_ = 0, used_ = 0;
    std::map<core::DevicePtr, size_t> blocks_;
    std::map<core::DevicePtr, size_t> pinned_, registered_;
};

}  // namespace trilane::cpu
