// Do lanes that have parted meet again before they come to a barrier?
#include <llvm/ADT/BitVector.h>
#include <llvm/IR/CFG.h>

#include "devices/cpu/lanes/plan.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

using Blocks = DenseSet<const BasicBlock*>;

SmallVector<const BasicBlock*, 2> successors_among(const BasicBlock* block, const Blocks& among) {
    SmallVector<const BasicBlock*, 2> result;
    for (const BasicBlock* next : successors(block))
        if (among.contains(next) && !is_contained(result, next)) result.push_back(next);
    return result;
}

// For each block, by its number, those that every way on from it leads through, itself too. Ways
// that never end lead through everything.
std::vector<BitVector> blocks_ahead(const LanePlan& plan, const Blocks& staying) {
    const size_t count = plan.order().size();
    std::vector<BitVector> ahead(count, BitVector(unsigned(count), true));
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = count; i-- > 0;) {
            const BasicBlock* block = plan.order()[i];
            if (!staying.contains(block)) continue;
            auto next = successors_among(block, staying);
            BitVector found(unsigned(count), !next.empty());
            for (const BasicBlock* other : next) found &= ahead[plan.index(other)];
            found.set(unsigned(i));
            if (found == ahead[i]) continue;
            ahead[i] = std::move(found);
            changed = true;
        }
    }
    return ahead;
}

}  // namespace

// No way leads from a parting to one of the places but through a block behind which lanes no longer
// are apart. Whoever leaves `staying` comes to none of the places any more.
bool LanePlan::meet_before(ArrayRef<const BasicBlock*> places, const Blocks& staying) const {
    std::vector<BitVector> ahead = blocks_ahead(*this, staying);
    for (const BasicBlock* parting : order_) {
        if (!staying.contains(parting) || !diverges(parting) ||
            successors_among(parting, staying).size() < 2)
            continue;
        // The nearest of the blocks ahead has all others ahead of itself.
        const BasicBlock* meets = nullptr;
        unsigned most = 0;
        for (unsigned i : ahead[index(parting)].set_bits()) {
            if (order_[i] == parting || !staying.contains(order_[i]) || ahead[i].count() <= most)
                continue;
            meets = order_[i];
            most = ahead[i].count();
        }
        Blocks apart;
        SmallVector<const BasicBlock*, 16> pending{parting};
        while (!pending.empty())
            for (const BasicBlock* next : successors_among(pending.pop_back_val(), staying))
                if (next != meets && apart.insert(next).second) pending.push_back(next);
        if (any_of(places, [&](const BasicBlock* place) { return apart.contains(place); }))
            return false;
    }
    return true;
}

Meeting LanePlan::meeting_at(ArrayRef<const BasicBlock*> places) const {
    if (meet_before(places, Blocks(order_.begin(), order_.end()))) return Meeting::OfAll;
    Blocks staying(places.begin(), places.end());
    SmallVector<const BasicBlock*, 16> pending(places);
    while (!pending.empty())
        for (const BasicBlock* before : predecessors(pending.pop_back_val()))
            if (staying.insert(before).second) pending.push_back(before);
    return meet_before(places, staying) ? Meeting::OfThoseThatStay : Meeting::No;
}

}  // namespace trilane::cpu
