// Captures of streams: which streams take part, and what the captured work uses. All of that stays
// as it is until the graph is gone and its last launch is done.
//
// A program captures seldom: everything here is asked for behind Context::captures().any(), one
// load.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "core/device.h"

namespace trilane::core {

class Context;
class Stream;
using StreamPtr = std::shared_ptr<Stream>;
class Graph;
using GraphPtr = std::shared_ptr<Graph>;

// Memory that a capture keeps. It would keep the stream alive whose end is to end the capture, so
// while that goes on it does not hold the stream, and is told what becomes of it.
class KeptMemory {
  public:
    virtual ~KeptMemory() = default;
    virtual void origin_stays(const StreamPtr& origin) = 0;  // the capture was ended: hold it
    virtual void origin_goes(const Stream& origin) = 0;      // it is being destroyed
};

class Capture {
  public:
    Capture(uint64_t id, const Stream& origin);
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    uint64_t id() const { return id_; }  // unique, never 0
    // Work is still being added.
    bool is_open() const { return open_.load(std::memory_order_acquire); }
    bool has(uint64_t stream_id) const;
    uint64_t origin_id() const { return origin_id_; }
    RawStream origin_raw() const { return origin_raw_; }

    // An event of the captured work made `stream` take part, or it launched the graph. It lives as
    // long as it may be asked about.
    void add_stream(const StreamPtr& stream);
    // Keeps `thing` (once) until nothing can use it any more. False if that is so already.
    bool hold(const std::shared_ptr<const void>& thing);
    bool hold_memory(const std::shared_ptr<KeptMemory>& memory);

  private:
    friend class Captures;
    std::vector<std::shared_ptr<KeptMemory>> memory() const;
    void close();
    std::vector<StreamPtr> streams() const;
    void let_go() noexcept;
    const uint64_t id_, origin_id_;
    const RawStream origin_raw_;
    std::atomic<bool> open_{true};
    mutable std::mutex mutex_;
    bool over_ = false;               // nothing is kept any more
    std::vector<StreamPtr> streams_;  // while open: without the origin
    std::unordered_set<const void*> held_once_;
    std::vector<std::shared_ptr<const void>> held_;
    std::vector<std::shared_ptr<KeptMemory>> memory_;
};
using CapturePtr = std::shared_ptr<Capture>;

// The captures of one context. Any thread.
class Captures {
  public:
    explicit Captures(Context& context) : context_(context) {}

    // Whether anything is captured now. While it is, nothing may wait for the device, and no
    // stream that takes part may be asked.
    bool any() const noexcept { return open_count_.load(std::memory_order_relaxed) != 0; }
    // The open capture that the stream takes part in; null if there is none.
    CapturePtr of(const Stream& stream);
    std::vector<CapturePtr> open() const;

    void begin(Stream& origin, CaptureMode mode);
    GraphPtr end(Stream& stream);
    void abort(Stream& origin) noexcept;  // if it has an open capture: ends it, keeps nothing

    // Let go as soon as nothing is captured.
    void later(std::shared_ptr<const void> thing);
    // A graph is gone: what it kept is let go when its launches are done.
    void retire(CapturePtr capture, RawGraph graph) noexcept;
    // Lets go what can be; false if that is nothing. Cheap then.
    bool poll() noexcept {
        return retired_count_.load(std::memory_order_relaxed) != 0 && poll_retired();
    }

  private:
    struct Retired {
        CapturePtr capture;
        RawGraph graph = 0;
        std::vector<RawEvent> events;  // at the end of the streams that launched it
        bool marked = false;           // the events were recorded
    };
    CapturePtr find(uint64_t stream_id) const;
    void close(const CapturePtr& capture, const Stream& origin, bool origin_stays);
    bool still_captured(const Capture& capture) noexcept;
    bool poll_retired() noexcept;
    bool finished(Retired& entry) noexcept;
    void finish(Retired& entry) noexcept;
    Context& context_;
    std::atomic<int> open_count_{0}, retired_count_{0};
    mutable std::mutex mutex_;
    std::vector<CapturePtr> open_;
    std::vector<Retired> retired_;
    std::vector<std::shared_ptr<const void>> later_;
};

// DeviceError if the stream is captured, for `who`, which waits: a wait has no place in a graph.
// The capture is not lost, as it would be if the device were asked.
void refuse_wait(const char* who, const Stream& stream);

}  // namespace trilane::core
