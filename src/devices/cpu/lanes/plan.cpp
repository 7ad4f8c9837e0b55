// Order, meeting points and deferral.
#include "devices/cpu/lanes/plan.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>

namespace trilane::cpu {

using namespace llvm;

LanePlan::LanePlan(Function& function, const Argument& lane, LaneVector vector)
    : function_(function),
      vector_(std::move(vector)),
      dominators_(function),
      post_dominators_(function),
      loops_(dominators_) {
    vector_.zeros.resize(function.arg_size());
    order_blocks();
    find_equivalents();
    for (const Argument* argument : vector_.varying) shapes_[argument] = LaneShape::varying();
    find_shapes(lane);
    plan_deferral();
}

void LanePlan::order_blocks() {
    ReversePostOrderTraversal<Function*> traversal(&function_);
    order_region(std::vector<BasicBlock*>(traversal.begin(), traversal.end()), nullptr);
    for (size_t i = 0; i < order_.size(); ++i) index_[order_[i]] = i;
}

// Reverse post order, except that a loop's blocks follow its header: edges into a loop go to its
// header only, so no edge turns round.
void LanePlan::order_region(const std::vector<BasicBlock*>& blocks, const Loop* loop) {
    for (BasicBlock* block : blocks) {
        const Loop* inner = loops_.getLoopFor(block);
        if (inner == loop) {
            order_.push_back(block);
            continue;
        }
        if (inner == nullptr || inner->getParentLoop() != loop || inner->getHeader() != block)
            continue;
        std::vector<BasicBlock*> inside;
        for (BasicBlock* other : blocks)
            if (inner->contains(other)) inside.push_back(other);
        order_region(inside, inner);
    }
}

// Whoever is at `from` comes to `to` before it leaves the innermost loop around both, or starts its
// next round.
bool LanePlan::always_reaches(const BasicBlock* from, const BasicBlock* to) const {
    const Loop* loop = loops_.getLoopFor(from);
    SmallPtrSet<const BasicBlock*, 16> seen;
    SmallVector<const BasicBlock*, 16> pending{from};
    while (!pending.empty()) {
        const BasicBlock* block = pending.pop_back_val();
        if (isa<ReturnInst>(block->getTerminator())) return false;
        for (const BasicBlock* next : successors(block)) {
            if (next == to) continue;
            if (loop != nullptr && (!loop->contains(next) || next == loop->getHeader()))
                return false;
            if (seen.insert(next).second) pending.push_back(next);
        }
    }
    return true;
}

void LanePlan::find_equivalents() {
    for (BasicBlock* block : order_) {
        if (block == order_.front() || loops_.isLoopHeader(block)) continue;
        const Loop* loop = loops_.getLoopFor(block);
        BasicBlock* before = dominators_.getNode(block)->getIDom()->getBlock();
        while (loops_.getLoopFor(before) != loop) {
            const Loop* inner = loops_.getLoopFor(before);
            if (inner == nullptr || (loop != nullptr && !loop->contains(inner))) {
                before = nullptr;
                break;
            }
            before = dominators_.getNode(before)->getIDom()->getBlock();
        }
        if (before != nullptr && always_reaches(before, block)) equivalent_[block] = before;
    }
}

bool LanePlan::runs_all(const BasicBlock* block) const {
    return first_with_same_lanes(block) == order_.front();
}

bool LanePlan::diverges(const BasicBlock* block) const {
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    return branch != nullptr && branch->isConditional() &&
           !shape(branch->getCondition()).is_uniform() &&
           !shape(branch->getCondition()).is_unknown();
}

const BasicBlock* LanePlan::meets(const BasicBlock* block) const {
    const auto* node = post_dominators_.getNode(block);
    return node != nullptr && node->getIDom() != nullptr ? node->getIDom()->getBlock() : nullptr;
}

// Lanes can come to the block by different ways.
bool LanePlan::is_divergent_join(const BasicBlock* block) const {
    if (loops_.isLoopHeader(block) || block->hasNPredecessorsOrMore(2) == false) return false;
    const BasicBlock* top = dominators_.getNode(block)->getIDom()->getBlock();
    SmallPtrSet<const BasicBlock*, 16> region;
    SmallVector<const BasicBlock*, 16> pending;
    region.insert(top);
    for (const BasicBlock* before : predecessors(block))
        if (region.insert(before).second) pending.push_back(before);
    while (!pending.empty())
        for (const BasicBlock* before : predecessors(pending.pop_back_val()))
            if (region.insert(before).second) pending.push_back(before);
    for (const BasicBlock* inside : region) {
        if (!diverges(inside)) continue;
        const BasicBlock* meets = this->meets(inside);
        if (meets == nullptr || meets == block || !region.contains(meets)) return true;
    }
    return false;
}

bool LanePlan::leaves_at_different_times(const Loop* loop) const {
    for (const BasicBlock* block : loop->blocks()) {
        if (!diverges(block)) continue;
        const BasicBlock* meets = this->meets(block);
        if (meets == nullptr || !loop->contains(meets)) return true;
    }
    return false;
}

// The phi takes values out of a loop that lanes leave in different rounds.
bool LanePlan::is_temporal(const PHINode& phi) const {
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
        for (const Loop* loop = loops_.getLoopFor(phi.getIncomingBlock(i));
             loop != nullptr && !loop->contains(phi.getParent()); loop = loop->getParentLoop())
            if (leaves_at_different_times(loop)) return true;
    return false;
}

bool LanePlan::blends(const PHINode& phi) const {
    return is_temporal(phi) || is_divergent_join(phi.getParent());
}

// While the loops around the source run on, what it has put down stays.
size_t LanePlan::pending_from(const BasicBlock* source, const BasicBlock* target) const {
    size_t since = index(source);
    for (const Loop* loop = loops_.getLoopFor(source); loop != nullptr && !loop->contains(target);
         loop = loop->getParentLoop())
        since = index(loop->getHeader());
    return since;
}

bool LanePlan::may_pend(const BasicBlock* block, const BasicBlock* at) const {
    auto found = pending_since_.find(block);
    return found != pending_since_.end() && found->second <= index(at) && index(at) < index(block);
}

std::vector<BasicBlock*> LanePlan::deferred_after(const BasicBlock* at) const {
    std::vector<BasicBlock*> result;
    for (size_t i = index(at) + 1; i < order_.size(); ++i)
        if (deferred(order_[i])) result.push_back(order_[i]);
    return result;
}

void LanePlan::plan_deferral() {
    auto defer = [&](const BasicBlock* source, const BasicBlock* target) {
        bool fresh = deferred_.insert(target).second;
        if (const BasicBlock* same = equivalent(target)) source = same;
        size_t since = pending_from(source, target);
        auto [place, first] = pending_since_.try_emplace(target, since);
        if (!first && place->second <= since) return fresh;
        place->second = since;
        return true;
    };
    auto jumps_over_pending = [&](const BasicBlock* from, const BasicBlock* to) {
        for (size_t i = index(from) + 1; i < index(to); ++i)
            if (deferred(order_[i]) && may_pend(order_[i], from)) return true;
        return false;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (BasicBlock* block : order_) {
            bool parts = diverges(block);
            for (BasicBlock* next : successors(block)) {
                if (is_back_edge(block, next)) continue;
                if (parts || deferred(next) || jumps_over_pending(block, next))
                    changed |= defer(block, next);
            }
        }
    }
}

}  // namespace trilane::cpu
