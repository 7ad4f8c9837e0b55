// Captured streams of the cpu device: what is put on them is kept instead of done.
//
// Work that a graph does again is done in the order in which it was captured, one piece after
// another: that order agrees with every edge between streams. The edges are kept all the same: they
// tell whether every stream that took part was waited for.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/device.h"
#include "core/error.h"

namespace trilane::cpu {

// A piece of work of a graph.
struct GraphNode {
    // `wait`: serial of the main thread's wait (run/interrupt.h). Any number of times.
    std::function<void(uint64_t wait)> run;
    bool on_host = false;  // a function of the host's: it may use the device
};
struct GraphStep {
    std::shared_ptr<const GraphNode> node;
    std::vector<uint32_t> after;  // positions of the steps that it comes after
};
using GraphWork = std::vector<GraphStep>;

struct CaptureState {
    struct Member {
        bool blocking = false;       // the null stream waits for it
        std::vector<uint32_t> last;  // what its next step comes after
    };
    core::RawStream origin = 0;
    core::CaptureMode mode = core::CaptureMode::Relaxed;
    std::thread::id thread;  // that began it
    bool open = true, lost = false;
    GraphWork work;
    std::map<core::RawStream, Member> members;
};

// A point in captured work, for streams to wait for.
struct CapturedPoint {
    std::shared_ptr<CaptureState> capture;
    std::vector<uint32_t> after;
};

// All captures of a device. Every fault has CUDA's number; most lose the capture. Any thread.
class DeviceCaptures {
  public:
    bool any() const noexcept { return open_count_.load(std::memory_order_relaxed) != 0; }

    // True if the stream is captured: `make()`, a GraphNode, is then kept. `what` names the
    // operation.
    template <typename Make>
    bool keep(core::RawStream stream, const char* what, const Make& make) {
        if (!any()) [[likely]]
            return false;
        std::lock_guard lock(mutex_);
        CaptureState* capture = usable(stream, what);
        if (capture == nullptr) return false;
        append(*capture, stream, std::make_shared<const GraphNode>(make()));
        return true;
    }
    // The same for the steps of another graph.
    bool keep_all(core::RawStream stream, const char* what, const GraphWork& work);

    // What waits for the stream, or for the whole device, or asks about it.
    void refuse(core::RawStream stream, const char* what) {
        if (any()) [[unlikely]]
            refuse_captured(stream, what);
    }
    void refuse_all(const char* what);
    // What waits for or asks about an event that was recorded last in captured work.
    [[noreturn]] void refuse_point(const CapturedPoint& point, const char* what);

    void begin(core::RawStream stream, bool blocking, core::CaptureMode mode);
    GraphWork end(core::RawStream stream);
    bool capturing(core::RawStream stream);
    void leave(core::RawStream stream) noexcept;  // it is destroyed

    // A point of the stream's work so far; its capture is null if the stream is not captured.
    CapturedPoint record(core::RawStream stream, const char* what);
    // True if that is settled: the stream takes part, or waits for nothing. `blocking` is the
    // stream's; `recorded`: the event of the point was recorded at all.
    bool wait(core::RawStream stream, bool blocking, const CapturedPoint& point, bool recorded);

  private:
    CaptureState* find(core::RawStream stream);
    CaptureState* usable(core::RawStream stream, const char* what);  // null: not captured
    void refuse_captured(core::RawStream stream, const char* what);
    void refuse_null_stream(const char* what);
    static void append(CaptureState& capture, core::RawStream stream,
                       std::shared_ptr<const GraphNode> node);
    void close(CaptureState& capture);
    std::atomic<int> open_count_{0};
    std::mutex mutex_;  // of what follows, and of every open CaptureState
    std::vector<std::shared_ptr<CaptureState>> open_;
};

}  // namespace trilane::cpu
