// What makes the x loop of the loop shape fit for LLVM's vectoriser: guards become bounds, accesses
// are marked.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include "devices/cpu/lower/loop_shape.h"

namespace trilane::cpu {

using namespace llvm;
using namespace llvm::PatternMatch;

// z holds only y, y only x; or y a strided loop, and that x. The user's other loops lie deeper.
Loop* thread_loop(Function& function, Optimizer& optimizer) {
    LoopInfo& loops = optimizer.functions().getResult<LoopAnalysis>(function);
    int depth = function.hasFnAttribute(kStridedMark) ? 4 : 3;
    Loop* loop = loops.empty() ? nullptr : *loops.begin();
    for (int level = 1; level < depth && loop != nullptr; ++level)
        loop = loop->getSubLoops().empty() ? nullptr : loop->getSubLoops().front();
    return loop;
}

Value* thread_base(IRBuilder<>& builder, Loop& loop, PHINode* index, Value* value) {
    Value* inner = nullptr;
    if (match(value, m_ZExt(m_Value(inner))) || match(value, m_SExt(m_Value(inner)))) value = inner;
    if (value == index) return builder.getInt64(0);
    auto* sum = dyn_cast<BinaryOperator>(value);
    bool is_sum = sum != nullptr && sum->getOpcode() == Instruction::Add &&
                  sum->hasNoSignedWrap() && sum->hasNoUnsignedWrap();
    if (!is_sum) return nullptr;
    const DataLayout& data = sum->getModule()->getDataLayout();
    for (unsigned side = 0; side < 2; ++side) {
        Value *x = sum->getOperand(side), *base = sum->getOperand(1 - side);
        if (x != index && !match(x, m_ZExt(m_Specific(index)))) continue;
        if (!loop.isLoopInvariant(base)) continue;
        if (sum->getType()->isIntegerTy(32) && isKnownNonNegative(base, SimplifyQuery(data)))
            return builder.CreateZExt(base, builder.getInt64Ty());
        if (sum->getType()->isIntegerTy(64) && isKnownNonNegative(base, SimplifyQuery(data)))
            return base;
    }
    return nullptr;
}

Value* thread_bound(IRBuilder<>& builder, ICmpInst::Predicate predicate, Value* base,
                    Value* right) {
    bool below = predicate == ICmpInst::ICMP_SLT || predicate == ICmpInst::ICMP_ULT;
    bool to = predicate == ICmpInst::ICMP_SLE || predicate == ICmpInst::ICMP_ULE;
    unsigned width = right->getType()->getIntegerBitWidth();
    if ((!below && !to) || (width != 32 && width != 64)) return nullptr;
    Value* end = right;
    bool is_signed = ICmpInst::isSigned(predicate);
    if (width == 32) {
        end = is_signed ? builder.CreateSExt(right, builder.getInt64Ty())
                        : builder.CreateZExt(right, builder.getInt64Ty());
    } else if (!is_signed) {
        end = builder.CreateBinaryIntrinsic(Intrinsic::umin, right, builder.getInt64(INT64_MAX));
    }
    if (to) end = builder.CreateBinaryIntrinsic(Intrinsic::sadd_sat, end, builder.getInt64(1));
    return builder.CreateBinaryIntrinsic(Intrinsic::ssub_sat, end, base);
}

namespace {

struct Guard {
    Value* condition;
    bool wanted;
};

void split_guard(Value* condition, bool wanted, SmallVectorImpl<Guard>& guards) {
    Value *a = nullptr, *b = nullptr;
    if (match(condition, m_Not(m_Value(a)))) return split_guard(a, !wanted, guards);
    bool both = wanted ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
                       : match(condition, m_LogicalOr(m_Value(a), m_Value(b)));
    if (!both) {
        guards.push_back({condition, wanted});
        return;
    }
    split_guard(a, wanted, guards);
    split_guard(b, wanted, guards);
}

class ClampThreadLoop {
  public:
    explicit ClampThreadLoop(Loop& loop) : loop_(loop) {}

