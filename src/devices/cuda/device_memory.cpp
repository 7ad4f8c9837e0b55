// Memory of the device and pinned memory of the host.
#include "core/error.h"
#include "devices/cuda/device.h"
#include "devices/cuda/device_state.h"

namespace trilane::cuda {

using core::DevicePtr;
using core::ErrorKind;

PoolHandle CudaDevice::pool() {
    std::lock_guard lock(mutex_);
    if (pool_ != nullptr) return pool_;
    PoolProperties properties;
    properties.location_id = handle_;
    PoolHandle made = nullptr;
    check(driver_.cuMemPoolCreate(&made, &properties), "cuMemPoolCreate");
    // Never given back at a synchronisation: the core's pool above decides what is kept.
    uint64_t threshold = UINT64_MAX;
    const Result result = driver_.cuMemPoolSetAttribute(made, kPoolReleaseThreshold, &threshold);
    if (result != result::kSuccess) {
        faults_.report(driver_.cuMemPoolDestroy(made), "cuMemPoolDestroy");
        check(result, "cuMemPoolSetAttribute");
    }
    return pool_ = made;
}

DevicePtr CudaDevice::allocate(size_t nbytes, core::RawStream stream) {
    const Scope scope(*this, "allocate");
    const RelaxedCapture relaxed(driver_);
    DevicePtr address = 0;
    if (!async_allocation_) {
        check(driver_.cuMemAlloc(&address, nbytes), "cuMemAlloc");
        return address;
    }
    const PoolHandle from = pool();
    Result result = driver_.cuMemAllocFromPoolAsync(&address, nbytes, from, stream_of(stream));
    if (result == result::kOutOfMemory) {
        check(driver_.cuCtxSynchronize(), "cuCtxSynchronize");  // frees are ordered on streams
        check(driver_.cuMemPoolTrimTo(from, 0), "cuMemPoolTrimTo");
        result = driver_.cuMemAllocFromPoolAsync(&address, nbytes, from, stream_of(stream));
    }
    check(result, "cuMemAllocFromPoolAsync");
    return address;
}

void CudaDevice::free(DevicePtr address, core::RawStream stream) noexcept {
    if (address == 0) return;
    Scope scope(*this);
    bool managed = false;
    {
        std::lock_guard lock(mutex_);
        managed = managed_.erase(address) != 0;
    }
    if (!try_enter(scope)) return;
    const RelaxedCapture relaxed(driver_);
    if (managed || !async_allocation_)
        faults_.report(driver_.cuMemFree(address), "cuMemFree");
    else
        faults_.report(driver_.cuMemFreeAsync(address, stream_of(stream)), "cuMemFreeAsync");
}

void* CudaDevice::allocate_host(size_t nbytes, unsigned flags) {
    const Scope scope(*this, "allocate_host");
    const RelaxedCapture relaxed(driver_);
    void* address = nullptr;
    check(driver_.cuMemHostAlloc(&address, nbytes, flags), "cuMemHostAlloc");
    return address;
}

void CudaDevice::free_host(void* address) noexcept {
    Scope scope(*this);
    if (address == nullptr || !try_enter(scope)) return;
    const RelaxedCapture relaxed(driver_);
    faults_.report(driver_.cuMemFreeHost(address), "cuMemFreeHost");
}

DevicePtr CudaDevice::host_device_pointer(void* address) {
    const Scope scope(*this, "host_device_pointer");
    DevicePtr mapped = 0;
    check(driver_.cuMemHostGetDevicePointer(&mapped, address, 0), "cuMemHostGetDevicePointer");
    return mapped;
}

void CudaDevice::register_host(void* address, size_t nbytes, unsigned flags) {
    const Scope scope(*this, "register_host");
    const RelaxedCapture relaxed(driver_);
    check(driver_.cuMemHostRegister(address, nbytes, flags), "cuMemHostRegister");
}

void CudaDevice::unregister_host(void* address) noexcept {
    Scope scope(*this);
    if (address == nullptr || !try_enter(scope)) return;
    const RelaxedCapture relaxed(driver_);
    faults_.report(driver_.cuMemHostUnregister(address), "cuMemHostUnregister");
}

DevicePtr CudaDevice::allocate_managed(size_t nbytes, unsigned flags) {
    const Scope scope(*this, "allocate_managed");
    const RelaxedCapture relaxed(driver_);
    DevicePtr address = 0;
    check(driver_.cuMemAllocManaged(&address, nbytes, flags == 0 ? kMemoryAttachGlobal : flags),
          "cuMemAllocManaged");
    try {
        std::lock_guard lock(mutex_);
        managed_.insert(address);
    } catch (...) {
        driver_.cuMemFree(address);
        throw;
    }
    return address;
}

}  // namespace trilane::cuda
