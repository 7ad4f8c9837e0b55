// Kernel IR -> native object code in which each kernel is a block function: a function that runs
// all threads of one block, W of them at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/cpu/compile/front_end.h"

namespace trilane::cpu {

// How the threads of a block are run.
enum class BlockShape : int {
    Loop = 0,       // a loop over the threads, or one for each region between barriers
    Coroutine = 1,  // barriers, warp operations, or loops that wait: one coroutine per thread
};

// Whether blocks that follow one another along x may run as one: see lower/row_fold.h.
enum class RowFold : int {
    None = 0,
    Any = 1,   // the kernel knows its index along x only
    Even = 2,  // and how many threads there are along x: all blocks made so have the same size
};

// A place at which threads may stand still, for messages.
struct SuspendSite {
    uint32_t kind = 0;  // Suspend of run/block_context.h
    int32_t line = 0;   // 0: not known
};

struct LoweredKernel {
    KernelDescription description;
    std::string entry_symbol;  // of the block function (Loop) or start function (Coroutine)
    BlockShape shape = BlockShape::Loop;
    // Start function of the same kernel in coroutine shape, for blocks whose size along x is no
    // multiple of 32: the other one runs whole warps. Empty: not needed.
    std::string turns_symbol;
    bool waits_on_blocks = false;  // spins on memory: blocks must make progress side by side
    bool grid_sync = false;        // holds a barrier of the whole grid
    bool meets_cluster = false;    // waits for its cluster, or reaches memory of its blocks
    bool may_print = false;        // calls vprintf
    // Axes of which the code assumes grid * block < 2^31 (bit 0: x).
    uint32_t narrow_axes = 0;
    RowFold row_fold = RowFold::None;
    bool folds_tall = false;  // also blocks of several rows: no thread has a loop of its own
    uint32_t lanes = 1;   // threads that run at a time; known after lower(), images do not keep it
    uint32_t rounds = 0;  // strided loops in which threads go in rounds; not kept either
    size_t static_shared_bytes = 0;
    size_t dynamic_shared_align = 16;
    size_t frame_bytes = 0;  // of one thread's coroutine, in either case
    size_t local_bytes = 0;
    size_t scratch_bytes = 0;  // per thread, for what lives across barriers in loop shape
    std::vector<SuspendSite> sites;
};

struct LoweredGlobal {
    std::string name;
    size_t nbytes = 0;
};

struct LoweredModule {
    std::string object;  // ELF, position independent
    std::vector<LoweredKernel> kernels;
    std::vector<LoweredGlobal> globals;  // __device__, __constant__ variables by symbol
    std::string target_cpu, target_features;
};

// Consumes the front end's module. CompileError for what cannot be run (it names the function).
// `lanes`: W, 1 to 32; 0 chooses it for each kernel. What cannot be run in lanes has W = 1.
// TRILANE_LOG_LANES=1: one line per kernel on standard error, `trilane: lanes: NAME SHAPE W`, and
// `trilane: rounds: NAME N` for N strided loops in rounds.
LoweredModule lower(FrontEndResult front_end, int lanes = 0);

// Stages of one lower() call in nanoseconds. For benchmarks: of the last call that ended.
struct LowerTimes {
    uint64_t prepare_ns = 0, shape_ns = 0, optimize_ns = 0, codegen_ns = 0;
};
LowerTimes last_lower_times();

}  // namespace trilane::cpu
