// Worker threads.
#include "devices/cpu/run/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>

#include "core/env.h"
#include "core/error.h"
#include "devices/cpu/run/fault.h"

namespace trilane::cpu {

namespace {

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

ThreadPool*& ThreadPool::instance() {
    static ThreadPool* pool = nullptr;
    return pool;
}

ThreadPool& ThreadPool::get() {
    static std::once_flag flag;
    std::call_once(flag, [] {
        instance() = new ThreadPool;
        // The child has none of the threads, and a lock may be held by one of them: start anew.
        pthread_atfork(nullptr, nullptr, [] { instance() = new ThreadPool; });
    });
    return *instance();
}

ThreadPool::ThreadPool() {
    long long asked = core::env_int("TRILANE_CPU_THREADS", 0);
    if (asked < 0 || asked > 4096)
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "TRILANE_CPU_THREADS: got {}, expected 1 to 4096", asked);
    threads_ = asked > 0 ? int(asked) : usable_cores();
}

void ThreadPool::start_workers() {
    started_ = true;
    for (int i = 1; i < threads_; ++i) {
        std::thread thread([this] { work(); });
        pthread_setname_np(thread.native_handle(), "trilane-cpu");
        thread.detach();
    }
}

void ThreadPool::work() {
    sigset_t all;
    sigfillset(&all);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, kKnockSignal}) sigdelset(&all, signal);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [&] { return !jobs_.empty(); });
        PoolJob* job = jobs_.front();
        // The next worker looks at another launch first, if there is one.
        jobs_.splice(jobs_.end(), jobs_, jobs_.begin());
        ++job->helpers_;
        lock.unlock();
        job->help();
        lock.lock();
        jobs_.remove(job);
        if (--job->helpers_ == 0) idle_.notify_all();
    }
}

void ThreadPool::publish(PoolJob& job) {
    if (threads_ < 2) return;
    {
        std::lock_guard lock(mutex_);
        if (!started_) start_workers();
        jobs_.push_back(&job);
    }
    wake_.notify_all();
}

void ThreadPool::retire(PoolJob& job) {
    if (threads_ < 2) return;
    std::unique_lock lock(mutex_);
    jobs_.remove(&job);
    idle_.wait(lock, [&] { return job.helpers_ == 0; });
}

}  // namespace trilane::cpu
