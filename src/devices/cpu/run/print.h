// printf of kernels: the user's format is interpreted here and never reaches the C library.
#pragma once

#include <string>

namespace trilane::cpu {

// `values`: the arguments one after another, each aligned to its size (int 4, double, long long and
// pointers 8). Returns the number of arguments taken, -1 on a format that is refused (%n, or not
// known), of which `out` then holds what came before and a note.
int format_device_text(std::string& out, const char* format, const void* values);

}  // namespace trilane::cpu
