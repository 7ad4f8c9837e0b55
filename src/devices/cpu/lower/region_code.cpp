// Writing the regions of a kernel, and the block's function that runs them one after another.
#include "devices/cpu/lower/region_builder.h"

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
#include "devices/cpu/lower/suspends.h"
#include "devices/cpu/lower/waiting.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

using namespace llvm;

Value* RegionBuilder::cell(IRBuilder<>& builder, Function& function, unsigned argument,
                           uint64_t place) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), function.getArg(argument),
                                              place);
}

Function* RegionBuilder::make_region(unsigned number, SmallVectorImpl<unsigned>& exits,
                                     bool& ends) {
    ValueToValueMapTy map;
    Function* region = CloneFunction(thread_, map);
    copies_.push_back(region);
    region->setName(symbol_ + ".region");
    auto copy = [&](Value* value) { return cast<Value>(map[value]); };
    auto* common = cast<BasicBlock>(copy(common_));
    IRBuilder<> builder(common->getTerminator());
    auto address = [&](const RegionValue& carried, unsigned cells) -> Value* {
        if (carried.uniform) return cell(builder, *region, cells, carried.place);
        uint64_t size = data_.getTypeAllocSize(carried.type);
        Value* row = builder.CreateInBoundsGEP(
            builder.getInt8Ty(), copy(scratch_),
            builder.CreateMul(copy(row_), builder.getInt64(carried.place)));
        return builder.CreateInBoundsGEP(
            builder.getInt8Ty(), row,
            builder.CreateMul(copy(linear_), builder.getInt64(size), "", true, true));
    };
    auto in_memory = [&](Type* type) { return type->isIntegerTy(1) ? builder.getInt8Ty() : type; };
    if (number > 0) {
        RegionBarrier& start = barriers_[number - 1];
        for (unsigned i : start.live) {
            const RegionValue& carried = carried_[i];
            Value* value =
                builder.CreateAlignedLoad(in_memory(carried.type), address(carried, 4),
                                          data_.getABITypeAlign(in_memory(carried.type)));
            if (value->getType() != carried.type) value = builder.CreateTrunc(value, carried.type);
            builder.CreateStore(value, copy(carried.slot));
        }
        auto* jump = cast<BranchInst>(common->getTerminator());
        jump->getSuccessor(0)->removePredecessor(common);
        jump->setSuccessor(0, cast<BasicBlock>(copy(start.after)));
    }
    for (unsigned j = 0; j < barriers_.size(); ++j) {
        auto* call = cast<CallInst>(copy(barriers_[j].call));
        BasicBlock* block = call->getParent();
        builder.SetInsertPoint(call);
        for (unsigned i : barriers_[j].live) {
            const RegionValue& carried = carried_[i];
            Value* value = builder.CreateLoad(carried.type, copy(carried.slot));
            Type* type = in_memory(carried.type);
            if (type != carried.type) value = builder.CreateZExt(value, type);
            builder.CreateAlignedStore(value, address(carried, 5), data_.getABITypeAlign(type));
        }
        if (barriers_[j].predicate != nullptr) {
            Value* yes = builder.CreateICmpNE(
                call->getArgOperand(0), Constant::getNullValue(call->getArgOperand(0)->getType()));
            builder.CreateAtomicRMW(AtomicRMWInst::Add, cell(builder, *region, 5, kCountCell),
                                    builder.CreateZExt(yes, builder.getInt32Ty()), Align(4),
                                    AtomicOrdering::Monotonic);
        }
        builder.CreateAlignedStore(builder.getInt32(j + 1), cell(builder, *region, 5, kNextCell),
                                   Align(4));
        builder.CreateRetVoid();
        for (BasicBlock* next : successors(block)) next->removePredecessor(block);
        while (&block->back() != call) block->back().eraseFromParent();
        call->replaceAllUsesWith(PoisonValue::get(call->getType()));
        call->eraseFromParent();
    }
    mark_end(*region);
    removeUnreachableBlocks(*region);
    for (BasicBlock& block : *region)
        for (Instruction& instruction : block)
            if (auto* store = dyn_cast<StoreInst>(&instruction);
                store != nullptr && store->hasMetadata(kNextMark)) {
                ends = true;
            }
    for (unsigned j = 0; j < barriers_.size(); ++j) {
        // Blocks that are gone are null in the map.
        WeakTrackingVH handle = map[barriers_[j].before];
        auto* block = dyn_cast_or_null<BasicBlock>(static_cast<Value*>(handle));
        if (block != nullptr && block->getParent() == region) exits.push_back(j);
    }
    return region;
}

