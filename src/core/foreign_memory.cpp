// Adopted memory: counted by address, because two buffers may adopt the same.
#include "core/foreign_memory.h"

#include "core/memory_pool.h"

namespace trilane::core {

bool ForeignMemory::add(Device& device, DevicePtr address, size_t nbytes) {
    if (pool_.owns(address)) return false;
    std::lock_guard lock(mutex_);
    Range& range = ranges_[address];
    ++range.users;
    if (nbytes > range.nbytes) {
        range.nbytes = nbytes;
        device.note_allocation(address, nbytes, {});
    }
    return true;
}

void ForeignMemory::remove(Device& device, DevicePtr address) noexcept {
    std::lock_guard lock(mutex_);
    const auto found = ranges_.find(address);
    if (found == ranges_.end() || --found->second.users > 0) return;
    ranges_.erase(found);
    device.forget_allocation(address);
}

}  // namespace trilane::core
