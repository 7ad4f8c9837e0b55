// The fake driver's memory, copies and fills.
#include "devices/cuda/testing/fake_driver_state.h"

namespace trilane::cuda::testing {
namespace {

// --- memory

Result fake_info(size_t* free_bytes, size_t* total_bytes) {
    ENTER();
    *free_bytes = machine.capacity - machine.used;
    *total_bytes = machine.capacity;
    return r::kSuccess;
}
Result fake_alloc(DeviceAddress* address, size_t nbytes) {
    ENTER();
    UNSAFE();
    return allocate(address, nbytes);
}
Result fake_free(DeviceAddress address) {
    ENTER_DESTROY();
    UNSAFE();
    const Result done = release(address);
    return answer != 0 ? answer : done;
}
Result fake_pool_create(PoolHandle* pool, const PoolProperties* properties) {
    ENTER(false);
    if (properties->allocation_type != 1 || properties->location_type != 1) return r::kInvalidValue;
    void* made = new char;
    pools.insert(made);
    ++machine.pools;
    *pool = static_cast<PoolHandle>(made);
    return r::kSuccess;
}
Result fake_pool_destroy(PoolHandle pool) {
    ENTER_DESTROY();
    if (pools.erase(pool) == 0) return r::kInvalidValue;
    delete reinterpret_cast<char*>(pool);
    --machine.pools;
    return answer;
}
Result fake_pool_set(PoolHandle pool, int, void*) {
    ENTER(false);
    return pools.contains(pool) ? r::kSuccess : r::kInvalidValue;
}
Result fake_pool_access(PoolHandle pool, const PoolAccess* accesses, size_t count) {
    ENTER(false);
    if (!pools.contains(pool)) return r::kInvalidValue;
    for (size_t i = 0; i < count; ++i) {
        const PoolAccess& given = accesses[i];
        if (given.location_type != 1 || given.location_id >= machine.device_count ||
            (given.flags != 0 && given.flags != 3))
            return r::kInvalidValue;
        machine.pool_accesses += given.flags == 3 ? 1 : -1;
    }
    return r::kSuccess;
}
Result fake_pool_trim(PoolHandle pool, size_t) {
    ENTER(false);
    return pools.contains(pool) ? r::kSuccess : r::kInvalidValue;
}
Result fake_alloc_async(DeviceAddress* address, size_t nbytes, PoolHandle pool,
                        StreamHandle stream) {
    ENTER();
    if (!pools.contains(pool) || !known_stream(stream)) return r::kInvalidValue;
    const Result answer = allocate(address, nbytes);
    if (answer == r::kSuccess) from_pools.insert(*address);
    return answer;
}
Result fake_free_async(DeviceAddress address, StreamHandle) {
    ENTER_DESTROY();
    const Result done = release(address);
    return answer != 0 ? answer : done;
}
Result fake_managed(DeviceAddress* address, size_t nbytes, unsigned flags) {
    ENTER();
    if (flags != 1 && flags != 2) return r::kInvalidValue;
    return allocate(address, nbytes);
}
Result fake_host_alloc(void** address, size_t nbytes, unsigned) {
    ENTER();
    UNSAFE();
    *address = std::calloc(1, nbytes);
    host_memory[*address] = nbytes;
    ++machine.host_blocks;
    return r::kSuccess;
}
Result fake_free_host(void* address) {
    ENTER_DESTROY();
    UNSAFE();
    if (host_memory.erase(address) == 0) return r::kInvalidValue;
    std::free(address);
    --machine.host_blocks;
    return answer;
}
Result fake_register(void* address, size_t nbytes, unsigned) {
    ENTER();
    UNSAFE();
    if (registered.contains(address)) return r::kAlreadyRegistered;
    registered[address] = nbytes;
    ++machine.registered;
    return r::kSuccess;
}
Result fake_unregister(void* address) {
    ENTER_DESTROY();
    UNSAFE();
    if (registered.erase(address) == 0) return r::kNotRegistered;
    --machine.registered;
    return answer;
}
Result fake_host_pointer(DeviceAddress* address, void* host, unsigned) {
    ENTER();
    *address = reinterpret_cast<DeviceAddress>(host);
    return host_memory.contains(host) || registered.contains(host) ? r::kSuccess : r::kInvalidValue;
}
Result fake_pointer_attribute(void* value, int attribute, DeviceAddress address) {
    ENTER(false);
    if (attribute != kPointerMemoryType) return r::kInvalidValue;
    auto* type = static_cast<unsigned*>(value);
    if (on_device(address, 0)) {
        *type = kMemoryDevice;
        return r::kSuccess;
    }
    *type = kMemoryHost;
    for (const auto* map : {&host_memory, &registered}) {
        auto found = map->upper_bound(at(address));
        if (found == map->begin()) continue;
        --found;
        if (address - reinterpret_cast<DeviceAddress>(found->first) < found->second)
            return r::kSuccess;
    }
    return r::kInvalidValue;
}

// --- copies and fills

Result fake_htod(DeviceAddress dst, const void* src, size_t nbytes) {
    ENTER();
    if (would_wait_for_ever()) return r::kUnknown;
    if (const Result refused = usable(nullptr); refused != r::kSuccess) return refused;
    return on_device(dst, nbytes) ? move(at(dst), src, nbytes) : r::kInvalidValue;
}
Result fake_dtoh(void* dst, DeviceAddress src, size_t nbytes) {
    ENTER();
    if (would_wait_for_ever()) return r::kUnknown;
    if (const Result refused = usable(nullptr); refused != r::kSuccess) return refused;
    return on_device(src, nbytes) ? move(dst, at(src), nbytes) : r::kInvalidValue;
}
Result fake_htod_async(DeviceAddress dst, const void* src, size_t nbytes, StreamHandle stream) {
    ENTER();
    if (host_memory.contains(const_cast<void*>(src))) ++machine.staged_copies;
    if (!on_device(dst, nbytes)) return r::kInvalidValue;
    return submit(stream, [=] { move(at(dst), src, nbytes); });
}
Result fake_dtoh_async(void* dst, DeviceAddress src, size_t nbytes, StreamHandle stream) {
    ENTER();
    if (host_memory.contains(dst))
        ++machine.staged_copies;
    else if (!registered.contains(dst) && would_wait_for_ever())
        return r::kUnknown;
    if (!on_device(src, nbytes)) return r::kInvalidValue;
    return submit(stream, [=] { move(dst, at(src), nbytes); });
}
Result fake_dtod_async(DeviceAddress dst, DeviceAddress src, size_t nbytes, StreamHandle stream) {
    ENTER();
    if (!on_device(dst, nbytes) || !on_device(src, nbytes)) return r::kInvalidValue;
    return submit(stream, [=] { move(at(dst), at(src), nbytes); });
}
template <typename T>
Result set(DeviceAddress dst, size_t pitch, T value, size_t width, size_t height,
           StreamHandle stream) {
    ENTER();
    if (dst % sizeof(T) != 0 || !on_device(dst, (height - 1) * pitch + width * sizeof(T)))
        return r::kInvalidValue;
    return submit(stream, [=] {
        for (size_t y = 0; y < height; ++y)
            for (size_t x = 0; x < width; ++x) static_cast<T*>(at(dst + y * pitch))[x] = value;
    });
}
template <typename T>
Result fake_set(DeviceAddress dst, T value, size_t count, StreamHandle stream) {
    return set<T>(dst, 0, value, count, 1, stream);
}

}  // namespace

std::vector<Row> memory_rows() {
    return {
        {"cuMemGetInfo", pointer(fake_info)},
        {"cuMemAlloc", pointer(fake_alloc)},
        {"cuMemFree", pointer(fake_free)},
        {"cuMemPoolCreate", pointer(fake_pool_create)},
        {"cuMemPoolDestroy", pointer(fake_pool_destroy)},
        {"cuMemPoolSetAttribute", pointer(fake_pool_set)},
        {"cuMemPoolSetAccess", pointer(fake_pool_access)},
        {"cuMemPoolTrimTo", pointer(fake_pool_trim)},
        {"cuMemAllocFromPoolAsync", pointer(fake_alloc_async)},
        {"cuMemFreeAsync", pointer(fake_free_async)},
        {"cuMemAllocManaged", pointer(fake_managed)},
        {"cuMemHostAlloc", pointer(fake_host_alloc)},
        {"cuMemFreeHost", pointer(fake_free_host)},
        {"cuMemHostRegister", pointer(fake_register)},
        {"cuMemHostUnregister", pointer(fake_unregister)},
        {"cuMemHostGetDevicePointer", pointer(fake_host_pointer)},
        {"cuPointerGetAttribute", pointer(fake_pointer_attribute)},
        {"cuMemcpyHtoD", pointer(fake_htod)},
        {"cuMemcpyDtoH", pointer(fake_dtoh)},
        {"cuMemcpyHtoDAsync", pointer(fake_htod_async)},
        {"cuMemcpyDtoHAsync", pointer(fake_dtoh_async)},
        {"cuMemcpyDtoDAsync", pointer(fake_dtod_async)},
        {"cuMemsetD8Async", pointer(fake_set<unsigned char>)},
        {"cuMemsetD16Async", pointer(fake_set<unsigned short>)},
        {"cuMemsetD32Async", pointer(fake_set<unsigned>)},
        {"cuMemsetD2D8Async", pointer(set<unsigned char>)},
        {"cuMemsetD2D16Async", pointer(set<unsigned short>)},
        {"cuMemsetD2D32Async", pointer(set<unsigned>)},
    };
}

}  // namespace trilane::cuda::testing
