// Streams and events where everything completes at once: what is left is order between threads,
// times, and handles that are checked.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "core/device.h"
#include "devices/cpu/capture.h"

namespace trilane::cpu {

class DeviceStreams {
  public:
    struct Stream {
        std::timed_mutex turn;
        int priority = 0;
        bool non_blocking = false;
    };
    struct Event {
        std::mutex mutex;
        bool timing = true;
        bool recorded = false;
        int64_t time_ns = 0;
        CapturedPoint point;  // of captured work, if it was recorded there last
    };
    // The caller's turn on a stream: work of other threads on it waits until this is gone.
    class Turn {
      public:
        explicit Turn(std::shared_ptr<Stream> stream, Stream& raw)
            : stream_(std::move(stream)), lock_(raw.turn, std::try_to_lock) {
            if (!lock_) wait();
        }

      private:
        void wait();                      // core::Interrupted if SIGINT ends it
        std::shared_ptr<Stream> stream_;  // null for the default stream
        std::unique_lock<std::timed_mutex> lock_;
    };

    // InvalidArgument if the stream was destroyed. `what` names the operation.
    Turn enter(core::RawStream stream, const char* what);
    void synchronize();  // waits for every stream's work in other threads

    bool is_blocking(core::RawStream stream, const char* what);
    core::RawStream create(bool non_blocking, int priority);
    bool destroy(core::RawStream stream);  // false if there is none
    core::RawEvent create_event(bool timing);
    bool destroy_event(core::RawEvent event);
    std::shared_ptr<Event> event(core::RawEvent event, const char* what);

  private:
    std::shared_ptr<Stream> find(core::RawStream stream, const char* what);
    std::shared_mutex mutex_;
    Stream default_stream_;
    std::unordered_map<uint64_t, std::shared_ptr<Stream>> streams_;
    std::unordered_map<uint64_t, std::shared_ptr<Event>> events_;
};

}  // namespace trilane::cpu
