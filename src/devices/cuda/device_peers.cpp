// Memory and events of other devices, and of other processes; outside profilers.
#include <cstring>

#include "core/error.h"
#include "devices/cuda/device.h"
#include "devices/cuda/device_state.h"

namespace trilane::cuda {

using core::DevicePtr;
using core::ErrorKind;
using core::throw_error;

namespace {

CudaDevice& cuda_of(core::Device& device) {
    auto* const own = dynamic_cast<CudaDevice*>(&device);
    if (own == nullptr)
        throw_error(ErrorKind::InvalidArgument, "peer: got a {} device, expected a cuda device",
                    core::device_type_name(device.properties().type));
    return *own;
}

IpcHandle handle_of(std::string_view bytes) {
    IpcHandle handle;
    if (bytes.size() != sizeof(handle.bytes))
        throw_error(ErrorKind::InvalidArgument,
                    "handle of another process: got {} bytes, expected {}", bytes.size(),
                    sizeof(handle.bytes));
    std::memcpy(handle.bytes, bytes.data(), sizeof(handle.bytes));
    return handle;
}

std::string text_of(const IpcHandle& handle) {
    return std::string(handle.bytes, sizeof(handle.bytes));
}

}  // namespace

bool CudaDevice::can_access_peer(int ordinal) {
    DeviceHandle peer = 0;
    check(driver_.cuDeviceGet(&peer, ordinal), "cuDeviceGet");
    int can = 0;
    if (peer != handle_)
        check(driver_.cuDeviceCanAccessPeer(&can, handle_, peer), "cuDeviceCanAccessPeer");
    return can != 0;
}

// The context is shared with other libraries: they may have done the same.
void CudaDevice::enable_peer_access(core::Device& peer) {
    const Scope scope(*this, "enable_peer_access");
    const Result result = driver_.cuCtxEnablePeerAccess(cuda_of(peer).context(), 0);
    if (result != result::kPeerAccessAlreadyEnabled) check(result, "cuCtxEnablePeerAccess");
    cuda_of(peer).open_pool_to(*this, true);
}

void CudaDevice::disable_peer_access(core::Device& peer) {
    const Scope scope(*this, "disable_peer_access");
    const Result result = driver_.cuCtxDisablePeerAccess(cuda_of(peer).context());
    if (result != result::kPeerAccessNotEnabled) check(result, "cuCtxDisablePeerAccess");
    cuda_of(peer).open_pool_to(*this, false);
}

// Access of contexts is for plain memory only: the driver's pools have their own.
void CudaDevice::open_pool_to(CudaDevice& peer, bool open) {
    if (!async_allocation_) return;
    PoolAccess access;
    access.location_id = peer.handle_;
    if (!open) access.flags = 0;
    check(driver_.cuMemPoolSetAccess(pool(), &access, 1), "cuMemPoolSetAccess");
}

void CudaDevice::copy_peer(DevicePtr dst, core::Device& dst_device, DevicePtr src, size_t nbytes,
                           core::RawStream stream, bool wait) {
    const Scope scope(*this, "copy");
    if (nbytes == 0) return;
    check(driver_.cuMemcpyPeerAsync(dst, cuda_of(dst_device).context(), src, context(), nbytes,
                                    stream_of(stream)),
          "cuMemcpyPeerAsync");
    if (wait) check(driver_.cuStreamSynchronize(stream_of(stream)), "cuStreamSynchronize");
}

std::string CudaDevice::share_memory(DevicePtr address) {
    const Scope scope(*this, "share_memory");
    if (async_allocation_)
        throw_error(ErrorKind::NotSupported,
                    "memory for other processes: the driver gives no handles of stream-ordered "
                    "allocations: set TRILANE_CUDA_ALLOC=sync before the program starts");
    IpcHandle handle;
    check(driver_.cuIpcGetMemHandle(&handle, address), "cuIpcGetMemHandle");
    return text_of(handle);
}

DevicePtr CudaDevice::open_shared_memory(std::string_view handle) {
    const Scope scope(*this, "open_shared_memory");
    DevicePtr address = 0;
    check(driver_.cuIpcOpenMemHandle(&address, handle_of(handle), kIpcLazyPeerAccess),
          "cuIpcOpenMemHandle");
    return address;
}

void CudaDevice::close_shared_memory(DevicePtr address) noexcept {
    Scope scope(*this);
    if (try_enter(scope))
        faults_.report(driver_.cuIpcCloseMemHandle(address), "cuIpcCloseMemHandle");
}

core::RawEvent CudaDevice::create_shared_event(bool blocking) {
    const Scope scope(*this, "create_shared_event");
    EventHandle event = nullptr;
    const unsigned flags =
        kEventDisableTiming | kEventInterprocess | (blocking ? kEventBlockingSync : 0u);
    check(driver_.cuEventCreate(&event, flags), "cuEventCreate");
    return reinterpret_cast<core::RawEvent>(event);
}

std::string CudaDevice::share_event(core::RawEvent event) {
    const Scope scope(*this, "share_event");
    IpcHandle handle;
    check(driver_.cuIpcGetEventHandle(&handle, event_of(event)), "cuIpcGetEventHandle");
    return text_of(handle);
}

core::RawEvent CudaDevice::open_shared_event(std::string_view handle) {
    const Scope scope(*this, "open_shared_event");
    EventHandle event = nullptr;
    check(driver_.cuIpcOpenEventHandle(&event, handle_of(handle)), "cuIpcOpenEventHandle");
    return reinterpret_cast<core::RawEvent>(event);
}

void CudaDevice::start_profiler() {
    const Scope scope(*this, "start_profiler");
    check(driver_.cuProfilerStart(), "cuProfilerStart");
}

void CudaDevice::stop_profiler() {
    const Scope scope(*this, "stop_profiler");
    check(driver_.cuProfilerStop(), "cuProfilerStop");
}

}  // namespace trilane::cuda
