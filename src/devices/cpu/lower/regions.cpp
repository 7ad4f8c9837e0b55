// Cutting a kernel at its barriers.
//
// The kernel's function of one thread is copied once per region; each copy begins after one barrier
// and ends at those it reaches next. Values that a thread carries over are of three kinds: what
// follows from indices and arguments is computed anew; what is the same for the whole block lies in
// one cell (read from one set of cells, written to another, since threads of a region may come to
// its end before others begin); anything else has an array with one element per thread.
#include "devices/cpu/lower/regions.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <optional>

#include "core/error.h"
#include "devices/cpu/lower/kernel_body.h"
#include "devices/cpu/lower/region_thread.h"
#include "devices/cpu/lower/suspends.h"
#include "devices/cpu/lower/waiting.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kMostRegions = 24;
constexpr size_t kMostInstructions = 6000;  // of all copies together

// The function that runs a block: regions one after the other.
class RegionBlock {
  public:
    RegionBlock(Function& kernel, RegionThread& thread, Optimizer& optimizer, unsigned lanes)
        : kernel_(kernel),
          thread_(thread),
          optimizer_(optimizer),
          lanes_(lanes),
          context_(kernel.getContext()),
          data_(kernel.getParent()->getDataLayout()) {}

    ~RegionBlock() {
        for (Function* function : functions_) {
            optimizer_.forget(*function);
            function->eraseFromParent();
        }
    }

    Function* run(LoweredKernel& lowered) {
        function_ = make_block_function(kernel_, thread_.symbol);
        function_->removeFnAttr(Attribute::Memory);
        IRBuilder<> builder(BasicBlock::Create(context_, "entry", function_));
        BlockValues values = region_block_values(builder, *function_, thread_.has_warps);
        make_cells(builder);
        for (unsigned i = 0; i <= thread_.barriers.size(); ++i)
            starts_.push_back(BasicBlock::Create(context_, "region", function_));
        done_ = BasicBlock::Create(context_, "done", function_);
        ReturnInst::Create(context_, done_);
        builder.CreateBr(starts_[0]);
        RegionLoops loops(thread_, optimizer_, cells_);
        const bool done = add_regions(builder, values, loops, lowered);
        functions_.insert(functions_.end(), loops.functions().begin(), loops.functions().end());
        if (!done) {
            function_->eraseFromParent();
            return nullptr;
        }
        for (CallInst* call : loops.calls()) {
            InlineFunctionInfo info;
            InlineResult result = InlineFunction(*call, info);
            TRILANE_CHECK(result.isSuccess(), "{}: {}", thread_.symbol, result.getFailureReason());
        }
        lowered.narrow_axes = thread_.narrow_axes;
        lowered.scratch_bytes = thread_.per_thread;
        return function_;
    }

