// TRILANE_CHECK=1: puts a test before every access to memory.
#pragma once

#include <vector>

#include "devices/cpu/compile/front_end.h"

namespace trilane::cpu {

// Inlines what can be inlined, puts locals into registers, then guards each load, store, atomic and
// block copy: a faulty access is reported (check/check_entries.h) and left out, loads give 0.
// Accesses at constant places inside variables of known size need no test. Bounds are those of the
// array that the pointer came from: the allocation behind a kernel's argument, the shared or local
// array or the variable that is named; of a pointer of unknown origin, of whatever array it points
// into. Needs line tables for the places in reports,
// and takes them out of the module.
void instrument_accesses(llvm::Module& module, const std::vector<KernelDescription>& kernels);

}  // namespace trilane::cpu
