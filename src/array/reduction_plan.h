// How one reduction is laid out over threads; shared by the plan's makers and the writers of texts.
#pragma once

#include "array/reduction.h"

namespace trilane::array {

enum class Walk : uint8_t {
    Along,    // a thread has one output and runs along the reduced axes
    Columns,  // a thread has several neighbouring outputs and steps along the reduced axes
};

struct ReductionPlan {
    LoopLayout kept, reduced;  // strides of the inputs; kept: of `out` too, last
    Walk walk = Walk::Along;
    Access access[kMaxOperands];  // along the walk's inner axis
    int64_t columns = 1;          // per thread
    int64_t tiles = 1;            // threads per row of kept elements
    int64_t segments = 1, segment_length = 0;
    bool final_stage = true;  // writes out, not partial results
    int lanes = 1;            // as KernelSource has it
    // GPU forms: Along has a team of threads (a power of two within a block) per output; loads move
    // `pack` neighbours, `unroll` of them are in flight, and `parts` values are carried.
    bool gpu = false;
    int64_t team = 1;
    int pack = 1, unroll = 1, parts = 1;
    bool narrow = false;  // positions along the reduced axes fit 31 bits
};

// --- GPU forms (reduction_team.cpp)

inline constexpr int kTeamThreads = 256;  // of a block

// Settles pack, unroll, parts, team, segments; walk, access and the layouts are there already.
// accumulator_bytes 0: cannot be cut.
void plan_for_gpu(std::span<const LoopOperand> inputs, size_t accumulator_bytes,
                  ReductionPlan& plan);
// Number of threads to launch.
int64_t gpu_threads(const ReductionPlan& plan);
// The kernel's body, after the declaration of the offsets o0 ... that it fills.
std::string gpu_body(const ReductionPlan& plan, const ReductionText& text,
                     std::span<const LoopOperand> inputs);

// --- shared by all texts (reduction_kernel.cpp)

// Takes `counter` apart over the first `rank` axes (`axes`: k kept, r reduced), innermost first,
// and adds each operand's steps to its variable `target`.
std::string offsets_of(const char* counter, const char* axes, const char* target, size_t operands,
                       std::span<const LoopOperand> inputs, int rank,
                       const char* word = "long long");
// Statement that writes `value` (of column `column`, " + u" or "") to out or to the partial
// results.
std::string write_result(const ReductionPlan& plan, const ReductionText& text, size_t inputs,
                         const char* value, const char* column);

}  // namespace trilane::array
