// The pool's policy: whose free memory may be used when, and what to do when there is none.
#include "core/memory_pool.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/pool_state.h"
#include "core/size_text.h"

namespace trilane::core {

namespace {

struct Collector {
    std::mutex mutex;
    std::function<void()> function;
};

Collector& collector() {
    static Collector* const instance = new Collector;  // never destroyed: used until the very end
    return *instance;
}

}  // namespace

MemoryPool::MemoryPool(Device& device) : impl_(std::make_unique<Impl>(device)) {}

MemoryPool::~MemoryPool() {
    Impl& p = *impl_;
    try {
        std::unique_lock lock(p.mutex);
        p.wait_and_trim(lock, false);
    } catch (const std::exception& error) {
        report_cleanup_failure("freeing a memory pool", error.what());
    }
    p.waiting.clear();
    p.retired.clear();
    for (const RawEvent event : p.spare_events) p.device.destroy_event(event);
    p.spare_events.clear();
}

namespace {

[[noreturn]] void throw_out_of_memory(size_t nbytes, const PoolStatistics& s, size_t limit,
                                      const std::string& why) {
    std::string of_limit;
    if (limit != 0) of_limit = fmt::format(", the limit is {}", size_text(limit));
    throw_error(ErrorKind::OutOfMemory,
                "allocate: out of device memory: asked for {}; the pool holds {} ({} used in {} "
                "buffers, {} free but too small or in pieces){}: {}",
                size_text(nbytes), size_text(s.held_bytes), size_text(s.used_bytes), s.live_buffers,
                size_text(s.free_bytes), of_limit, why);
}

}  // namespace

MemoryPool::Block MemoryPool::allocate(size_t nbytes, const Stream& stream, uint64_t capture) {
    Impl& p = *impl_;
    std::unique_lock lock(p.mutex);
    if (nbytes > SIZE_MAX / 2)
        throw_out_of_memory(nbytes, p.stats, p.limit, "no device has that much");
    const size_t rounded = (nbytes + kGranularity - 1) / kGranularity * kGranularity;
    TRILANE_CHECK(nbytes > 0, "MemoryPool::allocate of 0 bytes");
    const bool may_ask = p.open_captures == 0;
    if (may_ask && (!p.waiting.empty() || !p.retired.empty())) p.poll(false);

    Chunk* chunk = nullptr;
    for (int attempt = 0; chunk == nullptr; ++attempt) {
        Arena& own = p.arena_of(stream);
        if (p.enabled) {
            if (capture != 0)
                chunk = p.find_captured(capture, stream, rounded);
            else
                chunk = p.find(own, rounded, attempt > 0);
            if (chunk == nullptr && p.open_captures == 0)
                chunk = p.find_elsewhere(own, rounded, attempt > 0);
            if (chunk != nullptr) {
                p.take(chunk, rounded);
                break;
            }
        }
        std::string why = "free what is not needed or raise the limit of the pool";
        if (p.open_captures != 0)
            why =
                "while a stream is captured nothing can be waited for or given back: do the same "
                "work once before the capture, or free what is not needed before it";
        if (!p.over_limit(rounded)) {
            try {
                chunk = p.grow(rounded, stream, !p.enabled);
                break;
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::OutOfMemory) throw;
                why = error.detail().empty() ? error.message() : error.detail();
            }
        }
        if (attempt == 2) throw_out_of_memory(nbytes, p.stats, p.limit, why);
        if (attempt == 1) {
            std::function<void()> collect;
            {
                std::lock_guard guard(collector().mutex);
                collect = collector().function;
            }
            lock.unlock();
            if (collect) collect();
            lock.lock();
        }
        p.wait_and_trim(lock, true);
    }
    chunk->arena =
        capture != 0 ? &p.captured_arena(p.captured[capture], stream) : &p.arena_of(stream);
    ++p.stats.allocations;
    ++p.stats.live_buffers;
    p.stats.used_bytes += rounded;
    p.stats.peak_used_bytes = std::max(p.stats.peak_used_bytes, p.stats.used_bytes);
    return {chunk->address, rounded, chunk, chunk->direct};
}

