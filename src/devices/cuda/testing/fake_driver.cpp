// The fake driver. Built as a shared library of its own, which tests open in place of libcuda.so.1.
//
// It loads texts that testing/fake_nvrtc.cpp makes: PTX in looks, with lines
// ".entry NAME BYTES BYTES ..." that give the sizes of a kernel's parameters. Two kernels do
// something: `add` (c[i] = a[i] + b[i] for floats) and `fault`, which ends the context.
#include "devices/cuda/testing/fake_driver_state.h"

namespace trilane::cuda::testing {
namespace {

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
        {1, "CUDA_ERROR_INVALID_VALUE"},
        {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
        {100, "CUDA_ERROR_NO_DEVICE"},
        {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {300, "CUDA_ERROR_INVALID_SOURCE"},
        {500, "CUDA_ERROR_NOT_FOUND"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {719, "CUDA_ERROR_LAUNCH_FAILED"},
        {999, "CUDA_ERROR_UNKNOWN"}};
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
        {1, 1024},  {2, 1024},  {3, 1024},  {4, 64},      {5, 2147483647}, {6, 65535},
        {7, 65535}, {8, 49152}, {9, 65536}, {10, 32},     {14, 512},       {16, 132},
        {51, 32},   {75, 9},    {76, 0},    {97, 232448}, {115, 1},        {130, 7}};
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
    if (would_wait_for_ever()) return r::kUnknown;
    return ask_all();
}

std::vector<Row> device_rows() {
    return {
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
    };
}

}  // namespace
}  // namespace trilane::cuda::testing

using namespace trilane::cuda;           // NOLINT: the exported functions have the driver's names
using namespace trilane::cuda::testing;  // NOLINT

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED Result cuGetProcAddress_v2(const char* symbol, void** function, int, uint64_t, int*) {
    *function = nullptr;
    if (machine.lacking != nullptr && std::strcmp(machine.lacking, symbol) == 0)
        return r::kNotFound;
    for (const std::vector<Row>& rows :
         {device_rows(), memory_rows(), texture_rows(), module_rows(), graph_rows()})
        for (const Row& row : rows)
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
    machine.links = before.links;
    machine.graphs = before.graphs;
    machine.shared = before.shared;
    machine.arrays = before.arrays;
    machine.textures = before.textures;
    machine.surfaces = before.surfaces;
    captures.clear();
    blocking.clear();
    peers.clear();
    machine.lose_everything = [] {
        for (const auto& [address, nbytes] : memory) std::free(at(address));
        for (const auto& [address, nbytes] : host_memory) std::free(address);
        for (Event* event : events) delete event;
        for (Module* module : modules) delete module;
        for (void* pool : pools) delete static_cast<char*>(pool);
        for (Link* link : links) delete link;
        for (Graph* graph : graphs) delete graph;
        for (Array* array : arrays) delete array;
        arrays.clear();
        textures.clear();
        surfaces.clear();
        links.clear();
        graphs.clear();
        captures.clear();
        blocking.clear();
        peers.clear();
        memory.clear();
        host_memory.clear();
        registered.clear();
        events.clear();
        modules.clear();
        streams.clear();
        pools.clear();
        machine.contexts = machine.blocks = machine.host_blocks = machine.registered = 0;
        machine.streams = machine.events = machine.modules = machine.pools = 0;
        machine.links = machine.graphs = machine.shared = 0;
        machine.arrays = machine.textures = machine.surfaces = 0;
        machine.used = 0;
        sticky = 0;
    };
    return &machine;
}