    bool run() {
        if (!find_parts()) return false;
        SmallVector<Guard, 4> guards, kept;
        split_guard(branch_->getCondition(), branch_->getSuccessor(1) == latch_, guards);
        IRBuilder<> builder(preheader_->getTerminator());
        Value* limit = builder.CreateZExt(limit_, builder.getInt64Ty());
        bool changed = false;
        for (const Guard& guard : guards) {
            Value* narrowed = narrow(builder, guard, limit);
            if (narrowed == nullptr) {
                kept.push_back(guard);
                continue;
            }
            limit = narrowed;
            changed = true;
        }
        if (changed) rebuild(builder, limit, kept);
        return changed;
    }

  private:
    bool find_parts() {
        preheader_ = loop_.getLoopPreheader();
        latch_ = loop_.getLoopLatch();
        index_ = loop_.getCanonicalInductionVariable();
        BasicBlock* header = loop_.getHeader();
        if (preheader_ == nullptr || latch_ == nullptr || index_ == nullptr || header == latch_ ||
            loop_.getExitingBlock() != latch_ || isa<PHINode>(latch_->front()) ||
            std::next(header->phis().begin()) != header->phis().end())
            return false;
        branch_ = dyn_cast<BranchInst>(header->getTerminator());
        if (branch_ == nullptr || !branch_->isConditional() ||
            (branch_->getSuccessor(0) == latch_) == (branch_->getSuccessor(1) == latch_))
            return false;
        for (BasicBlock* block : {header, latch_})
            for (Instruction& instruction : *block)
                if (instruction.mayHaveSideEffects()) return false;
        return find_limit();
    }

    bool find_limit() {
        auto* exit = dyn_cast<BranchInst>(latch_->getTerminator());
        compare_ = exit != nullptr && exit->isConditional()
                       ? dyn_cast<ICmpInst>(exit->getCondition())
                       : nullptr;
        if (compare_ == nullptr || !compare_->hasOneUse()) return false;
        Value* next = index_->getIncomingValueForBlock(latch_);
        for (unsigned side = 0; side < 2; ++side) {
            if (compare_->getOperand(side) != next) continue;
            limit_ = compare_->getOperand(1 - side);
            next_ = next;
        }
        exit_block_ = loop_.getExitBlock();
        return limit_ != nullptr && exit_block_ != nullptr && loop_.isLoopInvariant(limit_) &&
               !isa<PHINode>(exit_block_->front()) && index_->getType()->isIntegerTy(32);
    }

    Value* bound(IRBuilder<>& builder, ICmpInst::Predicate predicate, Value* left, Value* right) {
        if (!ICmpInst::isRelational(predicate) || !loop_.isLoopInvariant(right)) return nullptr;
        Value* base = thread_base(builder, loop_, index_, left);
        return base != nullptr ? thread_bound(builder, predicate, base, right) : nullptr;
    }

    Value* narrow(IRBuilder<>& builder, const Guard& guard, Value* limit) {
        if (loop_.isLoopInvariant(guard.condition)) {
            Value* zero = builder.getInt64(0);
            return guard.wanted ? builder.CreateSelect(guard.condition, limit, zero)
                                : builder.CreateSelect(guard.condition, zero, limit);
        }
        auto* compare = dyn_cast<ICmpInst>(guard.condition);
        if (compare == nullptr) return nullptr;
        ICmpInst::Predicate predicate =
            guard.wanted ? compare->getPredicate() : compare->getInversePredicate();
        Value* end = bound(builder, predicate, compare->getOperand(0), compare->getOperand(1));
        if (end == nullptr)
            end = bound(builder, ICmpInst::getSwappedPredicate(predicate), compare->getOperand(1),
                        compare->getOperand(0));
        if (end == nullptr) return nullptr;
        return builder.CreateBinaryIntrinsic(Intrinsic::smin, end, limit);
    }

