// The state of a pool and its parts: marks, chunks, what waits, what captures keep.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/memory_pool.h"
#include "core/pool_bins.h"

namespace trilane::core {

// The free memory of one stream. Memory in the arena of stream s may be used by work put on s.
struct Arena {
    RawStream raw = 0;
    bool owned = true;      // false: the raw stream may be gone, it is not asked
    bool captured = false;  // of a graph: its free memory stays where it is
    Bins bins;
};

// An event of the pool's, shared by the blocks that wait for it.
struct Mark {
    RawEvent raw = 0;
    bool passed = false;
};
using MarkPtr = std::shared_ptr<Mark>;

struct Waiting {
    Chunk* chunk;
    std::vector<MarkPtr> marks;
};

// The memory of a graph, by the stream that it was allocated on.
struct CapturedMemory {
    std::unordered_map<uint64_t, std::unique_ptr<Arena>> arenas;  // by Stream::id()
    uint64_t idle_origin = 0;  // Stream::id(): what is free on it may be taken
    bool open = true;
};

// A question to a driver costs about a microsecond: few of them in one allocation.
inline constexpr size_t kPollAtOnce = 8, kMissesAtOnce = 2;

struct MemoryPool::Impl {
    explicit Impl(Device& d) : device(d) {}

    Device& device;
    mutable std::mutex mutex;
    bool enabled = true;
    size_t limit = 0;
    PoolStatistics stats;                  // free_bytes and waiting_bytes kept current
    std::map<DevicePtr, Chunk*> segments;  // by the address of the first chunk
    ChunkStore store;
    std::unordered_map<uint64_t, std::unique_ptr<Arena>> arenas;  // by Stream::id()
    Arena orphans;                                                // free for every stream
    std::deque<Waiting> waiting;
    std::vector<std::pair<std::unique_ptr<Arena>, MarkPtr>> retired;
    std::vector<std::unique_ptr<Arena>> lost;               // of streams whose end cannot be told
    std::unordered_map<uint64_t, RawStream> live;           // by Stream::id()
    std::unordered_map<uint64_t, CapturedMemory> captured;  // by Capture::id()
    int open_captures = 0;
    std::vector<RawEvent> spare_events;

    // --- marks
    MarkPtr mark(RawStream stream) {
        RawEvent raw = 0;
        if (!spare_events.empty()) {
            raw = spare_events.back();
            spare_events.pop_back();
        } else {
            raw = device.create_event(false, false);
        }
        MarkPtr result(new Mark{raw}, [this](Mark* m) noexcept {
            try {
                spare_events.push_back(m->raw);
            } catch (...) {
                device.destroy_event(m->raw);
            }
            delete m;
        });
        device.record_event(raw, stream);
        return result;
    }

    bool passed(const MarkPtr& mark) {
        if (!mark->passed) mark->passed = device.event_done(mark->raw);
        return mark->passed;
    }

    // Adds a mark for what `stream` holds now, unless that is nothing.
    void guard(std::vector<MarkPtr>& marks, RawStream stream) {
        if (!device.stream_done(stream)) marks.push_back(mark(stream));
    }

    // --- chunks
    Arena& arena_of(const Stream& stream) {
        std::unique_ptr<Arena>& slot = arenas[stream.id()];
        if (slot == nullptr) {
            slot = std::make_unique<Arena>();
            slot->raw = stream.raw();
            slot->owned = stream.owned() || stream.raw() == 0;
        }
        return *slot;
    }

    void make_free(Chunk* chunk) {
        Arena* arena = chunk->arena;
        if (Chunk* next = chunk->after; next != nullptr && mergeable(next, arena)) {
            next->arena->bins.remove(next);
            absorb_next(chunk);
        }
        if (Chunk* before = chunk->before; before != nullptr && mergeable(before, arena)) {
            arena->bins.remove(before);
            chunk = before;
            absorb_next(chunk);
        }
        chunk->state = Chunk::State::Free;
        arena->bins.insert(chunk);
        ++stats.free_blocks;
    }

    bool mergeable(const Chunk* chunk, const Arena* arena) {
        return chunk->state == Chunk::State::Free && chunk->arena == arena;
    }

    void absorb_next(Chunk* chunk) {
        Chunk* next = chunk->after;
        --stats.free_blocks;  // one of the two was counted
        chunk->nbytes += next->nbytes;
        chunk->after = next->after;
        if (chunk->after != nullptr) chunk->after->before = chunk;
        store.give_back(next);
    }

