// The two ends of a copy as Python gives them, shared by the bindings of copies.
#pragma once

#include <memory>

#include "bindings/arguments.h"
#include "bindings/host_view.h"

namespace trilane::bindings {

struct Side {
    core::BufferPtr buffer;          // of device memory
    std::unique_ptr<HostView> view;  // of host memory that an object holds
    core::DevicePtr address = 0;     // of the first byte
};

// `extent` bytes of `object` from `offset` on. A host object may be a bare address. Throws
// InvalidArgument if there are fewer.
Side side_of(nb::handle object, bool host, bool write, size_t offset, size_t extent,
             const core::ContextPtr& context);

// Keeps host memory until the stream has passed: nothing to do on devices that copy at once.
void keep_until_done(const core::StreamPtr& stream, std::unique_ptr<HostView> view);

}  // namespace trilane::bindings
