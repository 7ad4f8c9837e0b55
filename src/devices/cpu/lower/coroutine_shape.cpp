// Kernels as coroutines, by LLVM's switched-resume lowering.
#include "devices/cpu/lower/coroutine_shape.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "core/error.h"
#include "devices/cpu/lower/kernel_body.h"
#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/lower/prepare.h"
#include "devices/cpu/lower/suspends.h"
#include "devices/cpu/lower/waiting.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr const char* kFrameSizeMark = "trilane_frame_size";
constexpr int kFrameAlign = alignof(ThreadState);

std::vector<CallBase*> suspending_calls(Function& function) {
    std::vector<CallBase*> calls;
    for (Instruction& instruction : instructions(function))
        if (auto* call = dyn_cast<CallBase>(&instruction))
            if (classify_call(*call) == CallClass::Suspend) calls.push_back(call);
    return calls;
}

}  // namespace

bool meets_cluster(const Function& kernel) {
    for (const Instruction& instruction : instructions(kernel)) {
        auto* call = dyn_cast<CallBase>(&instruction);
        const Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
        if (callee == nullptr) continue;
        auto form = suspend_of(*callee);
        if (callee->getName() == "__trl_rt_cluster_map" ||
            callee->getName() == "__trl_rt_cluster_rank" ||
            (form && (form->kind == Suspend::ClusterArrive || form->kind == Suspend::ClusterWait)))
            return true;
    }
    return false;
}

bool needs_coroutines(Function& kernel, Optimizer& optimizer) {
    return !suspending_calls(kernel).empty() || !volatile_shared_accesses(kernel).empty() ||
           !find_waiting_loops(kernel, optimizer).latches.empty();
}

bool waits_in_warps_only(Function& kernel, Optimizer& optimizer) {
    bool only = all_of(suspending_calls(kernel), [](const CallBase* call) {
        return is_warp_operation(*suspend_of(*call->getCalledFunction()));
    });
    return only && volatile_shared_accesses(kernel).empty() &&
           find_waiting_loops(kernel, optimizer).latches.empty();
}

Function* build_coroutine_body(Function& kernel, const SharedLayout& layout,
                               const std::string& symbol) {
    LLVMContext& context = kernel.getContext();
    Type* pointer = PointerType::get(context, 0);
    Type* word = Type::getInt32Ty(context);
    Function* function = make_function_like(kernel, {pointer, pointer, word, word, word},
                                            GlobalValue::ExternalLinkage, symbol);
    function->setSubprogram(kernel.getSubprogram());
    IRBuilder<> builder(BasicBlock::Create(context, "entry", function));
    BlockValues values = load_block_values(builder, function->getArg(0));
    for (unsigned axis = 0; axis < 3; ++axis) values.thread_idx[axis] = function->getArg(2 + axis);
    SmallVector<Value*, 8> arguments = load_arguments(builder, kernel, values.context);
    builder.SetInsertPoint(builder.CreateRetVoid());
    inline_kernel(builder, kernel, arguments, layout, values);
    return function;
}

namespace {

class SuspensionBuilder {
  public:
    SuspensionBuilder(Function& function, Optimizer& optimizer, LoweredKernel& lowered)
        : function_(function),
          optimizer_(optimizer),
          lowered_(lowered),
          context_(function.getContext()) {}

    void run() {
        std::vector<CallBase*> calls = suspending_calls(function_);
        std::vector<Instruction*> volatiles = volatile_shared_;
        WaitingLoops waiting = find_waiting_loops(function_, optimizer_);
        lowered_.waits_on_blocks = waiting.on_blocks;
        // The jumps, not their blocks: a call that suspends cuts its block in two.
        SmallSetVector<Instruction*, 8> turns;
        for (BasicBlock* latch : waiting.latches) turns.insert(latch->getTerminator());
        for (BasicBlock* latch : strided_latches(function_, optimizer_))
            if (!waits_in_each_round(*latch, calls)) turns.insert(latch->getTerminator());
        begin();
        for (CallBase* call : calls) replace_call(*call);
        for (Instruction* jump : turns) suspend_before(*jump, Suspend::Yield);
        for (Instruction* access : volatiles) suspend_before(*access, Suspend::Converge);
        optimizer_.forget(function_);
    }

    void set_volatile_shared(std::vector<Instruction*> accesses) {
        volatile_shared_ = std::move(accesses);
    }

  private:
    // Threads that meet in every round take turns already.
    bool waits_in_each_round(BasicBlock& latch, ArrayRef<CallBase*> calls) {
        DominatorTree dominators(function_);
        LoopInfo loops(dominators);
        const Loop* loop = loops.getLoopFor(&latch);
        return loop != nullptr && any_of(calls, [&](const CallBase* call) {
                   return loop->contains(call->getParent()) &&
                          dominators.dominates(call->getParent(), &latch);
               });
    }

