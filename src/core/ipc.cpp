// Handles of pieces of a pool: the device knows whole allocations only, so the place goes along.
#include "core/ipc.h"

#include "core/error.h"
#include "core/memory_pool.h"

namespace trilane::core {

namespace {

constexpr size_t kDeviceHandle = 64, kPlace = 8;

uint64_t read_place(std::string_view bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < kPlace; ++i)
        value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
}

}  // namespace

ExportedMemory export_memory(const ContextPtr& context, DevicePtr address) {
    context->require_usable("export_memory");
    if (address == 0)
        throw_error(ErrorKind::InvalidArgument,
                    "export_memory: no memory: got address 0, expected one of device memory");
    const MemoryPool::Place place = context->pool().place_of(address);
    Device& device = context->device();
    device.make_current();
    ExportedMemory result;
    if (place.nbytes == 0) {
        result.handle = device.share_memory(address);
        return result;
    }
    result.handle = device.share_memory(place.segment);
    result.offset = address - place.block;
    const uint64_t inside = place.block - place.segment;
    if (inside == 0) return result;
    for (size_t i = 0; i < kPlace; ++i)
        result.handle.push_back(static_cast<char>(inside >> (8 * i) & 0xff));
    return result;
}

IpcMemoryPtr IpcMemory::open(const ContextPtr& context, std::string_view handle) {
    context->require_usable("open memory of another process");
    if (handle.size() != kDeviceHandle && handle.size() != kDeviceHandle + kPlace)
        throw_error(ErrorKind::InvalidArgument,
                    "open memory of another process: handle of the wrong size: got {} bytes, "
                    "expected {}, or {} of memory inside a larger piece",
                    handle.size(), kDeviceHandle, kDeviceHandle + kPlace);
    const uint64_t inside =
        handle.size() == kDeviceHandle ? 0 : read_place(handle.substr(kDeviceHandle));
    IpcMemoryPtr memory(new IpcMemory);
    Device& device = context->device();
    device.make_current();
    memory->base_ = device.open_shared_memory(handle.substr(0, kDeviceHandle));
    memory->address_ = memory->base_ + inside;
    memory->context_ = context;
    return memory;
}

IpcMemory::~IpcMemory() {
    if (context_ == nullptr || closed_.exchange(true)) return;
    try {
        if (context_->usable()) unmap();
    } catch (const std::exception& error) {
        report_cleanup_failure("closing memory of another process", error.what());
    }
}

void IpcMemory::close() {
    context_->require_usable("close memory of another process");
    if (closed_.exchange(true))
        throw_error(ErrorKind::InvalidArgument,
                    "close memory of another process: it was closed before");
    unmap();
}

void IpcMemory::unmap() {
    Device& device = context_->device();
    struct Closed {
        Device& device;
        DevicePtr base;
        ~Closed() { device.close_shared_memory(base); }  // also if the wait says that work failed
    } closed{device, base_};
    device.make_current();
    device.synchronize();
}

}  // namespace trilane::core
