// The checks' functions that instrumented kernels call; run/symbol_table.cpp lists them.
#pragma once

#include <cstdint>

#include "devices/cpu/check/report.h"

namespace trilane::cpu {

extern "C" {
// Bounds of the array that holds `pointer`; size 0 if none does. The same for the whole launch.
uint64_t trilane_rt_check_begin(const void* pointer);
uint64_t trilane_rt_check_size(const void* pointer);
// Bytes of dynamic shared memory of the running block.
uint64_t trilane_rt_check_dynamic_shared();
// Called where the test in the code did not settle it. `begin`, `size`: bounds of the array that
// the pointer came from, size 0 if unknown. 1: the access may be done; 0: it is reported and to be
// left out.
uint32_t trilane_rt_check_access(const CheckSite* site, const void* address, uint64_t nbytes,
                                 uint64_t begin, uint64_t size);
}

// Variables and literals of a module with checks: lies behind the symbol kCheckRanges.
struct CheckRange {
    const void* address;
    uint64_t nbytes;
    const char* name;  // empty: Private
};
struct CheckRanges {
    uint64_t count;
    CheckRange ranges[1];
};
inline constexpr const char* kCheckRanges = "trilane_check_ranges";

void note_module_ranges(const CheckRanges& ranges);
void forget_module_ranges(const CheckRanges& ranges) noexcept;

}  // namespace trilane::cpu
