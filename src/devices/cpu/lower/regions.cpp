// Cutting a kernel at its barriers.
//
// The kernel's function of one thread is copied once per region; each copy begins after one barrier
// and ends at those it reaches next. Values that a thread carries over are of three kinds: what
// follows from indices and arguments is computed anew; what is the same for the whole block lies in
// one cell (read from one set of cells, written to another, since threads of a region may come to
// its end before others begin); anything else has an array with one element per thread.
#include "devices/cpu/lower/regions.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "core/env.h"
#include "core/error.h"
#include "devices/cpu/lanes/plan.h"
#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/lower/prepare.h"
#include "devices/cpu/lower/region_builder.h"
#include "devices/cpu/lower/suspends.h"
#include "devices/cpu/lower/waiting.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr unsigned kMostRegions = 24;
constexpr size_t kMostInstructions = 6000;  // of all copies together

}  // namespace

Function* RegionBuilder::run() {
    if (!volatile_shared_accesses(kernel_).empty()) return nullptr;
    make_thread();
    Function* block = nullptr;
    if (find_barriers()) {
        collect_common();
        place_arrays();
        find_carried();
        if (barriers_.size() < kMostRegions && size() < kMostInstructions) block = make_block();
    }
    for (Function* copy : copies_) drop(copy);
    drop(thread_);
    return block;
}

void RegionBuilder::drop(Function* function) {
    if (function == nullptr) return;
    optimizer_.forget(*function);
    function->eraseFromParent();
}

size_t RegionBuilder::size() const {
    return (barriers_.size() + 1) * std::distance(inst_begin(thread_), inst_end(thread_)) / 2;
}

void RegionBuilder::make_thread() {
    Type* pointer = PointerType::get(context_, 0);
    Type* word = Type::getInt32Ty(context_);
    thread_ = Function::Create(
        FunctionType::get(Type::getVoidTy(context_),
                          {pointer, word, word, word, pointer, pointer, pointer}, false),
        GlobalValue::InternalLinkage, symbol_ + ".thread", module_);
    thread_->setAttributes(AttributeList().addFnAttributes(
        context_, AttrBuilder(context_, kernel_.getAttributes().getFnAttrs())));
    thread_->addFnAttr(Attribute::NoUnwind);
    thread_->removeFnAttr(Attribute::Memory);
    IRBuilder<> builder(BasicBlock::Create(context_, "entry", thread_));
    BlockValues values = load_block_values(builder, thread_->getArg(0));
    for (unsigned axis = 0; axis < 3; ++axis) values.thread_idx[axis] = thread_->getArg(1 + axis);
    // Where this thread's part of each array lies.
    Value* threads = builder.CreateMul(
        builder.CreateMul(values.block_dim[0], values.block_dim[1], "", true, true),
        values.block_dim[2], "", true, true);
    row_ = builder.CreateAnd(
        builder.CreateAdd(builder.CreateZExt(threads, builder.getInt64Ty()), builder.getInt64(63)),
        builder.getInt64(~uint64_t{63}), "row");
    scratch_ = thread_->getArg(6);
    linear_ =
        builder.CreateZExt(linear_thread(builder, values), builder.getInt64Ty(), "linear", true);
    SmallVector<Value*, 8> arguments = load_arguments(builder, kernel_, values.context);
    CallInst* call = builder.CreateCall(&kernel_, arguments);
    call->setAttributes(kernel_.getAttributes().removeFnAttributes(context_));
    builder.CreateRetVoid();
    InlineFunctionInfo info;
    InlineResult result = InlineFunction(*call, info);
    TRILANE_CHECK(result.isSuccess(), "{}: {}", symbol_, result.getFailureReason());
    lower_registers(*thread_, &values);
    lower_shared(*thread_, layout_, values.shared);
    narrow_ = narrow_global_indices(*thread_, values);
    stripDebugInfo(*thread_);
    // Nothing may fold these three away before they are used.
    keep_ = CallInst::Create(
        module_.getOrInsertFunction(
            "trilane.keep", FunctionType::get(Type::getVoidTy(context_),
                                              {row_->getType(), pointer, row_->getType()}, false)),
        {row_, scratch_, linear_}, "", thread_->getEntryBlock().getTerminator()->getIterator());
    optimizer_.simplify(*thread_);
    optimizer_.optimize(*thread_);
    prepare_for_lanes(*thread_, optimizer_);
    for (Instruction& instruction : instructions(*thread_))
        if (auto* found = dyn_cast<CallInst>(&instruction);
            found != nullptr && found->getCalledFunction() != nullptr &&
            found->getCalledFunction()->getName() == "trilane.keep")
            keep_ = found;
    row_ = keep_->getArgOperand(0);
    scratch_ = keep_->getArgOperand(1);
    linear_ = keep_->getArgOperand(2);
}

