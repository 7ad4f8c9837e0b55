// From the tree of a kernel and the types of its arguments to CUDA C++.
#pragma once

#include <string>
#include <vector>

#include "jit/diagnostic.h"
#include "jit/tree.h"
#include "jit/type.h"

namespace trilane::jit {

struct TranslateOptions {
    std::string kernel_name;  // of the symbol; empty: from the function's name
    int max_threads = 0, min_blocks = 0, max_cluster_blocks = 0;  // launch bounds, 0: none
    bool line_directives = true;
    bool device_function = false;  // compile functions[0] as a device function alone
    TypeRef result = nullptr;      // declared result of a device function; null: inferred
    bool debug = false;            // integer division by zero raises
};

struct Translation {
    std::string source;       // whole program
    std::string kernel_name;  // extern "C" symbol
    std::vector<TypeRef> parameters;
    TypeRef result = nullptr;
    // Bit i: the kernel may write through array parameter i (bit 63: any from 63 on).
    uint64_t writes = 0;
    // Parameters after the Python function's own: a pointer to a Failure, then the number of bytes
    // of dynamic shared memory (uint32).
    bool raises = false, dynamic_shared = false;
    bool cooperative = false;
};

// Throws KernelError. Cost: about 10 us per line of Python.
Translation translate(const Unit& unit, const std::vector<TypeRef>& arguments,
                      const TranslateOptions& options);

// What a kernel leaves when it raises. Mirrors tl::Failure in the support text.
struct Failure {
    int32_t site = 0;  // index of the raise site + 1; 0: nothing was raised
    int32_t block[3] = {}, thread[3] = {};
};
// Sites that are not in the program's text.
inline constexpr int kZeroDivisionSite = 1 << 20, kZeroStepSite = kZeroDivisionSite + 1,
                     kShapeSite = kZeroDivisionSite + 2;

}  // namespace trilane::jit
