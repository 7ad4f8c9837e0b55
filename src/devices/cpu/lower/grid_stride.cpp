// Grid-stride loops. Each thread alone would walk memory in steps of the whole grid, one cache line
// per element; with the loops interchanged the block walks it in order.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// Offset in the block's context that a value was loaded from, -1 if it was not.
int64_t context_offset(Value* value) {
    auto* load = dyn_cast<LoadInst>(value);
    if (load == nullptr || !load->hasMetadata(LLVMContext::MD_invariant_load)) return -1;
    const DataLayout& data = load->getModule()->getDataLayout();
    APInt offset(64, 0);
    Value* base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(data, offset, true);
    return base == load->getFunction()->getArg(0) ? offset.getSExtValue() : -1;
}

Value* strip_extension(Value* value) {
    Value* inner = nullptr;
    return match(value, m_ZExt(m_Value(inner))) || match(value, m_SExt(m_Value(inner))) ? inner
                                                                                        : value;
}

// blockDim.a or gridDim.a * blockDim.a: positive, and small by the check of narrow axes, whose bits
// are added to `axes`.
bool is_stride(Value* step, uint32_t& axes) {
    step = strip_extension(step);
    constexpr auto kGrid = int64_t(offsetof(BlockContext, grid_dim));
    constexpr auto kBlock = int64_t(offsetof(BlockContext, block_dim));
    Value *a = nullptr, *b = nullptr;
    bool product = match(step, m_Mul(m_Value(a), m_Value(b)));
    if (product) {
        a = strip_extension(a);
        b = strip_extension(b);
    }
    for (int64_t axis = 0; axis < 3; ++axis) {
        int64_t grid = kGrid + 4 * axis, block = kBlock + 4 * axis;
        if (context_offset(step) == block) return true;
        if (!product) continue;
        int64_t left = context_offset(a), right = context_offset(b);
        if ((left == grid && right == block) || (left == block && right == grid)) {
            axes |= 1u << axis;
            return true;
        }
    }
    return false;
}

// Follows blocks that hold nothing but a jump.
BasicBlock* skip_empty(BasicBlock* block) {
    for (int steps = 0; steps < 4; ++steps) {
        auto* jump = dyn_cast<BranchInst>(&block->front());
        if (jump == nullptr || jump->isConditional()) break;
        block = jump->getSuccessor(0);
    }
    return block;
}

class Interchange {
  public:
    Interchange(Loop& threads, LoweredKernel& lowered) : threads_(threads), lowered_(lowered) {}

    bool run() {
        if (!find_thread_loop() || !find_strided() || !find_condition()) return false;
        IRBuilder<> builder(preheader_->getTerminator());
        Value* base = thread_base(builder, threads_, index_, start_);
        Value* bound = base != nullptr ? thread_bound(builder, predicate_, base, end_) : nullptr;
        if (bound == nullptr) return false;
        Value* step = builder.CreateZExt(step_, builder.getInt64Ty());
        rebuild(builder, base, bound, step);
        lowered_.narrow_axes |= axes_;
        return true;
    }

  private:
    bool find_thread_loop() {
        preheader_ = threads_.getLoopPreheader();
        latch_ = threads_.getLoopLatch();
        index_ = threads_.getCanonicalInductionVariable();
        exit_ = threads_.getExitBlock();
        header_ = threads_.getHeader();
        if (preheader_ == nullptr || latch_ == nullptr || index_ == nullptr || exit_ == nullptr ||
            threads_.getExitingBlock() != latch_ || threads_.getSubLoops().size() != 1 ||
            isa<PHINode>(exit_->front()) || isa<PHINode>(latch_->front()) ||
            std::next(header_->phis().begin()) != header_->phis().end() ||
            !index_->getType()->isIntegerTy(32))
            return false;
        back_ = dyn_cast<BranchInst>(latch_->getTerminator());
        auto* compare = back_ != nullptr && back_->isConditional()
                            ? dyn_cast<ICmpInst>(back_->getCondition())
                            : nullptr;
        next_ = index_->getIncomingValueForBlock(latch_);
        if (compare == nullptr) return false;
        for (unsigned side = 0; side < 2; ++side)
            if (compare->getOperand(side) == next_) limit_ = compare->getOperand(1 - side);
        return limit_ != nullptr && threads_.isLoopInvariant(limit_);
    }