    Value* intrinsic(IRBuilder<>& builder, Intrinsic::ID id, ArrayRef<Value*> arguments,
                     ArrayRef<Type*> types = {}) {
        return builder.CreateCall(Intrinsic::getDeclaration(function_.getParent(), id, types),
                                  arguments);
    }

    void begin() {
        function_.setPresplitCoroutine();
        BasicBlock& entry = function_.getEntryBlock();
        BasicBlock::iterator place = entry.begin();
        while (isa<AllocaInst>(*place)) ++place;
        IRBuilder<> builder(&entry, place);
        auto* null = ConstantPointerNull::get(builder.getPtrTy());
        Value* id = intrinsic(builder, Intrinsic::coro_id,
                              {builder.getInt32(kFrameAlign), null, null, null});
        Value* size = intrinsic(builder, Intrinsic::coro_size, {}, {builder.getInt64Ty()});
        Module& module = *function_.getParent();
        builder.CreateStore(size, module.getOrInsertGlobal(kFrameSizeMark, builder.getInt64Ty()),
                            /*isVolatile=*/true);
        frame_ = intrinsic(builder, Intrinsic::coro_begin, {id, function_.getArg(1)});
        SmallVector<ReturnInst*, 4> returns;
        for (BasicBlock& block : function_)
            if (auto* leave = dyn_cast<ReturnInst>(block.getTerminator())) returns.push_back(leave);
        end_ = BasicBlock::Create(context_, "end", &function_);
        for (ReturnInst* leave : returns) {
            BranchInst::Create(end_, leave->getIterator());
            leave->eraseFromParent();
        }
        builder.SetInsertPoint(end_);
        intrinsic(builder, Intrinsic::coro_end,
                  {frame_, builder.getFalse(), ConstantTokenNone::get(context_)});
        builder.CreateRetVoid();
    }

    // The state lies before the frame: no second pointer has to live across suspensions.
    Value* field(IRBuilder<>& builder, size_t offset) {
        return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), frame_,
                                                  offset - sizeof(ThreadState));
    }

    uint32_t new_site(const Instruction& place, Suspend kind) {
        SuspendSite site;
        site.kind = static_cast<uint32_t>(kind);
        const DILocation* location = place.getDebugLoc();
        while (location != nullptr && location->getInlinedAt() != nullptr)
            location = location->getInlinedAt();
        if (location != nullptr) site.line = static_cast<int32_t>(location->getLine());
        lowered_.sites.push_back(site);
        return static_cast<uint32_t>(lowered_.sites.size() - 1);
    }

    // Splits the block before `place`; the thread stands still there. The builder stands after.
    void suspend(IRBuilder<>& builder, Instruction& place, Suspend kind) {
        uint32_t site = new_site(place, kind);
        builder.CreateAlignedStore(builder.getInt32(static_cast<uint32_t>(kind)),
                                   field(builder, offsetof(ThreadState, kind)), Align(4));
        builder.CreateAlignedStore(builder.getInt32(site),
                                   field(builder, offsetof(ThreadState, site)), Align(4));
        Value* state = intrinsic(builder, Intrinsic::coro_suspend,
                                 {ConstantTokenNone::get(context_), builder.getFalse()});
        BasicBlock* before = place.getParent();
        BasicBlock* after = before->splitBasicBlock(&place);
        Instruction* jump = before->getTerminator();
        builder.SetInsertPoint(jump);
        SwitchInst* choice = builder.CreateSwitch(state, end_, 2);
        choice->addCase(builder.getInt8(0), after);
        choice->addCase(builder.getInt8(1), end_);
        jump->eraseFromParent();
        builder.SetInsertPoint(after, after->begin());
    }

    void suspend_before(Instruction& place, Suspend kind) {
        IRBuilder<> builder(&place);
        suspend(builder, place, kind);
    }

    void store_operand(IRBuilder<>& builder, Value* value, size_t offset, Type* type) {
        if (value->getType()->isFloatTy())
            value = builder.CreateBitCast(value, builder.getInt32Ty());
        builder.CreateAlignedStore(builder.CreateZExtOrTrunc(value, type), field(builder, offset),
                                   Align(4));
    }

    void replace_call(CallBase& call) {
        SuspendForm form = *suspend_of(*call.getCalledFunction());
        IRBuilder<> builder(&call);
        lowered_.grid_sync |= form.kind == Suspend::GridSync;
        if (form.mask >= 0)
            store_operand(builder, call.getArgOperand(unsigned(form.mask)),
                          offsetof(ThreadState, mask), builder.getInt32Ty());
        if (form.value >= 0)
            store_operand(builder, call.getArgOperand(unsigned(form.value)),
                          offsetof(ThreadState, value), builder.getInt64Ty());
        bool has_operands = form.mask < 0 || form.operand[0] >= 0;
        for (int i = 0; has_operands && i < 2; ++i) {
            Value* operand = form.operand[i] >= 0 ? call.getArgOperand(unsigned(form.operand[i]))
                                                  : builder.getInt32(0);
            store_operand(builder, operand, offsetof(ThreadState, operand) + 4 * size_t(i),
                          builder.getInt32Ty());
        }
        suspend(builder, call, form.kind);
        if (Value* result = load_result(builder, call, form)) call.replaceAllUsesWith(result);
        call.eraseFromParent();
    }

    Value* load_result(IRBuilder<>& builder, CallBase& call, const SuspendForm& form) {
        if (form.result == SuspendForm::Result::None) return nullptr;
        Value* word = builder.CreateAlignedLoad(
            builder.getInt32Ty(), field(builder, offsetof(ThreadState, result)), Align(4));
        switch (form.result) {
            case SuspendForm::Result::I1:
                return builder.CreateICmpNE(word, builder.getInt32(0));
            case SuspendForm::Result::F32:
                return builder.CreateBitCast(word, builder.getFloatTy());
            case SuspendForm::Result::ValueAndPredicate: {
                auto* type = cast<StructType>(call.getType());
                Value* flag = builder.CreateAlignedLoad(
                    builder.getInt32Ty(), field(builder, offsetof(ThreadState, predicate)),
                    Align(4));
                Value* pair = builder.CreateInsertValue(
                    PoisonValue::get(type), builder.CreateBitCast(word, type->getElementType(0)),
                    0);
                return builder.CreateInsertValue(
                    pair, builder.CreateICmpNE(flag, builder.getInt32(0)), 1);
            }
            default:
                return word;
        }
    }

    Function& function_;
    Optimizer& optimizer_;
    LoweredKernel& lowered_;
    LLVMContext& context_;
    Value* frame_ = nullptr;
    BasicBlock* end_ = nullptr;
    std::vector<Instruction*> volatile_shared_;
};

