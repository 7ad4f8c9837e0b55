// Which device memory belongs to that somebody else owns.
#pragma once

#include "bindings/bindings.h"

namespace trilane::bindings {

// `given` if the caller knows, else the device whose pool holds the address, else `fallback`, else
// the current one. One device: that one, without a look. Needs the GIL.
core::ContextPtr home_of(core::DevicePtr address, const core::ContextPtr& given,
                         const core::ContextPtr& fallback = nullptr);

// Parts of module _core (peer.cpp, ipc.cpp, nvtx.cpp).
void bind_peer(nb::module_& m);
void bind_ipc(nb::module_& m);
void bind_nvtx(nb::module_& m);

}  // namespace trilane::bindings
