// Compiles that a thread may stop waiting for. A compiler cannot be interrupted; so the main
// thread's compiles run on threads of their own, and Ctrl-C ends the wait alone: the compile goes
// on and its result is kept for whoever asks next.
#pragma once

#include <functional>

namespace trilane::core {

struct WaitHooks {
    // Whether the calling thread is one whose waits poll() may end. No lock of ours is held.
    bool (*may_leave)() = nullptr;
    // Called every 50 ms of such a wait; throws to leave it.
    void (*poll)() = nullptr;
};
void set_wait_hooks(WaitHooks hooks);  // before there are waits
bool wait_may_be_left();
void poll_wait();

// Runs `work`, which must not throw, on a thread of its own. False if there is none to be had. A
// fork waits until all such work is done, since a child would have locks without their owners.
bool run_in_background(std::function<void()> work);
void finish_background();  // waits until there is none; before the process ends
bool background_is_busy();

}  // namespace trilane::core
