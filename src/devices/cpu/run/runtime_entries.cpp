// Runtime functions that kernels call.
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "devices/cpu/check/allocation_table.h"
#include "devices/cpu/run/fault.h"
#include "devices/cpu/run/kernel.h"
#include "devices/cpu/run/pool.h"
#include "devices/cpu/run/print.h"
#include "devices/cpu/run/runtime_symbols.h"
#include "devices/cpu/run/scheduler.h"

namespace trilane::cpu {

namespace {

uint32_t axis_of(const uint32_t (&values)[3], uint32_t axis) { return values[axis < 3 ? axis : 2]; }

std::string assert_text(const char* message, const char* file, uint32_t line,
                        const char* function) {
    const BlockContext& context = *current_context();
    return fmt::format("{}: assertion failed: {}:{}: {}: {}: `{}`",
                       context.launch->kernel->readable_name, file, line, function,
                       describe_place(context), message);
}

// The block of the cluster in whose shared memory the address lies; ends the launch if none does.
uint32_t owner_in_cluster(const BlockContext& context, const char* function, const void* address) {
    const auto place = reinterpret_cast<uint64_t>(address);
    const uint64_t nbytes = trilane_rt_dynamic_offset() + context.dynamic_shared_bytes;
    const std::vector<BlockContext*>& blocks = context.cluster->contexts;
    for (uint32_t rank = 0; rank < blocks.size(); ++rank)
        if (place - reinterpret_cast<uint64_t>(blocks[rank]->shared) <= nbytes) return rank;
    abort_kernel(core::FaultCode::IllegalAddress,
                 fmt::format("{}: {}: {} lies in the shared memory of no block of the cluster: {}",
                             context.launch->kernel->readable_name, function, address,
                             describe_place(context)));
}

}  // namespace

extern "C" {

uint32_t trilane_rt_cluster_dim(uint32_t axis) {
    return axis_of(current_context()->cluster_dim, axis);
}

void* trilane_rt_cluster_map(const void* address, uint32_t rank) {
    const BlockContext& context = *current_context();
    const std::vector<BlockContext*>& blocks = context.cluster->contexts;
    const uint32_t owner = owner_in_cluster(context, "map_shared_rank", address);
    if (rank >= blocks.size())
        abort_kernel(core::FaultCode::IllegalAddress,
                     fmt::format("{}: map_shared_rank: got rank {}, the cluster has {} blocks: {}",
                                 context.launch->kernel->readable_name, rank, blocks.size(),
                                 describe_place(context)));
    return blocks[rank]->shared + (static_cast<const uint8_t*>(address) - blocks[owner]->shared);
}

uint32_t trilane_rt_cluster_rank(const void* address) {
    return owner_in_cluster(*current_context(), "query_shared_rank", address);
}

uint32_t trilane_rt_thread_idx(uint32_t axis) {
    const BlockContext& context = *current_context();
    if (axis == 3) return context.thread_linear;
    core::Dim3 thread = thread_of(context);
    return axis == 0 ? thread.x : axis == 1 ? thread.y : thread.z;
}

uint32_t trilane_rt_block_idx(uint32_t axis) { return axis_of(current_context()->block_idx, axis); }

uint32_t trilane_rt_block_dim(uint32_t axis) {
    const BlockContext& context = *current_context();
    if (axis == 3) return context.block_dim[0] * context.block_dim[1] * context.block_dim[2];
    return axis_of(context.block_dim, axis);
}

uint32_t trilane_rt_grid_dim(uint32_t axis) { return axis_of(current_context()->grid_dim, axis); }

void* trilane_rt_shared() { return current_context()->shared; }

uint64_t trilane_rt_dynamic_offset() { return current_context()->launch->kernel->dynamic_offset(); }

uint32_t trilane_rt_is_shared(const void* address) {
    const BlockContext& context = *current_context();
    auto* byte = static_cast<const uint8_t*>(address);
    uint64_t nbytes = trilane_rt_dynamic_offset() + context.dynamic_shared_bytes;
    return byte >= context.shared && byte < context.shared + nbytes;
}

// A worker is a multiprocessor, as far as a kernel can tell.
uint32_t trilane_rt_smid() {
    static std::atomic<uint32_t> count{0};
    static thread_local uint32_t number = count.fetch_add(1);
    return number % trilane_rt_nsmid();
}

uint32_t trilane_rt_nsmid() { return uint32_t(ThreadPool::get().threads()); }

uint64_t trilane_rt_clock() {
    return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count());
}

void trilane_rt_trap() {
    const BlockContext& context = *current_context();
    abort_kernel(core::FaultCode::LaunchFailure,
                 fmt::format("{}: trap in {}", context.launch->kernel->readable_name,
                             describe_place(context)));
}

void trilane_rt_surface_fault(const char* function, int32_t x, int32_t y, int32_t z) {
    const BlockContext& context = *current_context();
    abort_kernel(core::FaultCode::IllegalAddress,
                 fmt::format("{}: {} outside the surface, or not at the start of an element: got "
                             "byte {}, row {}, slice {} in {}: cudaBoundaryModeZero and "
                             "cudaBoundaryModeClamp allow it",
                             context.launch->kernel->readable_name, function, x, y, z,
                             describe_place(context)));
}

void trilane_rt_parted() {
    const BlockContext& context = *current_context();
    abort_kernel(
        core::FaultCode::LaunchFailure,
        fmt::format("{}: threads of block ({},{},{}) have gone different ways at a barrier "
                    "although their branches depend on nothing of their own: they read "
                    "memory that others write without a barrier between",
                    context.launch->kernel->readable_name, context.block_idx[0],
                    context.block_idx[1], context.block_idx[2]));
}

void trilane_rt_stuck(uint32_t kind, uint32_t line, uint32_t mask, uint32_t missing,
                      uint32_t active, uint32_t x, uint32_t y, uint32_t z) {
    const BlockContext& context = *current_context();
    const uint32_t linear = (z * context.block_dim[1] + y) * context.block_dim[0] + x;

    auto standing = [&](uint32_t lanes, const char* where, uint32_t at) {
        return fmt::format("{} threads wait at {}{}, first is thread {}", std::popcount(lanes),
                           where, at > 0 ? fmt::format(" (line {})", at) : "",
                           linear + uint32_t(std::countr_zero(lanes)));
    };
    abort_kernel(core::FaultCode::LaunchTimeout,
                 fmt::format("{}: deadlock in block ({},{},{}): no thread can go on:\n  {}, mask "
                             "{:#010x}\n  {} that the mask names",
                             context.launch->kernel->readable_name, context.block_idx[0],
                             context.block_idx[1], context.block_idx[2],
                             standing(active, suspend_name(static_cast<Suspend>(kind)), line), mask,
                             standing(missing, "a barrier of the block", 0)));
}

int trilane_rt_vprintf(const char* format, const void* values) {
    const BlockContext& context = *current_context();
    std::string text;
    int count = format_device_text(text, format, values);
    LaunchState& launch = *context.launch;
    launch.prints.add(linear_block(context), text);
    if (launch.prints.large() && launch.hooks != nullptr) launch.prints.flush(launch.hooks->print);
    return count;
}

void trilane_rt_assertfail(const char* message, const char* file, uint32_t line,
                           const char* function, uint64_t) {
    abort_kernel(core::FaultCode::Assert, assert_text(message, file, line, function));
}

void trilane_rt_launch(const char* kernel, const uint32_t* shape, uint64_t shared,
                       void* const* arguments, const uint32_t* sizes, uint32_t count) {
    const BlockContext& context = *current_context();
    QueuedLaunch queued;
    queued.kernel = kernel;
    queued.grid = {shape[0], shape[1], shape[2]};
    queued.block = {shape[3], shape[4], shape[5]};
    queued.dynamic_shared = shared;
    for (uint32_t i = 0; i < count; ++i) {
        auto* bytes = static_cast<const uint8_t*>(arguments[i]);
        queued.arguments.emplace_back(bytes, bytes + sizes[i]);
    }
    LaunchState& launch = *context.launch;
    if (!launch.children.add(linear_block(context), std::move(queued)))
        abort_kernel(core::FaultCode::LaunchFailure,
                     fmt::format("{}: {} launches a kernel beyond the limit of {} that one grid "
                                 "may launch",
                                 launch.kernel->readable_name, describe_place(context),
                                 LaunchQueue::kLimit));
}

void* trilane_rt_malloc(uint64_t nbytes) {
    if (nbytes == 0) return nullptr;
    void* address = std::aligned_alloc(16, (nbytes + 15) / 16 * 16);
    AllocationTable::get().note(reinterpret_cast<uint64_t>(address), nbytes, "malloc");
    return address;
}

void trilane_rt_free(void* address) {
    AllocationTable::get().forget(reinterpret_cast<uint64_t>(address));
    std::free(address);
}

}  // extern "C"

}  // namespace trilane::cpu
