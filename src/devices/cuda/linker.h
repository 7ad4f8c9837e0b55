// Linking of compiled code by the driver.
#pragma once

#include <span>

#include "core/device.h"
#include "devices/cuda/errors.h"

namespace trilane::cuda {

// A cubin. The runtime of kernels that launch kernels is added if a cubin or PTX calls it. The
// context must be current. InvalidArgument, with the linker's log as detail, if they do not fit.
core::Image link_images(const DriverTable& driver, FaultState& faults,
                        std::span<const core::LinkInput> inputs,
                        const core::LinkOptions& options = {});

}  // namespace trilane::cuda
