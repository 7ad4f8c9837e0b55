// A kernel in memory, and its launches.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/error.h"
#include "devices/cpu/lower/lower.h"
#include "devices/cpu/run/block_context.h"
#include "devices/cpu/run/fault.h"
#include "devices/cpu/run/interrupt.h"

namespace trilane::cpu {

struct LoadedKernel;

// Finds the kernel that a launch in device code names; nullptr if there is none.
class KernelSource {
  public:
    virtual LoadedKernel* launched_kernel(std::string_view name) = 0;

  protected:
    ~KernelSource() = default;
};

// What a launch needs to know of a kernel; lives as long as the module.
struct LoadedKernel {
    LoweredKernel lowered;
    void* entry = nullptr;  // BlockFunction or StartFunction
    // The kernel in coroutine shape, if `entry` runs only blocks of whole warps along x.
    std::unique_ptr<LoadedKernel> by_turns;
    CodeRange code;                  // of the module
    KernelSource* source = nullptr;  // the kernel's module, which outlives it
    std::string readable_name;       // demangled, for messages
    size_t max_dynamic_shared = 49152;
    // Time of a block in earlier launches; 0: not known. Decides whether waking others is worth it.
    mutable std::atomic<uint64_t> block_ns{0};
    uint64_t dynamic_offset() const {
        uint64_t align = lowered.dynamic_shared_align;
        return (lowered.static_shared_bytes + align - 1) / align * align;
    }
};

// Text of kernels' printf, kept per launch and given out in the order of blocks.
class PrintBuffer {
  public:
    void add(uint64_t block, std::string_view text);
    // Calls `print` with everything, then empties.
    void flush(const std::function<void(std::string_view)>& print);
    bool large() const { return nbytes_.load(std::memory_order_relaxed) > (8u << 20); }

  private:
    std::mutex mutex_;
    std::vector<std::pair<uint64_t, std::string>> parts_;
    std::atomic<size_t> nbytes_{0};
};

// A grid that a kernel launched.
struct QueuedLaunch {
    std::string kernel;  // as the text names it
    core::Dim3 grid, block;
    size_t dynamic_shared = 0;
    std::vector<std::vector<uint8_t>> arguments;  // bytes of each
};

// What the blocks of a grid launched, given out in the order of blocks, then of launches.
class LaunchQueue {
  public:
    static constexpr size_t kLimit = size_t{1} << 20;
    bool add(uint64_t block, QueuedLaunch launch);  // false: too many
    std::vector<QueuedLaunch> take();

  private:
    std::mutex mutex_;
    std::vector<std::pair<uint64_t, QueuedLaunch>> parts_;
};

// One launch in flight: shared by the threads that run it.
struct LaunchState {
    const LoadedKernel* kernel = nullptr;
    core::Dim3 grid, block;
    size_t dynamic_shared = 0;
    void* const* arguments = nullptr;
    bool cooperative = false;
    core::Dim3 cluster{1, 1, 1};  // blocks; the grid is made of whole ones
    const core::DeviceHooks* hooks = nullptr;

    // Blocks along x that run as one: `grid` and `block` are those of such wide blocks, and the
    // last of a row is made of `rest` blocks of the launch, or of `fold` if that is 0.
    uint32_t fold = 1, rest = 0;
    uint64_t blocks = 0;
    std::atomic<uint64_t> next_block{0};
    std::atomic<uint64_t> chunk{1};
    std::atomic<bool> failed{false};
    std::atomic<bool> interrupted{false};
    uint64_t wait = 0;                         // serial of the main thread's wait, or 0
    std::atomic<uint32_t> grid_generation{0};  // of the barrier of the whole grid
    std::atomic<uint64_t> grid_arrived{0};
    std::atomic<uint64_t> blocks_done{0};
    PrintBuffer prints;
    LaunchQueue children;

    std::mutex failure_mutex;
    std::optional<core::Error> failure;  // the first one
    void fail(core::Error error);
    void interrupt() {
        interrupted.store(true);
        failed.store(true);
    }
    // No further block need be started: a thread failed, or the launch was told to end.
    bool ended() {
        if (is_stopped(wait)) [[unlikely]]
            interrupt();
        return failed.load(std::memory_order_relaxed);
    }
};

// Runs all blocks; returns when they are done. KernelFault if the kernel died,
// core::Interrupted if SIGINT ended it. Arguments of the
// launch were checked by the caller. From any thread, several at a time.
void run_launch(LaunchState& launch);
// By earlier launches of the kernel, or because there was none.
bool may_be_long(const LaunchState& launch);

// The context of the block that runs on this thread; nullptr outside kernels.
BlockContext* current_context();

// "block (1,0,0), thread (3,0,0)" of the running thread.
std::string describe_place(const BlockContext& context);
core::Dim3 thread_of(const BlockContext& context);
uint64_t linear_block(const BlockContext& context);

}  // namespace trilane::cpu
