// Ranges by address; nested ones are found by walking back as far as the largest could reach.
#include "devices/cpu/check/allocation_table.h"

#include <mutex>

namespace trilane::cpu {

AllocationTable& AllocationTable::get() {
    static auto* table = new AllocationTable;
    return *table;
}

void AllocationTable::note(uint64_t address, uint64_t nbytes, std::string_view name,
                           RangeKind kind) {
    if (!enabled() || address == 0 || nbytes == 0) return;
    std::lock_guard lock(mutex_);
    generation_.fetch_add(1, std::memory_order_release);
    if (nbytes > largest_) largest_ = nbytes;
    std::vector<Entry>& entries = ranges_[address];
    for (Entry& entry : entries) {
        if (entry.nbytes != nbytes) continue;
        if (!name.empty()) entry.name = name;
        entry.kind = kind;
        return;
    }
    entries.push_back({nbytes, kind, std::string(name)});
}

void AllocationTable::forget(uint64_t address) noexcept {
    if (!enabled()) return;
    std::lock_guard lock(mutex_);
    generation_.fetch_add(1, std::memory_order_release);
    auto found = ranges_.find(address);
    if (found == ranges_.end()) return;
    found->second.pop_back();
    if (found->second.empty()) ranges_.erase(found);
}

std::optional<Allocation> AllocationTable::find_locked(uint64_t address) const {
    std::optional<Allocation> best;
    auto next = ranges_.upper_bound(address);
    while (next != ranges_.begin()) {
        --next;
        if (address - next->first >= largest_) break;
        for (const Entry& entry : next->second)
            if (address - next->first < entry.nbytes && (!best || entry.nbytes > best->nbytes))
                best = Allocation{next->first, entry.nbytes, entry.kind, entry.name};
    }
    return best;
}

std::optional<Allocation> AllocationTable::find(uint64_t address) const {
    std::shared_lock lock(mutex_);
    return find_locked(address);
}

bool AllocationTable::bounds(uint64_t address, uint64_t& begin, uint64_t& nbytes) const {
    struct Last {
        const AllocationTable* table = nullptr;
        uint64_t generation = 0, begin = 0, nbytes = 0;
    };
    static thread_local Last last;
    uint64_t generation = generation_.load(std::memory_order_acquire);
    if (last.table != this || last.generation != generation ||
        address - last.begin >= last.nbytes) {
        std::shared_lock lock(mutex_);
        std::optional<Allocation> found = find_locked(address);
        if (!found) return false;
        last = {this, generation, found->begin, found->nbytes};
    }
    begin = last.begin;
    nbytes = last.nbytes;
    return true;
}

std::optional<Allocation> AllocationTable::before(uint64_t address) const {
    std::shared_lock lock(mutex_);
    auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin()) return std::nullopt;
    --next;
    const Entry& entry = next->second.back();
    return Allocation{next->first, entry.nbytes, entry.kind, entry.name};
}

size_t AllocationTable::size() const {
    std::shared_lock lock(mutex_);
    size_t count = 0;
    for (const auto& range : ranges_) count += range.second.size();
    return count;
}

}  // namespace trilane::cpu
