// What a program reads besides its own text: headers in memory and files of the disk.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/program.h"

namespace trilane::cuda {

struct CompileInputs {
    std::vector<core::Header> headers;  // the program's own and ours, as far as they are included
    std::vector<std::string> options;   // that make NVRTC see ours as nvcc sees the system's
    std::map<std::string, std::string> files;  // of the user's folders: absolute path -> ""
    bool includes_toolkit = false;             // something that neither has: the toolkit's
    std::string all_text;  // source and headers one after the other, to look for words in
};

// Follows the #include lines, compiled or not, through the program's headers, `include_dirs` and
// the embedded ones.
CompileInputs find_inputs(const core::Program& program,
                          const std::vector<std::string>& include_dirs);

// Whether NVRTC gets the header `name` from us.
bool is_served(std::string_view name);

}  // namespace trilane::cuda
