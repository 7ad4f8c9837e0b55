// Device memory of the bound array type.
#pragma once

#include "bindings/bindings.h"

namespace trilane::bindings {

struct MemoryRef;

// `object` is a _core.array.ndarray; forces a pending expression.
MemoryRef array_memory(nb::handle object);

// The same of what is known to be one, by its Route: the address, and what holds the memory.
core::DevicePtr array_address(nb::handle object, core::BufferPtr& buffer);

}  // namespace trilane::bindings
