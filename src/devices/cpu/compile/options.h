// NVRTC's and nvcc's command line options, understood: what each means to the cpu device.
#pragma once

#include <string>
#include <vector>

namespace trilane::cpu {

struct ParsedOptions {
    std::vector<std::string> macros;        // "-DN=4", "-UN", in the order given
    std::vector<std::string> include_dirs;  // absolute paths
    std::vector<std::string> forced_includes;
    std::string language = "c++17";  // -std
    int arch = 900;                  // __CUDA_ARCH__
    bool fmad = true;
    bool ftz = false;
    bool prec_div = true;
    bool prec_sqrt = true;
    bool fast_math = false;  // --use_fast_math
    bool line_info = false;
    bool no_warnings = false;     // -w
    bool default_device = false;  // unmarked functions are __host__ __device__
    bool wrap_overflow = false;   // -fwrapv: signed overflow wraps (not of NVRTC)
    bool relocatable = false;     // -rdc=true, -dc: kernels may launch kernels
    bool separate = false;        // -dc: may name what other pieces define; to be linked
    int optimize = 2;
    int lanes = 0;  // --lanes: threads in one vector, 0: chosen for each kernel (not of NVRTC)
};

// Takes both "-DN" and "-D", "N"; long and short names; values after "=" or as the next word.
// Throws core::Error CompileError that names an option it does not know, or one without its value.
ParsedOptions parse_options(const std::vector<std::string>& options);

}  // namespace trilane::cpu
