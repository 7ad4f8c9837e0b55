// The pool and captures: memory that graphs have for themselves.
#include "core/pool_state.h"

namespace trilane::core {

void MemoryPool::begin_capture(uint64_t capture, const Stream& origin, bool idle) {
    std::lock_guard lock(impl_->mutex);
    impl_->captured[capture].idle_origin = idle ? origin.id() : 0;
    ++impl_->open_captures;
}

void MemoryPool::end_capture(uint64_t capture) {
    std::lock_guard lock(impl_->mutex);
    const auto found = impl_->captured.find(capture);
    if (found == impl_->captured.end() || !found->second.open) return;
    found->second.open = false;
    --impl_->open_captures;
}

void MemoryPool::release_capture(uint64_t capture) noexcept {
    Impl& p = *impl_;
    std::lock_guard lock(p.mutex);
    const auto found = p.captured.find(capture);
    if (found == p.captured.end()) return;
    try {
        for (auto& [stream, arena] : found->second.arenas) {
            p.orphan(*arena);
            p.give_to_stream(*arena, stream);
        }
        p.captured.erase(found);
    } catch (const std::exception& error) {
        report_cleanup_failure("destroying a graph (its memory is lost)", error.what());
    }
}

}  // namespace trilane::core
