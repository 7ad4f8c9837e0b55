// Launches inside device code, which clang refuses, as calls of the device library
// (device_lib/cpu/device_launch.h).
#pragma once

#include <string>
#include <vector>

namespace trilane::cpu {

struct DeviceLaunches {
    std::string source;                // with every launch written as a call; same lines
    std::vector<std::string> kernels;  // what is launched, each once: name expressions
};

// Finds `callee<<<configuration>>>` in the text, before preprocessing. Callees are names, with
// namespaces and template arguments; what only looks like a launch stays as it is.
DeviceLaunches rewrite_device_launches(const std::string& source);

}  // namespace trilane::cpu
