// Where a thread's function is cut, and what threads carry over the cuts.
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "devices/cpu/lanes/plan.h"
#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/prepare.h"
#include "devices/cpu/lower/region_thread.h"
#include "devices/cpu/lower/suspends.h"
#include "devices/cpu/lower/waiting.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

class RegionCut {
  public:
    RegionCut(RegionThread& thread, Optimizer& optimizer)
        : thread_(thread),
          optimizer_(optimizer),
          context_(thread.function->getContext()),
          data_(thread.function->getParent()->getDataLayout()) {}

    bool run() {
        if (!find_barriers()) return false;
        collect_common();
        if (thread_.some_leave) {
            thread_.stays.type = Type::getInt8Ty(context_);
            thread_.stays.place = thread_.per_thread++;
        }
        place_arrays();
        mark_other_accesses();
        find_carried();
        return true;
    }

  private:
    bool is_plain_barrier(CallBase& call, const SuspendForm& form) {
        if (form.kind != Suspend::Barrier && form.kind != Suspend::BarrierCount &&
            form.kind != Suspend::BarrierAnd && form.kind != Suspend::BarrierOr)
            return false;
        for (int number : form.operand) {
            if (number < 0) continue;
            auto* constant = dyn_cast<ConstantInt>(call.getArgOperand(unsigned(number)));
            if (constant == nullptr || !constant->isZero()) return false;
        }
        return true;
    }

    bool find_barriers() {
        if (!find_waiting_loops(*thread_.function, optimizer_).latches.empty()) return false;
        for (Instruction& instruction : instructions(*thread_.function)) {
            auto* call = dyn_cast<CallBase>(&instruction);
            if (call == nullptr || classify_call(*call) != CallClass::Suspend) continue;
            SuspendForm form = *suspend_of(*call->getCalledFunction());
            if (is_warp_operation(form)) continue;
            if (!is_plain_barrier(*call, form)) return false;
            Barrier barrier;
            barrier.call = call;
            barrier.kind = form.kind;
            if (form.value >= 0) barrier.predicate = call->getArgOperand(unsigned(form.value));
            thread_.barriers.push_back(barrier);
        }
        if (thread_.barriers.empty() || is_irreducible(*thread_.function)) return false;
        give_every_thread_values();
        LaneVector threads;
        threads.varying = {thread_.function->getArg(2), thread_.function->getArg(3)};
        LanePlan plan(*thread_.function, *thread_.function->getArg(1), threads);
        SmallVector<const BasicBlock*, 16> places;
        for (Barrier& barrier : thread_.barriers) places.push_back(barrier.call->getParent());
        const Meeting meeting = plan.meeting_at(places);
        if (meeting == Meeting::No) return false;
        // Warp operations on the way out may wait for lanes that stand at a barrier.
        if (meeting == Meeting::OfThoseThatStay && thread_.has_warps) return false;
        thread_.some_leave = meeting == Meeting::OfThoseThatStay;
        for (Instruction& instruction : instructions(*thread_.function))
            if (plan.shape(&instruction).is_uniform()) thread_.uniform.insert(&instruction);
        for (Barrier& barrier : thread_.barriers) cut(barrier);
        return true;
    }

    // What some threads never computed must not take the place of what others did: the cell of a
    // uniform value holds what the last thread says.
    void give_every_thread_values() {
        for (Instruction& instruction : instructions(*thread_.function)) {
            auto* phi = dyn_cast<PHINode>(&instruction);
            if (phi == nullptr) continue;
            for (Use& value : phi->incoming_values())
                if (isa<UndefValue>(value)) value.set(Constant::getNullValue(phi->getType()));
        }
    }

    void cut(Barrier& barrier) {
        barrier.before = SplitBlock(barrier.call->getParent(), barrier.call);
        barrier.after = SplitBlock(barrier.before, barrier.call->getNextNode());
        if (!barrier.call->getType()->isVoidTy()) {
            barrier.result_cell = thread_.new_cell(4, 4);
            IRBuilder<> builder(&barrier.after->front());
            Value* place = builder.CreateConstInBoundsGEP1_64(
                builder.getInt8Ty(), thread_.function->getArg(4), barrier.result_cell);
            LoadInst* result = builder.CreateAlignedLoad(builder.getInt32Ty(), place, Align(4));
            result->setMetadata(kBlockMemoryMark, MDNode::get(context_, {}));
            thread_.uniform.insert(result);
            barrier.call->replaceAllUsesWith(result);
        }
    }

    // What follows from indices and arguments is computed at the start of every region.
    void collect_common() {
        BasicBlock* entry = &thread_.function->getEntryBlock();
        thread_.common = BasicBlock::Create(context_, "common", thread_.function, entry);
        BranchInst* end = BranchInst::Create(entry, thread_.common);
        SmallPtrSet<Value*, 32> common;
        auto known = [&](Value* value) {
            return isa<Constant, Argument>(value) || common.contains(value);
        };
        ReversePostOrderTraversal<Function*> order(thread_.function);
        for (BasicBlock* block : order) {
            if (block == thread_.common) continue;
            for (Instruction& instruction : make_early_inc_range(*block)) {
                auto* load = dyn_cast<LoadInst>(&instruction);
                bool index = instruction.getType()->isIntOrPtrTy() &&
                             isa<BinaryOperator, CastInst, GetElementPtrInst, ICmpInst, SelectInst>(
                                 instruction) &&
                             isSafeToSpeculativelyExecute(&instruction);
                bool given = load != nullptr && load->hasMetadata(LLVMContext::MD_invariant_load);
                if (!index && !given) continue;
                if (!all_of(instruction.operands(), [&](Use& use) { return known(use); })) continue;
                instruction.moveBefore(*thread_.common, end->getIterator());
                common.insert(&instruction);
            }
        }
        thread_.keep->eraseFromParent();
    }

