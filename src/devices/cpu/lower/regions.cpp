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
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "core/env.h"
#include "core/error.h"
#include "devices/cpu/lanes/plan.h"
#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/lower/prepare.h"
#include "devices/cpu/lower/suspends.h"
#include "devices/cpu/lower/waiting.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kMostRegions = 24;
constexpr size_t kMostInstructions = 6000;  // of all copies together

struct Barrier {
    CallBase* call = nullptr;
    Suspend kind = Suspend::Barrier;
    BasicBlock *before = nullptr, *after = nullptr;  // `before` holds the call alone
    Value* predicate = nullptr;
    uint64_t result_cell = 0;
    std::vector<unsigned> live;  // numbers of the values that threads carry over
};

struct Carried {
    AllocaInst* slot = nullptr;
    Type* type = nullptr;
    bool uniform = false;
    uint64_t place = 0;  // of the cell, or bytes per thread before the array
};

class RegionBuilder {
  public:
    RegionBuilder(Function& kernel, const SharedLayout& layout, const std::string& symbol,
                  Optimizer& optimizer, unsigned lanes, LoweredKernel& lowered)
        : kernel_(kernel),
          layout_(layout),
          symbol_(symbol),
          optimizer_(optimizer),
          lanes_(lanes),
          lowered_(lowered),
          module_(*kernel.getParent()),
          context_(kernel.getContext()),
          data_(module_.getDataLayout()) {}

    Function* run() {
        if (!volatile_shared_accesses(kernel_).empty()) return nullptr;
        has_warps_ = has_warp_operation(kernel_);
        make_thread();
        Function* block = nullptr;
        if (find_barriers()) {
            collect_common();
            place_arrays();
            mark_other_accesses();
            find_carried();
            if (barriers_.size() < kMostRegions && size() < kMostInstructions) block = make_block();
        }
        for (Function* copy : copies_) drop(copy);
        drop(thread_);
        return block;
    }

  private:
    void drop(Function* function) {
        if (function == nullptr) return;
        optimizer_.forget(*function);
        function->eraseFromParent();
    }

    size_t size() const {
        return (barriers_.size() + 1) * std::distance(inst_begin(thread_), inst_end(thread_)) / 2;
    }

