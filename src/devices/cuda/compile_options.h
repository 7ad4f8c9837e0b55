// Options as users write them, for NVRTC: those of nvcc that have no meaning here are left out,
// those that NVRTC spells otherwise are translated, and the rest is passed on, so that NVRTC itself
// refuses what it does not know.
#pragma once

#include <string>
#include <vector>

namespace trilane::cuda {

struct NvrtcOptions {
    std::vector<std::string> words;         // without the architecture
    std::string arch;                       // "sm_80", "compute_75", "sm_90a"; empty if not given
    std::vector<std::string> include_dirs;  // of the user, absolute
    bool relocatable = false;               // -rdc=true: kernels may launch kernels
    bool object = false;                    // -dc: not linked yet
    std::string language;                   // "c++11" ...; empty: NVRTC's own choice
};

NvrtcOptions parse_options(const std::vector<std::string>& options);

// The number in "sm_90a" or "compute_90": 90; 0 if there is none.
int arch_number(const std::string& arch);

}  // namespace trilane::cuda