  private:
    void make_cells(IRBuilder<>& builder) {
        for (AllocaInst*& set : cells_) {
            uint64_t size = &set == &cells_[2] ? 4 : alignTo(thread_.cells, 16);
            set = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), size), nullptr, "cells");
            set->setAlignment(Align(16));
            builder.CreateMemSet(set, builder.getInt8(0), size, Align(16));
        }
        some_left_ = builder.CreateAlloca(builder.getInt32Ty(), nullptr, "some_left");
        builder.CreateStore(builder.getInt32(0), some_left_);
    }

    // Nothing if the region has warp operations and does not go in lanes.
    std::optional<Region> add_region(IRBuilder<>& builder, const BlockValues& values,
                                     RegionLoops& loops, unsigned number, bool some_left,
                                     bool& in_lanes) {
        Region region = make_region(thread_, number, some_left);
        functions_.push_back(region.function);
        optimizer_.simplify(*region.function);
        optimizer_.optimize(*region.function);
        const bool waits = has_warp_operation(*region.function);
        const bool fits =
            loops.add(builder, values, *region.function, waits ? kWarp : lanes_, some_left);
        in_lanes &= fits;
        if (waits && !fits) return std::nullopt;
        return region;
    }

    // False if a region with warp operations does not go in lanes.
    bool add_regions(IRBuilder<>& builder, const BlockValues& values, RegionLoops& loops,
                     LoweredKernel& lowered) {
        bool in_lanes = true;
        for (unsigned i = 0; i <= thread_.barriers.size(); ++i) {
            builder.SetInsertPoint(starts_[i]);
            builder.CreateAlignedStore(builder.getInt32(0), field(builder, cells_[1], kExitsCell),
                                       Align(4));
            BasicBlock* end = nullptr;
            if (thread_.some_leave && i > 0) {
                end = BasicBlock::Create(context_, "all", function_);
                auto* all = BasicBlock::Create(context_, "all", function_, end);
                auto* some = BasicBlock::Create(context_, "some", function_, end);
                Value* left = builder.CreateLoad(builder.getInt32Ty(), some_left_);
                builder.CreateCondBr(builder.CreateICmpEQ(left, builder.getInt32(0)), all, some);
                builder.SetInsertPoint(some);
                if (!add_region(builder, values, loops, i, true, in_lanes)) return false;
                builder.CreateBr(end);
                builder.SetInsertPoint(all);
            }
            auto region = add_region(builder, values, loops, i, false, in_lanes);
            if (!region) return false;
            if (end != nullptr) {
                builder.CreateBr(end);
                builder.SetInsertPoint(end);
            }
            dispatch(builder, *region);
        }
        lowered.lanes = !in_lanes ? 1 : thread_.has_warps ? kWarp : lanes_;
        return true;
    }

    Value* field(IRBuilder<>& builder, Value* cells, uint64_t place) {
        return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), cells, place);
    }

    // From the end of a region to the beginning of the next.
    void dispatch(IRBuilder<>& builder, const Region& region) {
        BasicBlock* from = builder.GetInsertBlock();
        std::vector<BasicBlock*> ways;
        for (unsigned j : region.exits) {
            auto* way = BasicBlock::Create(context_, "barrier", function_);
            builder.SetInsertPoint(way);
            const Barrier& barrier = thread_.barriers[j];
            for (unsigned i : barrier.live) {
                const Carried& carried = thread_.carried[i];
                if (!carried.uniform) continue;
                Type* type = carried.type->isIntegerTy(1) ? builder.getInt8Ty() : carried.type;
                Align align = data_.getABITypeAlign(type);
                builder.CreateAlignedStore(
                    builder.CreateAlignedLoad(type, field(builder, cells_[1], carried.place),
                                              align),
                    field(builder, cells_[0], carried.place), align);
            }
            if (barrier.predicate != nullptr) finish_count(builder, barrier);
            builder.CreateBr(starts_[j + 1]);
            ways.push_back(way);
        }
        builder.SetInsertPoint(from);
        if (ways.empty()) {
            builder.CreateBr(done_);
            return;
        }
        if (ways.size() == 1 && !region.ends) {
            builder.CreateBr(ways[0]);
            return;
        }
        auto* parted = BasicBlock::Create(context_, "parted", function_);
        Value* exit = builder.CreateAlignedLoad(builder.getInt32Ty(),
                                                field(builder, cells_[1], kExitsCell), Align(4));
        if (thread_.some_leave && region.ends) {
            // Who has returned is not waited for.
            Value* left = builder.CreateLoad(builder.getInt32Ty(), some_left_);
            builder.CreateStore(builder.CreateOr(left, builder.CreateAnd(exit, kExitEnd)),
                                some_left_);
            Value* others = builder.CreateAnd(exit, ~kExitEnd);
            exit = builder.CreateSelect(builder.CreateICmpEQ(others, builder.getInt32(0)), exit,
                                        others);
        }
        SwitchInst* choice = builder.CreateSwitch(exit, parted, unsigned(ways.size()) + 1);
        for (size_t i = 0; i < ways.size(); ++i)
            choice->addCase(builder.getInt32(1u << region.exits[i]), ways[i]);
        if (region.ends) choice->addCase(builder.getInt32(kExitEnd), done_);
        builder.SetInsertPoint(parted);
        builder.CreateCall(function_->getParent()->getOrInsertFunction(
            "__trl_rt_parted", FunctionType::get(builder.getVoidTy(), {}, false)));
        builder.CreateBr(done_);
    }

    void finish_count(IRBuilder<>& builder, const Barrier& barrier) {
        Value* place = field(builder, cells_[2], 0);
        Value* count = builder.CreateAlignedLoad(builder.getInt32Ty(), place, Align(4));
        builder.CreateAlignedStore(builder.getInt32(0), place, Align(4));
        Value* result = count;
        if (barrier.kind == Suspend::BarrierAnd) {
            // What was counted are the threads that said no.
            result = builder.CreateZExt(builder.CreateICmpEQ(count, builder.getInt32(0)),
                                        builder.getInt32Ty());
        } else if (barrier.kind == Suspend::BarrierOr) {
            result = builder.CreateZExt(builder.CreateICmpNE(count, builder.getInt32(0)),
                                        builder.getInt32Ty());
        }
        builder.CreateAlignedStore(result, field(builder, cells_[0], barrier.result_cell),
                                   Align(4));
    }

    Function& kernel_;
    RegionThread& thread_;
    Optimizer& optimizer_;
    const unsigned lanes_;
    LLVMContext& context_;
    const DataLayout& data_;
    Function* function_ = nullptr;
    AllocaInst* cells_[3] = {};        // read, written, count of a barrier's predicate
    AllocaInst* some_left_ = nullptr;  // not 0: threads have returned
    std::vector<BasicBlock*> starts_;
    BasicBlock* done_ = nullptr;
    std::vector<Function*> functions_;
};

// Instructions of all regions together, about.
size_t size_of_regions(const RegionThread& thread) {
    const Function& function = *thread.function;
    return (thread.barriers.size() + 1) *
           size_t(std::distance(inst_begin(function), inst_end(function))) / 2;
}

}  // namespace

Function* build_region_shape(Function& kernel, const SharedLayout& layout,
                             const std::string& symbol, Optimizer& optimizer, unsigned lanes,
                             LoweredKernel& lowered) {
    if (!volatile_shared_accesses(kernel).empty()) return nullptr;
    // Where rounds do not fit the kernel is cut without them.
    Function* block = nullptr;
    for (bool rounds : {true, false}) {
        RegionThread thread = make_region_thread(kernel, layout, symbol, optimizer, rounds);
        if (cut_at_barriers(thread, optimizer) && thread.barriers.size() < kMostRegions &&
            size_of_regions(thread) < kMostInstructions)
            block = RegionBlock(kernel, thread, optimizer, lanes).run(lowered);
        optimizer.forget(*thread.function);
        thread.function->eraseFromParent();
        lowered.rounds = block != nullptr ? thread.rounds : 0;
        if (block != nullptr || thread.rounds == 0) break;
    }
    return block;
}

}  // namespace trilane::cpu