void MemoryPool::free(const Block& block, const Stream& home, std::span<const StreamPtr> used_on,
                      bool escaped) noexcept {
    Impl& p = *impl_;
    auto* chunk = static_cast<Chunk*>(block.chunk);
    try {
        // A stream of another device cannot be waited for by this one's: rare, so wait here.
        for (const StreamPtr& stream : used_on)
            if (&stream->context()->device() != &p.device) stream->synchronize();
        std::lock_guard lock(p.mutex);
        p.stats.used_bytes -= chunk->nbytes;
        --p.stats.live_buffers;
        std::vector<MarkPtr> marks;
        if (escaped || !used_on.empty()) marks = p.guards(home, used_on, escaped);
        if (chunk->direct) return p.free_direct(chunk, marks, home.raw());
        Arena* arena = chunk->arena;
        const bool foreign = !arena->owned && !arena->captured;
        if (foreign) p.guard(marks, home.raw());
        p.stats.free_bytes += chunk->nbytes;
        if (foreign) chunk->arena = &p.orphans;
        if (marks.empty()) return p.make_free(chunk);
        chunk->state = Chunk::State::Waiting;
        p.stats.waiting_bytes += chunk->nbytes;
        ++p.stats.free_blocks;
        p.waiting.push_back({chunk, std::move(marks)});
    } catch (const std::exception& error) {
        // The block stays marked as used: what may still write to it is not known.
        report_cleanup_failure("freeing device memory (the block is lost)", error.what());
    }
}

void MemoryPool::free_all_free_blocks() {
    std::unique_lock lock(impl_->mutex);
    impl_->wait_and_trim(lock, false);
}

void MemoryPool::set_limit(size_t nbytes) {
    std::lock_guard lock(impl_->mutex);
    impl_->limit = nbytes;
}

size_t MemoryPool::limit() const {
    std::lock_guard lock(impl_->mutex);
    return impl_->limit;
}

PoolStatistics MemoryPool::statistics() const {
    std::lock_guard lock(impl_->mutex);
    return impl_->stats;
}

void MemoryPool::reset_peak() {
    std::lock_guard lock(impl_->mutex);
    impl_->stats.peak_used_bytes = impl_->stats.used_bytes;
}

void MemoryPool::set_enabled(bool enabled) {
    std::unique_lock lock(impl_->mutex);
    impl_->enabled = enabled;
    if (!enabled) impl_->wait_and_trim(lock, false);
}

bool MemoryPool::enabled() const {
    std::lock_guard lock(impl_->mutex);
    return impl_->enabled;
}

bool MemoryPool::owns(DevicePtr address) const {
    std::lock_guard lock(impl_->mutex);
    auto next = impl_->segments.upper_bound(address);
    if (next == impl_->segments.begin()) return false;
    const Chunk* last = std::prev(next)->second;
    while (last->after != nullptr) last = last->after;
    return address < last->address + last->nbytes;
}

MemoryPool::Place MemoryPool::place_of(DevicePtr address) const {
    std::lock_guard lock(impl_->mutex);
    const auto next = impl_->segments.upper_bound(address);
    if (next == impl_->segments.begin()) return {};
    const auto& [segment, first] = *std::prev(next);
    for (const Chunk* chunk = first; chunk != nullptr; chunk = chunk->after) {
        if (address >= chunk->address + chunk->nbytes) continue;
        if (chunk->state != Chunk::State::Live)
            throw_error(ErrorKind::InvalidArgument,
                        "memory that is not allocated: got address {:#x}, which was freed",
                        address);
        return {segment, chunk->address, chunk->nbytes};
    }
    return {};
}

void MemoryPool::set_collector(std::function<void()> function) {
    std::lock_guard lock(collector().mutex);
    collector().function = std::move(function);
}

void MemoryPool::add_stream(const Stream& stream) {
    std::lock_guard lock(impl_->mutex);
    impl_->live.insert_or_assign(stream.id(), stream.raw());
}

void MemoryPool::retire_stream(const Stream& stream) noexcept {
    Impl& p = *impl_;
    std::unique_ptr<Arena> arena;
    std::lock_guard lock(p.mutex);
    try {
        p.live.erase(stream.id());
        if (p.open_captures == 0 && (!p.waiting.empty() || !p.retired.empty())) p.poll(false);
        if (auto found = p.arenas.find(stream.id()); found != p.arenas.end()) {
            arena = std::move(found->second);
            p.arenas.erase(found);
            if (p.open_captures != 0 || !p.captured.empty()) p.disown(*arena);
        }
        if (!stream.owned() || p.device.stream_done(stream.raw())) {
            if (arena != nullptr) p.orphan(*arena);
            return;
        }
        if (arena == nullptr) arena = std::make_unique<Arena>();
        arena->owned = false;
        MarkPtr end = p.mark(stream.raw());
        p.retired.emplace_back(nullptr, std::move(end));
        p.retired.back().first = std::move(arena);
    } catch (const std::exception& error) {
        report_cleanup_failure("destroying a stream (its free memory is lost)", error.what());
        if (arena != nullptr) p.lose(std::move(arena));
    }
}

}  // namespace trilane::core
