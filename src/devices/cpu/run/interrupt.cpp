// Counting SIGINTs, deciding on a thread of our own, knocking.
#include "devices/cpu/run/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "devices/cpu/run/fault.h"

namespace trilane::cpu {

namespace {

constexpr long kKnockEveryNs = 2000000;

// Written by the main thread alone, read by handlers and the watcher.
std::atomic<uint64_t> current_wait{0};  // 0: the main thread is not in the device
uint64_t last_wait = 0;
std::atomic<uint64_t> sigints{0};           // counted while it is
std::atomic<uint64_t> sigints_at_start{0};  // of the wait
std::atomic<uint64_t> approved_wait{0};     // the program wants it stopped
std::atomic<const struct sigaction*> next_handler{nullptr};
std::atomic<uint64_t> fork_count{0};
sem_t wake;

struct Slot;

// Never destroyed; a new one after fork, where the lock may be held by a thread that is gone.
struct Watcher {
    std::mutex mutex;
    std::vector<Slot*> slots;
    std::function<bool()> stops;
    std::atomic<bool> asking{false};
    bool started = false;
};
std::atomic<Watcher*> watcher{nullptr};

// One per thread that ever ran a kernel.
struct Slot {
    Slot() { enlist(); }
    ~Slot() {
        Watcher* all = watcher.load();
        std::lock_guard lock(all->mutex);
        all->slots.erase(std::remove(all->slots.begin(), all->slots.end(), this), all->slots.end());
    }
    void enlist() {
        generation = fork_count.load(std::memory_order_relaxed);
        thread = pthread_self();
        is_main = getpid() == gettid();
        Watcher* all = watcher.load();
        std::lock_guard lock(all->mutex);
        all->slots.push_back(this);
    }
    pthread_t thread;
    bool is_main = false;
    uint64_t generation = 0;
    std::atomic<uint64_t> wait{0};
};

Watcher& make_watcher() {
    static std::once_flag flag;
    std::call_once(flag, [] {
        sem_init(&wake, 0, 0);
        watcher.store(new Watcher);
        pthread_atfork(nullptr, nullptr, [] {
            auto* fresh = new Watcher;
            fresh->stops = watcher.load()->stops;
            sem_init(&wake, 0, 0);
            watcher.store(fresh);
            fork_count.fetch_add(1);
            current_wait.store(0);
        });
    });
    return *watcher.load();
}

Slot& this_slot() {
    static Watcher& made = make_watcher();
    (void)made;
    static thread_local Slot slot;
    if (slot.generation != fork_count.load(std::memory_order_relaxed)) [[unlikely]]
        slot.enlist();
    return slot;
}

void on_sigint(int signal, siginfo_t* info, void* context) {
    int saved = errno;
    if (current_wait.load() != 0) {
        sigints.fetch_add(1);
        sem_post(&wake);
    }
    const struct sigaction* next = next_handler.load();
    if ((next->sa_flags & SA_SIGINFO) != 0)
        next->sa_sigaction(signal, info, context);
    else
        next->sa_handler(signal);
    errno = saved;
}

bool same_action(const struct sigaction& a, const struct sigaction& b) {
    return a.sa_sigaction == b.sa_sigaction && a.sa_flags == b.sa_flags;
}

// In front of whoever handles SIGINT. Where nobody does, the process ends or ignores it as before.
void put_handler_first() {
    struct sigaction now;
    if (sigaction(SIGINT, nullptr, &now) != 0 || now.sa_sigaction == on_sigint) return;
    bool is_plain = (now.sa_flags & SA_SIGINFO) == 0;
    if (is_plain && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) return;
    const struct sigaction* known = next_handler.load();
    // Never freed: a handler may be running.
    if (known == nullptr || !same_action(*known, now))
        next_handler.store(new struct sigaction(now));
    struct sigaction ours = now;
    ours.sa_sigaction = on_sigint;
    ours.sa_flags = now.sa_flags | SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGINT, &ours, nullptr);
}

// On a thread of its own: the answer may take as long as somebody holds the GIL.
void ask(Watcher& all, uint64_t wait) {
    if (all.asking.exchange(true)) return;
    std::thread([&all, wait] {
        if (all.stops()) approved_wait.store(wait);
        all.asking.store(false);
        sem_post(&wake);
    }).detach();
}

void knock_until_left(Watcher& all, uint64_t wait) {
    stopped_wait.store(wait);
    install_knock_handler();
    while (current_wait.load() == wait) {
        {
            std::lock_guard lock(all.mutex);
            for (Slot* slot : all.slots)
                if (slot->wait.load() == wait) pthread_kill(slot->thread, kKnockSignal);
        }
        timespec pause{0, kKnockEveryNs};
        nanosleep(&pause, nullptr);
    }
}

void watch(Watcher& all) {
    uint64_t asked = 0;
    while (true) {
        while (sem_wait(&wake) != 0) {
        }
        uint64_t wait = current_wait.load();
        if (wait == 0) continue;
        uint64_t count = sigints.load() - sigints_at_start.load();
        if (count >= 2 || approved_wait.load() == wait) {
            knock_until_left(all, wait);
        } else if (count == 1 && asked != wait) {
            asked = wait;
            ask(all, wait);
        }
    }
}

void start_watcher() {
    Watcher& all = *watcher.load();
    std::lock_guard lock(all.mutex);
    if (all.started) return;
    all.started = true;
    sigset_t everything, before;
    sigfillset(&everything);
    pthread_sigmask(SIG_BLOCK, &everything, &before);  // inherited by the thread and its threads
    std::thread thread([&all] { watch(all); });
    pthread_setname_np(thread.native_handle(), "trilane-int");
    thread.detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void watch_interrupts(const std::function<bool()>& stops) {
    Watcher& all = make_watcher();
    std::lock_guard lock(all.mutex);
    if (!all.stops) all.stops = stops;
}

MainWait::MainWait(bool careful) {
    Slot& slot = this_slot();
    if (!slot.is_main || current_wait.load(std::memory_order_relaxed) != 0) return;
    if (careful && watcher.load()->stops) {
        put_handler_first();
        start_watcher();
    }
    serial_ = ++last_wait;
    sigints_at_start.store(sigints.load(std::memory_order_relaxed), std::memory_order_relaxed);
    current_wait.store(serial_, std::memory_order_release);
}

MainWait::~MainWait() {
    if (serial_ != 0) current_wait.store(0, std::memory_order_release);
}

KnockHere::KnockHere(uint64_t serial) { this_slot().wait.store(serial, std::memory_order_relaxed); }

KnockHere::~KnockHere() { this_slot().wait.store(0, std::memory_order_relaxed); }

}  // namespace trilane::cpu
