// The slow half of the checks: look-up, decision, report.
#include "devices/cpu/check/check_entries.h"

#include <pthread.h>

#include <string_view>

#include "core/error.h"
#include "devices/cpu/check/allocation_table.h"
#include "devices/cpu/run/kernel.h"
#include "devices/cpu/run/runtime_symbols.h"
#include "devices/cpu/run/scheduler.h"

namespace trilane::cpu {
namespace {

bool on_this_stack(uint64_t address) {
    struct Stack {
        uint64_t begin = 0, end = 0;
        Stack() {
            pthread_attr_t attributes;
            if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
            void* low = nullptr;
            size_t nbytes = 0;
            if (pthread_attr_getstack(&attributes, &low, &nbytes) == 0) {
                begin = reinterpret_cast<uint64_t>(low);
                end = begin + nbytes;
            }
            pthread_attr_destroy(&attributes);
        }
    };
    static thread_local Stack stack;
    return address >= stack.begin && address < stack.end;
}

// Local variables of the running block's threads: on the stack or in their coroutine frames.
bool is_local(const BlockContext& context, uint64_t address) {
    return on_this_stack(address) ||
           (context.run != nullptr && context.run->holds(reinterpret_cast<void*>(address)));
}

bool inside(uint64_t address, uint64_t nbytes, uint64_t begin, uint64_t size) {
    uint64_t offset = address - begin;
    return offset < size && nbytes <= size - offset;
}

// The block whose shared memory holds the address: this one, or another of its cluster.
const BlockContext& owner_of(const BlockContext& context, uint64_t address, uint64_t nbytes) {
    if (context.cluster != nullptr)
        for (const BlockContext* block : context.cluster->contexts)
            if (address - reinterpret_cast<uint64_t>(block->shared) < nbytes) return *block;
    return context;
}

// For pointers of unknown origin. Fills in the bounds of what the address is in.
bool inside_anything(const BlockContext& context, AccessFault& fault) {
    uint64_t shared_bytes = trilane_rt_dynamic_offset() + context.dynamic_shared_bytes;
    uint64_t shared =
        reinterpret_cast<uint64_t>(owner_of(context, fault.address, shared_bytes).shared);
    if (fault.address - shared < shared_bytes) {
        fault.begin = shared;
        fault.size = shared_bytes;
    } else if (!AllocationTable::get().bounds(fault.address, fault.begin, fault.size)) {
        return is_local(context, fault.address);
    }
    return inside(fault.address, fault.nbytes, fault.begin, fault.size);
}

void name_neighbour(AccessFault& fault) {
    if (fault.address < 4096) {
        fault.neighbour = ": it is a null pointer";
        return;
    }
    auto before = AllocationTable::get().before(fault.address);
    constexpr uint64_t kNear = 1 << 20;
    if (!before || fault.address - before->begin > before->nbytes + kNear) {
        fault.neighbour = ": freed, or no memory of the device";
        return;
    }
    fault.neighbour =
        fmt::format("; {} bytes behind the end of {} of {} bytes",
                    fault.address - before->begin - before->nbytes,
                    before->name.empty() ? "an array" : "'" + before->name + "'", before->nbytes);
}

void report(const CheckSite& site, AccessFault& fault, const BlockContext& context,
            bool misaligned) {
    fault.array = site.name;
    // Names of Python kernels carry a prefix that keeps them clear of C++'s words.
    if (std::string_view(site.file).ends_with(".py") && fault.array.starts_with("v_"))
        fault.array.erase(0, 2);
    if (site.space == AccessSpace::Global && fault.size != 0) {
        auto found = AllocationTable::get().find(fault.begin);
        if (found && !found->name.empty() && found->name != fault.array)
            fault.array += fault.array.empty() ? found->name : " (" + found->name + ")";
    }
    fault.kernel = context.launch->kernel->readable_name;
    fault.block = {context.block_idx[0], context.block_idx[1], context.block_idx[2]};
    fault.thread = thread_of(context);
    core::CheckReport finding = describe_fault(site, fault, misaligned);
    const core::DeviceHooks* hooks = context.launch->hooks;
    bool tell = hooks != nullptr && hooks->report;
    core::CheckReport copy = tell ? finding : core::CheckReport();
    if (CheckReports::get().add(std::move(finding), site.name) && tell) hooks->report(copy);
}

}  // namespace

extern "C" {

uint64_t trilane_rt_check_begin(const void* pointer) {
    uint64_t begin = 0, nbytes = 0;
    AllocationTable::get().bounds(reinterpret_cast<uint64_t>(pointer), begin, nbytes);
    return begin;
}

uint64_t trilane_rt_check_size(const void* pointer) {
    uint64_t begin = 0, nbytes = 0;
    AllocationTable::get().bounds(reinterpret_cast<uint64_t>(pointer), begin, nbytes);
    return nbytes;
}

uint64_t trilane_rt_check_dynamic_shared() { return current_context()->dynamic_shared_bytes; }

uint32_t trilane_rt_check_access(const CheckSite* site, const void* address, uint64_t nbytes,
                                 uint64_t begin, uint64_t size) {
    if (nbytes == 0) return 1;
    const BlockContext& context = *current_context();
    AccessFault fault;
    fault.address = reinterpret_cast<uint64_t>(address);
    fault.nbytes = nbytes;
    fault.begin = begin;
    fault.size = size;
    bool known = size != 0 || site->space != AccessSpace::Global;
    bool allowed =
        known ? inside(fault.address, nbytes, begin, size) : inside_anything(context, fault);
    if (allowed && fault.address % site->align == 0) return 1;
    if (!allowed && fault.size == 0) name_neighbour(fault);
    report(*site, fault, context, allowed);
    return 0;
}

}  // extern "C"

void note_module_ranges(const CheckRanges& ranges) {
    for (uint64_t i = 0; i < ranges.count; ++i) {
        const CheckRange& range = ranges.ranges[i];
        AllocationTable::get().note(reinterpret_cast<uint64_t>(range.address), range.nbytes,
                                    range.name,
                                    *range.name ? RangeKind::Variable : RangeKind::Private);
    }
}

void forget_module_ranges(const CheckRanges& ranges) noexcept {
    for (uint64_t i = 0; i < ranges.count; ++i)
        AllocationTable::get().forget(reinterpret_cast<uint64_t>(ranges.ranges[i].address));
}

}  // namespace trilane::cpu
