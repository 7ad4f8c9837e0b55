// Launches: arguments are packed by the kernel's real parameters and checked against them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"
#include "core/module.h"

namespace trilane::core {

enum class ArgumentKind : uint8_t {
    Pointer,  // bits: a device address
    Int,      // bits: int64 value; size: bytes of the given type, 0 for a Python int
    UInt,
    Float,  // number: value; size 0 for a Python float
    Bool,
    Bytes,  // bytes: size bytes as they are (structs, complex, vector types)
};

// One argument as given. Sized scalars (size > 0) must have the size of the parameter; unsized ones
// (Python numbers) convert when that loses nothing, a float to float32 always.
struct Argument {
    ArgumentKind kind = ArgumentKind::Int;
    uint8_t size = 0;
    union {
        int64_t integer = 0;
        uint64_t bits;
        double number;
        const void* bytes;  // must live until launch() returns
    };
    uint32_t nbytes = 0;          // of Bytes
    const char* given = nullptr;  // "numpy.float64", "int", "GPUArray": for messages
    Buffer* buffer = nullptr;     // of Pointer, if known: kept in order with its stream
};

struct LaunchConfig {
    Dim3 grid, block;
    size_t shared_bytes = 0;
    StreamPtr stream;  // null: the current one
    bool cooperative = false;
    Dim3 cluster{0, 0, 0};  // blocks of a cluster; 0: as the kernel was compiled
};

// Throws InvalidArgument or LaunchError (configuration), TypeMismatch (arguments: names the
// parameter, its C type and what was given). Nothing has been started then.
void launch(Function& function, const LaunchConfig& config, std::span<const Argument> arguments);

// For callers that packed by the layout themselves (generated kernels): no checks of arguments.
void launch_packed(Function& function, const LaunchConfig& config, void* const* arguments,
                   size_t count);

// "f(float *a, int n)" for messages.
std::string signature(const FunctionInfo& info);

}  // namespace trilane::core
