// Where all lanes pass a guard, what stands behind it needs no masks.
#include "devices/cpu/lanes/shortcut.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "devices/cpu/lanes/vectorize.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr size_t kMostInstructions = 400;  // the function is written twice

// May be done twice: it depends on indices and arguments, and on what this block alone may change
// (nothing is written before the guard).
bool is_repeatable(const BasicBlock& block) {
    return all_of(block, [](const Instruction& instruction) {
        if (isa<AllocaInst>(instruction) || instruction.mayHaveSideEffects()) return false;
        return !instruction.mayReadFromMemory() ||
               instruction.hasMetadata(LLVMContext::MD_invariant_load) ||
               (isa<LoadInst>(instruction) && instruction.hasMetadata(kBlockMemoryMark));
    });
}

// From `block` nothing is done before `end`.
bool leads_straight(const BasicBlock* block, const BasicBlock* end) {
    for (int steps = 0; steps < 4 && block != end; ++steps) {
        if (!is_repeatable(*block)) return false;
        block = block->getSingleSuccessor();
        if (block == nullptr) return false;
    }
    return block == end;
}

// Lanes part at the end of `block`: is this a guard?
std::optional<Guard> guard_at(const LanePlan& plan, BasicBlock* block) {
    const BasicBlock* meets = plan.meets(block);
    if (meets == nullptr) return std::nullopt;
    auto* branch = cast<BranchInst>(block->getTerminator());
    bool idle[2] = {};
    for (unsigned side : {0u, 1u}) idle[side] = leads_straight(branch->getSuccessor(side), meets);
    if (idle[0] == idle[1]) return std::nullopt;
    return Guard{block, idle[0] ? 1u : 0u};
}

// The first parting on some way that all lanes go together.
std::optional<Guard> guard_from(const LanePlan& plan, BasicBlock* block) {
    if (!is_repeatable(*block)) return std::nullopt;
    if (plan.diverges(block)) return guard_at(plan, block);
    for (BasicBlock* next : successors(block)) {
        if (next->getSinglePredecessor() != block) continue;
        if (auto guard = guard_from(plan, next)) return guard;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Guard> find_guard(const LanePlan& plan) {
    size_t count = 0;
    for (const BasicBlock* each : plan.order()) count += each->size();
    if (count > kMostInstructions) return std::nullopt;
    return guard_from(plan, plan.order().front());
}

Function* without_guard(Function& scalar, const Guard& guard) {
    ValueToValueMapTy map;
    Function* copy = CloneFunction(&scalar, map);
    copy->setLinkage(GlobalValue::InternalLinkage);
    auto* branch = cast<BranchInst>(cast<BasicBlock>(map[guard.block])->getTerminator());
    BasicBlock* other = branch->getSuccessor(1 - guard.side);
    // Phis stay, even with one value: loops need them where they end.
    other->removePredecessor(branch->getParent(), /*KeepOneInputPHIs=*/true);
    BranchInst::Create(branch->getSuccessor(guard.side), branch->getIterator());
    branch->eraseFromParent();
    removeUnreachableBlocks(*copy);
    return copy;
}

}  // namespace trilane::cpu
