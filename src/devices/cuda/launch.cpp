// Modules, functions and launches.
#include "core/error.h"
#include "devices/cuda/device.h"
#include "devices/cuda/device_state.h"
#include "devices/cuda/image_reader.h"
#include "devices/cuda/linker.h"
#include "devices/cuda/module.h"

namespace trilane::cuda {

using core::RawFunction;
using core::RawModule;

namespace {

LoadedModule& module_of(RawModule raw) { return *reinterpret_cast<LoadedModule*>(raw); }
const LoadedFunction& function_of(RawFunction raw) {
    return *reinterpret_cast<const LoadedFunction*>(raw);
}

}  // namespace

core::Image CudaDevice::link(std::span<const core::LinkInput> inputs,
                             const core::LinkOptions& options) {
    const Scope scope(*this, "link");
    const RelaxedCapture relaxed(driver_);
    return link_images(driver_, faults_, inputs, options);
}

RawModule CudaDevice::load(const core::Image& image) {
    const Scope scope(*this, "load");
    const RelaxedCapture relaxed(driver_);
    if (image.format == "object" || is_relocatable(image.bytes)) {
        core::LinkInput input{"the image", {}, image.bytes};
        return reinterpret_cast<RawModule>(
            new LoadedModule(driver_, faults_, link_images(driver_, faults_, {&input, 1})));
    }
    return reinterpret_cast<RawModule>(new LoadedModule(driver_, faults_, image));
}

void CudaDevice::unload(RawModule module) noexcept {
    Scope scope(*this);
    if (driver_forked()) return;
    try_enter(scope);  // what is ours goes even if the context is lost
    const RelaxedCapture relaxed(driver_);
    delete &module_of(module);
}

core::FunctionInfo CudaDevice::function(RawModule module, std::string_view name) {
    const Scope scope(*this, "function");
    const RelaxedCapture relaxed(driver_);
    return module_of(module).function(name);
}

core::SymbolInfo CudaDevice::global(RawModule module, std::string_view name) {
    const Scope scope(*this, "global");
    const RelaxedCapture relaxed(driver_);
    return module_of(module).global(name);
}

std::vector<std::string> CudaDevice::function_names(RawModule module) {
    const Scope scope(*this, "function_names");
    return module_of(module).function_names();
}

void CudaDevice::set_function_attribute(RawFunction function, int attribute, int value) {
    const Scope scope(*this, "set_function_attribute");
    const LoadedFunction& kernel = function_of(function);
    const Result result = driver_.cuFuncSetAttribute(kernel.handle, attribute, value);
    if (result == result::kInvalidValue && attribute == kFunctionMaxDynamicShared) {
        int fixed = 0;
        check(driver_.cuFuncGetAttribute(&fixed, kFunctionShared, kernel.handle),
              "cuFuncGetAttribute");
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "set attribute of {}: dynamic shared memory: got {} bytes, expected at "
                          "most {}",
                          kernel.readable, value,
                          properties_.shared_per_block_optin - static_cast<size_t>(fixed));
    }
    check(result, "cuFuncSetAttribute");
}

int CudaDevice::occupancy(RawFunction function, int block_threads, size_t shared_bytes) {
    const Scope scope(*this, "occupancy");
    if (block_threads <= 0)
        core::throw_error(core::ErrorKind::InvalidArgument, "occupancy: block of {} threads",
                          block_threads);
    int blocks = 0;
    check(driver_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_of(function).handle,
                                                              block_threads, shared_bytes),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks;
}

Result CudaDevice::start(const core::LaunchParams& p) noexcept {
    const LoadedFunction& function = function_of(p.function);
    faults_.note_launch(&function.readable);
    if (!p.cooperative && p.cluster.x == 0) [[likely]]
        return driver_.cuLaunchKernel(function.handle, p.grid.x, p.grid.y, p.grid.z, p.block.x,
                                      p.block.y, p.block.z, static_cast<unsigned>(p.shared_bytes),
                                      stream_of(p.stream), const_cast<void**>(p.arguments),
                                      nullptr);
    LaunchAttribute attributes[2];
    unsigned count = 0;
    if (p.cooperative) {
        attributes[count].id = kLaunchCooperative;
        attributes[count++].value.cooperative = 1;
    }
    if (p.cluster.x != 0) {
        attributes[count].id = kLaunchCluster;
        attributes[count++].value.cluster = {p.cluster.x, p.cluster.y, p.cluster.z};
    }
    const LaunchConfig config{p.grid.x,
                              p.grid.y,
                              p.grid.z,
                              p.block.x,
                              p.block.y,
                              p.block.z,
                              static_cast<unsigned>(p.shared_bytes),
                              stream_of(p.stream),
                              attributes,
                              count};
    return driver_.cuLaunchKernelEx(&config, function.handle, const_cast<void**>(p.arguments),
                                    nullptr);
}

// Nothing on this path but the call: what this thread's context was last is taken for granted, and
// looked at only when the driver refuses.
void CudaDevice::launch(const core::LaunchParams& params) {
    faults_.require_usable("launch");
    const ContextHandle own = context_.load(std::memory_order_relaxed);
    if (thread_context == own && own != nullptr && !driver_forked()) [[likely]] {
        const Result result = start(params);
        if (result == result::kSuccess) [[likely]]
            return;
        ContextHandle current = nullptr;
        if (is_sticky(result) || driver_.cuCtxGetCurrent(&current) != result::kSuccess ||
            current == own)
            fail_launch(params, result);
    }
    const Scope scope(*this, "launch");
    const Result result = start(params);
    if (result != result::kSuccess) fail_launch(params, result);
}

void CudaDevice::fail_launch(const core::LaunchParams& params, Result result) {
    const LoadedFunction& kernel = function_of(params.function);
    std::string hint;
    int blocks = 0;
    if (result == result::kCooperativeLaunchTooLarge &&
        driver_.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel.handle, static_cast<int>(params.block.count()), params.shared_bytes) ==
            result::kSuccess)
        hint = fmt::format(
            "a cooperative grid must fit on the device at once: got {} blocks of {} threads, "
            "expected at most {}",
            params.grid.count(), params.block.count(), blocks * properties_.multiprocessor_count);
    const core::Dim3 &grid = params.grid, &cluster = params.cluster;
    if (cluster.x != 0 &&
        (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0))
        hint = fmt::format(
            "a grid must be whole clusters: got ({}, {}, {}) blocks in clusters of "
            "({}, {}, {})",
            grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z);
    faults_.fail(result, fmt::format("launch of {}", kernel.readable), hint);
}

}  // namespace trilane::cuda
