// What generated code and the runtime share: the layout of a block's context and of a thread's
// state, and the numbers of the operations at which a thread stands. Generated code reaches the
// fields by offsetof; a change here is a change of kImageVersion (lower/image.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace trilane::cpu {

struct BlockRun;
struct ClusterRun;
struct LaunchState;

// One per worker and resident block. Generated code reads it and, where a kernel needs its thread
// known to the runtime, writes `thread_linear`.
struct BlockContext {
    uint32_t block_idx[3] = {};
    uint32_t grid_dim[3] = {1, 1, 1};
    uint32_t block_dim[3] = {1, 1, 1};
    uint32_t dynamic_shared_bytes = 0;
    uint8_t* shared = nullptr;         // static arrays, then the dynamic one
    void* const* arguments = nullptr;  // one pointer per parameter
    uint32_t thread_linear = 0;        // x + y * nx + z * nx * ny of the running thread
    uint32_t unused = 0;
    uint8_t* scratch = nullptr;  // scratch_bytes for each thread, their number rounded up to 64
    LaunchState* launch = nullptr;
    BlockRun* run = nullptr;  // of a block in coroutine shape
    uint32_t cluster_dim[3] = {1, 1, 1};
    uint32_t unused_too = 0;
    ClusterRun* cluster = nullptr;  // of a kernel that meets its cluster
};

// Why a thread of a block in coroutine shape stands still.
enum class Suspend : uint32_t {
    Exited = 0,    // set by the scheduler before it resumes: what stays if the thread returns
    Barrier,       // operands: id, thread count (0: all)
    BarrierCount,  // value: predicate; result: how many
    BarrierAnd,
    BarrierOr,
    BarrierArrive,  // operands: id, thread count; does not wait
    GridSync,
    ClusterArrive,  // at the barrier of the cluster; does not wait
    ClusterWait,
    Yield,      // back edge of a loop that waits
    SyncWarp,   // from here on warp operations; mask
    ShuffleUp,  // value; operands: lane argument, clamp
    ShuffleDown,
    ShuffleXor,
    ShuffleIndex,
    VoteAll,  // value: predicate
    VoteAny,
    VoteUniform,
    Ballot,
    MatchAny,   // value
    MatchAll,   // value; result, predicate
    ReduceAdd,  // value
    ReduceMin,
    ReduceMax,
    ReduceUMin,
    ReduceUMax,
    ReduceAnd,
    ReduceOr,
    ReduceXor,
    ActiveMask,  // no mask: the lanes that stand at the same place
    Converge,    // as ActiveMask without a result: before volatile accesses
};
inline constexpr uint32_t kFirstWarpSuspend = static_cast<uint32_t>(Suspend::SyncWarp);
const char* suspend_name(Suspend kind);  // "__syncthreads", "__shfl_up_sync" ...

// Lies right before the thread's coroutine frame.
struct alignas(64) ThreadState {
    Suspend kind = Suspend::Exited;
    uint32_t site = 0;  // number of the place in the kernel: index of LoweredKernel::sites
    uint32_t mask = 0;
    uint32_t operand[2] = {};
    uint32_t result = 0;
    uint32_t predicate = 0;  // result: 0 or 1
    uint32_t linear = 0;
    uint64_t value = 0;
    uint32_t cluster_phase = 0;  // of the cluster's barrier, when the thread arrived
};
static_assert(sizeof(ThreadState) == 64);

// What the lanes of a warp bring to an operation that goes through memory, and what they get.
struct alignas(64) WarpExchange {
    uint64_t value[32];
    uint32_t mask[32];
    uint32_t operand[2][32];
    uint32_t result[32];
    uint32_t predicate[32];
};

// Loop shape: runs every thread of the block. Coroutine shape: `start` makes the coroutine of one
// thread in `frame` and runs it to its first stop.
using BlockFunction = void (*)(BlockContext*);
using StartFunction = void (*)(BlockContext*, void* frame, uint32_t x, uint32_t y, uint32_t z);

}  // namespace trilane::cpu