bool RegionBuilder::is_plain_barrier(CallBase& call, const SuspendForm& form) {
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

bool RegionBuilder::find_barriers() {
    if (!find_waiting_loops(*thread_, optimizer_).latches.empty()) return false;
    for (Instruction& instruction : instructions(*thread_)) {
        auto* call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr || classify_call(*call) != CallClass::Suspend) continue;
        SuspendForm form = *suspend_of(*call->getCalledFunction());
        if (!is_plain_barrier(*call, form)) return false;
        RegionBarrier barrier;
        barrier.call = call;
        barrier.kind = form.kind;
        if (form.value >= 0) barrier.predicate = call->getArgOperand(unsigned(form.value));
        barriers_.push_back(barrier);
    }
    if (barriers_.empty()) return false;
    LanePlan plan(*thread_, *thread_->getArg(1), {thread_->getArg(2), thread_->getArg(3)});
    for (RegionBarrier& barrier : barriers_)
        if (!plan.reached_together(barrier.call->getParent())) return false;
    for (Instruction& instruction : instructions(*thread_))
        if (plan.shape(&instruction).is_uniform()) uniform_.insert(&instruction);
    for (RegionBarrier& barrier : barriers_) cut(barrier);
    return true;
}

void RegionBuilder::cut(RegionBarrier& barrier) {
    barrier.before = SplitBlock(barrier.call->getParent(), barrier.call);
    barrier.after = SplitBlock(barrier.before, barrier.call->getNextNode());
    if (!barrier.call->getType()->isVoidTy()) {
        barrier.result_cell = new_cell(4, 4);
        IRBuilder<> builder(&barrier.after->front());
        Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), thread_->getArg(4),
                                                          barrier.result_cell);
        Value* result = builder.CreateAlignedLoad(builder.getInt32Ty(), place, Align(4));
        uniform_.insert(result);
        barrier.call->replaceAllUsesWith(result);
    }
}

uint64_t RegionBuilder::new_cell(uint64_t size, uint64_t align) {
    cells_ = alignTo(cells_, Align(align));
    uint64_t place = cells_;
    cells_ += size;
    return place;
}

void RegionBuilder::collect_common() {
    BasicBlock* entry = &thread_->getEntryBlock();
    common_ = BasicBlock::Create(context_, "common", thread_, entry);
    BranchInst* end = BranchInst::Create(entry, common_);
    SmallPtrSet<Value*, 32> common;
    auto known = [&](Value* value) {
        return isa<Constant, Argument>(value) || common.contains(value);
    };
    ReversePostOrderTraversal<Function*> order(thread_);
    for (BasicBlock* block : order) {
        if (block == common_) continue;
        for (Instruction& instruction : make_early_inc_range(*block)) {
            auto* load = dyn_cast<LoadInst>(&instruction);
            bool index = instruction.getType()->isIntOrPtrTy() &&
                         isa<BinaryOperator, CastInst, GetElementPtrInst, ICmpInst, SelectInst>(
                             instruction) &&
                         isSafeToSpeculativelyExecute(&instruction);
            bool given = load != nullptr && load->hasMetadata(LLVMContext::MD_invariant_load);
            if (!index && !given) continue;
            if (!all_of(instruction.operands(), [&](Use& use) { return known(use); })) continue;
            instruction.moveBefore(*common_, end->getIterator());
            common.insert(&instruction);
        }
    }
    keep_->eraseFromParent();
    if (!kernel_needs_thread(*thread_)) return;
    IRBuilder<> builder(end);
    StoreInst* store = builder.CreateAlignedStore(
        builder.CreateTrunc(linear_, builder.getInt32Ty()),
        context_field(builder, thread_->getArg(0), offsetof(BlockContext, thread_linear)),
        Align(4));
    store->setMetadata(kThreadMark, MDNode::get(context_, {}));
}