void RegionBuilder::mark_end(Function& region) {
    for (BasicBlock& block : region) {
        auto* leave = dyn_cast<ReturnInst>(block.getTerminator());
        if (leave == nullptr) continue;
        auto* before = leave->getPrevNode();
        auto* store = dyn_cast_or_null<StoreInst>(before);
        if (store != nullptr && is_next_cell(region, store->getPointerOperand())) continue;
        IRBuilder<> builder(leave);
        StoreInst* end = builder.CreateAlignedStore(builder.getInt32(0),
                                                    cell(builder, region, 5, kNextCell), Align(4));
        end->setMetadata(kNextMark, MDNode::get(context_, {}));
    }
}

bool RegionBuilder::is_next_cell(Function& region, Value* pointer) {
    return pointer->stripPointerCasts() == region.getArg(5);
}

// void symbol(BlockContext*), which finds the block's memory.
void RegionBuilder::make_entry(Function& regions) {
    Function* entry = Function::Create(
        FunctionType::get(Type::getVoidTy(context_), {PointerType::get(context_, 0)}, false),
        GlobalValue::ExternalLinkage, symbol_, module_);
    entry->setAttributes(AttributeList().addFnAttributes(
        context_, AttrBuilder(context_, regions.getAttributes().getFnAttrs())));
    IRBuilder<> builder(BasicBlock::Create(context_, "entry", entry));
    Value* scratch = builder.CreateAlignedLoad(
        builder.getPtrTy(),
        context_field(builder, entry->getArg(0), offsetof(BlockContext, scratch)), Align(8));
    builder.CreateCall(&regions, {entry->getArg(0), scratch});
    builder.CreateRetVoid();
}

Function* RegionBuilder::make_block() {
    Type* pointer = PointerType::get(context_, 0);
    // A function of its own, since what threads carry over has no other name: nothing else in the
    // kernel reads or writes it. An argument can say so.
    Function* function =
        Function::Create(FunctionType::get(Type::getVoidTy(context_), {pointer, pointer}, false),
                         GlobalValue::InternalLinkage, symbol_ + ".regions", module_);
    function->setAttributes(AttributeList().addFnAttributes(
        context_, AttrBuilder(context_, kernel_.getAttributes().getFnAttrs())));
    function->addFnAttr(Attribute::NoUnwind);
    function->removeFnAttr(Attribute::Memory);
    function->addParamAttr(0, Attribute::NoAlias);
    function->addParamAttr(1, Attribute::NoAlias);
    make_entry(*function);
    IRBuilder<> builder(BasicBlock::Create(context_, "entry", function));
    BlockValues values = load_block_values(builder, function->getArg(0));
    AllocaInst* cells[2];
    for (AllocaInst*& set : cells) {
        set = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), alignTo(cells_, 16)),
                                   nullptr, "cells");
        set->setAlignment(Align(16));
        builder.CreateMemSet(set, builder.getInt8(0), alignTo(cells_, 16), Align(16));
    }
    std::vector<BasicBlock*> starts;
    for (unsigned i = 0; i <= barriers_.size(); ++i)
        starts.push_back(BasicBlock::Create(context_, "region", function));
    auto* done = BasicBlock::Create(context_, "done", function);
    ReturnInst::Create(context_, done);
    builder.CreateBr(starts[0]);
    std::vector<CallInst*> calls;
    for (unsigned i = 0; i <= barriers_.size(); ++i) {
        SmallVector<unsigned, 4> exits;
        bool ends = false;
        Function* region = make_region(i, exits, ends);
        optimizer_.simplify(*region);
        optimizer_.optimize(*region);
        prepare_for_lanes(*region, optimizer_);
        builder.SetInsertPoint(starts[i]);
        run_threads(builder, values, *region, cells, calls);
        dispatch(builder, values, cells, starts, done, exits, ends);
    }
    for (CallInst* call : calls) {
        InlineFunctionInfo info;
        InlineResult result = InlineFunction(*call, info);
        TRILANE_CHECK(result.isSuccess(), "{}: {}", symbol_, result.getFailureReason());
    }
    lowered_.narrow_axes = narrow_;
    lowered_.scratch_bytes = per_thread_;
    return function;
}

