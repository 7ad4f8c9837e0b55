// Table of waiting operations by the names of their intrinsics.
#include "devices/cpu/lower/suspends.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>

namespace trilane::cpu {

using Result = SuspendForm::Result;

namespace {

SuspendForm barrier(Suspend kind, int value, int id, int count, Result result) {
    SuspendForm form;
    form.kind = kind;
    form.value = value;
    form.operand[0] = id;
    form.operand[1] = count;
    form.result = result;
    return form;
}

SuspendForm warp(Suspend kind, int mask, int value, Result result, int first = -1,
                 int second = -1) {
    SuspendForm form;
    form.kind = kind;
    form.mask = mask;
    form.value = value;
    form.operand[0] = first;
    form.operand[1] = second;
    form.result = result;
    return form;
}

void add_shuffles(llvm::StringMap<SuspendForm>& table) {
    const std::pair<const char*, Suspend> modes[] = {{"up", Suspend::ShuffleUp},
                                                     {"down", Suspend::ShuffleDown},
                                                     {"bfly", Suspend::ShuffleXor},
                                                     {"idx", Suspend::ShuffleIndex}};
    for (const auto& [mode, kind] : modes) {
        std::string stem = std::string("llvm.nvvm.shfl.sync.") + mode;
        table[stem + ".i32"] = warp(kind, 0, 1, Result::I32, 2, 3);
        table[stem + ".f32"] = warp(kind, 0, 1, Result::F32, 2, 3);
        table[stem + ".i32p"] = warp(kind, 0, 1, Result::ValueAndPredicate, 2, 3);
        table[stem + ".f32p"] = warp(kind, 0, 1, Result::ValueAndPredicate, 2, 3);
    }
}

void add_barriers(llvm::StringMap<SuspendForm>& table) {
    table["llvm.nvvm.barrier0"] = barrier(Suspend::Barrier, -1, -1, -1, Result::None);
    table["llvm.nvvm.barrier.n"] = barrier(Suspend::Barrier, -1, 0, -1, Result::None);
    table["llvm.nvvm.bar.sync"] = barrier(Suspend::Barrier, -1, 0, -1, Result::None);
    table["llvm.nvvm.barrier.sync"] = barrier(Suspend::Barrier, -1, 0, -1, Result::None);
    table["llvm.nvvm.barrier"] = barrier(Suspend::Barrier, -1, 0, 1, Result::None);
    table["llvm.nvvm.barrier.sync.cnt"] = barrier(Suspend::Barrier, -1, 0, 1, Result::None);
    table["llvm.nvvm.barrier0.popc"] = barrier(Suspend::BarrierCount, 0, -1, -1, Result::I32);
    table["llvm.nvvm.barrier0.and"] = barrier(Suspend::BarrierAnd, 0, -1, -1, Result::I32);
    table["llvm.nvvm.barrier0.or"] = barrier(Suspend::BarrierOr, 0, -1, -1, Result::I32);
    table["__trl_rt_barrier_arrive"] = barrier(Suspend::BarrierArrive, -1, 0, 1, Result::None);
    table["__trl_rt_grid_sync"] = barrier(Suspend::GridSync, -1, -1, -1, Result::None);
    for (const char* form : {"", ".aligned", ".relaxed", ".relaxed.aligned"})
        table[std::string("llvm.nvvm.barrier.cluster.arrive") + form] =
            barrier(Suspend::ClusterArrive, -1, -1, -1, Result::None);
    for (const char* form : {"", ".aligned"})
        table[std::string("llvm.nvvm.barrier.cluster.wait") + form] =
            barrier(Suspend::ClusterWait, -1, -1, -1, Result::None);
}

llvm::StringMap<SuspendForm> make_table() {
    llvm::StringMap<SuspendForm> table;
    add_barriers(table);
    add_shuffles(table);
    table["llvm.nvvm.bar.warp.sync"] = warp(Suspend::SyncWarp, 0, -1, Result::None);
    table["llvm.nvvm.vote.all.sync"] = warp(Suspend::VoteAll, 0, 1, Result::I1);
    table["llvm.nvvm.vote.any.sync"] = warp(Suspend::VoteAny, 0, 1, Result::I1);
    table["llvm.nvvm.vote.uni.sync"] = warp(Suspend::VoteUniform, 0, 1, Result::I1);
    table["llvm.nvvm.vote.ballot.sync"] = warp(Suspend::Ballot, 0, 1, Result::I32);
    table["llvm.nvvm.match.any.sync.i32"] = warp(Suspend::MatchAny, 0, 1, Result::I32);
    table["llvm.nvvm.match.any.sync.i64"] = warp(Suspend::MatchAny, 0, 1, Result::I32);
    table["llvm.nvvm.match.all.sync.i32p"] =
        warp(Suspend::MatchAll, 0, 1, Result::ValueAndPredicate);
    table["llvm.nvvm.match.all.sync.i64p"] =
        warp(Suspend::MatchAll, 0, 1, Result::ValueAndPredicate);
    const std::pair<const char*, Suspend> reductions[] = {
        {"add", Suspend::ReduceAdd},   {"min", Suspend::ReduceMin},   {"max", Suspend::ReduceMax},
        {"umin", Suspend::ReduceUMin}, {"umax", Suspend::ReduceUMax}, {"and", Suspend::ReduceAnd},
        {"or", Suspend::ReduceOr},     {"xor", Suspend::ReduceXor}};
    for (const auto& [name, kind] : reductions)
        table[std::string("llvm.nvvm.redux.sync.") + name] = warp(kind, 1, 0, Result::I32);
    table["llvm.nvvm.activemask"] = warp(Suspend::ActiveMask, -1, -1, Result::I32);
    table["__trl_rt_activemask"] = warp(Suspend::ActiveMask, -1, -1, Result::I32);
    return table;
}

}  // namespace

std::optional<SuspendForm> suspend_of(const llvm::Function& callee) {
    static const llvm::StringMap<SuspendForm> table = make_table();
    auto found = table.find(callee.getName());
    if (found == table.end()) return std::nullopt;
    return found->second;
}

bool has_warp_operation(const llvm::Function& function) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
        auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (call == nullptr || call->getCalledFunction() == nullptr) continue;
        auto form = suspend_of(*call->getCalledFunction());
        if (form && is_warp_operation(*form)) return true;
    }
    return false;
}

}  // namespace trilane::cpu
