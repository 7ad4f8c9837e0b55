// The function of one thread of which regions are made.
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/kernel_body.h"
#include "devices/cpu/lower/loop_shape.h"
#include "devices/cpu/lower/region_thread.h"
#include "devices/cpu/lower/rounds.h"
#include "devices/cpu/lower/suspends.h"

namespace trilane::cpu {

using namespace llvm;

BlockValues region_block_values(IRBuilder<>& builder, Function& function, bool has_warps) {
    BlockValues values = load_block_values(builder, function.getArg(0));
    if (has_warps) values.block_dim[0] = builder.CreateAnd(values.block_dim[0], ~uint64_t{31});
    return values;
}

// The lines of warp operations, for reports of deadlocks.
static void keep_lines(Function& function) {
    for (Instruction& instruction : instructions(function)) {
        auto* call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr || call->getCalledFunction() == nullptr) continue;
        const DILocation* place = call->getDebugLoc();
        if (place == nullptr || !suspend_of(*call->getCalledFunction())) continue;
        while (place->getInlinedAt() != nullptr) place = place->getInlinedAt();
        auto* line = ConstantInt::get(Type::getInt32Ty(function.getContext()), place->getLine());
        call->setMetadata(kLineMark,
                          MDNode::get(function.getContext(), ConstantAsMetadata::get(line)));
    }
}

RegionThread make_region_thread(Function& kernel, const SharedLayout& layout,
                                const std::string& symbol, Optimizer& optimizer, bool rounds) {
    LLVMContext& context = kernel.getContext();
    RegionThread thread;
    thread.symbol = symbol;
    thread.has_warps = has_warp_operation(kernel);
    for (Instruction& instruction : instructions(kernel))
        if (auto* call = dyn_cast<IntrinsicInst>(&instruction))
            thread.has_rows |= call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_y;
    Type* pointer = PointerType::get(context, 0);
    Type* word = Type::getInt32Ty(context);
    thread.function =
        make_function_like(kernel, {pointer, word, word, word, pointer, pointer, pointer},
                           GlobalValue::InternalLinkage, symbol + ".thread");
    thread.function->removeFnAttr(Attribute::Memory);
    IRBuilder<> builder(BasicBlock::Create(context, "entry", thread.function));
    BlockValues values = region_block_values(builder, *thread.function, thread.has_warps);
    for (unsigned axis = 0; axis < 3; ++axis)
        values.thread_idx[axis] = thread.function->getArg(1 + axis);
    // Where this thread's part of each array lies.
    Value* threads = builder.CreateMul(
        builder.CreateMul(values.block_dim[0], values.block_dim[1], "", true, true),
        values.block_dim[2], "", true, true);
    thread.row = builder.CreateAnd(
        builder.CreateAdd(builder.CreateZExt(threads, builder.getInt64Ty()), builder.getInt64(63)),
        builder.getInt64(~uint64_t{63}), "row");
    auto* scratch = builder.CreateAlignedLoad(
        pointer, context_field(builder, values.context, offsetof(BlockContext, scratch)), Align(8),
        "scratch");
    scratch->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
    thread.scratch = scratch;
    thread.linear =
        builder.CreateZExt(linear_thread(builder, values), builder.getInt64Ty(), "linear", true);
    SmallVector<Value*, 8> arguments = load_arguments(builder, kernel, values.context);
    builder.SetInsertPoint(builder.CreateRetVoid());
    inline_kernel(builder, kernel, arguments, layout, values);
    thread.narrow_axes = narrow_global_indices(*thread.function, values);
    keep_lines(*thread.function);
    stripDebugInfo(*thread.function);
    // Nothing may fold these three away before they are used.
    thread.keep = CallInst::Create(
        kernel.getParent()->getOrInsertFunction(
            "trilane.keep",
            FunctionType::get(Type::getVoidTy(context),
                              {thread.row->getType(), pointer, thread.row->getType()}, false)),
        {thread.row, thread.scratch, thread.linear}, "",
        thread.function->getEntryBlock().getTerminator()->getIterator());
    optimizer.simplify(*thread.function);
    if (rounds) thread.rounds = put_in_rounds(thread, optimizer);
    if (thread.rounds > 0) optimizer.simplify(*thread.function);
    optimizer.optimize(*thread.function);
    prepare_for_lanes(*thread.function, optimizer);
    for (Instruction& instruction : instructions(*thread.function))
        if (auto* found = dyn_cast<CallInst>(&instruction);
            found != nullptr && found->getCalledFunction() != nullptr &&
            found->getCalledFunction()->getName() == "trilane.keep")
            thread.keep = found;
    thread.row = thread.keep->getArgOperand(0);
    thread.scratch = thread.keep->getArgOperand(1);
    thread.linear = thread.keep->getArgOperand(2);
    return thread;
}

}  // namespace trilane::cpu
