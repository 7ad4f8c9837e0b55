// The parts of region shape: regions.cpp finds where to cut and what threads carry over,
// region_code.cpp writes the regions and the block's function around them.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "devices/cpu/lower/lower.h"
#include "devices/cpu/lower/passes.h"
#include "devices/cpu/lower/registers.h"
#include "devices/cpu/lower/suspends.h"

namespace trilane::cpu {

// A barrier at which the kernel is cut.
struct RegionBarrier {
    llvm::CallBase* call = nullptr;
    Suspend kind = Suspend::Barrier;
    llvm::BasicBlock *before = nullptr, *after = nullptr;  // `before` holds the call alone
    llvm::Value* predicate = nullptr;
    uint64_t result_cell = 0;
    std::vector<unsigned> live;  // numbers of the values that threads carry over
};

// A value that threads carry over barriers.
struct RegionValue {
    llvm::AllocaInst* slot = nullptr;
    llvm::Type* type = nullptr;
    bool uniform = false;
    uint64_t place = 0;  // of the cell, or bytes per thread before the array
};

class RegionBuilder {
  public:
    RegionBuilder(llvm::Function& kernel, const SharedLayout& layout, const std::string& symbol,
                  Optimizer& optimizer, unsigned lanes, LoweredKernel& lowered)
        : kernel_(kernel),
          layout_(layout),
          symbol_(symbol),
          optimizer_(optimizer),
          lanes_(lanes),
          lowered_(lowered),
          module_(*kernel.getParent()),
          context_(kernel.getContext()),
          data_(module_.getDataLayout()) {}

    llvm::Function* run();

  private:
    void drop(llvm::Function* function);

    size_t size() const;

    // void thread(context, x, y, z, cells to read, cells to write, scratch)
    void make_thread();

    bool is_plain_barrier(llvm::CallBase& call, const SuspendForm& form);

    bool find_barriers();

    void cut(RegionBarrier& barrier);

    uint64_t new_cell(uint64_t size, uint64_t align);

    // What follows from indices and arguments is computed at the start of every region.
    void collect_common();

    llvm::Value* array_element(llvm::IRBuilder<>& builder, uint64_t before, uint64_t size);

    // Private arrays live as long as the block: threads leave and come back.
    void place_arrays();

    // Values that are alive after a barrier become slots, which each region fills and saves.
    void find_carried();

    static llvm::SmallPtrSet<llvm::BasicBlock*, 16> alive_at_start(llvm::Instruction& value);

    llvm::Value* cell(llvm::IRBuilder<>& builder, llvm::Function& function, unsigned argument,
                      uint64_t place);

    // Region 0 begins at the start, region i + 1 after barrier i. Gives the barriers it ends at;
    // `ends`: a thread may return in it.
    llvm::Function* make_region(unsigned number, llvm::SmallVectorImpl<unsigned>& exits,
                                bool& ends);

    // Returns of the kernel itself, not those put in at barriers.
    void mark_end(llvm::Function& region);

    static bool is_next_cell(llvm::Function& region, llvm::Value* pointer);

    void make_entry(llvm::Function& regions);

    llvm::Function* make_block();

    // Calls `region` for every thread of the block, W at a time where that can be.
    void run_threads(llvm::IRBuilder<>& builder, const BlockValues& values, llvm::Function& region,
                     llvm::AllocaInst* const* cells, std::vector<llvm::CallInst*>& calls);

    void run_rows_together(llvm::IRBuilder<>& builder, const BlockValues& values,
                           llvm::function_ref<void(llvm::Value* y, llvm::Value* z)> run_row);

    llvm::Value* field(llvm::IRBuilder<>& builder, llvm::Value* cells, uint64_t place);

    void dispatch(llvm::IRBuilder<>& builder, const BlockValues& values,
                  llvm::AllocaInst* const* cells, const std::vector<llvm::BasicBlock*>& starts,
                  llvm::BasicBlock* done, llvm::ArrayRef<unsigned> exits, bool ends);

    void finish_count(llvm::IRBuilder<>& builder, const BlockValues& values,
                      llvm::AllocaInst* const* cells, const RegionBarrier& barrier);

    static constexpr unsigned kThreadX = 1;  // the argument of thread_
    static constexpr uint64_t kNextCell = 0, kCountCell = 4;
    static constexpr unsigned kRows = 4, kMostInRows = 160;
    static constexpr const char* kNextMark = "trilane.next";
    llvm::Function& kernel_;
    const SharedLayout& layout_;
    const std::string symbol_;
    Optimizer& optimizer_;
    const unsigned lanes_;
    LoweredKernel& lowered_;
    llvm::Module& module_;
    llvm::LLVMContext& context_;
    const llvm::DataLayout& data_;
    llvm::Function* thread_ = nullptr;
    std::vector<llvm::Function*> copies_;
    llvm::Value *row_ = nullptr, *scratch_ = nullptr, *linear_ = nullptr;
    llvm::CallInst* keep_ = nullptr;
    llvm::BasicBlock* common_ = nullptr;
    llvm::BasicBlock* after_rows_ = nullptr;  // of run_rows_together()
    std::vector<RegionBarrier> barriers_;
    std::vector<RegionValue> carried_;
    llvm::SmallPtrSet<llvm::Value*, 32> uniform_;
    uint64_t cells_ = 8, per_thread_ = 0;
    uint32_t narrow_ = 0;
};

}  // namespace trilane::cpu
