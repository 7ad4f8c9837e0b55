// The loop over the threads of a block.
#include "devices/cpu/lower/loop_shape.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include "devices/cpu/lanes/vectorize.h"
#include "devices/cpu/lower/kernel_body.h"
#include "devices/cpu/lower/prepare.h"
#include "devices/cpu/lower/row_fold.h"
#include "devices/cpu/run/block_context.h"

namespace trilane::cpu {

using namespace llvm;
using namespace llvm::PatternMatch;

CountedLoop make_counted_loop(BasicBlock* before, Value* limit, const Twine& name) {
    Function& function = *before->getParent();
    LLVMContext& context = function.getContext();
    CountedLoop loop;
    loop.header = BasicBlock::Create(context, name + ".header", &function);
    loop.latch = BasicBlock::Create(context, name + ".latch", &function);
    loop.exit = BasicBlock::Create(context, name + ".exit", &function);
    BranchInst::Create(loop.header, before);
    IRBuilder<> builder(loop.header);
    loop.index = builder.CreatePHI(builder.getInt32Ty(), 2, name);
    loop.index->addIncoming(builder.getInt32(0), before);
    builder.SetInsertPoint(loop.latch);
    Value* next = builder.CreateAdd(loop.index, builder.getInt32(1), name + ".next", true, true);
    builder.CreateCondBr(builder.CreateICmpULT(next, limit), loop.header, loop.exit);
    loop.index->addIncoming(next, loop.latch);
    return loop;
}

bool kernel_needs_thread(Function& function) {
    for (Instruction& instruction : instructions(function)) {
        auto* call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr) continue;
        Function* callee = call->getCalledFunction();
        if (callee == nullptr || !callee->isDeclaration() || needs_thread(callee->getName()))
            return true;
    }
    return false;
}

void store_thread(IRBuilder<>& builder, const BlockValues& values) {
    StoreInst* store = builder.CreateAlignedStore(
        linear_thread(builder, values),
        context_field(builder, values.context, offsetof(BlockContext, thread_linear)), Align(4));
    store->setMetadata(kThreadMark, MDNode::get(builder.getContext(), {}));
}

ThreadLoops make_thread_loops(IRBuilder<>& builder, const BlockValues& values) {
    CountedLoop z = make_counted_loop(builder.GetInsertBlock(), values.block_dim[2], "z");
    CountedLoop y = make_counted_loop(z.header, values.block_dim[1], "y");
    CountedLoop x = make_counted_loop(y.header, values.block_dim[0], "x");
    BranchInst::Create(x.latch, x.header);
    BranchInst::Create(y.latch, x.exit);
    BranchInst::Create(z.latch, y.exit);
    return {x.index, y.index, z.index, x.header, z.exit};
}

uint32_t narrow_global_indices(Function& function, const BlockValues& values) {
    uint32_t axes = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
        Value* thread = values.thread_idx[axis];
        std::vector<BinaryOperator*> sums;
        for (User* user : thread->users()) {
            auto* sum = dyn_cast<BinaryOperator>(user);
            if (sum == nullptr || sum->getFunction() != &function) continue;
            if (match(sum,
                      m_c_Add(m_Specific(thread), m_c_Mul(m_Specific(values.block_idx[axis]),
                                                          m_Specific(values.block_dim[axis])))))
                sums.push_back(sum);
        }
        for (BinaryOperator* sum : sums) {
            auto* product = cast<BinaryOperator>(sum->getOperand(0) == thread ? sum->getOperand(1)
                                                                              : sum->getOperand(0));
            for (BinaryOperator* op : {product, sum}) {
                op->setHasNoSignedWrap(true);
                op->setHasNoUnsignedWrap(true);
            }
            axes |= 1u << axis;
        }
    }
    return axes;
}

// The loop that counts `x` holds another one.
static bool has_inner_loop(const PHINode& x) {
    DominatorTree dominators(*const_cast<Function*>(x.getFunction()));
    LoopInfo loops(dominators);
    const Loop* loop = loops.getLoopFor(x.getParent());
    return loop == nullptr || !loop->isInnermost();
}

Function* build_loop_shape(Function& kernel, const SharedLayout& layout, const std::string& symbol,
                           LoweredKernel& lowered, bool whole_warps) {
    Function* function = make_block_function(kernel, symbol);
    IRBuilder<> builder(BasicBlock::Create(kernel.getContext(), "entry", function));
    BlockValues values = load_block_values(builder, function->getArg(0));
    if (whole_warps) values.block_dim[0] = builder.CreateAnd(values.block_dim[0], ~uint64_t{31});
    SmallVector<Value*, 8> arguments = load_arguments(builder, kernel, values.context);
    ThreadLoops loops = make_thread_loops(builder, values);
    values.thread_idx[0] = loops.x;
    values.thread_idx[1] = loops.y;
    values.thread_idx[2] = loops.z;
    ReturnInst::Create(kernel.getContext(), loops.exit);
    builder.SetInsertPoint(loops.body->getTerminator());
    if (kernel_needs_thread(kernel)) store_thread(builder, values);
    function->setSubprogram(kernel.getSubprogram());
    inline_kernel(builder, kernel, arguments, layout, values);
    lowered.row_fold = whole_warps ? RowFold::None : find_row_fold(values, *loops.x);
    lowered.folds_tall = lowered.row_fold == RowFold::Any && !has_inner_loop(*loops.x);
    lowered.narrow_axes = narrow_global_indices(*function, values);
    return function;
}

}  // namespace trilane::cpu
