// Several devices in one process: whose memory a device reaches, in which order two devices use it,
// and copies between them.
//
// Order: a copy or a kernel that uses memory of another device comes after what is on that device's
// current stream of the calling thread, and what is put on that stream later comes after it. So a
// program that knows one stream per device needs no events.
//
// A captured launch may use memory of another device; its graph keeps the memory, and launches of
// the graph are ordered by their stream alone. Copies between devices are not captured.
#pragma once

#include "core/buffer.h"
#include "core/context.h"
#include "core/device.h"

namespace trilane::core {

// Whether kernels of `from` can be given memory of `to`; false for a device and itself, as CUDA
// says it.
bool can_access_peer(const ContextPtr& from, const ContextPtr& to);

// What users ask for, per pair and direction. Access that reach() opened by itself does not count.
enum class PeerChange : uint8_t { Done, Impossible, Already, NotEnabled };
PeerChange enable_peer_access(const ContextPtr& from, const ContextPtr& to);
PeerChange disable_peer_access(const ContextPtr& from, const ContextPtr& to);

// Opens access if there is none yet. False if the two devices cannot. Costs one lock when open.
bool reach(const ContextPtr& from, const ContextPtr& to);

// The device in whose pool the address lies. Null if it is in none: managed memory, host memory,
// memory of another library.
ContextPtr context_holding(DevicePtr address);

// What is put on `later` from now on comes after what is on `earlier` now. Any two devices.
void order_after(const StreamPtr& later, const StreamPtr& earlier);

// Says that work about to be launched on `stream` uses the buffer: the one call before a launch.
// Memory of another device is reached and ordered; InvalidArgument naming `who` where it cannot be.
// Costs two comparisons for memory of the stream's own device, an event for each use of others'.
void use_on(Buffer& buffer, const StreamPtr& stream, const char* who);
// After the launch, by the launcher: the other devices' streams wait for what use_on() announced.
void finish_peer_uses(const StreamPtr& stream);

// Memory of the two buffers' devices; `stream` is of one of them. copy_on_device() calls it for
// memory of pools; memory that was adopted is where its context says only for this call.
void copy_between(Buffer& dst, size_t dst_offset, Buffer& src, size_t src_offset, size_t nbytes,
                  const StreamPtr& stream);
// As copy_region(), which calls it: `params` has addresses and all pitches.
void copy_region_between(const Copy3D& params, Buffer& dst, Buffer& src, const StreamPtr& stream,
                         bool wait);

// Whether the memory is known to be of one device: of its pool. What was adopted, or is managed,
// may be anybody's.
inline bool is_located(const Buffer& buffer) { return buffer.stream() != nullptr; }

// InvalidArgument if the buffer's memory is of another device than the stream.
void require_same_device(const Buffer& buffer, const StreamPtr& stream, const char* who);

// Makes a device current in the calling thread for the length of a scope.
class DeviceScope {
  public:
    explicit DeviceScope(const ContextPtr& context) : before_(current_device_index()) {
        if (context->index() != before_) set_current_device(context->index());
    }
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

  private:
    int before_;
};

}  // namespace trilane::core
