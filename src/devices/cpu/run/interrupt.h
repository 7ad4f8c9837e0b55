// Ctrl-C: SIGINT ends the kernel that the main thread waits for.
//
// Generated code polls nothing. A handler in front of the program's own one wakes a thread of ours,
// which asks the program whether this SIGINT is to stop it (DeviceHooks::interrupt_stops; a second
// one in the same wait is not asked about), and then knocks, by a signal, at every thread that runs
// the main thread's launch until all have left it: at once if they are in generated code, else at
// the next knock or where the runtime looks. Launches of other threads go on, as on a GPU.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace trilane::cpu {

// The first one set counts. Without any, SIGINT is left alone.
void watch_interrupts(const std::function<bool()>& stops);

// The main thread inside the device, from construction to destruction; elsewhere it does nothing.
// Costs a few ns; with `careful` it also looks whether our handler is still the first (a system
// call): for waits that may be long.
class MainWait {
  public:
    explicit MainWait(bool careful);
    ~MainWait();
    MainWait(const MainWait&) = delete;
    // Names the wait; 0 on other threads, and inside another wait.
    uint64_t serial() const { return serial_; }

  private:
    uint64_t serial_ = 0;
};

// Serial of the last wait that was told to end.
inline std::atomic<uint64_t> stopped_wait{0};
inline bool is_stopped(uint64_t serial) {
    return serial != 0 && stopped_wait.load(std::memory_order_relaxed) == serial;
}

// The calling thread runs a kernel of the wait `serial` (0: of none) until this is gone.
class KnockHere {
  public:
    explicit KnockHere(uint64_t serial);
    ~KnockHere();
    KnockHere(const KnockHere&) = delete;
};

}  // namespace trilane::cpu
