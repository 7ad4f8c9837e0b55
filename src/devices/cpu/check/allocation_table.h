// What memory kernels may touch when the checks are on: one table for the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace trilane::cpu {

enum class RangeKind : uint8_t {
    Array,     // of the user: a buffer, pinned memory, memory from malloc in a kernel
    Variable,  // __device__ or __constant__
    Private,   // of the program itself: text of string literals, tables of functions
};

struct Allocation {
    uint64_t begin = 0;  // address
    uint64_t nbytes = 0;
    RangeKind kind = RangeKind::Array;
    std::string name;  // may be empty
};

// Any thread may call any function; look-ups are cheap and do not wait for one another.
class AllocationTable {
  public:
    // Never destroyed.
    static AllocationTable& get();

    // While off (the state at start), note() and forget() do nothing.
    void enable() { enabled_.store(true, std::memory_order_release); }
    bool enabled() const { return enabled_.load(std::memory_order_acquire); }

    // A range at the same address and of the same size is renamed; one of another size is kept
    // beside the first (a view that something else calls its own).
    void note(uint64_t address, uint64_t nbytes, std::string_view name,
              RangeKind kind = RangeKind::Array);
    // Takes away what was noted last at this address.
    void forget(uint64_t address) noexcept;

    // The largest range that holds `address`.
    std::optional<Allocation> find(uint64_t address) const;
    // As find(), only the bounds, and from this thread's memory of its last look-up if it can.
    bool bounds(uint64_t address, uint64_t& begin, uint64_t& nbytes) const;
    // The range that ends last at or before `address`: what an overrun most likely came from.
    std::optional<Allocation> before(uint64_t address) const;
    size_t size() const;

  private:
    struct Entry {
        uint64_t nbytes;
        RangeKind kind;
        std::string name;
    };
    using Map = std::map<uint64_t, std::vector<Entry>>;

    std::optional<Allocation> find_locked(uint64_t address) const;

    mutable std::shared_mutex mutex_;
    Map ranges_;
    uint64_t largest_ = 0;                 // no range was ever larger
    std::atomic<uint64_t> generation_{1};  // changes with every change
    std::atomic<bool> enabled_{false};
};

}  // namespace trilane::cpu
