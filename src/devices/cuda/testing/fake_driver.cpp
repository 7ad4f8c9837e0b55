// The fake driver. Built as a shared library of its own, which tests open in place of libcuda.so.1.
//
// It loads texts that testing/fake_nvrtc.cpp makes: PTX in looks, with lines
// ".entry NAME BYTES BYTES ..." that give the sizes of a kernel's parameters. Two kernels do
// something: `add` (c[i] = a[i] + b[i] for floats) and `fault`, which ends the context.
#include "devices/cuda/testing/fake_driver.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "devices/cuda/driver_api.h"

namespace {

using namespace trilane::cuda;  // NOLINT: the whole file speaks the driver's language
using trilane::cuda::testing::FakeDriver;
namespace r = trilane::cuda::result;

struct Event {
    bool recorded = false, timing = true;
    std::chrono::steady_clock::time_point time;
};
struct Kernel {
    std::string name;
    std::vector<size_t> sizes;
    int max_dynamic_shared = 49152;
};
struct Module {
    std::map<std::string, Kernel> kernels;
    std::string symbol = std::string(64, '\0');
};

FakeDriver machine;
std::recursive_mutex mutex;
std::map<DeviceAddress, size_t> memory;
std::map<void*, size_t> host_memory, registered;
std::set<Event*> events;
std::set<Module*> modules;
std::set<uint64_t> streams;
std::set<void*> pools;
uint64_t next_stream = 1;
int sticky = 0;
thread_local std::vector<ContextHandle> stack;

ContextHandle the_context(int device) {
    return reinterpret_cast<ContextHandle>(uintptr_t{0x1000} + static_cast<uintptr_t>(device));
}

// What this call answers before it does anything; 0 if it may go on.
Result enter(bool needs_context = true) {
    ++machine.calls;
    if (sticky != 0) return sticky;
    if (machine.fail_at > 0 && --machine.fail_at == 0) {
        machine.has_failed = true;
        if (machine.for_ever) sticky = machine.fail_with;
        return machine.fail_with;
    }
    if (needs_context && (stack.empty() || stack.back() == nullptr)) return r::kInvalidContext;
    return r::kSuccess;
}

#define ENTER(...)               \
    std::lock_guard lock(mutex); \
    if (Result refused = enter(__VA_ARGS__); refused != 0) return refused
// For what destroys: the answer is given at the end.
#define ENTER_DESTROY()          \
    std::lock_guard lock(mutex); \
    const Result answer = enter()

// Device memory is host memory; so is managed memory.
Result allocate(DeviceAddress* address, size_t nbytes) {
    if (nbytes == 0) return r::kInvalidValue;
    if (machine.used + nbytes > machine.capacity) return r::kOutOfMemory;
    void* block = std::aligned_alloc(512, (nbytes + 511) / 512 * 512);
    if (block == nullptr) return r::kOutOfMemory;
    std::memset(block, 0xa5, nbytes);
    *address = reinterpret_cast<DeviceAddress>(block);
    memory[*address] = nbytes;
    machine.used += nbytes;
    ++machine.blocks;
    return r::kSuccess;
}

Result release(DeviceAddress address) {
    const auto found = memory.find(address);
    if (found == memory.end()) return r::kInvalidValue;
    machine.used -= found->second;
    --machine.blocks;
    std::free(reinterpret_cast<void*>(address));
    memory.erase(found);
    return r::kSuccess;
}

bool inside(const std::map<DeviceAddress, size_t>& map, DeviceAddress address, size_t nbytes) {
    auto found = map.upper_bound(address);
    if (found == map.begin()) return false;
    --found;
    return address - found->first <= found->second &&
           nbytes <= found->second - (address - found->first);
}

bool on_device(DeviceAddress address, size_t nbytes) { return inside(memory, address, nbytes); }
bool known_stream(StreamHandle stream) {
    return stream == nullptr || streams.contains(reinterpret_cast<uint64_t>(stream));
}
void* at(DeviceAddress address) { return reinterpret_cast<void*>(address); }

Result move(void* dst, const void* src, size_t nbytes) {
    std::memmove(dst, src, nbytes);
    return r::kSuccess;
}

// --- devices and contexts

Result fake_init(unsigned) {
    ENTER(false);
    return machine.device_count == 0 ? r::kNoDevice : r::kSuccess;
}
Result fake_version(int* version) {
    *version = machine.version;
    return r::kSuccess;
}
Result fake_error_name(Result error, const char** text) {
    static const std::map<Result, const char*> kNames = {
        {1, "CUDA_ERROR_INVALID_VALUE"},   {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {100, "CUDA_ERROR_NO_DEVICE"},     {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {500, "CUDA_ERROR_NOT_FOUND"},     {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {719, "CUDA_ERROR_LAUNCH_FAILED"}, {999, "CUDA_ERROR_UNKNOWN"}};
    const auto found = kNames.find(error);
    *text = found == kNames.end() ? nullptr : found->second;
    return found == kNames.end() ? r::kInvalidValue : r::kSuccess;
}
Result fake_error_string(Result error, const char** text) {
    *text = error == r::kIllegalAddress ? "an illegal memory access was encountered"
                                        : "text of the fake driver";
    return r::kSuccess;
}
Result fake_device_count(int* count) {
    ENTER(false);
    *count = machine.device_count;
    return r::kSuccess;
}
Result fake_device_get(DeviceHandle* device, int ordinal) {
    ENTER(false);
    if (ordinal < 0 || ordinal >= machine.device_count) return r::kInvalidDevice;
    *device = ordinal;
    return r::kSuccess;
}
Result fake_device_name(char* name, int nbytes, DeviceHandle) {
    ENTER(false);
    std::strncpy(name, "Fake GPU", static_cast<size_t>(nbytes));
    return r::kSuccess;
}
Result fake_bus_id(char* text, int nbytes, DeviceHandle) {
    ENTER(false);
    std::strncpy(text, "0000:07:00.0", static_cast<size_t>(nbytes));
    return r::kSuccess;
}
Result fake_uuid(Uuid* uuid, DeviceHandle device) {
    ENTER(false);
    for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(i + device);
    return r::kSuccess;
}
Result fake_total(size_t* nbytes, DeviceHandle) {
    ENTER(false);
    *nbytes = machine.capacity;
    return r::kSuccess;
}
Result fake_attribute(int* value, int attribute, DeviceHandle) {
    ENTER(false);
    static const std::map<int, int> kValues = {
        {1, 1024},  {2, 1024},    {3, 1024},  {4, 64},  {5, 2147483647}, {6, 65535},
        {7, 65535}, {8, 49152},   {9, 65536}, {10, 32}, {16, 132},       {75, 9},
        {76, 0},    {97, 232448}, {115, 1},   {130, 7}};
    const auto found = kValues.find(attribute);
    // The driver knows all numbers up to some; the last is beyond a gap.
    if (found == kValues.end() && attribute > 116) return r::kInvalidValue;
    *value = found == kValues.end() ? 0 : found->second;
    return r::kSuccess;
}
Result fake_retain(ContextHandle* context, DeviceHandle device) {
    ENTER(false);
    ++machine.contexts;
    *context = the_context(device);
    return r::kSuccess;
}
Result fake_release(DeviceHandle) {
    std::lock_guard lock(mutex);
    const Result answer = enter(false);
    --machine.contexts;
    return answer;
}
Result fake_get_current(ContextHandle* context) {
    ENTER(false);
    *context = stack.empty() ? nullptr : stack.back();
    return r::kSuccess;
}
Result fake_set_current(ContextHandle context) {
    ENTER(false);
    if (stack.empty())
        stack.push_back(context);
    else
        stack.back() = context;
    return r::kSuccess;
}
Result fake_push(ContextHandle context) {
    ENTER(false);
    stack.push_back(context);
    return r::kSuccess;
}
Result fake_pop(ContextHandle* context) {
    std::lock_guard lock(mutex);
    const Result answer = enter(false);
    if (stack.empty()) return r::kInvalidContext;
    *context = stack.back();
    stack.pop_back();
    return answer;
}
Result fake_synchronize() {
    ENTER();
    return r::kSuccess;
}

// --- memory

Result fake_info(size_t* free_bytes, size_t* total_bytes) {
    ENTER();
    *free_bytes = machine.capacity - machine.used;
    *total_bytes = machine.capacity;
    return r::kSuccess;
}
Result fake_alloc(DeviceAddress* address, size_t nbytes) {
    ENTER();
    return allocate(address, nbytes);
}
Result fake_free(DeviceAddress address) {
    ENTER_DESTROY();
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
Result fake_pool_trim(PoolHandle pool, size_t) {
    ENTER(false);
    return pools.contains(pool) ? r::kSuccess : r::kInvalidValue;
}
Result fake_alloc_async(DeviceAddress* address, size_t nbytes, PoolHandle pool,
                        StreamHandle stream) {
    ENTER();
    if (!pools.contains(pool) || !known_stream(stream)) return r::kInvalidValue;
    return allocate(address, nbytes);
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
    *address = std::calloc(1, nbytes);
    host_memory[*address] = nbytes;
    ++machine.host_blocks;
    return r::kSuccess;
}
Result fake_free_host(void* address) {
    ENTER_DESTROY();
    if (host_memory.erase(address) == 0) return r::kInvalidValue;
    std::free(address);
    --machine.host_blocks;
    return answer;
}
Result fake_register(void* address, size_t nbytes, unsigned) {
    ENTER();
    if (registered.contains(address)) return r::kAlreadyRegistered;
    registered[address] = nbytes;
    ++machine.registered;
    return r::kSuccess;
}
Result fake_unregister(void* address) {
    ENTER_DESTROY();
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
    return on_device(dst, nbytes) ? move(at(dst), src, nbytes) : r::kInvalidValue;
}
Result fake_dtoh(void* dst, DeviceAddress src, size_t nbytes) {
    ENTER();
    return on_device(src, nbytes) ? move(dst, at(src), nbytes) : r::kInvalidValue;
}
Result fake_htod_async(DeviceAddress dst, const void* src, size_t nbytes, StreamHandle stream) {
    ENTER();
    if (host_memory.contains(const_cast<void*>(src))) ++machine.staged_copies;
    return on_device(dst, nbytes) && known_stream(stream) ? move(at(dst), src, nbytes)
                                                          : r::kInvalidValue;
}
Result fake_dtoh_async(void* dst, DeviceAddress src, size_t nbytes, StreamHandle stream) {
    ENTER();
    if (host_memory.contains(dst)) ++machine.staged_copies;
    return on_device(src, nbytes) && known_stream(stream) ? move(dst, at(src), nbytes)
                                                          : r::kInvalidValue;
}
Result fake_dtod_async(DeviceAddress dst, DeviceAddress src, size_t nbytes, StreamHandle stream) {
    ENTER();
    return on_device(dst, nbytes) && on_device(src, nbytes) && known_stream(stream)
               ? move(at(dst), at(src), nbytes)
               : r::kInvalidValue;
}
Result fake_copy_3d(const Memcpy3D* p, StreamHandle stream) {
    ENTER();
    if (!known_stream(stream) || p->src_pitch < p->width || p->dst_pitch < p->width)
        return r::kInvalidValue;
    const char* src = p->src_type == kMemoryHost ? static_cast<const char*>(p->src_host)
                                                 : static_cast<const char*>(at(p->src_device));
    char* dst = p->dst_type == kMemoryHost ? static_cast<char*>(p->dst_host)
                                           : static_cast<char*>(at(p->dst_device));
    for (size_t z = 0; z < p->depth; ++z)
        for (size_t y = 0; y < p->height; ++y)
            std::memmove(dst + (z * p->dst_height + y) * p->dst_pitch,
                         src + (z * p->src_height + y) * p->src_pitch, p->width);
    return r::kSuccess;
}
template <typename T>
Result set(DeviceAddress dst, size_t pitch, T value, size_t width, size_t height,
           StreamHandle stream) {
    ENTER();
    if (!known_stream(stream) || dst % sizeof(T) != 0 ||
        !on_device(dst, (height - 1) * pitch + width * sizeof(T)))
        return r::kInvalidValue;
    for (size_t y = 0; y < height; ++y)
        for (size_t x = 0; x < width; ++x) static_cast<T*>(at(dst + y * pitch))[x] = value;
    return r::kSuccess;
}
template <typename T>
Result fake_set(DeviceAddress dst, T value, size_t count, StreamHandle stream) {
    return set<T>(dst, 0, value, count, 1, stream);
}

// --- streams and events

Result fake_stream_create(StreamHandle* stream, unsigned, int) {
    ENTER();
    streams.insert(next_stream);
    *stream = reinterpret_cast<StreamHandle>(next_stream++);
    ++machine.streams;
    return r::kSuccess;
}
Result fake_stream_destroy(StreamHandle stream) {
    ENTER_DESTROY();
    if (streams.erase(reinterpret_cast<uint64_t>(stream)) == 0) return r::kInvalidHandle;
    --machine.streams;
    return answer;
}
Result fake_stream_wait(StreamHandle stream) {
    ENTER();
    return known_stream(stream) ? r::kSuccess : r::kInvalidHandle;
}
Result fake_stream_wait_event(StreamHandle stream, EventHandle event, unsigned) {
    ENTER();
    return known_stream(stream) && events.contains(reinterpret_cast<Event*>(event))
               ? r::kSuccess
               : r::kInvalidHandle;
}
Result fake_host_function(StreamHandle stream, HostCallback function, void* user) {
    {
        ENTER();
        if (!known_stream(stream)) return r::kInvalidHandle;
        ++machine.host_functions;
    }
    function(user);
    return r::kSuccess;
}
Result fake_event_create(EventHandle* event, unsigned flags) {
    ENTER();
    auto* made = new Event;
    made->timing = (flags & kEventDisableTiming) == 0;
    events.insert(made);
    ++machine.events;
    *event = reinterpret_cast<EventHandle>(made);
    return r::kSuccess;
}
Result fake_event_destroy(EventHandle event) {
    ENTER_DESTROY();
    auto* known = reinterpret_cast<Event*>(event);
    if (events.erase(known) == 0) return r::kInvalidHandle;
    delete known;
    --machine.events;
    return answer;
}
Result fake_event_record(EventHandle event, StreamHandle stream) {
    ENTER();
    auto* known = reinterpret_cast<Event*>(event);
    if (!events.contains(known) || !known_stream(stream)) return r::kInvalidHandle;
    known->recorded = true;
    known->time = std::chrono::steady_clock::now();
    return r::kSuccess;
}
Result fake_event_wait(EventHandle event) {
    ENTER();
    return events.contains(reinterpret_cast<Event*>(event)) ? r::kSuccess : r::kInvalidHandle;
}
Result fake_event_elapsed(float* ms, EventHandle start, EventHandle stop) {
    ENTER();
    auto *a = reinterpret_cast<Event*>(start), *b = reinterpret_cast<Event*>(stop);
    if (!events.contains(a) || !events.contains(b) || !a->timing || !b->timing || !a->recorded ||
        !b->recorded)
        return r::kInvalidHandle;
    *ms = std::chrono::duration<float, std::milli>(b->time - a->time).count();
    return r::kSuccess;
}

// --- modules

Result fake_load(ModuleHandle* module, const void* image, unsigned, JitOption* options,
                 void** values) {
    ENTER();
    const std::string text = static_cast<const char*>(image);
    if (text.find("broken") != std::string::npos) {
        for (int i = 0; i < 4; ++i)
            if (options[i] == kJitErrorLog)
                std::strcpy(static_cast<char*>(values[i]), "ptxas: line 3: broken\nmore");
        return r::kInvalidPtx;
    }
    auto made = std::make_unique<Module>();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word, name;
        if (!(words >> word >> name) || word != ".entry") continue;
        Kernel& kernel = made->kernels[name];
        kernel.name = name;
        for (size_t nbytes = 0; words >> nbytes;) kernel.sizes.push_back(nbytes);
    }
    *module = reinterpret_cast<ModuleHandle>(made.get());
    modules.insert(made.release());
    ++machine.modules;
    return r::kSuccess;
}
Result fake_unload(ModuleHandle module) {
    ENTER_DESTROY();
    auto* known = reinterpret_cast<Module*>(module);
    if (modules.erase(known) == 0) return r::kInvalidHandle;
    delete known;
    --machine.modules;
    return answer;
}
Result fake_function(FunctionHandle* function, ModuleHandle module, const char* name) {
    ENTER();
    auto& kernels = reinterpret_cast<Module*>(module)->kernels;
    const auto found = kernels.find(name);
    if (found == kernels.end()) return r::kNotFound;
    *function = reinterpret_cast<FunctionHandle>(&found->second);
    return r::kSuccess;
}
Result fake_global(DeviceAddress* address, size_t* nbytes, ModuleHandle module, const char* name) {
    ENTER();
    if (std::strcmp(name, "symbol") != 0) return r::kNotFound;
    std::string& symbol = reinterpret_cast<Module*>(module)->symbol;
    *address = reinterpret_cast<DeviceAddress>(symbol.data());
    *nbytes = symbol.size();
    return r::kSuccess;
}
Result fake_function_count(unsigned* count, ModuleHandle module) {
    ENTER();
    *count = static_cast<unsigned>(reinterpret_cast<Module*>(module)->kernels.size());
    return r::kSuccess;
}
Result fake_enumerate(FunctionHandle* functions, unsigned count, ModuleHandle module) {
    ENTER();
    for (auto& [name, kernel] : reinterpret_cast<Module*>(module)->kernels)
        if (count-- > 0) *functions++ = reinterpret_cast<FunctionHandle>(&kernel);
    return r::kSuccess;
}
Kernel& kernel_of(FunctionHandle function) { return *reinterpret_cast<Kernel*>(function); }
Result fake_function_name(const char** name, FunctionHandle function) {
    ENTER();
    *name = kernel_of(function).name.c_str();
    return r::kSuccess;
}
Result fake_param_info(FunctionHandle function, size_t index, size_t* offset, size_t* nbytes) {
    ENTER();
    const auto& sizes = kernel_of(function).sizes;
    if (index >= sizes.size()) return r::kInvalidValue;
    *offset = 0;
    for (size_t i = 0; i <= index; ++i) {
        const size_t align = sizes[i] < 8 ? sizes[i] : 8;
        *offset = (*offset + align - 1) / align * align + (i < index ? sizes[i] : 0);
    }
    *nbytes = sizes[index];
    return r::kSuccess;
}
Result fake_function_attribute(int* value, int attribute, FunctionHandle function) {
    ENTER();
    const int values[] = {1024, 128, 0, 16, 40, 90, 90, 0, kernel_of(function).max_dynamic_shared};
    if (attribute < 0 || attribute > 8) return r::kInvalidValue;
    *value = values[attribute];
    return r::kSuccess;
}
Result fake_set_attribute(FunctionHandle function, int attribute, int value) {
    ENTER();
    if (attribute != kFunctionMaxDynamicShared || value < 0) return r::kInvalidValue;
    kernel_of(function).max_dynamic_shared = value;
    return r::kSuccess;
}
Result fake_occupancy(int* blocks, FunctionHandle, int block_threads, size_t) {
    ENTER();
    *blocks = block_threads > 1024 ? 0 : 2048 / block_threads;
    return r::kSuccess;
}
Result run(const Kernel& kernel, void** arguments) {
    ++machine.launches;
    if (kernel.name == "fault") {
        sticky = r::kIllegalAddress;
        return r::kSuccess;  // faults show later
    }
    if (kernel.name != "add") return r::kSuccess;
    const float* in[2];
    float* out = nullptr;
    int count = 0;
    std::memcpy(&in[0], arguments[0], 8);
    std::memcpy(&in[1], arguments[1], 8);
    std::memcpy(&out, arguments[2], 8);
    std::memcpy(&count, arguments[3], 4);
    for (int i = 0; i < count; ++i) out[i] = in[0][i] + in[1][i];
    return r::kSuccess;
}
Result fake_launch(FunctionHandle function, unsigned, unsigned, unsigned, unsigned block, unsigned,
                   unsigned, unsigned, StreamHandle stream, void** arguments, void**) {
    ENTER();
    if (!known_stream(stream)) return r::kInvalidHandle;
    if (block > 1024) return r::kInvalidValue;
    return run(kernel_of(function), arguments);
}
Result fake_launch_ex(const LaunchConfig* config, FunctionHandle function, void** arguments,
                      void**) {
    ENTER();
    for (unsigned i = 0; i < config->attribute_count; ++i)
        if (config->attributes[i].id == kLaunchCooperative) ++machine.cooperative_launches;
    return run(kernel_of(function), arguments);
}

struct Row {
    const char* name;
    void* function;
};
template <typename F>
void* pointer(F* function) {
    return reinterpret_cast<void*>(function);
}

const Row kRows[] = {
    {"cuInit", pointer(fake_init)},
    {"cuDriverGetVersion", pointer(fake_version)},
    {"cuGetErrorName", pointer(fake_error_name)},
    {"cuGetErrorString", pointer(fake_error_string)},
    {"cuDeviceGetCount", pointer(fake_device_count)},
    {"cuDeviceGet", pointer(fake_device_get)},
    {"cuDeviceGetName", pointer(fake_device_name)},
    {"cuDeviceGetPCIBusId", pointer(fake_bus_id)},
    {"cuDeviceGetUuid", pointer(fake_uuid)},
    {"cuDeviceTotalMem", pointer(fake_total)},
    {"cuDeviceGetAttribute", pointer(fake_attribute)},
    {"cuDevicePrimaryCtxRetain", pointer(fake_retain)},
    {"cuDevicePrimaryCtxRelease", pointer(fake_release)},
    {"cuCtxGetCurrent", pointer(fake_get_current)},
    {"cuCtxSetCurrent", pointer(fake_set_current)},
    {"cuCtxPushCurrent", pointer(fake_push)},
    {"cuCtxPopCurrent", pointer(fake_pop)},
    {"cuCtxSynchronize", pointer(fake_synchronize)},
    {"cuMemGetInfo", pointer(fake_info)},
    {"cuMemAlloc", pointer(fake_alloc)},
    {"cuMemFree", pointer(fake_free)},
    {"cuMemPoolCreate", pointer(fake_pool_create)},
    {"cuMemPoolDestroy", pointer(fake_pool_destroy)},
    {"cuMemPoolSetAttribute", pointer(fake_pool_set)},
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
    {"cuMemcpy3DAsync", pointer(fake_copy_3d)},
    {"cuMemsetD8Async", pointer(fake_set<unsigned char>)},
    {"cuMemsetD16Async", pointer(fake_set<unsigned short>)},
    {"cuMemsetD32Async", pointer(fake_set<unsigned>)},
    {"cuMemsetD2D8Async", pointer(set<unsigned char>)},
    {"cuMemsetD2D16Async", pointer(set<unsigned short>)},
    {"cuMemsetD2D32Async", pointer(set<unsigned>)},
    {"cuStreamCreateWithPriority", pointer(fake_stream_create)},
    {"cuStreamDestroy", pointer(fake_stream_destroy)},
    {"cuStreamSynchronize", pointer(fake_stream_wait)},
    {"cuStreamQuery", pointer(fake_stream_wait)},
    {"cuStreamWaitEvent", pointer(fake_stream_wait_event)},
    {"cuLaunchHostFunc", pointer(fake_host_function)},
    {"cuEventCreate", pointer(fake_event_create)},
    {"cuEventDestroy", pointer(fake_event_destroy)},
    {"cuEventRecord", pointer(fake_event_record)},
    {"cuEventQuery", pointer(fake_event_wait)},
    {"cuEventSynchronize", pointer(fake_event_wait)},
    {"cuEventElapsedTime", pointer(fake_event_elapsed)},
    {"cuModuleLoadDataEx", pointer(fake_load)},
    {"cuModuleUnload", pointer(fake_unload)},
    {"cuModuleGetFunction", pointer(fake_function)},
    {"cuModuleGetGlobal", pointer(fake_global)},
    {"cuModuleGetFunctionCount", pointer(fake_function_count)},
    {"cuModuleEnumerateFunctions", pointer(fake_enumerate)},
    {"cuFuncGetName", pointer(fake_function_name)},
    {"cuFuncGetParamInfo", pointer(fake_param_info)},
    {"cuFuncGetAttribute", pointer(fake_function_attribute)},
    {"cuFuncSetAttribute", pointer(fake_set_attribute)},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", pointer(fake_occupancy)},
    {"cuLaunchKernel", pointer(fake_launch)},
    {"cuLaunchKernelEx", pointer(fake_launch_ex)},
};

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED Result cuGetProcAddress_v2(const char* symbol, void** function, int, uint64_t, int*) {
    *function = nullptr;
    if (machine.lacking != nullptr && std::strcmp(machine.lacking, symbol) == 0)
        return r::kNotFound;
    for (const Row& row : kRows)
        if (std::strcmp(row.name, symbol) == 0) *function = row.function;
    return *function == nullptr ? r::kNotFound : r::kSuccess;
}

// Resets the machine each time it is asked for: tests ask once each.
EXPORTED trilane::cuda::testing::FakeDriver* trilane_fake_driver() {
    std::lock_guard lock(mutex);
    sticky = 0;
    const FakeDriver before = machine;
    machine = FakeDriver{};
    machine.contexts = before.contexts;
    machine.blocks = before.blocks;
    machine.used = before.used;
    machine.host_blocks = before.host_blocks;
    machine.registered = before.registered;
    machine.streams = before.streams;
    machine.events = before.events;
    machine.modules = before.modules;
    machine.pools = before.pools;
    return &machine;
}