    // void thread(context, x, y, z, cells to read, cells to write, count of a barrier's predicate)
    void make_thread() {
        for (Instruction& instruction : instructions(kernel_))
            if (auto* call = dyn_cast<IntrinsicInst>(&instruction))
                has_rows_ |= call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_y;
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
        BlockValues values = block_values(builder, *thread_);
        for (unsigned axis = 0; axis < 3; ++axis)
            values.thread_idx[axis] = thread_->getArg(1 + axis);
        // Where this thread's part of each array lies.
        Value* threads = builder.CreateMul(
            builder.CreateMul(values.block_dim[0], values.block_dim[1], "", true, true),
            values.block_dim[2], "", true, true);
        row_ =
            builder.CreateAnd(builder.CreateAdd(builder.CreateZExt(threads, builder.getInt64Ty()),
                                                builder.getInt64(63)),
                              builder.getInt64(~uint64_t{63}), "row");
        auto* scratch = builder.CreateAlignedLoad(
            pointer, context_field(builder, values.context, offsetof(BlockContext, scratch)),
            Align(8), "scratch");
        scratch->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context_, {}));
        scratch_ = scratch;
        linear_ = builder.CreateZExt(linear_thread(builder, values), builder.getInt64Ty(), "linear",
                                     true);
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
                "trilane.keep",
                FunctionType::get(Type::getVoidTy(context_),
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

    BlockValues block_values(IRBuilder<>& builder, Function& function) {
        BlockValues values = load_block_values(builder, function.getArg(0));
        if (has_warps_)
            values.block_dim[0] = builder.CreateAnd(values.block_dim[0], ~uint64_t{kWarp - 1});
        return values;
    }

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
        if (!find_waiting_loops(*thread_, optimizer_).latches.empty()) return false;
        for (Instruction& instruction : instructions(*thread_)) {
            auto* call = dyn_cast<CallBase>(&instruction);
            if (call == nullptr || classify_call(*call) != CallClass::Suspend) continue;
            SuspendForm form = *suspend_of(*call->getCalledFunction());
            if (is_warp_operation(form)) continue;
            if (!is_plain_barrier(*call, form)) return false;
            Barrier barrier;
            barrier.call = call;
            barrier.kind = form.kind;
            if (form.value >= 0) barrier.predicate = call->getArgOperand(unsigned(form.value));
            barriers_.push_back(barrier);
        }
        if (barriers_.empty() || is_irreducible(*thread_)) return false;
        give_every_thread_values();
        LaneVector threads;
        threads.varying = {thread_->getArg(2), thread_->getArg(3)};
        LanePlan plan(*thread_, *thread_->getArg(1), threads);
        for (Barrier& barrier : barriers_)
            if (!plan.reached_together(barrier.call->getParent())) return false;
        for (Instruction& instruction : instructions(*thread_))
            if (plan.shape(&instruction).is_uniform()) uniform_.insert(&instruction);
        for (Barrier& barrier : barriers_) cut(barrier);
        return true;
    }

    // What some threads never computed must not take the place of what others did: the cell of a
    // uniform value holds what the last thread says.
    void give_every_thread_values() {
        for (Instruction& instruction : instructions(thread_)) {
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
            barrier.result_cell = new_cell(4, 4);
            IRBuilder<> builder(&barrier.after->front());
            Value* place = builder.CreateConstInBoundsGEP1_64(
                builder.getInt8Ty(), thread_->getArg(4), barrier.result_cell);
            Value* result = builder.CreateAlignedLoad(builder.getInt32Ty(), place, Align(4));
            uniform_.insert(result);
            barrier.call->replaceAllUsesWith(result);
        }
    }

    uint64_t new_cell(uint64_t size, uint64_t align) {
        cells_ = alignTo(cells_, Align(align));
        uint64_t place = cells_;
        cells_ += size;
        return place;
    }

    // What follows from indices and arguments is computed at the start of every region.
    void collect_common() {
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
    }

    Value* array_element(IRBuilder<>& builder, uint64_t before, uint64_t size) {
        Value* row = builder.CreateInBoundsGEP(builder.getInt8Ty(), scratch_,
                                               builder.CreateMul(row_, builder.getInt64(before)));
        return builder.CreateInBoundsGEP(
            builder.getInt8Ty(), row,
            builder.CreateMul(linear_, builder.getInt64(size), "", true, true));
    }

    // Nothing else touches the arrays of what is carried over: loads of other memory stay valid.
    void of_carried(Instruction& access) {
        access.setMetadata(LLVMContext::MD_noalias, nullptr);
        access.setMetadata(LLVMContext::MD_alias_scope, carried_scope_);
    }

    void mark_other_accesses() {
        MDBuilder builder(context_);
        MDNode* domain = builder.createAnonymousAliasScopeDomain("regions");
        carried_scope_ =
            MDNode::get(context_, {builder.createAnonymousAliasScope(domain, "carried")});
        for (Instruction& instruction : instructions(thread_))
            if (isa<LoadInst, StoreInst>(instruction))
                instruction.setMetadata(
                    LLVMContext::MD_noalias,
                    MDNode::concatenate(instruction.getMetadata(LLVMContext::MD_noalias),
                                        carried_scope_));
    }

    // Private arrays live as long as the block: threads leave and come back.
    void place_arrays() {
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

    // Values that are alive after a barrier become slots, which each region fills and saves.
    void find_carried() {
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
            Carried carried;
            carried.type = value->getType();
            carried.uniform = uniform_.contains(value);
            uint64_t size = data_.getTypeAllocSize(carried.type);
            if (carried.uniform) {
                carried.place = new_cell(
                    size, std::max<uint64_t>(8, data_.getABITypeAlign(carried.type).value()));
            } else {
                carried.place = per_thread_;
                per_thread_ += size;
            }
            carried.slot = DemoteRegToStack(*value, false, common_->begin());
            for (unsigned i : where) barriers_[i].live.push_back(unsigned(carried_.size()));
            carried_.push_back(carried);
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

    Value* cell(IRBuilder<>& builder, Function& function, unsigned argument, uint64_t place) {
        return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), function.getArg(argument),
                                                  place);
    }

    // Region 0 begins at the start, region i + 1 after barrier i. Gives the barriers it ends at;
    // `ends`: a thread may return in it.
    Function* make_region(unsigned number, SmallVectorImpl<unsigned>& exits, bool& ends) {
        ValueToValueMapTy map;
        Function* region = CloneFunction(thread_, map);
        copies_.push_back(region);
        region->setName(symbol_ + ".region");
        auto copy = [&](Value* value) { return cast<Value>(map[value]); };
        auto* common = cast<BasicBlock>(copy(common_));
        IRBuilder<> builder(common->getTerminator());
        auto address = [&](const Carried& carried, unsigned cells) -> Value* {
            if (carried.uniform) return cell(builder, *region, cells, carried.place);
            uint64_t size = data_.getTypeAllocSize(carried.type);
            Value* row = builder.CreateInBoundsGEP(
                builder.getInt8Ty(), copy(scratch_),
                builder.CreateMul(copy(row_), builder.getInt64(carried.place)));
            return builder.CreateInBoundsGEP(
                builder.getInt8Ty(), row,
                builder.CreateMul(copy(linear_), builder.getInt64(size), "", true, true));
        };
        auto in_memory = [&](Type* type) {
            return type->isIntegerTy(1) ? builder.getInt8Ty() : type;
        };
        if (number > 0) {
            Barrier& start = barriers_[number - 1];
            for (unsigned i : start.live) {
                const Carried& carried = carried_[i];
                Value* value =
                    builder.CreateAlignedLoad(in_memory(carried.type), address(carried, 4),
                                              data_.getABITypeAlign(in_memory(carried.type)));
                if (value->getType() != carried.type)
                    value = builder.CreateTrunc(value, carried.type);
                builder.CreateStore(value, copy(carried.slot));
            }
            auto* jump = cast<BranchInst>(common->getTerminator());
            jump->getSuccessor(0)->removePredecessor(common);
            jump->setSuccessor(0, cast<BasicBlock>(copy(start.after)));
        }
        SmallPtrSet<Instruction*, 8> at_barrier;
        for (unsigned j = 0; j < barriers_.size(); ++j) {
            auto* call = cast<CallInst>(copy(barriers_[j].call));
            BasicBlock* block = call->getParent();
            builder.SetInsertPoint(call);
            for (unsigned i : barriers_[j].live) {
                const Carried& carried = carried_[i];
                Value* value = builder.CreateLoad(carried.type, copy(carried.slot));
                Type* type = in_memory(carried.type);
                if (type != carried.type) value = builder.CreateZExt(value, type);
                StoreInst* store = builder.CreateAlignedStore(value, address(carried, 5),
                                                              data_.getABITypeAlign(type));
                if (!carried.uniform) of_carried(*store);
            }
            if (barriers_[j].predicate != nullptr) {
                Value* yes =
                    builder.CreateICmpNE(call->getArgOperand(0),
                                         Constant::getNullValue(call->getArgOperand(0)->getType()));
                builder.CreateAtomicRMW(AtomicRMWInst::Add, region->getArg(6),
                                        builder.CreateZExt(yes, builder.getInt32Ty()), Align(4),
                                        AtomicOrdering::Monotonic);
            }
            note_exit(builder, *region, 1u << j);
            at_barrier.insert(builder.CreateRetVoid());
            for (BasicBlock* next : successors(block)) next->removePredecessor(block);
            while (&block->back() != call) block->back().eraseFromParent();
            call->replaceAllUsesWith(PoisonValue::get(call->getType()));
            call->eraseFromParent();
        }
        SmallVector<ReturnInst*, 2> leaving;
        removeUnreachableBlocks(*region);
        for (BasicBlock& block : *region) {
            auto* leave = dyn_cast<ReturnInst>(block.getTerminator());
            if (leave != nullptr && !at_barrier.contains(leave)) leaving.push_back(leave);
        }
        for (ReturnInst* leave : leaving) {
            builder.SetInsertPoint(leave);
            note_exit(builder, *region, kEnd);
            ends = true;
        }
        if (kernel_needs_thread(*region)) {
            builder.SetInsertPoint(common->getTerminator());
            StoreInst* store = builder.CreateAlignedStore(
                builder.CreateTrunc(copy(linear_), builder.getInt32Ty()),
                context_field(builder, region->getArg(0), offsetof(BlockContext, thread_linear)),
                Align(4));
            store->setMetadata(kThreadMark, MDNode::get(context_, {}));
        }
        for (unsigned j = 0; j < barriers_.size(); ++j) {
            // Blocks that are gone are null in the map.
            WeakTrackingVH handle = map[barriers_[j].before];
            auto* block = dyn_cast_or_null<BasicBlock>(static_cast<Value*>(handle));
            if (block != nullptr && block->getParent() == region) exits.push_back(j);
        }
        return region;
    }

    // One bit for each way in which threads have left the region: more than one is a fault.
    void note_exit(IRBuilder<>& builder, Function& region, uint32_t bit) {
        Value* place = cell(builder, region, 5, kExitsCell);
        Value* exits = builder.CreateAlignedLoad(builder.getInt32Ty(), place, Align(4));
        builder.CreateAlignedStore(builder.CreateOr(exits, builder.getInt32(bit)), place, Align(4));
    }

    Function* make_block() {
        Function* function = Function::Create(
            FunctionType::get(Type::getVoidTy(context_), {PointerType::get(context_, 0)}, false),
            GlobalValue::ExternalLinkage, symbol_, module_);
        function->setAttributes(AttributeList().addFnAttributes(
            context_, AttrBuilder(context_, kernel_.getAttributes().getFnAttrs())));
        function->addFnAttr(Attribute::NoUnwind);
        function->removeFnAttr(Attribute::Memory);
        function->addParamAttr(0, Attribute::NoAlias);
        function->addDereferenceableParamAttr(0, sizeof(BlockContext));
        function->addParamAttr(0, Attribute::getWithAlignment(context_, Align(8)));
        IRBuilder<> builder(BasicBlock::Create(context_, "entry", function));
        BlockValues values = block_values(builder, *function);
        AllocaInst* cells[3];
        for (AllocaInst*& set : cells) {
            uint64_t size = &set == &cells[2] ? 4 : alignTo(cells_, 16);
            set = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), size), nullptr, "cells");
            set->setAlignment(Align(16));
            builder.CreateMemSet(set, builder.getInt8(0), size, Align(16));
        }
        std::vector<BasicBlock*> starts;
        for (unsigned i = 0; i <= barriers_.size(); ++i)
            starts.push_back(BasicBlock::Create(context_, "region", function));
        auto* done = BasicBlock::Create(context_, "done", function);
        ReturnInst::Create(context_, done);
        builder.CreateBr(starts[0]);
        std::vector<CallInst*> calls;
        bool in_lanes = true;
        for (unsigned i = 0; i <= barriers_.size(); ++i) {
            SmallVector<unsigned, 4> exits;
            bool ends = false;
            Function* region = make_region(i, exits, ends);
            optimizer_.simplify(*region);
            optimizer_.optimize(*region);
            builder.SetInsertPoint(starts[i]);
            builder.CreateAlignedStore(builder.getInt32(0), field(builder, cells[1], kExitsCell),
                                       Align(4));
            const bool waits = has_warp_operation(*region);
            const bool fits =
                loop_over_threads(builder, values, *region, waits ? kWarp : lanes_, cells, calls);
            if (waits && !fits) {
                function->eraseFromParent();
                return nullptr;
            }
            in_lanes &= fits;
            dispatch(builder, values, cells, starts, done, exits, ends);
        }
        for (CallInst* call : calls) {
            InlineFunctionInfo info;
            InlineResult result = InlineFunction(*call, info);
            TRILANE_CHECK(result.isSuccess(), "{}: {}", symbol_, result.getFailureReason());
        }
        lowered_.narrow_axes = narrow_;
        lowered_.scratch_bytes = per_thread_;
        lowered_.lanes = !in_lanes ? 1 : has_warps_ ? kWarp : lanes_;
        return function;
    }

    // The builder goes on behind the loops. False if the region runs one thread at a time.
    bool loop_over_threads(IRBuilder<>& builder, const BlockValues& values, Function& region,
                           unsigned lanes, AllocaInst* const* cells,
                           std::vector<CallInst*>& calls) {
        prepare_for_lanes(region, optimizer_);
        std::string why;
        Function* part = nullptr;
        LaneVector kind{lanes, true, {}, {}};
        kind.zeros.resize(region.arg_size());
        if (isPowerOf2_32(lanes)) kind.zeros[1] = Log2_32(lanes);
        Function* full = put_into_lanes(region, 1, kind, symbol_ + ".full", why);
        kind.full = false;
        // Rows of whole warps have no rest.
        const bool always_full = has_warps_ && kWarp % lanes == 0;
        if (full != nullptr) copies_.push_back(full);
        if (full != nullptr && !always_full) {
            part = put_into_lanes(region, 1, kind, symbol_ + ".part", why);
            if (part != nullptr) copies_.push_back(part);
        }
        const bool fits = full != nullptr && (always_full || part != nullptr);
        if (core::env_flag("TRILANE_DUMP_LANES")) {
            errs() << "region in " << lanes << " lanes: " << (fits ? "yes" : why) << "\n" << region;
            if (fits) errs() << *full;
        }
        if (!fits) {
            ThreadLoops nest = make_thread_loops(builder, values);
            builder.SetInsertPoint(nest.body->getTerminator());
            calls.push_back(builder.CreateCall(
                &region, {values.context, nest.x, nest.y, nest.z, cells[0], cells[1], cells[2]}));
            builder.SetInsertPoint(nest.exit);
            return false;
        }
        make_vector_loops(builder, values, *full, part, lanes, cells, calls);
        return true;
    }

    // For blocks with rows y is innermost: what depends on x only is loaded once for a column of
    // vectors. Without `part` there is no rest.
    void make_vector_loops(IRBuilder<>& builder, const BlockValues& values, Function& full,
                           Function* part, unsigned lanes, AllocaInst* const* cells,
                           std::vector<CallInst*>& calls) {
        Function* function = builder.GetInsertBlock()->getParent();
        auto block = [&](const char* name) { return BasicBlock::Create(context_, name, function); };
        BasicBlock *head = block("vectors"), *whole = block("vector"), *rest = block("rest");
        CountedLoop z = make_counted_loop(builder.GetInsertBlock(), values.block_dim[2], "z"), y;
        BasicBlock *before = z.header, *after = z.latch;
        if (!has_rows_) {
            y = make_counted_loop(z.header, values.block_dim[1], "y");
            BranchInst::Create(z.latch, y.exit);
            before = y.header;
            after = y.latch;
        }
        BranchInst::Create(head, before);
        builder.SetInsertPoint(head);
        PHINode* x = builder.CreatePHI(builder.getInt32Ty(), 2, "x");
        x->addIncoming(builder.getInt32(0), before);
        Value* next = builder.CreateAdd(x, builder.getInt32(lanes), "", true, true);
        builder.CreateCondBr(builder.CreateICmpULE(next, values.block_dim[0]), whole, rest);
        // Where the vectors at one x end.
        auto vectors = [&](BasicBlock* from, Function& body, Value* active, BasicBlock* to) {
            CountedLoop rows = y;
            BasicBlock* place = from;
            if (has_rows_) {
                rows = make_counted_loop(from, values.block_dim[1], "y");
                BranchInst::Create(to, rows.exit);
                place = rows.header;
                to = rows.latch;
            }
            builder.SetInsertPoint(place);
            SmallVector<Value*, 8> arguments{values.context, x,        rows.index, z.index,
                                             cells[0],       cells[1], cells[2]};
            if (active != nullptr) arguments.push_back(active);
            calls.push_back(builder.CreateCall(&body, arguments));
            builder.CreateBr(to);
            return has_rows_ ? rows.exit : place;
        };
        x->addIncoming(next, vectors(whole, full, nullptr, head));
        builder.SetInsertPoint(rest);
        if (part != nullptr) {
            BasicBlock* tail = block("tail");
            builder.CreateCondBr(builder.CreateICmpULT(x, values.block_dim[0]), tail, after);
            builder.SetInsertPoint(tail);
            vectors(tail, *part, builder.CreateSub(values.block_dim[0], x), after);
        } else {
            builder.CreateBr(after);
        }
        builder.SetInsertPoint(z.exit);
    }

    Value* field(IRBuilder<>& builder, Value* cells, uint64_t place) {
        return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), cells, place);
    }

    void dispatch(IRBuilder<>& builder, const BlockValues& values, AllocaInst* const* cells,
                  const std::vector<BasicBlock*>& starts, BasicBlock* done,
                  ArrayRef<unsigned> exits, bool ends) {
        Function* function = done->getParent();
        BasicBlock* from = builder.GetInsertBlock();
        std::vector<BasicBlock*> ways;
        for (unsigned j : exits) {
            auto* way = BasicBlock::Create(context_, "barrier", function);
            builder.SetInsertPoint(way);
            const Barrier& barrier = barriers_[j];
            for (unsigned i : barrier.live) {
                const Carried& carried = carried_[i];
                if (!carried.uniform) continue;
                Type* type = carried.type->isIntegerTy(1) ? builder.getInt8Ty() : carried.type;
                Align align = data_.getABITypeAlign(type);
                builder.CreateAlignedStore(
                    builder.CreateAlignedLoad(type, field(builder, cells[1], carried.place), align),
                    field(builder, cells[0], carried.place), align);
            }
            if (barrier.predicate != nullptr) finish_count(builder, values, cells, barrier);
            builder.CreateBr(starts[j + 1]);
            ways.push_back(way);
        }
        builder.SetInsertPoint(from);
        if (ways.empty()) {
            builder.CreateBr(done);
            return;
        }
        if (ways.size() == 1 && !ends) {
            builder.CreateBr(ways[0]);
            return;
        }
        auto* parted = BasicBlock::Create(context_, "parted", function);
        Value* exit = builder.CreateAlignedLoad(builder.getInt32Ty(),
                                                field(builder, cells[1], kExitsCell), Align(4));
        SwitchInst* choice = builder.CreateSwitch(exit, parted, unsigned(ways.size()) + 1);
        for (size_t i = 0; i < ways.size(); ++i)
            choice->addCase(builder.getInt32(1u << exits[i]), ways[i]);
        if (ends) choice->addCase(builder.getInt32(kEnd), done);
        builder.SetInsertPoint(parted);
        builder.CreateCall(module_.getOrInsertFunction(
            "__trl_rt_parted", FunctionType::get(builder.getVoidTy(), {}, false)));
        builder.CreateBr(done);
    }

    void finish_count(IRBuilder<>& builder, const BlockValues& values, AllocaInst* const* cells,
                      const Barrier& barrier) {
        Value* place = field(builder, cells[2], 0);
        Value* count = builder.CreateAlignedLoad(builder.getInt32Ty(), place, Align(4));
        builder.CreateAlignedStore(builder.getInt32(0), place, Align(4));
        Value* result = count;
        if (barrier.kind == Suspend::BarrierAnd) {
            Value* threads = builder.CreateMul(
                builder.CreateMul(values.block_dim[0], values.block_dim[1]), values.block_dim[2]);
            result = builder.CreateZExt(builder.CreateICmpEQ(count, threads), builder.getInt32Ty());
        } else if (barrier.kind == Suspend::BarrierOr) {
            result = builder.CreateZExt(builder.CreateICmpNE(count, builder.getInt32(0)),
                                        builder.getInt32Ty());
        }
        builder.CreateAlignedStore(result, field(builder, cells[0], barrier.result_cell), Align(4));
    }

    static constexpr uint64_t kExitsCell = 0;
    static constexpr uint32_t kEnd = 1u << 31;
    Function& kernel_;
    const SharedLayout& layout_;
    const std::string symbol_;
    Optimizer& optimizer_;
    const unsigned lanes_;
    bool has_warps_ = false;  // warp operations: the block's size along x is a multiple of kWarp
    LoweredKernel& lowered_;
    Module& module_;
    LLVMContext& context_;
    const DataLayout& data_;
    Function* thread_ = nullptr;
    std::vector<Function*> copies_;
    Value *row_ = nullptr, *scratch_ = nullptr, *linear_ = nullptr;
    CallInst* keep_ = nullptr;
    bool has_rows_ = false;  // the kernel asks for threadIdx.y
    BasicBlock* common_ = nullptr;
    MDNode* carried_scope_ = nullptr;
    std::vector<Barrier> barriers_;
    std::vector<Carried> carried_;
    SmallPtrSet<Value*, 32> uniform_;
    uint64_t cells_ = 8, per_thread_ = 0;
    uint32_t narrow_ = 0;
};

}  // namespace

Function* build_region_shape(Function& kernel, const SharedLayout& layout,
                             const std::string& symbol, Optimizer& optimizer, unsigned lanes,
                             LoweredKernel& lowered) {
    return RegionBuilder(kernel, layout, symbol, optimizer, lanes, lowered).run();
}

}  // namespace trilane::cpu
