// Free pieces of device memory by size: the data structure of the pool, without its policy. Every
// operation takes constant time and allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/device.h"

namespace trilane::core {

struct Arena;

// A piece of a segment (one allocation of the device). The pieces of a segment form a list in
// address order; its first piece is the same object for as long as the segment lives.
struct Chunk {
    enum class State : uint8_t { Live, Free, Waiting };
    DevicePtr address = 0;
    size_t nbytes = 0;
    Chunk* before = nullptr;
    Chunk* after = nullptr;
    Chunk* bin_before = nullptr;
    Chunk* bin_after = nullptr;
    Arena* arena = nullptr;  // where it is free, or will be
    State state = State::Live;
    bool direct = false;  // not pooled: goes back to the device when freed
};

// Sizes are multiples of `kUnit`. Up to 64 KiB each size has its bin, above there are eight bins
// for each power of two.
class Bins {
  public:
    static constexpr size_t kUnit = 512;

    void insert(Chunk* chunk);
    void remove(Chunk* chunk);
    // The best fit of those looked at: not larger than `largest`, nullptr if there is none.
    Chunk* find(size_t nbytes, size_t largest) const;
    Chunk* any() const;
    bool empty() const { return any() == nullptr; }

  private:
    static constexpr size_t kExact = 128, kBins = 512;
    static constexpr int kLookAt = 16;
    static size_t bin_of(size_t nbytes);
    std::array<Chunk*, kBins> heads_{};
    std::array<uint64_t, kBins / 64> filled_{};
};

// Storage of Chunk objects, reused.
class ChunkStore {
  public:
    Chunk* take();
    void give_back(Chunk* chunk) { free_.push_back(chunk); }

  private:
    std::deque<Chunk> chunks_;
    std::vector<Chunk*> free_;
};

}  // namespace trilane::core
