// Kernel IR -> native object code in which each kernel is a block function: a function that runs
// all threads of one block. The number of lanes W is a parameter of the lowering; today W = 1.
#pragma once

#include <string>
#include <vector>

#include "devices/cpu/compile/front_end.h"

namespace trilane::cpu {

// How the threads of a block are run.
enum class BlockShape : int {
    Loop = 0,        // no synchronisation: a plain loop over the threads
    Coroutine = 1,   // barriers, warp operations, or loops that wait: one coroutine per thread
};

struct LoweredKernel {
    KernelDescription description;
    BlockShape shape = BlockShape::Loop;
    bool waits_on_blocks = false;      // spins on memory: blocks must make progress side by side
    size_t static_shared_bytes = 0;
    size_t dynamic_shared_align = 16;
    size_t frame_bytes = 0;            // of one thread's coroutine
    size_t local_bytes = 0;
};

struct LoweredModule {
    std::string object;                // ELF, position independent
    std::vector<LoweredKernel> kernels;
    std::vector<std::string> globals;  // __device__, __constant__ variables by symbol
    std::string target_cpu, target_features;
};

LoweredModule lower(FrontEndResult front_end, int lanes = 1);

}  // namespace trilane::cpu
