// Ranges and marks for an outside profiler, by the protocol of NVTX 3: the library that
// NVTX_INJECTION64_PATH names is opened on the first use, and gives a function for each event that
// it wants. Without one a call costs a load and a branch.
#pragma once

#include <cstdint>
#include <optional>

namespace trilane::core::nvtx {

using Color = std::optional<uint32_t>;  // ARGB; nullopt: the profiler's choice

bool listening();  // whether a profiler is there

void mark(const char* message, Color color);
// The depth of the range in this thread, from 0; negative: nobody counts.
int push_range(const char* message, Color color);
int pop_range();  // the depth of the range that ended; negative: none was open, or nobody counts
// Ranges that may end in another thread and overlap others. 0: nobody listens.
uint64_t start_range(const char* message, Color color);
void end_range(uint64_t range);

void forget_profiler_for_tests();  // the next call looks again; the library stays open

}  // namespace trilane::core::nvtx