    Value* array_element(IRBuilder<>& builder, uint64_t before, uint64_t size) {
        Value* row =
            builder.CreateInBoundsGEP(builder.getInt8Ty(), thread_.scratch,
                                      builder.CreateMul(thread_.row, builder.getInt64(before)));
        return builder.CreateInBoundsGEP(
            builder.getInt8Ty(), row,
            builder.CreateMul(thread_.linear, builder.getInt64(size), "", true, true));
    }

    void mark_other_accesses() {
        MDBuilder builder(context_);
        MDNode* domain = builder.createAnonymousAliasScopeDomain("regions");
        thread_.carried_scope =
            MDNode::get(context_, {builder.createAnonymousAliasScope(domain, "carried")});
        for (Instruction& instruction : instructions(*thread_.function))
            if (isa<LoadInst, StoreInst>(instruction))
                instruction.setMetadata(
                    LLVMContext::MD_noalias,
                    MDNode::concatenate(instruction.getMetadata(LLVMContext::MD_noalias),
                                        thread_.carried_scope));
    }

    // Private arrays live as long as the block: threads leave and come back.
    void place_arrays() {
        std::vector<AllocaInst*> arrays;
        for (Instruction& instruction : instructions(*thread_.function))
            if (auto* array = dyn_cast<AllocaInst>(&instruction)) arrays.push_back(array);
        IRBuilder<> builder(thread_.common->getTerminator());
        for (AllocaInst* array : arrays) {
            for (User* user : make_early_inc_range(array->users()))
                if (auto* mark = dyn_cast<IntrinsicInst>(user);
                    mark != nullptr && mark->isLifetimeStartOrEnd())
                    mark->eraseFromParent();
            uint64_t size = alignTo(data_.getTypeAllocSize(array->getAllocatedType()),
                                    std::max(array->getAlign(), Align(8)));
            array->replaceAllUsesWith(array_element(builder, thread_.per_thread, size));
            array->eraseFromParent();
            thread_.per_thread += size;
        }
    }

    // Values that are alive after a barrier become slots, which each region fills and saves.
    void find_carried() {
        std::vector<Instruction*> values;
        for (BasicBlock& block : *thread_.function)
            if (&block != thread_.common)
                for (Instruction& instruction : block)
                    if (!instruction.getType()->isVoidTy()) values.push_back(&instruction);
        std::vector<std::pair<Instruction*, std::vector<unsigned>>> crossing;
        for (Instruction* value : values) {
            SmallPtrSet<BasicBlock*, 16> alive = alive_at_start(*value);
            std::vector<unsigned> where;
            for (unsigned i = 0; i < thread_.barriers.size(); ++i)
                if (alive.contains(thread_.barriers[i].after)) where.push_back(i);
            if (!where.empty()) crossing.emplace_back(value, where);
        }
        for (auto& [value, where] : crossing) {
            Carried carried;
            carried.type = value->getType();
            carried.uniform = thread_.uniform.contains(value);
            uint64_t size = data_.getTypeAllocSize(carried.type);
            if (carried.uniform) {
                carried.place = thread_.new_cell(
                    size, std::max<uint64_t>(8, data_.getABITypeAlign(carried.type).value()));
            } else {
                carried.place = thread_.per_thread;
                thread_.per_thread += size;
            }
            carried.slot = DemoteRegToStack(*value, false, thread_.common->begin());
            for (unsigned i : where)
                thread_.barriers[i].live.push_back(unsigned(thread_.carried.size()));
            thread_.carried.push_back(carried);
        }
    }

    static SmallPtrSet<BasicBlock*, 16> alive_at_start(Instruction& value) {
        SmallPtrSet<BasicBlock*, 16> alive;
        SmallVector<BasicBlock*, 16> pending;
        auto reach = [&](BasicBlock* block) {
            if (alive.insert(block).second) pending.push_back(block);
        };
        for (Use& use : value.uses()) {
            auto* user = cast<Instruction>(use.getUser());
            if (auto* phi = dyn_cast<PHINode>(user)) {
                BasicBlock* from = phi->getIncomingBlock(use);
                if (from != value.getParent()) reach(from);
            } else if (user->getParent() != value.getParent()) {
                reach(user->getParent());
            }
        }
        while (!pending.empty()) {
            BasicBlock* block = pending.pop_back_val();
            for (BasicBlock* before : predecessors(block))
                if (before != value.getParent()) reach(before);
        }
        return alive;
    }

    RegionThread& thread_;
    Optimizer& optimizer_;
    LLVMContext& context_;
    const DataLayout& data_;
};

}  // namespace

bool cut_at_barriers(RegionThread& thread, Optimizer& optimizer) {
    return RegionCut(thread, optimizer).run();
}

}  // namespace trilane::cpu
