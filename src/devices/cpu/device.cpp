// The cpu device: programs, functions and launches.
#include "devices/cpu/device.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "core/env.h"
#include "core/error.h"
#include "devices/cpu/build_id.h"
#include "devices/cpu/check/allocation_table.h"
#include "devices/cpu/check/report.h"
#include "devices/cpu/compile/front_end.h"
#include "devices/cpu/compile/guard.h"
#include "devices/cpu/compile/link.h"
#include "devices/cpu/compile/object.h"
#include "devices/cpu/loaded_module.h"
#include "devices/cpu/lower/image.h"
#include "devices/cpu/lower/lower.h"
#include "devices/cpu/lower/target.h"
#include "devices/cpu/run/fault.h"
#include "devices/cpu/run/interrupt.h"
#include "devices/cpu/run/pool.h"

namespace trilane::cpu {

using core::ErrorKind;
using core::throw_error;

CpuDevice::CpuDevice(int ordinal, const core::DeviceHooks* hooks)
    : properties_(cpu_properties(ordinal, memory_limit())),
      hooks_(hooks != nullptr ? *hooks : core::DeviceHooks{}),
      memory_(properties_.total_memory) {
    install_fault_handlers();
    if (hooks_.interrupt_stops) watch_interrupts(hooks_.interrupt_stops);
    if (core::env_flag("TRILANE_CHECK")) enable_checks();
}

int CpuDevice::lanes_asked() {
    const long long lanes = core::env_int("TRILANE_LANES", 0);
    if (lanes == 0 || lanes == 1 || lanes == 4 || lanes == 8 || lanes == 16 || lanes == 32)
        return int(lanes);
    throw_error(ErrorKind::InvalidArgument,
                "TRILANE_LANES: got {}, expected 1, 4, 8, 16 or 32 (0: chosen for each kernel)",
                lanes);
}

void CpuDevice::enable_checks() {
    check_ = true;
    AllocationTable::get().enable();
}

CpuDevice::~CpuDevice() = default;

std::string CpuDevice::compiler_id() {
    return fmt::format(
        "clang {} build={} cpu={} features={} image={} check={} "
        "lanes={}",
        LLVM_VERSION_STRING, build_id(), host_cpu(), host_features(), kImageVersion, check_ ? 1 : 0,
        lanes_asked());
}

core::Image CpuDevice::compile(const core::Program& program) {
    core::Image image;
    run_guarded("compile", [&] {
        FrontEndResult front = run_front_end(program, check_);
        image.format = "cpu-object";
        image.lowered_names = front.lowered_names;
        image.log = front.log;
        for (const std::string& file : front.files) image.files[file];  // the cache hashes them
        if (front.separate) {
            image.format = kObjectFormat;
            image.bytes = encode_object(front);
            return;
        }
        LoweredModule lowered = lower(std::move(front), lanes_asked());
        image.bytes = encode_module(lowered);
    });
    return image;
}

core::Image CpuDevice::link(std::span<const core::LinkInput> inputs, const core::LinkOptions&) {
    core::Image image;
    run_guarded("link", [&] {
        image.format = "cpu-object";
        image.bytes = encode_module(lower(link_objects(inputs, check_), lanes_asked()));
    });
    return image;
}

core::RawModule CpuDevice::load(const core::Image& image) {
    if (is_object(image.bytes)) {
        const core::LinkInput input{"the image", image.format, image.bytes, image.lowered_names};
        core::Image linked = link({&input, 1}, {});
        linked.lowered_names = image.lowered_names;
        return reinterpret_cast<core::RawModule>(LoadedModule::load(linked).release());
    }
    return reinterpret_cast<core::RawModule>(LoadedModule::load(image).release());
}

void CpuDevice::unload(core::RawModule module) noexcept {
    delete reinterpret_cast<LoadedModule*>(module);
}

core::FunctionInfo CpuDevice::function(core::RawModule module, std::string_view name) {
    return reinterpret_cast<LoadedModule*>(module)->function(name);
}

core::SymbolInfo CpuDevice::global(core::RawModule module, std::string_view name) {
    return reinterpret_cast<LoadedModule*>(module)->global(name);
}

std::vector<std::string> CpuDevice::function_names(core::RawModule module) {
    return reinterpret_cast<LoadedModule*>(module)->function_names();
}

void CpuDevice::set_function_attribute(core::RawFunction function, int attribute, int value) {
    constexpr int kMaxDynamicShared = 8, kCarveout = 9;
    auto* kernel = reinterpret_cast<LoadedKernel*>(function);
    if (attribute == kCarveout) return;  // a preference; there is nothing to carve
    if (attribute != kMaxDynamicShared)
        throw_error(ErrorKind::InvalidArgument, "set attribute of {}: attribute {} cannot be set",
                    kernel->readable_name, attribute);
    size_t most = properties_.shared_per_block_optin - kernel->lowered.static_shared_bytes;
    if (value < 0 || size_t(value) > most)
        throw_error(ErrorKind::InvalidArgument,
                    "set attribute of {}: dynamic shared memory: got {} bytes, expected at most {}",
                    kernel->readable_name, value, most);
    kernel->max_dynamic_shared = size_t(value);
}

namespace {

void check_block(const LoadedKernel& kernel, const core::Dim3& block) {
    const core::Dim3 most{1024, 1024, 64};
    uint64_t limit = uint64_t(kernel.lowered.description.max_threads_per_block);
    if (block.count() == 0 || block.x > most.x || block.y > most.y || block.z > most.z ||
        block.count() > std::min<uint64_t>(limit, 1024))
        throw_error(ErrorKind::LaunchError,
                    "launch of {}: block: got ({},{},{}) = {} threads, expected at most {} threads "
                    "and (1024,1024,64)",
                    kernel.readable_name, block.x, block.y, block.z, block.count(),
                    std::min<uint64_t>(limit, 1024));
}

void check_grid(const LoadedKernel& kernel, const core::Dim3& grid, const core::Dim3& block) {
    if (grid.count() == 0 || grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535)
        throw_error(ErrorKind::LaunchError,
                    "launch of {}: grid: got ({},{},{}), expected 1 to (2147483647,65535,65535)",
                    kernel.readable_name, grid.x, grid.y, grid.z);
    const uint32_t grids[] = {grid.x, grid.y, grid.z}, blocks[] = {block.x, block.y, block.z};
    for (int axis = 0; axis < 3; ++axis) {
        bool narrow = (kernel.lowered.narrow_axes >> axis & 1) != 0;
        uint64_t threads = uint64_t{grids[axis]} * blocks[axis];
        if (narrow && threads >= uint64_t{1} << 31)
            throw_error(ErrorKind::NotSupported,
                        "launch of {}: {} threads along {}: the cpu device runs kernels that "
                        "compute blockIdx * blockDim + threadIdx in 32 bits with less than 2^31: "
                        "use a loop in the kernel",
                        kernel.readable_name, threads, "xyz"[axis]);
    }
}

void check_shared(const LoadedKernel& kernel, size_t dynamic, size_t optin) {
    size_t sum = kernel.lowered.static_shared_bytes + dynamic;
    size_t most = std::max<size_t>(
        49152, kernel.lowered.static_shared_bytes +
                   (kernel.max_dynamic_shared > 49152 ? kernel.max_dynamic_shared : 0));
    if (sum > most)
        throw_error(ErrorKind::LaunchError,
                    "launch of {}: shared memory: got {} bytes static + {} dynamic, expected at "
                    "most {}: {}",
                    kernel.readable_name, kernel.lowered.static_shared_bytes, dynamic, most,
                    sum <= optin ? "set the function's maximum of dynamic shared memory first"
                                 : "the device has no more");
}

// The blocks of a cluster: what the launch says, else what the kernel was compiled with.
core::Dim3 cluster_of(const LoadedKernel& kernel, const core::Dim3& grid,
                      const core::Dim3& asked = {0, 0, 0}) {
    constexpr uint64_t kMost = 8;
    const core::Dim3& own = kernel.lowered.description.cluster;
    const bool compiled = (own.x | own.y | own.z) != 0;
    const core::Dim3 cluster = asked.x != 0 ? asked : compiled ? own : core::Dim3{1, 1, 1};
    if (asked.x != 0 && compiled && (own.x != asked.x || own.y != asked.y || own.z != asked.z))
        throw_error(ErrorKind::LaunchError,
                    "launch of {}: clusters: got ({},{},{}), expected ({},{},{}), which the kernel "
                    "was compiled with (__cluster_dims__)",
                    kernel.readable_name, asked.x, asked.y, asked.z, own.x, own.y, own.z);
    if (cluster.count() == 0 || cluster.x > kMost || cluster.y > kMost || cluster.z > kMost ||
        cluster.count() > kMost)
        throw_error(ErrorKind::LaunchError,
                    "launch of {}: clusters: got ({},{},{}) blocks, expected 1 to {} in all",
                    kernel.readable_name, int32_t(cluster.x), int32_t(cluster.y),
                    int32_t(cluster.z), kMost);
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
        throw_error(ErrorKind::LaunchError,
                    "launch of {}: a grid must be whole clusters: got ({},{},{}) blocks in "
                    "clusters of ({},{},{})",
                    kernel.readable_name, grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z);
    return cluster;
}

void check_shape(const LoadedKernel& kernel, const core::Dim3& grid, const core::Dim3& block,
                 size_t dynamic_shared, size_t optin) {
    check_block(kernel, block);
    check_grid(kernel, grid, block);
    check_shared(kernel, dynamic_shared, optin);
}

// One grid that `parent` launched.
void run_child(const LaunchState& parent, const QueuedLaunch& queued, size_t optin,
               std::vector<QueuedLaunch>& grandchildren) {
    LoadedKernel* kernel = parent.kernel->source->launched_kernel(queued.kernel);
    if (kernel == nullptr)
        throw_error(ErrorKind::LaunchError, "launch of {} by {}: the module has no such kernel",
                    queued.kernel, parent.kernel->readable_name);
    check_shape(*kernel, queued.grid, queued.block, queued.dynamic_shared, optin);
    if (kernel->lowered.grid_sync)
        throw_error(ErrorKind::LaunchError,
                    "launch of {} by {}: the kernel synchronises the grid: it needs a cooperative "
                    "launch",
                    kernel->readable_name, parent.kernel->readable_name);
    std::vector<const void*> arguments;
    for (const std::vector<uint8_t>& bytes : queued.arguments) arguments.push_back(bytes.data());
    LaunchState launch;
    launch.kernel = kernel;
    launch.grid = queued.grid;
    launch.block = queued.block;
    launch.cluster = cluster_of(*kernel, queued.grid);
    launch.dynamic_shared = queued.dynamic_shared;
    launch.arguments = const_cast<void* const*>(arguments.data());
    launch.hooks = parent.hooks;
    launch.wait = parent.wait;
    run_launch(launch);
    for (QueuedLaunch& child : launch.children.take()) grandchildren.push_back(std::move(child));
}

// What the grid launched, then what that launched, generation by generation.
void run_children(LaunchState& launch, size_t optin) {
    std::vector<QueuedLaunch> generation = launch.children.take();
    while (!generation.empty()) {
        std::vector<QueuedLaunch> next;
        for (const QueuedLaunch& queued : generation) run_child(launch, queued, optin, next);
        generation = std::move(next);
    }
}

}  // namespace

void CpuDevice::launch(const core::LaunchParams& params) {
    auto* kernel = reinterpret_cast<LoadedKernel*>(params.function);
    size_t optin = properties_.shared_per_block_optin;
    check_shape(*kernel, params.grid, params.block, params.shared_bytes, optin);
    cluster_of(*kernel, params.grid, params.cluster);  // says what is wrong
    if (params.argument_count != kernel->lowered.description.parameters.size())
        throw_error(ErrorKind::TypeMismatch, "launch of {}: got {} arguments, expected {}",
                    kernel->readable_name, params.argument_count,
                    kernel->lowered.description.parameters.size());
    if (params.cooperative) {
        uint64_t most =
            uint64_t(model_occupancy(int(params.block.count()),
                                     kernel->lowered.static_shared_bytes + params.shared_bytes)) *
            uint64_t(properties_.multiprocessor_count);
        if (params.grid.count() > most)
            throw_error(ErrorKind::LaunchError,
                        "cooperative launch of {}: got {} blocks, expected at most {}, which can "
                        "be on the device at once",
                        kernel->readable_name, params.grid.count(), most);
    } else if (kernel->lowered.grid_sync) {
        throw_error(ErrorKind::LaunchError,
                    "launch of {}: the kernel synchronises the grid: it needs a cooperative launch",
                    kernel->readable_name);
    }
    if (captures_.keep(params.stream, "launch", [&] { return launch_node(params); })) return;
    LaunchState launch;
    prepare(params, launch);
    auto turn = streams_.enter(params.stream, "launch");
    MainWait wait(may_be_long(launch));
    launch.wait = wait.serial();
    run_launch(launch);
    run_children(launch, optin);
}

void CpuDevice::prepare(const core::LaunchParams& params, LaunchState& launch) const {
    launch.kernel = reinterpret_cast<LoadedKernel*>(params.function);
    launch.grid = params.grid;
    launch.block = params.block;
    launch.cluster = cluster_of(*launch.kernel, params.grid, params.cluster);
    launch.dynamic_shared = params.shared_bytes;
    launch.arguments = params.arguments;
    launch.cooperative = params.cooperative;
    launch.hooks = &hooks_;
}

void CpuDevice::run_again(const core::LaunchParams& params, uint64_t wait) const {
    LaunchState launch;
    prepare(params, launch);
    launch.wait = wait;
    run_launch(launch);
    run_children(launch, properties_.shared_per_block_optin);
}

int CpuDevice::occupancy(core::RawFunction function, int block_threads, size_t shared_bytes) {
    auto* kernel = reinterpret_cast<LoadedKernel*>(function);
    if (block_threads <= 0)
        throw_error(ErrorKind::InvalidArgument, "occupancy: block of {} threads", block_threads);
    if (block_threads > kernel->lowered.description.max_threads_per_block) return 0;
    return model_occupancy(block_threads, kernel->lowered.static_shared_bytes + shared_bytes);
}

void CpuDevice::note_allocation(core::DevicePtr address, size_t nbytes, std::string_view name) {
    AllocationTable::get().note(address, nbytes, name);
}

void CpuDevice::forget_allocation(core::DevicePtr address) noexcept {
    AllocationTable::get().forget(address);
}

std::vector<core::CheckReport> CpuDevice::take_check_reports() {
    return CheckReports::get().take();
}

std::vector<std::pair<std::string, std::string>> CpuDevice::describe() {
    return {{"compiler", fmt::format("clang {}", LLVM_VERSION_STRING)},
            {"processor", host_model()},
            {"code for", host_cpu()},
            {"threads", std::to_string(ThreadPool::get().threads())},
            {"memory limit", fmt::format("{} MiB", properties_.total_memory >> 20)},
            {"checks", check_ ? "on (TRILANE_CHECK)" : "off"}};
}

}  // namespace trilane::cpu