    // Takes `nbytes` from the front of a free chunk; the rest stays free where it was.
    void take(Chunk* chunk, size_t nbytes) {
        Chunk* rest = chunk->nbytes > nbytes ? store.take() : nullptr;
        chunk->arena->bins.remove(chunk);
        --stats.free_blocks;
        if (rest != nullptr) {
            rest->address = chunk->address + nbytes;
            rest->nbytes = chunk->nbytes - nbytes;
            rest->before = chunk;
            rest->after = chunk->after;
            if (rest->after != nullptr) rest->after->before = rest;
            rest->arena = chunk->arena;
            rest->state = Chunk::State::Free;
            chunk->after = rest;
            chunk->nbytes = nbytes;
            rest->arena->bins.insert(rest);
            ++stats.free_blocks;
        }
        stats.free_bytes -= nbytes;
        chunk->state = Chunk::State::Live;
    }

    // --- waiting blocks and retired streams
    // Frees what need not wait any more: looks at a few, or at `all`.
    void poll(bool all) {
        const size_t looks = all ? waiting.size() : std::min(waiting.size(), kPollAtOnce);
        size_t misses = 0;
        for (size_t i = 0; i < looks && (all || misses < kMissesAtOnce); ++i) {
            Waiting& entry = waiting.front();
            const bool done = std::all_of(entry.marks.begin(), entry.marks.end(),
                                          [&](const MarkPtr& m) { return passed(m); });
            if (done) {
                Chunk* chunk = entry.chunk;
                waiting.pop_front();
                stats.waiting_bytes -= chunk->nbytes;
                --stats.free_blocks;  // it was counted while it waited
                make_free(chunk);
            } else {
                ++misses;
                waiting.push_back(std::move(entry));
                waiting.pop_front();
            }
        }
        for (size_t i = 0; i < retired.size();) {
            if (!passed(retired[i].second)) {
                ++i;
                continue;
            }
            std::unique_ptr<Arena> arena = std::move(retired[i].first);
            retired.erase(retired.begin() + static_cast<std::ptrdiff_t>(i));
            orphan(*arena);
        }
    }

    // Gives an arena's memory, of which all uses are over, to every stream.
    void orphan(Arena& arena) {
        for (Waiting& entry : waiting)
            if (entry.chunk->arena == &arena) entry.chunk->arena = &orphans;
        while (Chunk* chunk = arena.bins.any()) {
            arena.bins.remove(chunk);
            --stats.free_blocks;
            chunk->arena = &orphans;
            chunk->state = Chunk::State::Live;
            make_free(chunk);
        }
    }

    // Memory of a stream that failed at its end: never used again.
    void lose(std::unique_ptr<Arena> arena) {
        while (Chunk* chunk = arena->bins.any()) {
            arena->bins.remove(chunk);
            --stats.free_blocks;
            stats.free_bytes -= chunk->nbytes;
            chunk->state = Chunk::State::Live;
        }
        lost.push_back(std::move(arena));
    }

    // --- captures
    Chunk* find_captured(uint64_t capture, const Stream& stream, size_t nbytes) {
        CapturedMemory& memory = captured[capture];
        if (Chunk* chunk = captured_arena(memory, stream).bins.find(nbytes, SIZE_MAX)) return chunk;
        // What is free for everybody has no use left. So has what is free on an origin that was
        // done: whatever came since is kept by the capture.
        const size_t largest = nbytes <= kSmallRequest ? kLargeBlock : SIZE_MAX;
        if (Chunk* chunk = orphans.bins.find(nbytes, largest)) return chunk;
        if (memory.idle_origin != stream.id()) return nullptr;
        const auto origin = arenas.find(stream.id());
        return origin == arenas.end() ? nullptr : origin->second->bins.find(nbytes, largest);
    }

    Arena& captured_arena(CapturedMemory& memory, const Stream& stream) {
        std::unique_ptr<Arena>& slot = memory.arenas[stream.id()];
        if (slot == nullptr) {
            slot = std::make_unique<Arena>();
            slot->raw = stream.raw();
            slot->owned = stream.owned() || stream.raw() == 0;
            slot->captured = true;
        }
        return *slot;
    }

    // Live blocks of a graph that is gone belong to their stream, which they keep alive; if it had
    // to go before them, to nobody.
    void give_to_stream(const Arena& arena, uint64_t stream) {
        for (const auto& [address, first] : segments)
            for (Chunk* chunk = first; chunk != nullptr; chunk = chunk->after) {
                if (chunk->arena != &arena) continue;
                if (arena.raw != 0 && !live.contains(stream)) {
                    chunk->arena = &orphans;
                    continue;
                }
                std::unique_ptr<Arena>& home = arenas[stream];
                if (home == nullptr) {
                    home = std::make_unique<Arena>();
                    home->raw = arena.raw;
                    home->owned = arena.owned;
                }
                chunk->arena = home.get();
            }
    }

