// Where all lanes pass a guard, what stands behind it needs no masks.
#include "devices/cpu/lanes/shortcut.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr size_t kMostInstructions = 400;  // the function is written twice

// May be done twice: it depends on indices and arguments only.
bool is_repeatable(const BasicBlock& block) {
    return all_of(block, [](const Instruction& instruction) {
        if (isa<AllocaInst>(instruction) || instruction.mayHaveSideEffects()) return false;
        return !instruction.mayReadFromMemory() ||
               instruction.hasMetadata(LLVMContext::MD_invariant_load);
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

}  // namespace

std::optional<Guard> find_guard(const LanePlan& plan) {
    BasicBlock* block = plan.order().front();
    size_t count = 0;
    for (const BasicBlock* each : plan.order()) count += each->size();
    if (count > kMostInstructions) return std::nullopt;
    while (is_repeatable(*block) && !plan.diverges(block)) {
        BasicBlock* next = block->getSingleSuccessor();
        if (next == nullptr || next->getSinglePredecessor() != block) return std::nullopt;
        block = next;
    }
    if (!is_repeatable(*block)) return std::nullopt;
    const BasicBlock* meets = plan.meets(block);
    if (meets == nullptr) return std::nullopt;
    auto* branch = cast<BranchInst>(block->getTerminator());
    bool idle[2] = {};
    for (unsigned side : {0u, 1u}) idle[side] = leads_straight(branch->getSuccessor(side), meets);
    if (idle[0] == idle[1]) return std::nullopt;
    return Guard{block, idle[0] ? 1u : 0u};
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
