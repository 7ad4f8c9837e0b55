// The plan by which a function of one thread becomes a function of W lanes: in which order its
// blocks run, the shapes of its values, where lanes part and meet.
//
// Blocks keep the scalar function's order, with the blocks of a loop together. A branch on which
// lanes may part puts the lanes of either side down as pending at their blocks, and the first block
// in order that may have pending lanes runs next; so lanes meet again as early as they can. Other
// branches stay branches, unless they would jump over a block with pending lanes.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <optional>
#include <vector>

#include "devices/cpu/lanes/shape.h"

namespace trilane::cpu {

// Attribute of a function of one thread: who returns from it waits for the block, kWaitsAll, or who
// calls kWaitsMark before, kWaitsMarked. Without it returning is the end.
inline constexpr const char* kWaitsAttribute = "trilane-waits";
inline constexpr const char* kWaitsAll = "all";
inline constexpr const char* kWaitsMarked = "marked";
inline constexpr const char* kWaitsMark = "__trl_waits";
bool is_waits_mark(const llvm::Instruction& instruction);

// The vector that is planned for.
struct LaneVector {
    unsigned lanes = 0;                // 0: any number
    bool full = false;                 // all lanes are there
    std::vector<unsigned> zeros = {};  // argument i, or its lane 0, is a multiple of 2^zeros[i]
    std::vector<const llvm::Argument*> varying = {};  // these differ as they like
};

enum class Meeting {
    No,
    OfAll,
    OfThoseThatStay,  // some may leave the function; all others come to each place together
};

class LanePlan {
  public:
    // `lane` is the argument that counts with the lane; others are uniform unless `vector` says so.
    // The function has simplified loops in LCSSA form, each with one entry, no switch, and one
    // return.
    LanePlan(llvm::Function& function, const llvm::Argument& lane, LaneVector vector);

    const std::vector<llvm::BasicBlock*>& order() const { return order_; }
    size_t index(const llvm::BasicBlock* block) const { return index_.lookup(block); }
    LaneShape shape(const llvm::Value* value) const;
    // The lanes of the block may go different ways at its end.
    bool diverges(const llvm::BasicBlock* block) const;
    // Lanes may have to wait at the block for others.
    bool deferred(const llvm::BasicBlock* block) const { return deferred_.contains(block); }
    // An earlier block that runs with exactly the same lanes, each time; nullptr if none is known.
    llvm::BasicBlock* equivalent(const llvm::BasicBlock* block) const {
        return equivalent_.lookup(block);
    }
    bool is_back_edge(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const {
        return index(to) <= index(from);
    }
    // Lanes that stand at `block` may be pending while `at` runs.
    bool may_pend(const llvm::BasicBlock* block, const llvm::BasicBlock* at) const;
    // Deferred blocks after `at` in order.
    std::vector<llvm::BasicBlock*> deferred_after(const llvm::BasicBlock* at) const;
    // A value that comes into `phi` needs the other lanes' old value kept.
    bool blends(const llvm::PHINode& phi) const;
    const llvm::DominatorTree& dominators() const { return dominators_; }
    const llvm::LoopInfo& loops() const { return loops_; }
    // Every lane that enters the function is active in the block.
    bool runs_all(const llvm::BasicBlock* block) const;
    // The earliest block known to run with exactly the same lanes.
    const llvm::BasicBlock* first_with_same_lanes(const llvm::BasicBlock* block) const;
    // Whoever the warp operation waits for comes to it together with the others, or never comes to
    // one again, of which it is known whether it waits for the block then.
    bool comes_together(const llvm::CallBase& operation) const;
    // Blocks whose pending lanes the operation may name although they will wait for the block.
    std::vector<llvm::BasicBlock*> waiting_before(const llvm::CallBase& operation) const;

    // Where the ways that part at the end of `block` all come together, nullptr if nowhere.
    const llvm::BasicBlock* meets(const llvm::BasicBlock* block) const;
    // Do lanes that have parted come to any of the places only after they have met again?
    Meeting meeting_at(llvm::ArrayRef<const llvm::BasicBlock*> places) const;

  private:
    void order_blocks();
    void order_region(const std::vector<llvm::BasicBlock*>& blocks, const llvm::Loop* loop);
    void find_equivalents();
    bool always_reaches(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const;
    void find_shapes(const llvm::Argument& lane);
    LaneShape shape_of(const llvm::Instruction& instruction) const;
    LaneShape shape_of_phi(const llvm::PHINode& phi) const;
    LaneShape shape_of_call(const llvm::CallBase& call) const;
    LaneShape shape_of_shuffle(const llvm::CallBase& call) const;
    LaneShape shape_of_compare(const llvm::ICmpInst& compare) const;
    bool is_aligned_row(LaneShape shape) const;
    unsigned zeros_of(const llvm::Instruction& instruction) const;
    LaneShape shape_of_address(const llvm::GetElementPtrInst& address) const;
    LaneShape shape_of_cast(const llvm::CastInst& cast) const;
    LaneShape shape_of_binary(const llvm::BinaryOperator& operation) const;
    bool is_divergent_join(const llvm::BasicBlock* block) const;
    bool leaves_at_different_times(const llvm::Loop* loop) const;
    bool is_temporal(const llvm::PHINode& phi) const;
    bool stands_before(const llvm::BasicBlock* other, const llvm::BasicBlock* block) const;
    bool others_are_done(const llvm::BasicBlock* block) const;
    bool reaches_operation(const llvm::BasicBlock* block) const;
    // How lanes that stand at the block leave the function.
    struct Leaving {
        bool waits = false, ends = false;
    };
    Leaving leaving(const llvm::BasicBlock* block) const;
    bool names_lanes_of(const llvm::Value* mask, const llvm::BasicBlock* block) const;
    bool meet_before(llvm::ArrayRef<const llvm::BasicBlock*> places,
                     const llvm::DenseSet<const llvm::BasicBlock*>& staying) const;
    void plan_deferral();
    size_t pending_from(const llvm::BasicBlock* source, const llvm::BasicBlock* target) const;

    llvm::Function& function_;
    LaneVector vector_;
    llvm::DominatorTree dominators_;
    llvm::PostDominatorTree post_dominators_;
    llvm::LoopInfo loops_;
    std::vector<llvm::BasicBlock*> order_;
    llvm::DenseMap<const llvm::BasicBlock*, size_t> index_;
    llvm::DenseMap<const llvm::Value*, LaneShape> shapes_;
    llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> equivalent_;
    llvm::DenseSet<const llvm::BasicBlock*> deferred_;
    // For each deferred block the earliest place in order from which it may have pending lanes.
    llvm::DenseMap<const llvm::BasicBlock*, size_t> pending_since_;
};

}  // namespace trilane::cpu
