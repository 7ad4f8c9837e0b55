// Streams and events: handles that keep their context alive.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/capture.h"
#include "core/context.h"

namespace trilane::core {

class Event;
using EventPtr = std::shared_ptr<Event>;

class Stream : public std::enable_shared_from_this<Stream> {
  public:
    static StreamPtr create(const ContextPtr& context, bool non_blocking = false, int priority = 0);
    // The stream with that handle. One that create() made here is given itself, and lives as long
    // as any holder. One of another library is never destroyed here, and it must stay alive as long
    // as the result and what was allocated on it. 0 gives the default stream.
    static StreamPtr wrap(const ContextPtr& context, RawStream raw);
    ~Stream();

    const ContextPtr& context() const { return context_; }
    RawStream raw() const { return raw_; }
    bool owned() const { return owned_; }
    bool non_blocking() const { return non_blocking_; }
    int priority() const { return priority_; }
    // Identity for the pool: unique among all streams ever made, unlike raw().
    uint64_t id() const { return id_; }

    void synchronize();
    bool done();
    void wait_for(const Event& event);
    // Called once what is before it is done; at each launch of the graph if the stream is captured.
    void host_function(std::function<void()> function);

    // --- graphs. From begin_capture() on what is put on the stream is kept instead of done, until
    // end_capture() makes a graph of it. A stream that waits for an event of captured work takes
    // part, and must be waited for before the end. What waits for a stream that takes part, or asks
    // whether it is done, throws and the capture is lost: end_capture() says so. Memory allocated
    // or freed meanwhile, code and functions of the host stay alive as long as the graph. A stream
    // whose last handle goes ends its capture.
    void begin_capture(CaptureMode mode = CaptureMode::Relaxed);
    GraphPtr end_capture();
    bool capturing();  // also if the capture is lost

  private:
    friend class Context;
    friend class Captures;  // next_id
    static uint64_t next_id();
    static StreamPtr find_own(Context& context, RawStream raw);
    void forget() noexcept;  // it is no longer one of its context's own
    Stream(ContextPtr context, RawStream raw, bool owned, bool non_blocking, int priority,
           uint64_t id);
    ContextPtr context_;
    RawStream raw_;
    bool owned_;
    bool non_blocking_;
    int priority_;
    uint64_t id_;
};

class Event {
  public:
    static EventPtr create(const ContextPtr& context, bool timing = true, bool blocking = false);
    // Without timing; other processes may open it by what share() gives. NotSupported on devices
    // that have no such thing.
    static EventPtr create_shared(const ContextPtr& context, bool blocking = false);
    static EventPtr open(const ContextPtr& context, std::string_view handle);
    std::string share();  // 64 bytes
    ~Event();
    const ContextPtr& context() const { return context_; }
    RawEvent raw() const { return raw_; }
    // On a captured stream: a point in its capture, for other streams to wait for; no time.
    void record(const Stream& stream);
    bool done();
    void synchronize();
    float elapsed_ms_since(const Event& start);  // InvalidArgument if not recorded or no timing

  private:
    friend class Stream;  // captured_in
    CapturePtr captured_in() const;
    Event(ContextPtr context, RawEvent raw, bool timing);
    ContextPtr context_;
    RawEvent raw_;
    bool timing_;
    std::atomic<bool> recorded_{false};
    std::atomic<bool> captured_{false};
    mutable std::mutex mutex_;  // of what follows
    std::weak_ptr<Capture> captured_in_;
};

}  // namespace trilane::core