void RegionBuilder::run_threads(IRBuilder<>& builder, const BlockValues& values, Function& region,
                                AllocaInst* const* cells, std::vector<CallInst*>& calls) {
    std::string why;
    Function* full = put_into_lanes(region, kThreadX, lanes_, true, "region.full", why);
    Function* part = nullptr;
    if (full != nullptr) {
        copies_.push_back(full);
        part = put_into_lanes(region, kThreadX, lanes_, false, "region.part", why);
        if (part != nullptr) copies_.push_back(part);
    }
    if (core::env_flag("TRILANE_DUMP_LANES")) {
        errs() << "region in " << lanes_ << " lanes: " << (part != nullptr ? "yes" : why) << "\n"
               << region;
        if (part != nullptr) errs() << *full;
    }
    Value* scratch = builder.GetInsertBlock()->getParent()->getArg(1);
    auto call = [&](Function& function, Value* x, Value* y, Value* z, Value* active) {
        SmallVector<Value*, 8> arguments{values.context, x, y, z, cells[0], cells[1], scratch};
        if (active != nullptr) arguments.push_back(active);
        calls.push_back(builder.CreateCall(&function, arguments));
    };
    if (part == nullptr) {
        ThreadLoops nest = make_thread_loops(builder, values);
        builder.SetInsertPoint(nest.body->getTerminator());
        call(region, nest.x, nest.y, nest.z, nullptr);
        builder.SetInsertPoint(nest.exit);
        return;
    }
    if (full->getInstructionCount() <= kMostInRows)
        run_rows_together(builder, values, [&](Value* y, Value* z) {
            call(*full, builder.getInt32(0), y, z, nullptr);
        });
    ThreadLoops nest = make_row_loops(builder, values);
    Function& function = *nest.body->getParent();
    auto block = [&](const char* name) { return BasicBlock::Create(context_, name, &function); };
    BasicBlock *head = block("vectors"), *whole = block("vector"), *rest = block("rest"),
               *tail = block("tail");
    BasicBlock* after = nest.body->getSingleSuccessor();
    nest.body->getTerminator()->setSuccessor(0, head);
    builder.SetInsertPoint(head);
    PHINode* x = builder.CreatePHI(builder.getInt32Ty(), 2, "x");
    x->addIncoming(builder.getInt32(0), nest.body);
    Value* next = builder.CreateAdd(x, builder.getInt32(lanes_), "", true, true);
    builder.CreateCondBr(builder.CreateICmpULE(next, values.block_dim[0]), whole, rest);
    builder.SetInsertPoint(whole);
    call(*full, x, nest.y, nest.z, nullptr);
    builder.CreateBr(head);
    x->addIncoming(next, whole);
    builder.SetInsertPoint(rest);
    builder.CreateCondBr(builder.CreateICmpULT(x, values.block_dim[0]), tail, after);
    builder.SetInsertPoint(tail);
    call(*part, x, nest.y, nest.z, builder.CreateSub(values.block_dim[0], x));
    builder.CreateBr(after);
    builder.SetInsertPoint(nest.exit);
    if (after_rows_ == nullptr) return;
    builder.CreateBr(after_rows_);
    builder.SetInsertPoint(after_rows_);
    after_rows_ = nullptr;
}