Value* RegionBuilder::array_element(IRBuilder<>& builder, uint64_t before, uint64_t size) {
    Value* row = builder.CreateInBoundsGEP(builder.getInt8Ty(), scratch_,
                                           builder.CreateMul(row_, builder.getInt64(before)));
    return builder.CreateInBoundsGEP(
        builder.getInt8Ty(), row,
        builder.CreateMul(linear_, builder.getInt64(size), "", true, true));
}

void RegionBuilder::place_arrays() {
    std::vector<AllocaInst*> arrays;
    for (Instruction& instruction : instructions(*thread_))
        if (auto* array = dyn_cast<AllocaInst>(&instruction)) arrays.push_back(array);
    IRBuilder<> builder(common_->getTerminator());
    for (AllocaInst* array : arrays) {
        for (User* user : make_early_inc_range(array->users()))
            if (auto* mark = dyn_cast<IntrinsicInst>(user);
                mark != nullptr && mark->isLifetimeStartOrEnd())
                mark->eraseFromParent();
        uint64_t size = alignTo(data_.getTypeAllocSize(array->getAllocatedType()),
                                std::max(array->getAlign(), Align(8)));
        array->replaceAllUsesWith(array_element(builder, per_thread_, size));
        array->eraseFromParent();
        per_thread_ += size;
    }
}

void RegionBuilder::find_carried() {
    std::vector<Instruction*> values;
    for (BasicBlock& block : *thread_)
        if (&block != common_)
            for (Instruction& instruction : block)
                if (!instruction.getType()->isVoidTy()) values.push_back(&instruction);
    std::vector<std::pair<Instruction*, std::vector<unsigned>>> crossing;
    for (Instruction* value : values) {
        SmallPtrSet<BasicBlock*, 16> alive = alive_at_start(*value);
        std::vector<unsigned> where;
        for (unsigned i = 0; i < barriers_.size(); ++i)
            if (alive.contains(barriers_[i].after)) where.push_back(i);
        if (!where.empty()) crossing.emplace_back(value, where);
    }
    for (auto& [value, where] : crossing) {
        RegionValue carried;
        carried.type = value->getType();
        carried.uniform = uniform_.contains(value);
        uint64_t size = data_.getTypeAllocSize(carried.type);
        if (carried.uniform) {
            carried.place =
                new_cell(size, std::max<uint64_t>(8, data_.getABITypeAlign(carried.type).value()));
        } else {
            carried.place = per_thread_;
            per_thread_ += size;
        }
        carried.slot = DemoteRegToStack(*value, false, common_->begin());
        for (unsigned i : where) barriers_[i].live.push_back(unsigned(carried_.size()));
        carried_.push_back(carried);
    }
}

SmallPtrSet<BasicBlock*, 16> RegionBuilder::alive_at_start(Instruction& value) {
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

Function* build_region_shape(Function& kernel, const SharedLayout& layout,
                             const std::string& symbol, Optimizer& optimizer, unsigned lanes,
                             LoweredKernel& lowered) {
    return RegionBuilder(kernel, layout, symbol, optimizer, lanes, lowered).run();
}

}  // namespace trilane::cpu
