// What the stages of build_region_shape() hand on: the kernel's function of one thread, cut at its
// barriers, and its copies, one per region.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <string>
#include <vector>

#include "devices/cpu/lower/lower.h"
#include "devices/cpu/lower/passes.h"
#include "devices/cpu/lower/registers.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

struct Barrier {
    llvm::CallBase* call = nullptr;
    Suspend kind = Suspend::Barrier;
    llvm::BasicBlock *before = nullptr, *after = nullptr;  // `before` holds the call alone
    llvm::Value* predicate = nullptr;
    uint64_t result_cell = 0;
    std::vector<unsigned> live;  // numbers of the values that threads carry over
};

// A value that is alive behind some barrier.
struct Carried {
    llvm::AllocaInst* slot = nullptr;
    llvm::Type* type = nullptr;
    bool uniform = false;
    uint64_t place = 0;  // of the cell, or bytes per thread before the array
};

// void function(context, x, y, z, cells to read, cells to write, count of a barrier's predicate)
struct RegionThread {
    enum Parameter : unsigned { kContext, kX, kY, kZ, kRead, kWritten, kCount };

    uint64_t new_cell(uint64_t size, uint64_t align) {
        cells = llvm::alignTo(cells, llvm::Align(align));
        uint64_t place = cells;
        cells += size;
        return place;
    }

    std::string symbol;  // of the block function that is to be
    llvm::Function* function = nullptr;
    // Distance of arrays in the scratch memory for one byte per thread, that memory, and which of
    // the block's threads this is: in the entry, kept alive by `keep` until they are used.
    llvm::Value *row = nullptr, *scratch = nullptr, *linear = nullptr;
    llvm::CallInst* keep = nullptr;
    bool has_rows = false;   // the kernel asks for threadIdx.y
    bool has_warps = false;  // warp operations: the block's size along x is a multiple of 32
    uint32_t narrow_axes = 0;
    unsigned rounds = 0;  // loops that put_in_rounds() has changed
    // Set by cut_at_barriers().
    llvm::BasicBlock* common = nullptr;  // what every region computes anew
    llvm::MDNode* carried_scope = nullptr;
    std::vector<Barrier> barriers;
    std::vector<Carried> carried;
    llvm::SmallPtrSet<llvm::Value*, 32> uniform;
    // Threads may return while others go on to a barrier: an array says which have not yet.
    bool some_leave = false;
    Carried stays;
    uint64_t cells = 8, per_thread = 0;  // bytes
};

// In each set of cells: the ways by which threads left the region, one bit for each barrier.
inline constexpr uint64_t kExitsCell = 0;
inline constexpr uint32_t kExitEnd = 1u << 31;  // some returned

// `rounds`: strided loops are put in rounds.
RegionThread make_region_thread(llvm::Function& kernel, const SharedLayout& layout,
                                const std::string& symbol, Optimizer& optimizer, bool rounds);
BlockValues region_block_values(llvm::IRBuilder<>& builder, llvm::Function& function,
                                bool has_warps);

// False if there are barriers that not all threads reach together (but for those that have
// returned), or loops that wait.
bool cut_at_barriers(RegionThread& thread, Optimizer& optimizer);

struct Region {
    llvm::Function* function = nullptr;
    llvm::SmallVector<unsigned, 4> exits;  // barriers at which it ends
    bool ends = false;                     // a thread may return in it
};
// Region 0 begins at the start, region i + 1 behind barrier i.
// `some_left`: threads that have returned do nothing; otherwise there are none.
Region make_region(RegionThread& thread, unsigned number, bool some_left = false);

// Loops over the threads of a block, in lanes where that is possible.
class RegionLoops {
  public:
    RegionLoops(const RegionThread& thread, Optimizer& optimizer,
                llvm::AllocaInst* const (&cells)[3])
        : thread_(thread), optimizer_(optimizer), cells_(cells) {}

    // Calls `region` for every thread; the builder goes on behind the loops. False if the region
    // runs one thread at a time. `small`: one text for whole vectors and the rest of a row.
    bool add(llvm::IRBuilder<>& builder, const BlockValues& values, llvm::Function& region,
             unsigned lanes, bool small = false);
    // All calls of regions that were made: to be inlined.
    const std::vector<llvm::CallInst*>& calls() const { return calls_; }
    // Functions that nobody needs once the calls are inlined.
    const std::vector<llvm::Function*>& functions() const { return functions_; }

  private:
    llvm::Function* in_lanes(llvm::Function& region, unsigned lanes, bool full);
    void add_threads(llvm::IRBuilder<>& builder, const BlockValues& values, llvm::Function& region);
    void add_vectors(llvm::IRBuilder<>& builder, const BlockValues& values, llvm::Function* full,
                     llvm::Function* part, unsigned lanes);

    const RegionThread& thread_;
    Optimizer& optimizer_;
    llvm::AllocaInst* const (&cells_)[3];
    std::vector<llvm::CallInst*> calls_;
    std::vector<llvm::Function*> functions_;
};

}  // namespace trilane::cpu