    // The whole body: header -> strided loop -> latch, and nothing else that does something.
    bool find_strided() {
        strided_ = threads_.getSubLoops().front();
        entry_ = strided_->getLoopPreheader();
        turn_ = strided_->getLoopLatch();
        top_ = strided_->getHeader();
        if (entry_ == nullptr || turn_ == nullptr || strided_->getExitingBlock() != top_ ||
            turn_ == top_ || std::next(top_->phis().begin()) != top_->phis().end())
            return false;
        bool direct = entry_ == header_ ||
                      (skip_empty(entry_) == top_ && entry_->getSinglePredecessor() == header_);
        auto* jump = dyn_cast<BranchInst>(header_->getTerminator());
        leave_ = strided_->getExitBlock();
        if (!direct || jump == nullptr || jump->isConditional() || leave_ == nullptr ||
            skip_empty(leave_) != latch_ || isa<PHINode>(leave_->front()))
            return false;
        for (BasicBlock* block : {header_, top_, latch_})
            for (Instruction& instruction : *block)
                if (instruction.mayHaveSideEffects()) return false;
        counter_ = dyn_cast<PHINode>(&top_->front());
        if (counter_ == nullptr || !counter_->getType()->isIntegerTy()) return false;
        start_ = counter_->getIncomingValueForBlock(entry_);
        auto* next = dyn_cast<BinaryOperator>(counter_->getIncomingValueForBlock(turn_));
        if (next == nullptr || !match(next, m_c_Add(m_Specific(counter_), m_Value(step_))))
            return false;
        unsigned width = counter_->getType()->getIntegerBitWidth();
        return (width == 32 || width == 64) && threads_.isLoopInvariant(step_) &&
               is_stride(step_, axes_) && only_counts_inside(next);
    }

    // Nothing that the strided loop computes is used after it.
    bool only_counts_inside(Instruction*) {
        for (BasicBlock* block : strided_->blocks())
            for (Instruction& instruction : *block)
                for (User* user : instruction.users())
                    if (!strided_->contains(cast<Instruction>(user))) return false;
        return true;
    }

    bool find_condition() {
        test_ = dyn_cast<BranchInst>(top_->getTerminator());
        auto* compare = test_ != nullptr && test_->isConditional()
                            ? dyn_cast<ICmpInst>(test_->getCondition())
                            : nullptr;
        if (compare == nullptr) return false;
        body_ = test_->getSuccessor(0);
        predicate_ = compare->getPredicate();
        if (!strided_->contains(body_)) {
            body_ = test_->getSuccessor(1);
            predicate_ = compare->getInversePredicate();
        }
        Value *left = compare->getOperand(0), *right = compare->getOperand(1);
        if (!is_counter(left)) {
            std::swap(left, right);
            predicate_ = ICmpInst::getSwappedPredicate(predicate_);
        }
        end_ = right;
        return is_counter(left) && ICmpInst::isRelational(predicate_) &&
               threads_.isLoopInvariant(end_) && end_->getType()->isIntegerTy();
    }

    bool is_counter(Value* value) const {
        Value* inner = nullptr;
        if (match(value, m_ZExt(m_Value(inner))) || match(value, m_SExt(m_Value(inner))))
            value = inner;
        return value == counter_;
    }

    void rebuild(IRBuilder<>& before, Value* base, Value* bound, Value* step) {
        Function* function = header_->getParent();
        LLVMContext& context = function->getContext();
        auto* outer = BasicBlock::Create(context, "stride.header", function, header_);
        auto* outer_latch = BasicBlock::Create(context, "stride.latch", function, header_);
        Value* threads = before.CreateZExt(limit_, before.getInt64Ty());
        preheader_->getTerminator()->replaceSuccessorWith(header_, outer);
        IRBuilder<> builder(outer);
        PHINode* done = builder.CreatePHI(builder.getInt64Ty(), 2, "stride.done");
        Value* left = builder.CreateBinaryIntrinsic(Intrinsic::ssub_sat, bound, done);
        Value* limit = builder.CreateBinaryIntrinsic(Intrinsic::smin, left, threads);
        Value* limit_word = builder.CreateTrunc(limit, builder.getInt32Ty(), "x.limit");
        Value* first = builder.CreateAdd(base, done, "first", true, true);
        builder.CreateCondBr(builder.CreateICmpSGT(limit, builder.getInt64(0)), header_, exit_);
        index_->replaceIncomingBlockWith(preheader_, outer);
        builder.SetInsertPoint(outer_latch);
        Value* next = builder.CreateAdd(done, step, "stride.next", true, true);
        builder.CreateBr(outer);
        done->addIncoming(builder.getInt64(0), preheader_);
        done->addIncoming(next, outer_latch);

        builder.SetInsertPoint(top_, top_->getFirstInsertionPt());
        Value* here = index_;
        bool wide = counter_->getType()->isIntegerTy(64);
        if (wide)
            here = builder.CreateZExt(here, builder.getInt64Ty());
        else
            first = builder.CreateTrunc(first, builder.getInt32Ty());
        here = builder.CreateAdd(first, here, "i", true, ICmpInst::isSigned(predicate_) || wide);
        counter_->replaceAllUsesWith(here);
        counter_->eraseFromParent();
        BranchInst::Create(body_, test_->getIterator());
        test_->eraseFromParent();
        turn_->getTerminator()->replaceSuccessorWith(top_, leave_);

        builder.SetInsertPoint(back_);
        back_->setCondition(builder.CreateICmpULT(next_, limit_word));
        if (back_->getSuccessor(0) != header_) back_->swapSuccessors();
        back_->setSuccessor(1, outer_latch);
        function->addFnAttr(kStridedMark);
    }

