// What tells one build of this library from another: part of the key of compiled kernels.
#pragma once

#include <string>

namespace trilane::cpu {

// The linker's build id in hex, or, if the library was linked without one, size and time of its
// file.
const std::string& build_id();

}  // namespace trilane::cpu