// The volatile accesses of shared arrays are known only before shared arrays became offsets: they
// carry this mark from there.
constexpr const char* kInStepMark = "trilane.in_step";

}  // namespace

void mark_volatile_shared(Function& kernel) {
    for (Instruction* access : volatile_shared_accesses(kernel))
        access->setMetadata(kInStepMark, MDNode::get(kernel.getContext(), {}));
}

void insert_suspensions(Function& function, Optimizer& optimizer, LoweredKernel& lowered) {
    std::vector<Instruction*> in_step;
    for (Instruction& instruction : instructions(function))
        if (instruction.hasMetadata(kInStepMark)) in_step.push_back(&instruction);
    SuspensionBuilder builder(function, optimizer, lowered);
    builder.set_volatile_shared(std::move(in_step));
    builder.run();
}

Function* finish_coroutine(Function& function, LoweredKernel& lowered) {
    Module& module = *function.getParent();
    if (GlobalVariable* mark = module.getNamedGlobal(kFrameSizeMark)) {
        std::vector<StoreInst*> stores;
        for (User* user : mark->users())
            if (auto* store = dyn_cast<StoreInst>(user);
                store != nullptr && store->getFunction() == &function)
                stores.push_back(store);
        for (StoreInst* store : stores) {
            if (auto* size = dyn_cast<ConstantInt>(store->getValueOperand()))
                lowered.frame_bytes = size->getZExtValue();
            store->eraseFromParent();
        }
        TRILANE_CHECK(lowered.frame_bytes > 0, "{} has no frame size", function.getName().str());
    }
    std::string symbol = function.getName().str();
    for (const char* part : {".destroy", ".cleanup"})
        if (Function* unused = module.getFunction(symbol + part)) {
            unused->replaceAllUsesWith(
                ConstantPointerNull::get(cast<PointerType>(unused->getType())));
            unused->eraseFromParent();
        }
    // With no suspension the split leaves a table of functions that nobody reads.
    if (GlobalVariable* table = module.getNamedGlobal(symbol + ".resumers");
        table != nullptr && table->use_empty())
        table->eraseFromParent();
    return module.getFunction(symbol + ".resume");
}

void drop_frame_mark(Module& module) {
    if (GlobalVariable* mark = module.getNamedGlobal(kFrameSizeMark)) {
        // What the split left of functions that were dropped.
        while (!mark->use_empty()) cast<Instruction>(mark->user_back())->eraseFromParent();
        mark->eraseFromParent();
    }
}

}  // namespace trilane::cpu
