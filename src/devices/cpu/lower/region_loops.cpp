// Loops over the threads of a block around a region, W threads at a time.
#include <llvm/Support/raw_ostream.h>

#include "core/env.h"
#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/lower/region_thread.h"

namespace trilane::cpu {

using namespace llvm;

namespace {

constexpr unsigned kWarp = 32;

}  // namespace

// Null if the region cannot go in lanes.
Function* RegionLoops::in_lanes(Function& region, unsigned lanes, bool full) {
    LaneVector kind{lanes, full, {}, {}};
    kind.zeros.resize(region.arg_size());
    if (isPowerOf2_32(lanes)) kind.zeros[RegionThread::kX] = Log2_32(lanes);
    std::string why;
    Function* vector = put_into_lanes(region, RegionThread::kX, kind,
                                      thread_.symbol + (full ? ".full" : ".part"), why);
    if (vector != nullptr) functions_.push_back(vector);
    if (core::env_flag("TRILANE_DUMP_LANES")) {
        errs() << "region in " << lanes << " lanes: " << (vector != nullptr ? "yes" : why) << "\n"
               << region;
        if (vector != nullptr) errs() << *vector;
    }
    return vector;
}

bool RegionLoops::add(IRBuilder<>& builder, const BlockValues& values, Function& region,
                      unsigned lanes, bool small) {
    prepare_for_lanes(region, optimizer_);
    // Rows of whole warps have no rest.
    const bool always_full = thread_.has_warps && kWarp % lanes == 0;
    Function *full = nullptr, *part = nullptr;
    const bool fits =
        (!always_full && small ? true : (full = in_lanes(region, lanes, true)) != nullptr) &&
        (always_full ? true : (part = in_lanes(region, lanes, false)) != nullptr);
    if (fits)
        add_vectors(builder, values, full, part, lanes);
    else
        add_threads(builder, values, region);
    return fits;
}

void RegionLoops::add_threads(IRBuilder<>& builder, const BlockValues& values, Function& region) {
    for (BasicBlock& block : region)
        for (Instruction& instruction : make_early_inc_range(block))
            if (is_waits_mark(instruction)) instruction.eraseFromParent();
    ThreadLoops nest = make_thread_loops(builder, values);
    builder.SetInsertPoint(nest.body->getTerminator());
    calls_.push_back(builder.CreateCall(
        &region, {values.context, nest.x, nest.y, nest.z, cells_[0], cells_[1], cells_[2]}));
    builder.SetInsertPoint(nest.exit);
}

// For blocks with rows y is innermost: what depends on x only is loaded once for a column of
// vectors. Without `part` there is no rest; without `full` it serves for all.
void RegionLoops::add_vectors(IRBuilder<>& builder, const BlockValues& values, Function* full,
                              Function* part, unsigned lanes) {
    LLVMContext& context = builder.getContext();
    Function* function = builder.GetInsertBlock()->getParent();
    auto block = [&](const char* name) { return BasicBlock::Create(context, name, function); };
    BasicBlock* head = block("vectors");
    CountedLoop z = make_counted_loop(builder.GetInsertBlock(), values.block_dim[2], "z"), y;
    BasicBlock *before = z.header, *after = z.latch;
    if (!thread_.has_rows) {
        y = make_counted_loop(z.header, values.block_dim[1], "y");
        BranchInst::Create(z.latch, y.exit);
        before = y.header;
        after = y.latch;
    }
    BranchInst::Create(head, before);
    builder.SetInsertPoint(head);
    PHINode* x = builder.CreatePHI(builder.getInt32Ty(), 2, "x");
    x->addIncoming(builder.getInt32(0), before);
    Value* next = builder.CreateAdd(x, builder.getInt32(lanes), "", true, true);
    // Where the vectors at one x end.
    auto vectors = [&](BasicBlock* from, Function& body, Value* active, BasicBlock* to) {
        CountedLoop rows = y;
        BasicBlock* place = from;
        if (thread_.has_rows) {
            rows = make_counted_loop(from, values.block_dim[1], "y");
            BranchInst::Create(to, rows.exit);
            place = rows.header;
            to = rows.latch;
        }
        builder.SetInsertPoint(place);
        SmallVector<Value*, 8> arguments{values.context, x,         rows.index, z.index,
                                         cells_[0],      cells_[1], cells_[2]};
        if (active != nullptr) arguments.push_back(active);
        calls_.push_back(builder.CreateCall(&body, arguments));
        builder.CreateBr(to);
        return thread_.has_rows ? rows.exit : place;
    };
    BasicBlock* rest = head;
    if (full != nullptr) {
        BasicBlock* whole = block("vector");
        rest = block("rest");
        builder.CreateCondBr(builder.CreateICmpULE(next, values.block_dim[0]), whole, rest);
        x->addIncoming(next, vectors(whole, *full, nullptr, head));
    }
    builder.SetInsertPoint(rest);
    if (part != nullptr) {
        BasicBlock* tail = block("tail");
        builder.CreateCondBr(builder.CreateICmpULT(x, values.block_dim[0]), tail, after);
        builder.SetInsertPoint(tail);
        Value* active = builder.CreateSub(values.block_dim[0], x);
        if (full != nullptr) {
            vectors(tail, *part, active, after);
        } else {
            active =
                builder.CreateBinaryIntrinsic(Intrinsic::umin, active, builder.getInt32(lanes));
            x->addIncoming(next, vectors(tail, *part, active, head));
        }
    } else {
        builder.CreateBr(after);
    }
    builder.SetInsertPoint(z.exit);
}

}  // namespace trilane::cpu
