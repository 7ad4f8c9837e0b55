// Loops in which the threads of a block stride through memory go in rounds: all threads do one
// round before any begins the next, so that the block reads memory in order.
#pragma once

#include "devices/cpu/lower/region_thread.h"

namespace trilane::cpu {

// Rewrites such loops of a thread's function so that a barrier stands between their rounds, where
// that does no harm. How many; 0 leaves the function as it was, but for its form.
unsigned put_in_rounds(RegionThread& thread, Optimizer& optimizer);

}  // namespace trilane::cpu