// Rows of exactly W threads, several at a time: what they read alike is then read once. The builder
// goes on where the rows are others.
void RegionBuilder::run_rows_together(IRBuilder<>& builder, const BlockValues& values,
                                      function_ref<void(Value* y, Value* z)> run_row) {
    Function& function = *builder.GetInsertBlock()->getParent();
    auto block = [&](const char* name) { return BasicBlock::Create(context_, name, &function); };
    BasicBlock *other = block("other.rows"), *planes = block("planes"), *rows = block("rows"),
               *rest = block("rows.rest"), *single = block("row"), *next = block("plane.end");
    after_rows_ = block("rows.done");
    Value* zero = builder.getInt32(0);
    BasicBlock* before = builder.GetInsertBlock();
    Value* end = builder.CreateAnd(values.block_dim[1], builder.getInt32(~(kRows - 1)));
    Value* suits =
        builder.CreateAnd(builder.CreateICmpEQ(values.block_dim[0], builder.getInt32(lanes_)),
                          builder.CreateICmpNE(end, zero));
    builder.CreateCondBr(suits, planes, other);

    builder.SetInsertPoint(planes);
    PHINode* z = builder.CreatePHI(builder.getInt32Ty(), 2, "z");
    z->addIncoming(zero, before);
    builder.CreateBr(rows);
    builder.SetInsertPoint(rows);
    PHINode* y = builder.CreatePHI(builder.getInt32Ty(), 2, "y");
    y->addIncoming(zero, planes);
    for (unsigned i = 0; i < kRows; ++i)
        run_row(builder.CreateAdd(y, builder.getInt32(i), "", true, true), z);
    Value* y_next = builder.CreateAdd(y, builder.getInt32(kRows), "", true, true);
    y->addIncoming(y_next, rows);
    builder.CreateCondBr(builder.CreateICmpULT(y_next, end), rows, rest);
    builder.SetInsertPoint(rest);
    PHINode* last = builder.CreatePHI(builder.getInt32Ty(), 2, "y");
    last->addIncoming(end, rows);
    builder.CreateCondBr(builder.CreateICmpULT(last, values.block_dim[1]), single, next);
    builder.SetInsertPoint(single);
    run_row(last, z);
    last->addIncoming(builder.CreateAdd(last, builder.getInt32(1), "", true, true), single);
    builder.CreateBr(rest);
    builder.SetInsertPoint(next);
    Value* z_next = builder.CreateAdd(z, builder.getInt32(1), "", true, true);
    z->addIncoming(z_next, next);
    builder.CreateCondBr(builder.CreateICmpULT(z_next, values.block_dim[2]), planes, after_rows_);
    builder.SetInsertPoint(other);
}

Value* RegionBuilder::field(IRBuilder<>& builder, Value* cells, uint64_t place) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), cells, place);
}

void RegionBuilder::dispatch(IRBuilder<>& builder, const BlockValues& values,
                             AllocaInst* const* cells, const std::vector<BasicBlock*>& starts,
                             BasicBlock* done, ArrayRef<unsigned> exits, bool ends) {
    Function* function = done->getParent();
    BasicBlock* from = builder.GetInsertBlock();
    std::vector<BasicBlock*> ways;
    for (unsigned j : exits) {
        auto* way = BasicBlock::Create(context_, "barrier", function);
        builder.SetInsertPoint(way);
        const RegionBarrier& barrier = barriers_[j];
        for (unsigned i : barrier.live) {
            const RegionValue& carried = carried_[i];
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
    } else if (ways.size() == 1 && !ends) {
        builder.CreateBr(ways[0]);
    } else {
        Value* next = builder.CreateAlignedLoad(builder.getInt32Ty(),
                                                field(builder, cells[1], kNextCell), Align(4));
        SwitchInst* choice = builder.CreateSwitch(next, done, unsigned(ways.size()));
        for (size_t i = 0; i < ways.size(); ++i)
            choice->addCase(builder.getInt32(exits[i] + 1), ways[i]);
    }
}

void RegionBuilder::finish_count(IRBuilder<>& builder, const BlockValues& values,
                                 AllocaInst* const* cells, const RegionBarrier& barrier) {
    Value* place = field(builder, cells[1], kCountCell);
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

}  // namespace trilane::cpu
