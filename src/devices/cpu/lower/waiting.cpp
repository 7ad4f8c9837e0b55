// Finding loops that wait.
#include "devices/cpu/lower/waiting.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <set>

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr unsigned kSharedSpace = 3;

bool is_shared(const Value* pointer) {
    if (pointer->getType()->getPointerAddressSpace() == kSharedSpace) return true;
    const Value* object = getUnderlyingObject(pointer);
    return object->getType()->isPointerTy() &&
           object->getType()->getPointerAddressSpace() == kSharedSpace;
}

class LoopExamination {
  public:
    explicit LoopExamination(Loop& loop) : loop_(loop) {
        for (BasicBlock* block : loop.blocks())
            for (Instruction& instruction : *block) has_fence_ |= isa<FenceInst>(instruction);
    }

    bool waits() {
        SmallVector<BasicBlock*, 4> exiting;
        loop_.getExitingBlocks(exiting);
        for (BasicBlock* block : exiting) add_condition(*block);
        while (!pending_.empty()) visit(*pending_.pop_back_val());
        for (Instruction* read : reads_)
            if (!retried_.count(read)) waiting_.push_back(read);
        return !waiting_.empty();
    }

    bool outside_block() const {
        for (Instruction* read : waiting_) {
            const Value* pointer = isa<LoadInst>(read) ? cast<LoadInst>(read)->getPointerOperand()
                                                       : read->getOperand(0);
            if (!is_shared(pointer)) return true;
        }
        return false;
    }

  private:
    void add(Value* value) {
        auto* instruction = dyn_cast<Instruction>(value);
        if (instruction != nullptr && loop_.contains(instruction) &&
            seen_.insert(instruction).second)
            pending_.push_back(instruction);
    }

    void add_condition(BasicBlock& block) {
        Instruction* end = block.getTerminator();
        if (auto* branch = dyn_cast<BranchInst>(end); branch != nullptr && branch->isConditional())
            add(branch->getCondition());
        if (auto* choice = dyn_cast<SwitchInst>(end)) add(choice->getCondition());
    }

    void visit(Instruction& instruction) {
        if (auto* load = dyn_cast<LoadInst>(&instruction)) {
            if (load->isVolatile() || load->isAtomic() || has_fence_) reads_.push_back(load);
            return;
        }
        if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
            Value* expected = exchange->getCompareOperand();
            if (loop_.isLoopInvariant(expected)) {
                waiting_.push_back(exchange);
            } else if (auto* seen = dyn_cast<Instruction>(expected)) {
                retried_.insert(seen);
            }
            return;
        }
        if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
            if (!changes_by_itself(*update)) waiting_.push_back(update);
            return;
        }
        if (isa<PHINode>(instruction) && instruction.getParent() != loop_.getHeader())
            for (BasicBlock* block : loop_.blocks()) add_condition(*block);
        for (Value* operand : instruction.operands()) add(operand);
    }

    static bool changes_by_itself(const AtomicRMWInst& update) {
        switch (update.getOperation()) {
            case AtomicRMWInst::Add:
            case AtomicRMWInst::Sub:
            case AtomicRMWInst::UIncWrap:
            case AtomicRMWInst::UDecWrap: {
                auto* constant = dyn_cast<ConstantInt>(update.getValOperand());
                return constant == nullptr || !constant->isZero();
            }
            case AtomicRMWInst::FAdd:
            case AtomicRMWInst::FSub:
                return true;
            default:
                return false;
        }
    }

    Loop& loop_;
    bool has_fence_ = false;
    std::set<Instruction*> seen_;
    std::set<Instruction*> retried_;  // loaded to be the expectation of a compare-exchange
    SmallVector<Instruction*, 16> pending_;
    SmallVector<Instruction*, 4> reads_, waiting_;
};

}  // namespace

WaitingLoops find_waiting_loops(Function& function, Optimizer& optimizer) {
    WaitingLoops result;
    LoopInfo& loops = optimizer.functions().getResult<LoopAnalysis>(function);
    for (Loop* loop : loops.getLoopsInPreorder()) {
        LoopExamination examination(*loop);
        if (!examination.waits()) continue;
        SmallVector<BasicBlock*, 2> latches;
        loop->getLoopLatches(latches);
        result.latches.insert(result.latches.end(), latches.begin(), latches.end());
        result.on_blocks |= examination.outside_block();
    }
    return result;
}

std::vector<Instruction*> volatile_shared_accesses(Function& function) {
    std::vector<Instruction*> result;
    for (Instruction& instruction : instructions(function)) {
        bool is_volatile = false;
        if (auto* load = dyn_cast<LoadInst>(&instruction)) is_volatile = load->isVolatile();
        if (auto* store = dyn_cast<StoreInst>(&instruction)) is_volatile = store->isVolatile();
        if (is_volatile && is_shared(getLoadStorePointerOperand(&instruction)))
            result.push_back(&instruction);
    }
    return result;
}

}  // namespace trilane::cpu
