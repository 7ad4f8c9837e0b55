// What a Device does unless it says otherwise.
#include "core/device.h"

#include "core/error.h"

namespace trilane::core {

const char* device_type_name(DeviceType type) {
    switch (type) {
        case DeviceType::Cpu:
            return "cpu";
        case DeviceType::Cuda:
            return "cuda";
        case DeviceType::Fake:
            return "fake";
    }
    return "unknown";
}

namespace {

[[noreturn]] void refuse(const Device& device, const char* what) {
    throw_error(ErrorKind::NotSupported, "{}: the {} device does not have it", what,
                device_type_name(device.properties().type));
}

}  // namespace

void Device::note_allocation(DevicePtr, size_t, std::string_view) {}
void Device::forget_allocation(DevicePtr) noexcept {}
std::vector<CheckReport> Device::take_check_reports() { return {}; }
Image Device::link(std::span<const LinkInput>, const LinkOptions&) {
    refuse(*this, "linking of compiled code");
}

void Device::begin_capture(RawStream, CaptureMode) { refuse(*this, "capture of a stream"); }
RawGraph Device::end_capture(RawStream) { refuse(*this, "capture of a stream"); }
bool Device::capturing(RawStream) { return false; }
void Device::capture_host_function(RawStream, const std::function<void()>*) {
    refuse(*this, "capture of a stream");
}
void Device::launch_graph(RawGraph, RawStream) { refuse(*this, "launch of a graph"); }
void Device::upload_graph(RawGraph, RawStream) { refuse(*this, "upload of a graph"); }
void Device::destroy_graph(RawGraph) noexcept {}

bool Device::can_access_peer(int) { return false; }
void Device::enable_peer_access(Device&) { refuse(*this, "access to memory of a peer"); }
void Device::disable_peer_access(Device&) { refuse(*this, "access to memory of a peer"); }
void Device::copy_peer(DevicePtr, Device&, DevicePtr, size_t, RawStream, bool) {
    refuse(*this, "copy to a peer");
}

std::string Device::share_memory(DevicePtr) { refuse(*this, "memory for other processes"); }
DevicePtr Device::open_shared_memory(std::string_view) {
    refuse(*this, "memory of other processes");
}
void Device::close_shared_memory(DevicePtr) noexcept {}
RawEvent Device::create_shared_event(bool) { refuse(*this, "events for other processes"); }
std::string Device::share_event(RawEvent) { refuse(*this, "events for other processes"); }
RawEvent Device::open_shared_event(std::string_view) { refuse(*this, "events of other processes"); }

RawArray Device::create_array(const ArrayParams&) { refuse(*this, "CUDA arrays"); }
void Device::destroy_array(RawArray) noexcept {}
void Device::copy_box(const BoxCopy&, RawStream, bool) { refuse(*this, "CUDA arrays"); }
RawTexture Device::create_texture(const TextureParams&) { refuse(*this, "texture objects"); }
void Device::destroy_texture(RawTexture) noexcept {}
RawSurface Device::create_surface(RawArray) { refuse(*this, "surface objects"); }
void Device::destroy_surface(RawSurface) noexcept {}

}  // namespace trilane::core
