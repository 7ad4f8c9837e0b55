// Blocks in the plan's order, masks, pending lanes.
#include <llvm/IR/CFG.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "core/error.h"
#include "devices/cpu/lanes/emitter.h"

namespace trilane::cpu {

using namespace llvm;

LaneEmitter::LaneEmitter(Function& scalar, const LanePlan& plan, Function& vector, unsigned lanes,
                         bool full)
    : scalar_function_(scalar),
      plan_(plan),
      vector_function_(vector),
      lanes_(lanes),
      full_(full),
      context_(scalar.getContext()),
      data_(scalar.getParent()->getDataLayout()),
      builder_(context_) {}

void LaneEmitter::run() {
    make_blocks();
    for (BasicBlock* block : plan_.order()) emit_block(*block);
    builder_.SetInsertPoint(prologue_);
    builder_.CreateBr(blocks_[plan_.order().front()].body);
    DominatorTree dominators(vector_function_);
    std::vector<AllocaInst*> promoted;
    for (AllocaInst* slot : registers_) {
        TRILANE_CHECK(isAllocaPromotable(slot), "a register of the lanes is used as memory");
        promoted.push_back(slot);
    }
    PromoteMemToReg(promoted, dominators);
}

void LaneEmitter::make_blocks() {
    prologue_ = BasicBlock::Create(context_, "lanes", &vector_function_);
    builder_.SetInsertPoint(prologue_);
    Type* mask_type = FixedVectorType::get(builder_.getInt1Ty(), lanes_);
    if (full_) {
        entry_mask_ = Constant::getAllOnesValue(mask_type);
    } else {
        Argument* count = vector_function_.getArg(unsigned(vector_function_.arg_size()) - 1);
        SmallVector<Constant*, 32> numbers;
        for (unsigned i = 0; i < lanes_; ++i) numbers.push_back(builder_.getInt32(i));
        entry_mask_ = builder_.CreateICmpULT(ConstantVector::get(numbers),
                                             builder_.CreateVectorSplat(lanes_, count));
    }
    for (BasicBlock* block : plan_.order()) {
        Block& made = blocks_[block];
        made.active = entry_alloca(mask_type, block->getName() + ".active");
        if (plan_.deferred(block)) {
            made.pending = entry_alloca(mask_type, block->getName() + ".pending");
            builder_.CreateStore(Constant::getNullValue(mask_type), made.pending);
            made.test = BasicBlock::Create(context_, block->getName() + ".test", &vector_function_);
        }
        made.body = BasicBlock::Create(context_, block->getName(), &vector_function_);
    }
    builder_.CreateStore(entry_mask_, blocks_[plan_.order().front()].active);
}

Value* LaneEmitter::any(Value* mask) {
    if (auto* constant = dyn_cast<Constant>(mask))
        if (constant->isAllOnesValue()) return builder_.getTrue();
    return builder_.CreateICmpNE(bits(mask), Constant::getNullValue(builder_.getIntNTy(lanes_)));
}

Value* LaneEmitter::bits(Value* mask) {
    return builder_.CreateBitCast(mask, builder_.getIntNTy(lanes_));
}

Value* LaneEmitter::both(Value* mask, Value* condition) {
    return builder_.CreateSelect(mask, condition, Constant::getNullValue(mask->getType()));
}

void LaneEmitter::emit_block(BasicBlock& block) {
    current_ = &block;
    scalars_.clear();
    vectors_.clear();
    emit_head(block);
    for (Instruction& instruction : block) {
        builder_.SetCurrentDebugLocation(instruction.getDebugLoc());
        if (!isa<PHINode>(instruction) && !instruction.isTerminator()) emit(instruction);
    }
    emit_end(block);
}

void LaneEmitter::emit_head(BasicBlock& block) {
    Block& made = blocks_[&block];
    Type* mask_type = entry_mask_->getType();
    bool leaves = isa<ReturnInst>(block.getTerminator());
    if (made.test != nullptr) {
        builder_.SetInsertPoint(made.test);
        if (leaves)
            builder_.CreateBr(made.body);  // whoever comes here has nothing else to do
        else
            emit_skip(block);
    }
    builder_.SetInsertPoint(made.body);
    if (made.pending != nullptr) {
        mask_ = builder_.CreateLoad(mask_type, made.pending);
        builder_.CreateStore(Constant::getNullValue(mask_type), made.pending);
        builder_.CreateStore(mask_, made.active);
    } else if (BasicBlock* same = plan_.equivalent(&block)) {
        mask_ = builder_.CreateLoad(mask_type, blocks_[same].active);
        builder_.CreateStore(mask_, made.active);
    } else {
        mask_ = builder_.CreateLoad(mask_type, made.active);
    }
    if (plan_.runs_all(&block)) mask_ = entry_mask_;
}

// In the block's test: nobody there means the next place where somebody may be.
void LaneEmitter::emit_skip(BasicBlock& block) {
    Block& made = blocks_[&block];
    Value* mask = builder_.CreateLoad(entry_mask_->getType(), made.pending);
    const Loop* loop = plan_.loops().getLoopFor(&block);
    for (BasicBlock* next : plan_.deferred_after(&block)) {
        // Who is there came by here, in this round: nobody did.
        BasicBlock* same = plan_.equivalent(next);
        bool this_round = loop == nullptr || loop->contains(next);
        if (this_round && plan_.dominators().dominates(&block, same != nullptr ? same : next))
            continue;
        if (!plan_.may_pend(next, &block)) continue;
        builder_.CreateCondBr(any(mask), made.body, blocks_[next].test);
        return;
    }
    builder_.CreateBr(made.body);  // no later place can hold a lane: they are here
}

void LaneEmitter::put_down(BasicBlock& to, Value* lanes) {
    if (plan_.equivalent(&to) != nullptr) return;  // the block that is equal to it does
    AllocaInst* pending = blocks_[&to].pending;
    Value* before = builder_.CreateLoad(entry_mask_->getType(), pending);
    builder_.CreateStore(builder_.CreateOr(before, lanes), pending);
}

// The first deferred block in order that has or may have pending lanes.
void LaneEmitter::jump_to_next(BasicBlock& from, ArrayRef<BasicBlock*> targets) {
    for (BasicBlock* next : plan_.deferred_after(&from)) {
        if (!is_contained(targets, next) && !plan_.may_pend(next, &from)) continue;
        BasicBlock* same = plan_.equivalent(next);
        bool certain = same != nullptr && plan_.dominators().dominates(same, &from);
        builder_.CreateBr(certain ? blocks_[next].body : blocks_[next].test);
        return;
    }
    throw NotInLanes{"lanes that part here meet nowhere"};
}

// Computes what the phis of `to` become, for the lanes that go there; nothing is stored yet, since
// the phis of both sides of a branch may read one another.
void LaneEmitter::collect_phi_values(BasicBlock& from, BasicBlock& to, Value* lanes, Moves& moves) {
    for (PHINode& phi : to.phis()) {
        Value* incoming = phi.getIncomingValueForBlock(&from);
        AllocaInst* place = slot(phi);
        if (plan_.shape(&phi).has_base()) {
            if (!isa<UndefValue>(incoming)) moves.push_back({place, scalar(incoming)});
            continue;
        }
        Value* value = vector(incoming);
        if (plan_.blends(phi) && !isa<Constant>(lanes))
            value = blended(lanes, value, builder_.CreateLoad(place->getAllocatedType(), place));
        moves.push_back({place, value});
    }
}

void LaneEmitter::store_phi_values(const Moves& moves) {
    for (auto& [place, value] : moves) builder_.CreateStore(value, place);
}

void LaneEmitter::emit_edge(BasicBlock& from, BasicBlock& to) {
    Moves moves;
    collect_phi_values(from, to, mask_, moves);
    store_phi_values(moves);
    Block& target = blocks_[&to];
    if (plan_.is_back_edge(&from, &to) || !plan_.deferred(&to)) {
        builder_.CreateStore(mask_, target.active);
        builder_.CreateBr(target.body);
        return;
    }
    put_down(to, mask_);
    jump_to_next(from, {&to});
}

void LaneEmitter::set_shortcut(const Guard& guard, Function& all) {
    guard_ = guard;
    shortcut_ = &all;
}

void LaneEmitter::emit_shortcut(Value* passing) {
    auto* all = BasicBlock::Create(context_, "all", &vector_function_);
    auto* some = BasicBlock::Create(context_, "some", &vector_function_);
    Value* everybody = Constant::getAllOnesValue(builder_.getIntNTy(lanes_));
    builder_.CreateCondBr(builder_.CreateICmpEQ(bits(passing), everybody), all, some);
    builder_.SetInsertPoint(all);
    SmallVector<Value*, 8> arguments;
    for (Argument& argument : vector_function_.args()) arguments.push_back(&argument);
    builder_.CreateCall(shortcut_, arguments);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(some);
}

void LaneEmitter::emit_parting(BasicBlock& block, BranchInst& branch) {
    Value* condition = vector(branch.getCondition());
    BasicBlock* sides[2] = {branch.getSuccessor(0), branch.getSuccessor(1)};
    Value* parts[2] = {both(mask_, condition), both(mask_, builder_.CreateNot(condition))};
    if (guard_ && guard_->block == &block) emit_shortcut(parts[guard_->side]);
    BasicBlock* again = nullptr;
    Value* staying = nullptr;
    SmallVector<BasicBlock*, 2> targets;
    Moves moves;
    for (int side : {0, 1}) collect_phi_values(block, *sides[side], parts[side], moves);
    store_phi_values(moves);
    for (int side : {0, 1}) {
        if (plan_.is_back_edge(&block, sides[side])) {
            again = sides[side];
            staying = parts[side];
            continue;
        }
        put_down(*sides[side], parts[side]);
        targets.push_back(sides[side]);
    }
    if (again != nullptr) {
        Block& header = blocks_[again];
        builder_.CreateStore(staying, header.active);
        BasicBlock* leave =
            BasicBlock::Create(context_, block.getName() + ".leave", &vector_function_);
        builder_.CreateCondBr(any(staying), header.body, leave);
        builder_.SetInsertPoint(leave);
    }
    jump_to_next(block, targets);
}

void LaneEmitter::emit_end(BasicBlock& block) {
    Instruction* end = block.getTerminator();
    builder_.SetCurrentDebugLocation(end->getDebugLoc());
    // Blocks with the same lanes further on: all of these come there.
    for (BasicBlock* later : plan_.order())
        if (plan_.deferred(later) && plan_.equivalent(later) == &block)
            builder_.CreateStore(mask_, blocks_[later].pending);
    if (isa<ReturnInst>(end)) {
        builder_.CreateRetVoid();
        return;
    }
    if (isa<UnreachableInst>(end)) {
        builder_.CreateUnreachable();
        return;
    }
    auto* branch = dyn_cast<BranchInst>(end);
    if (branch == nullptr) refuse(*end, "a way to branch");
    if (branch->isUnconditional()) return emit_edge(block, *branch->getSuccessor(0));
    if (plan_.diverges(&block)) return emit_parting(block, *branch);
    BasicBlock* ways[2] = {};
    for (BasicBlock*& way : ways)
        way = BasicBlock::Create(context_, block.getName() + ".way", &vector_function_);
    builder_.CreateCondBr(scalar(branch->getCondition()), ways[0], ways[1]);
    for (unsigned side : {0u, 1u}) {
        builder_.SetInsertPoint(ways[side]);
        // What was computed before the branch is known on both ways; what a way adds is its own.
        auto scalars = scalars_;
        auto vectors = vectors_;
        emit_edge(block, *branch->getSuccessor(side));
        scalars_ = std::move(scalars);
        vectors_ = std::move(vectors);
    }
}

}  // namespace trilane::cpu
