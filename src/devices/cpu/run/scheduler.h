// The threads of one block in coroutine shape: resumes who can run, lets warp operations and
// barriers happen when those they need have come, finds deadlocks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

struct LoadedKernel;
struct ResidentBlock;

class BlockRun {
  public:
    enum class State {
        Done,     // every thread has returned
        Waiting,  // nobody can go on except those who wait for memory or for the grid's barrier
    };
    // `frames`: threads * stride(kernel) bytes, 64-byte aligned, which stay until Done.
    void start(const LoadedKernel& kernel, BlockContext& context, uint8_t* frames);
    // Runs as far as it goes. KernelFault if the threads wait for one another for ever.
    State run();
    // Since the last call some thread ran, or some barrier opened; or some thread waits for memory.
    bool moved() const { return moved_; }
    // Every thread that has not returned has arrived at the cluster's barrier.
    bool all_arrived() const { return arrived_at_cluster_ == live_; }
    // The next phase of the cluster's barrier begins.
    void begin_phase();
    // KernelFault: who stands where.
    [[noreturn]] void report_deadlock();
    // Bytes per thread: its state and its frame.
    static size_t stride(const LoadedKernel& kernel);
    ThreadState& thread(uint32_t linear);
    // The address lies in the threads' frames, where their local variables are.
    bool holds(const void* address) const {
        auto* byte = static_cast<const uint8_t*>(address);
        return frames_ != nullptr && byte >= frames_ && byte < frames_ + threads_ * stride_;
    }

  private:
    struct Warp {
        uint32_t exists = 0, runnable = 0, standing = 0, barrier = 0, yielded = 0, grid = 0;
        uint32_t exited = 0;
        uint32_t at_cluster = 0, arrived = 0;  // wait at the cluster's barrier; have arrived there
    };
    void resume(Warp& warp, uint32_t index, uint32_t lane);
    void sort_in(Warp& warp, uint32_t index, uint32_t lane);
    bool run_warp(Warp& warp, uint32_t first);
    bool resolve(Warp& warp, uint32_t first);
    bool release_barriers();
    bool release_named_barriers();
    void release_all_at_barrier();
    bool wake_grid();
    bool wake_cluster();
    bool wake_yielded();

    const LoadedKernel* kernel_ = nullptr;
    BlockContext* context_ = nullptr;
    uint8_t* frames_ = nullptr;
    size_t stride_ = 0;
    uint32_t threads_ = 0, warps_ = 0, live_ = 0;
    uint32_t at_barrier_ = 0, at_grid_ = 0, yielded_ = 0;
    bool named_barrier_ = false;  // some barrier since the last release had an id or a count
    bool barrier_value_ = false;  // some barrier since the last release gives a value
    bool grid_counted_ = false;   // this block is counted in the grid's barrier
    bool moved_ = false;
    uint32_t grid_generation_ = 0;
    uint32_t at_cluster_ = 0, arrived_at_cluster_ = 0;
    std::array<uint32_t, 16> arrived_{};  // without waiting, by barrier
    std::array<Warp, 32> warp_{};
};

// The blocks of a cluster, by rank: they run side by side on one thread.
struct ClusterRun {
    std::vector<BlockContext*> contexts;
    std::vector<BlockRun*> blocks;
    std::vector<ResidentBlock*> residents;
    uint32_t unfinished = 0;
    uint32_t phase = 0;  // of the barrier
    void end_phase();    // if all have arrived
};

// Lets the lanes `members` of one warp, which all stand at `kind`, exchange what they brought.
// `first` is the state of lane 0, the others follow `stride` bytes apart.
void run_warp_operation(Suspend kind, uint32_t members, ThreadState* first, size_t stride);

}  // namespace trilane::cpu
