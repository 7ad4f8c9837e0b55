// A copy of a thread's function that runs from one barrier to the next.
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/lower/region_thread.h"
#include "devices/cpu/lower/suspends.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

class RegionCopy {
  public:
    explicit RegionCopy(RegionThread& thread)
        : thread_(thread), data_(thread.function->getParent()->getDataLayout()) {}

    Region run(unsigned number, bool some_left) {
        region_.function = CloneFunction(thread_.function, map_);
        region_.function->setName(thread_.symbol + ".region");
        if (number > 0) begin_behind(thread_.barriers[number - 1]);
        if (thread_.some_leave && number == 0) set_stays(copy(thread_.common)->getTerminator(), 1);
        if (some_left) leave_out_the_returned();
        for (unsigned j = 0; j < thread_.barriers.size(); ++j) end_at(j);
        removeUnreachableBlocks(*region_.function);
        if (kernel_needs_thread(*region_.function)) tell_thread();
        for (unsigned j = 0; j < thread_.barriers.size(); ++j) {
            // Blocks that are gone are null in the map.
            WeakTrackingVH handle = map_[thread_.barriers[j].before];
            auto* block = dyn_cast_or_null<BasicBlock>(static_cast<Value*>(handle));
            if (block != nullptr && block->getParent() == region_.function)
                region_.exits.push_back(j);
        }
        note_returns();
        tell_waits(some_left);
        return std::move(region_);
    }

  private:
    template <typename T>
    T* copy(T* value) {
        return cast<T>(static_cast<Value*>(map_[value]));
    }

    static Type* in_memory(Type* type) {
        return type->isIntegerTy(1) ? Type::getInt8Ty(type->getContext()) : type;
    }