    Loop& threads_;
    LoweredKernel& lowered_;
    Loop* strided_ = nullptr;
    BasicBlock *preheader_ = nullptr, *header_ = nullptr, *latch_ = nullptr, *exit_ = nullptr;
    BasicBlock *entry_ = nullptr, *top_ = nullptr, *turn_ = nullptr, *leave_ = nullptr,
               *body_ = nullptr;
    PHINode *index_ = nullptr, *counter_ = nullptr;
    BranchInst *back_ = nullptr, *test_ = nullptr;
    Value *next_ = nullptr, *limit_ = nullptr, *start_ = nullptr, *step_ = nullptr, *end_ = nullptr;
    ICmpInst::Predicate predicate_ = ICmpInst::BAD_ICMP_PREDICATE;
    uint32_t axes_ = 0;
};

// The grid's size goes into the value, by the register or by the context.
bool depends_on_grid(Value* value, int depth) {
    auto* instruction = dyn_cast<Instruction>(value);
    if (instruction == nullptr || depth == 0 || isa<PHINode>(instruction)) return false;
    int64_t offset = context_offset(value);
    if (offset >= 0)
        return offset >= int64_t(offsetof(BlockContext, grid_dim)) &&
               offset < int64_t(offsetof(BlockContext, block_dim));
    if (auto* call = dyn_cast<CallBase>(instruction)) {
        Function* callee = call->getCalledFunction();
        return callee != nullptr &&
               callee->getName().starts_with("llvm.nvvm.read.ptx.sreg.nctaid.");
    }
    for (Value* operand : instruction->operands())
        if (depends_on_grid(operand, depth - 1)) return true;
    return false;
}

bool reads_memory(Loop& loop) {
    for (BasicBlock* block : loop.blocks())
        for (Instruction& instruction : *block)
            if (isa<LoadInst>(instruction)) return true;
    return false;
}

// i += step, or start + k * step: how loops over Python ranges come.
bool counts_by_grid(PHINode& counter, BasicBlock& latch) {
    Value* step = nullptr;
    if (match(counter.getIncomingValueForBlock(&latch),
              m_c_Add(m_Specific(&counter), m_Value(step))) &&
        depends_on_grid(step, 5))
        return true;
    SmallVector<Value*, 4> forms{&counter};
    for (User* user : counter.users())
        if (isa<CastInst>(user)) forms.push_back(user);
    for (Value* form : forms)
        for (User* user : form->users())
            if (match(user, m_c_Mul(m_Specific(form), m_Value(step))) && depends_on_grid(step, 5))
                return true;
    return false;
}

}  // namespace

bool strides_by_grid(Loop& loop) {
    BasicBlock* latch = loop.getLoopLatch();
    return latch != nullptr && reads_memory(loop) &&
           any_of(loop.getHeader()->phis(), [&](PHINode& counter) {
               return counter.getType()->isIntegerTy() && counts_by_grid(counter, *latch);
           });
}

std::vector<BasicBlock*> strided_latches(Function& function, Optimizer& optimizer) {
    std::vector<BasicBlock*> latches;
    LoopInfo& loops = optimizer.functions().getResult<LoopAnalysis>(function);
    for (Loop* loop : loops.getLoopsInPreorder())
        if (strides_by_grid(*loop)) latches.push_back(loop->getLoopLatch());
    return latches;
}

bool interchange_strided_loop(Function& function, Optimizer& optimizer, LoweredKernel& lowered) {
    Loop* loop = thread_loop(function, optimizer);
    if (loop == nullptr || !Interchange(*loop, lowered).run()) return false;
    optimizer.forget(function);
    return true;
}

}  // namespace trilane::cpu
