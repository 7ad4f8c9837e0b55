// Which lanes come to a warp operation together: what allows it to happen for all of them at once.
//
// The lanes that run a block are all that come to it in this round of the loops around it, since
// blocks run in order. Lanes elsewhere stand at deferred blocks further on, or have left. The
// operation may happen if none of those can be waited for: they have no warp operation before them
// any more, or the mask names only lanes that are here. If lanes elsewhere will wait for the block,
// the mask must not name them: that is asked when the operation runs.
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "devices/cpu/lanes/plan.h"
#include "devices/cpu/lower/suspends.h"

namespace trilane::cpu {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

std::optional<SuspendForm> form_of(const Instruction& instruction) {
    auto* call = dyn_cast<CallBase>(&instruction);
    const Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
    return callee != nullptr ? suspend_of(*callee) : std::nullopt;
}

// Waits for nobody, and nobody waits for it.
bool only_asks(const SuspendForm& form) { return form.kind == Suspend::ActiveMask; }

bool has_operation(const BasicBlock& block) {
    return any_of(block, [](const Instruction& instruction) {
        auto form = form_of(instruction);
        return form && !only_asks(*form);
    });
}

// Looks through what only takes lanes away from a mask, or names it anew.
void collect_sources(const Value* mask, SmallVectorImpl<const CallBase*>& sources, int depth = 0) {
    if (depth > 8) return;
    auto* instruction = dyn_cast<Instruction>(mask);
    if (instruction == nullptr) return;
    auto look = [&](unsigned i) {
        collect_sources(instruction->getOperand(i), sources, depth + 1);
    };
    if (instruction->getOpcode() == Instruction::And) {
        look(0);
        look(1);
    } else if (isa<FreezeInst>(instruction)) {
        look(0);
    } else if (auto* phi = dyn_cast<PHINode>(instruction)) {
        if (phi->getNumIncomingValues() == 1) look(0);
    } else if (auto* part = dyn_cast<ExtractValueInst>(instruction)) {
        auto* call = dyn_cast<CallBase>(part->getAggregateOperand());
        if (part->getIndices()[0] == 0 && call != nullptr) sources.push_back(call);
    } else if (auto* call = dyn_cast<CallBase>(instruction)) {
        sources.push_back(call);
    }
}

// `condition` holds exactly where `known` is `wanted`.
bool is_same_test(const Value* condition, const Value* known, bool wanted) {
    if (wanted && condition == known) return true;
    const Value* inner = nullptr;
    if (match(condition, m_Not(m_Value(inner)))) return is_same_test(inner, known, !wanted);
    if (match(known, m_Not(m_Value(inner)))) return is_same_test(condition, inner, !wanted);
    auto* a = dyn_cast<CmpInst>(condition);
    auto* b = dyn_cast<CmpInst>(known);
    return a != nullptr && b != nullptr && !wanted && a->getOperand(0) == b->getOperand(0) &&
           a->getOperand(1) == b->getOperand(1) && a->getPredicate() == b->getInversePredicate();
}

}  // namespace

bool is_waits_mark(const Instruction& instruction) {
    auto* call = dyn_cast<CallBase>(&instruction);
    const Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
    return callee != nullptr && callee->getName() == kWaitsMark;
}

const BasicBlock* LanePlan::first_with_same_lanes(const BasicBlock* block) const {
    for (;;) {
        if (const BasicBlock* before = equivalent(block)) {
            block = before;
            continue;
        }
        // All of them took this way, or none.
        const BasicBlock* before = block->getSinglePredecessor();
        if (before != nullptr && !diverges(before) &&
            loops_.getLoopFor(before) == loops_.getLoopFor(block)) {
            block = before;
            continue;
        }
        // A loop that no lane leaves before the others: each round has the lanes that came in.
        const Loop* loop = loops_.getLoopFor(block);
        bool enters = loop != nullptr && loop->getHeader() == block &&
                      loop->getLoopPreheader() != nullptr && !leaves_at_different_times(loop);
        if (!enters) return block;
        block = loop->getLoopPreheader();
    }
}