    Value* cell(IRBuilder<>& builder, unsigned argument, uint64_t place) {
        return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(),
                                                  region_.function->getArg(argument), place);
    }

    // Where a region finds a value, or leaves it.
    Value* address(IRBuilder<>& builder, const Carried& carried, unsigned cells) {
        if (carried.uniform) return cell(builder, cells, carried.place);
        uint64_t size = data_.getTypeAllocSize(carried.type);
        Value* row = builder.CreateInBoundsGEP(
            builder.getInt8Ty(), copy(thread_.scratch),
            builder.CreateMul(copy(thread_.row), builder.getInt64(carried.place)));
        return builder.CreateInBoundsGEP(
            builder.getInt8Ty(), row,
            builder.CreateMul(copy(thread_.linear), builder.getInt64(size), "", true, true));
    }

    // Nothing else touches the arrays of what is carried over: loads of other memory stay valid.
    void of_carried(Instruction& access) {
        access.setMetadata(LLVMContext::MD_noalias, nullptr);
        access.setMetadata(LLVMContext::MD_alias_scope, thread_.carried_scope);
    }

    void begin_behind(const Barrier& start) {
        BasicBlock* common = copy(thread_.common);
        auto* jump = cast<BranchInst>(common->getTerminator());
        IRBuilder<> builder(jump);
        for (unsigned i : start.live) {
            const Carried& carried = thread_.carried[i];
            Type* type = in_memory(carried.type);
            LoadInst* load = builder.CreateAlignedLoad(
                type, address(builder, carried, RegionThread::kRead), data_.getABITypeAlign(type));
            load->setMetadata(kBlockMemoryMark, MDNode::get(load->getContext(), {}));
            Value* value = load;
            if (type != carried.type) value = builder.CreateTrunc(value, carried.type);
            builder.CreateStore(value, copy(carried.slot));
        }
        jump->getSuccessor(0)->removePredecessor(common);
        jump->setSuccessor(0, copy(start.after));
    }

    void set_stays(Instruction* place, uint8_t value) {
        IRBuilder<> builder(place);
        of_carried(*builder.CreateAlignedStore(
            builder.getInt8(value), address(builder, thread_.stays, RegionThread::kWritten),
            Align(1)));
    }

    void leave_out_the_returned() {
        BasicBlock* common = copy(thread_.common);
        auto* jump = cast<BranchInst>(common->getTerminator());
        auto* out = BasicBlock::Create(common->getContext(), "out", region_.function);
        silent_.insert(ReturnInst::Create(common->getContext(), out));
        IRBuilder<> builder(jump);
        Value* stays = builder.CreateAlignedLoad(
            builder.getInt8Ty(), address(builder, thread_.stays, RegionThread::kRead), Align(1));
        builder.CreateCondBr(builder.CreateICmpNE(stays, builder.getInt8(0)), jump->getSuccessor(0),
                             out);
        jump->eraseFromParent();
    }

    void end_at(unsigned number) {
        const Barrier& barrier = thread_.barriers[number];
        auto* call = copy(barrier.call);
        BasicBlock* block = call->getParent();
        IRBuilder<> builder(call);
        for (unsigned i : barrier.live) {
            const Carried& carried = thread_.carried[i];
            Value* value = builder.CreateLoad(carried.type, copy(carried.slot));
            Type* type = in_memory(carried.type);
            if (type != carried.type) value = builder.CreateZExt(value, type);
            StoreInst* store =
                builder.CreateAlignedStore(value, address(builder, carried, RegionThread::kWritten),
                                           data_.getABITypeAlign(type));
            if (!carried.uniform) of_carried(*store);
        }
        if (barrier.predicate != nullptr) {
            Value* given = call->getArgOperand(0);
            Value* yes = builder.CreateICmp(
                barrier.kind == Suspend::BarrierAnd ? ICmpInst::ICMP_EQ : ICmpInst::ICMP_NE, given,
                Constant::getNullValue(given->getType()));
            // Who says yes is counted, or noted: no branch, for which the end of the region might
            // be written twice.
            AtomicRMWInst* vote = builder.CreateAtomicRMW(
                barrier.kind == Suspend::BarrierCount ? AtomicRMWInst::Add : AtomicRMWInst::Or,
                region_.function->getArg(RegionThread::kCount),
                builder.CreateZExt(yes, builder.getInt32Ty()), Align(4), AtomicOrdering::Monotonic);
            vote->setMetadata(kBlockMemoryMark, MDNode::get(vote->getContext(), {}));
        }
        note_exit(builder, 1u << number);
        ReturnInst* leave = builder.CreateRetVoid();
        silent_.insert(leave);
        at_barrier_.push_back(leave);
        for (BasicBlock* next : successors(block)) next->removePredecessor(block);
        while (&block->back() != call) block->back().eraseFromParent();
        call->replaceAllUsesWith(PoisonValue::get(call->getType()));
        call->eraseFromParent();
    }

    void note_returns() {
        for (BasicBlock& block : *region_.function) {
            auto* leave = dyn_cast<ReturnInst>(block.getTerminator());
            if (leave == nullptr || silent_.contains(leave)) continue;
            IRBuilder<> builder(leave);
            note_exit(builder, kExitEnd);
            if (thread_.some_leave && !region_.exits.empty()) set_stays(leave, 0);
            region_.ends = true;
        }
    }

    // Warp operations must not wait for lanes that wait at a barrier, see lanes/together.cpp.
    void tell_waits(bool some_left) {
        Function& function = *region_.function;
        if (region_.exits.empty() || !has_warp_operation(function)) return;
        const bool some_end = some_left || region_.ends;
        function.addFnAttr(kWaitsAttribute, some_end ? kWaitsMarked : kWaitsAll);
        if (!some_end) return;
        FunctionCallee mark = function.getParent()->getOrInsertFunction(
            kWaitsMark, FunctionType::get(Type::getVoidTy(function.getContext()), {}, false));
        for (const WeakTrackingVH& handle : at_barrier_) {
            auto* leave = dyn_cast_or_null<ReturnInst>(static_cast<Value*>(handle));
            if (leave == nullptr || leave->getParent()->getParent() != &function) continue;
            CallInst* call = CallInst::Create(mark, "", leave);
            call->setDoesNotThrow();
            call->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
            call->addFnAttr(Attribute::NoMerge);
            call->addFnAttr(Attribute::WillReturn);
        }
    }

    void tell_thread() {
        IRBuilder<> builder(copy(thread_.common)->getTerminator());
        StoreInst* store = builder.CreateAlignedStore(
            builder.CreateTrunc(copy(thread_.linear), builder.getInt32Ty()),
            context_field(builder, region_.function->getArg(RegionThread::kContext),
                          offsetof(BlockContext, thread_linear)),
            Align(4));
        store->setMetadata(kThreadMark, MDNode::get(region_.function->getContext(), {}));
    }

    // One bit for each way in which threads have left the region: more than one is a fault.
    void note_exit(IRBuilder<>& builder, uint32_t bit) {
        Value* place = cell(builder, RegionThread::kWritten, kExitsCell);
        Value* exits = builder.CreateAlignedLoad(builder.getInt32Ty(), place, Align(4));
        builder.CreateAlignedStore(builder.CreateOr(exits, builder.getInt32(bit)), place, Align(4));
    }

    RegionThread& thread_;
    const DataLayout& data_;
    ValueToValueMapTy map_;
    Region region_;
    SmallPtrSet<Instruction*, 8> silent_;        // returns after which a thread goes on
    SmallVector<WeakTrackingVH, 8> at_barrier_;  // of these, those at a barrier
};

}  // namespace

Region make_region(RegionThread& thread, unsigned number, bool some_left) {
    return RegionCopy(thread).run(number, some_left);
}

}  // namespace trilane::cpu
