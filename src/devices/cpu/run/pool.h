// Worker threads of the process. A launch becomes a job only when it is worth waking somebody;
// until then it touches nothing of this.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace trilane::cpu {

class PoolJob {
  public:
    virtual ~PoolJob() = default;
    // Called by workers, at the same time as by others; returns when there is nothing left to take.
    virtual void help() noexcept = 0;

  private:
    friend class ThreadPool;
    int helpers_ = 0;
};

class ThreadPool {
  public:
    // Never destroyed; a new one after fork.
    static ThreadPool& get();
    // Threads that may run kernels of one launch, the caller's included: TRILANE_CPU_THREADS, else
    // the cores that this process may use.
    int threads() const { return threads_; }
    // Offers the job to the workers. It must live until retire() returned.
    void publish(PoolJob& job);
    // Takes the job back and waits for those who help.
    void retire(PoolJob& job);

  private:
    ThreadPool();
    void start_workers();
    void work();
    static ThreadPool*& instance();

    int threads_ = 1;
    bool started_ = false;
    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    std::list<PoolJob*> jobs_;
};

}  // namespace trilane::cpu
