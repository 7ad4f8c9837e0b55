// Counting the threads, so that a fork and the process's end can wait for them.
#include "core/background.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace trilane::core {
namespace {

struct State {
    std::mutex mutex;
    std::condition_variable changed;
    size_t running = 0;
};

// Never destroyed: threads may end after this translation unit's statics would.
State& state() {
    static State* const instance = [] {
        auto* made = new State;
        // The lock is held over the fork, so that nothing starts meanwhile.
        pthread_atfork(
            [] {
                std::unique_lock lock(state().mutex);
                state().changed.wait(lock, [] { return state().running == 0; });
                lock.release();
            },
            [] { state().mutex.unlock(); }, [] { state().mutex.unlock(); });
        return made;
    }();
    return *instance;
}

WaitHooks hooks;

}  // namespace

void set_wait_hooks(WaitHooks given) { hooks = given; }

bool wait_may_be_left() {
    return hooks.may_leave != nullptr && hooks.poll != nullptr && hooks.may_leave();
}

void poll_wait() { hooks.poll(); }

bool run_in_background(std::function<void()> work) {
    State& s = state();
    {
        std::lock_guard lock(s.mutex);
        ++s.running;
    }
    auto done = [&s] {
        std::lock_guard lock(s.mutex);
        --s.running;
        s.changed.notify_all();
    };
    try {
        std::thread([work = std::move(work), done] {
            work();
            done();
        }).detach();
    } catch (const std::system_error&) {
        done();
        return false;
    }
    return true;
}

void finish_background() {
    State& s = state();
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return s.running == 0; });
}

bool background_is_busy() {
    State& s = state();
    std::lock_guard lock(s.mutex);
    return s.running != 0;
}

}  // namespace trilane::core