    void rebuild(IRBuilder<>& builder, Value* limit, ArrayRef<Guard> kept) {
        Value* some = builder.CreateICmpSGT(limit, builder.getInt64(0));
        Value* narrow_limit = builder.CreateTrunc(limit, builder.getInt32Ty(), "x.limit");
        Instruction* old = preheader_->getTerminator();
        builder.CreateCondBr(some, loop_.getHeader(), exit_block_);
        old->eraseFromParent();
        IRBuilder<> latch(compare_);
        compare_->replaceAllUsesWith(Constant::getNullValue(compare_->getType()));
        auto* exit = cast<BranchInst>(latch_->getTerminator());
        exit->setCondition(latch.CreateICmpULT(next_, narrow_limit));
        if (exit->getSuccessor(0) != loop_.getHeader()) exit->swapSuccessors();
        compare_->eraseFromParent();
        IRBuilder<> header(branch_);
        Value* rest = header.getTrue();
        for (const Guard& guard : kept)
            rest = header.CreateLogicalAnd(
                rest, guard.wanted ? guard.condition : header.CreateNot(guard.condition));
        BasicBlock* body = branch_->getSuccessor(branch_->getSuccessor(0) == latch_ ? 1 : 0);
        if (kept.empty())
            header.CreateBr(body);
        else
            header.CreateCondBr(rest, body, latch_);
        branch_->eraseFromParent();
    }

    Loop& loop_;
    BasicBlock *preheader_ = nullptr, *latch_ = nullptr, *exit_block_ = nullptr;
    PHINode* index_ = nullptr;
    BranchInst* branch_ = nullptr;
    ICmpInst* compare_ = nullptr;
    Value *limit_ = nullptr, *next_ = nullptr;
};

// No private array can be behind the pointer.
bool never_private(Value* pointer, LoopInfo& loops) {
    SmallVector<const Value*, 4> objects;
    getUnderlyingObjects(pointer, objects, &loops);
    for (const Value* object : objects) {
        if (isa<GlobalValue>(object)) continue;
        auto* load = dyn_cast<LoadInst>(object);
        // Arguments and the shared buffer come from the context by invariant loads.
        if (load != nullptr && load->hasMetadata(LLVMContext::MD_invariant_load)) continue;
        return false;
    }
    return true;
}

}  // namespace

bool clamp_thread_loop(Function& function, Optimizer& optimizer) {
    Loop* loop = thread_loop(function, optimizer);
    if (loop == nullptr) return false;
    bool changed = ClampThreadLoop(*loop).run();
    if (changed) optimizer.forget(function);
    return changed;
}

void mark_threads_independent(Function& function, Optimizer& optimizer) {
    Loop* loop = thread_loop(function, optimizer);
    if (loop == nullptr || loop->getLoopLatch() == nullptr) return;
    LoopInfo& loops = optimizer.functions().getResult<LoopAnalysis>(function);
    bool has_private = false;
    for (Instruction& instruction : instructions(function))
        has_private |= isa<AllocaInst>(instruction);
    LLVMContext& context = function.getContext();
    MDNode* group = MDNode::getDistinct(context, {});
    for (BasicBlock* block : loop->blocks()) {
        for (Instruction& instruction : *block) {
            Value* pointer = getLoadStorePointerOperand(&instruction);
            if (pointer == nullptr) continue;
            if (has_private && !never_private(pointer, loops)) continue;
            instruction.setMetadata(LLVMContext::MD_access_group, group);
        }
    }
    Metadata* parts[] = {
        nullptr,
        MDNode::get(context, {MDString::get(context, "llvm.loop.parallel_accesses"), group})};
    MDNode* id = MDNode::getDistinct(context, parts);
    id->replaceOperandWith(0, id);
    loop->setLoopID(id);
}

}  // namespace trilane::cpu