bool LanePlan::reaches_operation(const BasicBlock* block) const {
    SmallPtrSet<const BasicBlock*, 16> seen{block};
    SmallVector<const BasicBlock*, 16> pending{block};
    while (!pending.empty()) {
        const BasicBlock* at = pending.pop_back_val();
        if (has_operation(*at)) return true;
        for (const BasicBlock* next : successors(at))
            if (seen.insert(next).second) pending.push_back(next);
    }
    return false;
}

// Lanes may stand at `other` already when `block` begins: what it puts down at its own end counts
// only if it may have run before in this round of the loops around both.
bool LanePlan::stands_before(const BasicBlock* other, const BasicBlock* block) const {
    if (!deferred(other) || !may_pend(other, block)) return false;
    if (pending_since_.lookup(other) != index(block)) return true;
    const Loop* loop = loops_.getLoopFor(block);
    return loop != nullptr && loop->getHeader() == block && !loop->contains(other);
}

bool LanePlan::others_are_done(const BasicBlock* block) const {
    return none_of(order_, [&](const BasicBlock* other) {
        return stands_before(other, block) && reaches_operation(other);
    });
}

LanePlan::Leaving LanePlan::leaving(const BasicBlock* block) const {
    const StringRef kind = function_.getFnAttribute(kWaitsAttribute).getValueAsString();
    Leaving result;
    SmallPtrSet<const BasicBlock*, 16> seen{block};
    SmallVector<const BasicBlock*, 16> pending{block};
    while (!pending.empty()) {
        const BasicBlock* at = pending.pop_back_val();
        if (kind == kWaitsMarked && any_of(*at, is_waits_mark)) {
            result.waits = true;
            continue;
        }
        if (isa<ReturnInst>(at->getTerminator()))
            (kind == kWaitsAll ? result.waits : result.ends) = true;
        for (const BasicBlock* next : successors(at))
            if (seen.insert(next).second) pending.push_back(next);
    }
    return result;
}

bool LanePlan::names_lanes_of(const Value* mask, const BasicBlock* block) const {
    const BasicBlock* first = first_with_same_lanes(block);
    SmallVector<const CallBase*, 4> sources;
    collect_sources(mask, sources);
    for (const CallBase* source : sources) {
        auto form = form_of(*source);
        if (!form) continue;
        bool lanes = form->kind == Suspend::ActiveMask || form->kind == Suspend::Ballot ||
                     form->kind == Suspend::MatchAny || form->kind == Suspend::MatchAll;
        if (!lanes) continue;
        const BasicBlock* there = first_with_same_lanes(source->getParent());
        if (there == first) return true;
        // The lanes that voted yes are those that come here.
        const BasicBlock* before = first->getSinglePredecessor();
        auto* branch = before != nullptr ? dyn_cast<BranchInst>(before->getTerminator()) : nullptr;
        if (form->kind != Suspend::Ballot || branch == nullptr || !branch->isConditional() ||
            branch->getSuccessor(0) == branch->getSuccessor(1) ||
            first_with_same_lanes(before) != there)
            continue;
        if (is_same_test(source->getArgOperand(unsigned(form->value)), branch->getCondition(),
                         branch->getSuccessor(0) == first))
            return true;
    }
    return false;
}

bool LanePlan::comes_together(const CallBase& operation) const {
    SuspendForm form = *suspend_of(*operation.getCalledFunction());
    const BasicBlock* block = operation.getParent();
    if (only_asks(form) || names_lanes_of(operation.getArgOperand(unsigned(form.mask)), block))
        return true;
    return others_are_done(block) && none_of(order_, [&](const BasicBlock* other) {
               if (!stands_before(other, block)) return false;
               const Leaving leaves = leaving(other);
               return leaves.waits && leaves.ends;
           });
}

std::vector<BasicBlock*> LanePlan::waiting_before(const CallBase& operation) const {
    SuspendForm form = *suspend_of(*operation.getCalledFunction());
    const BasicBlock* block = operation.getParent();
    std::vector<BasicBlock*> result;
    if (only_asks(form) || names_lanes_of(operation.getArgOperand(unsigned(form.mask)), block))
        return result;
    for (BasicBlock* other : order_)
        if (stands_before(other, block) && leaving(other).waits) result.push_back(other);
    return result;
}

}  // namespace trilane::cpu
