// The cuda device as the extension sees it.
#pragma once

#include <string>

#include "core/device.h"
#include "core/program.h"
#include "core/registry.h"

namespace trilane::cuda {

// Counts and makes cuda devices. `hooks` outlives them. Without a driver the count is 0, and why
// says what to install.
core::DeviceFactory cuda_factory(const core::DeviceHooks& hooks);

bool has_compiler();  // whether there is an NVRTC, or TRILANE_NVRTC asks for one. For tests

// What NVRTC says of a program that it compiles as a device of architecture `arch` (90: sm_90)
// would have it; CompileError if it refuses. Needs NVRTC 13, no GPU and no driver. For tests.
std::string compile_log(const core::Program& program, int arch);

// Calls the driver's own launch `count` times, with nothing of ours around it; the result is the
// driver's. The context must be current: launch the function once before. For benchmarks.
int launch_raw(const core::LaunchParams& params, int count);

}  // namespace trilane::cuda
