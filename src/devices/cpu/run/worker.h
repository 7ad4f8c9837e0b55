// What a thread needs to run blocks: memory for shared arrays and coroutine frames, reused from
// launch to launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "devices/cpu/run/block_context.h"
#include "devices/cpu/run/scheduler.h"

namespace trilane::cpu {

// Memory that only grows. Page aligned; the content is what was there before.
class Arena {
  public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();
    uint8_t* reserve(size_t nbytes);  // OutOfMemory

  private:
    uint8_t* memory_ = nullptr;
    size_t nbytes_ = 0;
};

// A block in the making: its context, its shared memory, and, in coroutine shape, its threads.
struct ResidentBlock {
    BlockContext context;
    Arena shared, frames;
    BlockRun run;
    ClusterRun cluster;  // of the block of rank 0, for all
};

// Of the calling thread.
ResidentBlock& resident_block(size_t index);
// Frees the memory of the calling thread's blocks beyond `count`.
void trim_resident_blocks(size_t count);
void set_current_context(BlockContext* context);

}  // namespace trilane::cpu
