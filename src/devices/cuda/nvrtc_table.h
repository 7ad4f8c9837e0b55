// NVRTC, NVIDIA's compiler of CUDA C++ texts: found and opened at run time. Needs no GPU and no
// driver.
#pragma once

#include <string>
#include <vector>

namespace trilane::cuda {

using NvrtcProgram = struct NvrtcProgramState*;

// clang-format off
#define TRILANE_NVRTC_FUNCTIONS(X)                                                                 \
    X(nvrtcVersion, int, (int* major, int* minor))                                                 \
    X(nvrtcGetErrorString, const char*, (int result))                                              \
    X(nvrtcGetNumSupportedArchs, int, (int* count))                                                \
    X(nvrtcGetSupportedArchs, int, (int* archs))                                                   \
    X(nvrtcCreateProgram, int,                                                                     \
      (NvrtcProgram* program, const char* source, const char* name, int header_count,              \
       const char* const* header_texts, const char* const* header_names))                          \
    X(nvrtcDestroyProgram, int, (NvrtcProgram* program))                                           \
    X(nvrtcCompileProgram, int,                                                                    \
      (NvrtcProgram program, int option_count, const char* const* options))                        \
    X(nvrtcAddNameExpression, int, (NvrtcProgram program, const char* expression))                 \
    X(nvrtcGetLoweredName, int,                                                                    \
      (NvrtcProgram program, const char* expression, const char** name))                           \
    X(nvrtcGetProgramLogSize, int, (NvrtcProgram program, size_t* nbytes))                         \
    X(nvrtcGetProgramLog, int, (NvrtcProgram program, char* text))                                 \
    X(nvrtcGetCUBINSize, int, (NvrtcProgram program, size_t* nbytes))                              \
    X(nvrtcGetCUBIN, int, (NvrtcProgram program, char* bytes))                                     \
    X(nvrtcGetPTXSize, int, (NvrtcProgram program, size_t* nbytes))                                \
    X(nvrtcGetPTX, int, (NvrtcProgram program, char* text))
// clang-format on

struct NvrtcTable {
#define TRILANE_MEMBER(name, type, parameters) type(*name) parameters = nullptr;
    TRILANE_NVRTC_FUNCTIONS(TRILANE_MEMBER)
#undef TRILANE_MEMBER
    int major = 0, minor = 0;
    std::string path;
    std::vector<int> archs;  // 75, 80, 90 ...: what it makes code for
    bool makes(int arch) const;
    int newest_below(int arch) const;  // 0 if there is none
};

// The newest NVRTC of major version `driver_major` or, if there is none, of an older one, whose
// code this driver loads too. Looked for in: TRILANE_NVRTC (a file or a folder), the Python
// packages beside Trilane and beside every library of the process, CUDA_HOME and CUDA_PATH, the
// conda environment, /usr/local/cuda*, the loader's paths. NotSupported says where it looked and
// what to install.
struct NvrtcFile {
    std::string path;
    std::string identity;               // path, size and time of the file: part of the cache key
    std::vector<std::string> includes;  // folders with the headers that belong to it
};
// Without opening it, which costs 20 ms and 70 MB: programs whose kernels are in the cache need
// not.
NvrtcFile find_nvrtc(int driver_major);
// The runtime of kernels that launch kernels, to be linked into them: libcudadevrt.a, looked for as
// NVRTC is, TRILANE_CUDADEVRT first (a file or a folder). NotSupported says where.
std::string find_device_runtime(int driver_major);
// Whether there is a file to open, or TRILANE_NVRTC names what should be one.
bool nvrtc_is_there(int driver_major);
// Opened once for each path and kept. NotSupported if it cannot be.
const NvrtcTable& open_nvrtc(const std::string& path);

}  // namespace trilane::cuda