    // Memory that a capture keeps outlives the stream that began it.
    void disown(const Arena& arena) {
        for (const auto& [address, first] : segments)
            for (Chunk* chunk = first; chunk != nullptr; chunk = chunk->after)
                if (chunk->arena == &arena && chunk->state == Chunk::State::Live)
                    chunk->arena = &orphans;
    }

    // --- finding
    Chunk* find(Arena& own, size_t nbytes, bool any_size) {
        const bool small = nbytes <= kSmallRequest && !any_size;
        const size_t largest = small ? kLargeBlock : SIZE_MAX;
        if (Chunk* chunk = own.bins.find(nbytes, largest)) return chunk;
        return orphans.bins.find(nbytes, largest);
    }

    // Free memory of another stream that has nothing left to do.
    Chunk* find_elsewhere(const Arena& own, size_t nbytes, bool any_size) {
        const size_t largest = nbytes <= kSmallRequest && !any_size ? kLargeBlock : SIZE_MAX;
        for (auto& [id, arena] : arenas) {
            if (arena.get() == &own || !arena->owned) continue;
            Chunk* chunk = arena->bins.find(nbytes, largest);
            if (chunk != nullptr && device.stream_done(arena->raw)) return chunk;
        }
        return nullptr;
    }

    bool over_limit(size_t nbytes) const {
        return limit != 0 && (nbytes > limit || stats.held_bytes > limit - nbytes);
    }

    Chunk* grow(size_t nbytes, const Stream& stream, bool direct) {
        Chunk* chunk = store.take();
        try {
            chunk->address = device.allocate(nbytes, stream.raw());
        } catch (...) {
            store.give_back(chunk);
            throw;
        }
        chunk->nbytes = nbytes;
        chunk->direct = direct;
        try {
            segments.emplace(chunk->address, chunk);
        } catch (...) {
            device.free(chunk->address, stream.raw());
            store.give_back(chunk);
            throw;
        }
        stats.held_bytes += nbytes;
        ++stats.device_allocations;
        return chunk;
    }

    // --- giving back
    bool all_free(const Chunk* first) const {
        for (const Chunk* c = first; c != nullptr; c = c->after)
            if (c->state != Chunk::State::Free || c->arena->captured) return false;
        return true;
    }

    // Whether a device.free() on the stream of the first piece comes after all uses of the others.
    bool one_order(const Chunk* first) {
        for (const Chunk* c = first; c != nullptr; c = c->after) {
            if (!c->arena->owned) return false;  // of a stream destroyed with work in flight
            const bool ordered = c->arena == first->arena || c->arena == &orphans;
            if (!ordered && !device.stream_done(c->arena->raw)) return false;
        }
        return true;
    }

    // Never waits under the lock: a host function of a stream may want to free memory.
    void wait_and_trim(std::unique_lock<std::mutex>& lock, bool always) {
        if (open_captures != 0) return;  // a wait would end the capture
        if (always || !waiting.empty() || !retired.empty()) {
            lock.unlock();
            device.synchronize();
            lock.lock();
        }
        poll(true);
        trim();
    }

    void trim() {
        for (auto it = segments.begin(); it != segments.end();) {
            Chunk* first = it->second;
            if (!all_free(first) || !one_order(first)) {
                ++it;
                continue;
            }
            const RawStream raw = first->arena->owned ? first->arena->raw : 0;
            const DevicePtr address = first->address;
            for (Chunk* c = first; c != nullptr;) {
                Chunk* next = c->after;
                c->arena->bins.remove(c);
                --stats.free_blocks;
                stats.free_bytes -= c->nbytes;
                stats.held_bytes -= c->nbytes;
                store.give_back(c);
                c = next;
            }
            it = segments.erase(it);
            device.free(address, raw);
        }
    }

    void free_direct(Chunk* chunk, const std::vector<MarkPtr>& marks, RawStream home) {
        for (const MarkPtr& m : marks) device.stream_wait_event(home, m->raw);
        segments.erase(chunk->address);
        stats.held_bytes -= chunk->nbytes;
        device.free(chunk->address, home);
        store.give_back(chunk);
    }

    std::vector<MarkPtr> guards(const Stream& home, std::span<const StreamPtr> used_on,
                                bool escaped) {
        std::vector<MarkPtr> marks;
        for (const StreamPtr& stream : used_on)
            if (&stream->context()->device() == &device && stream->id() != home.id())
                guard(marks, stream->raw());
        if (escaped) {
            for (const auto& [id, stream] : live)
                if (id != home.id()) guard(marks, stream);
            for (const auto& [arena, mark] : retired) marks.push_back(mark);
        }
        return marks;
    }
};

}  // namespace trilane::core
