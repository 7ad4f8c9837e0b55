// The cuda device as the extension sees it.
#pragma once

#include "core/registry.h"

namespace trilane::cuda {

// Counts and makes cuda devices. `hooks` outlives them. Without a driver the count is 0, and why
// says what to install.
core::DeviceFactory cuda_factory(const core::DeviceHooks& hooks);

}  // namespace trilane::cuda
