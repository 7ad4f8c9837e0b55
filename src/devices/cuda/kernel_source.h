// A light reading of CUDA C++ text: which kernels with C names it defines and what their parameters
// are called, and which files it includes. It expands no macros, so what it finds is used only
// where a mistake shows (kernel_signature.h) or does no harm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trilane::cuda {

struct SourceKernel {
    std::string name;
    std::vector<std::string> parameters;  // their names, "" where one has none
};

// Kernels that are extern "C", by themselves or by the block around them, in the order of the text.
std::vector<SourceKernel> find_c_kernels(std::string_view source);

// What stands in #include "..." and <...>, each name once, whether or not the line is compiled.
std::vector<std::string> find_includes(std::string_view source);

}  // namespace trilane::cuda
