// Around the emitter: preparation, and the new function.
#include "devices/cpu/lanes/vectorize.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include "core/error.h"
#include "devices/cpu/lanes/emitter.h"

namespace trilane::cpu {

using namespace llvm;

void prepare_for_lanes(Function& scalar, Optimizer& optimizer) {
    optimizer.forget(scalar);
    FunctionPassManager passes;
    ScalarizerPassOptions scalarizer;
    scalarizer.ScalarizeLoadStore = true;
    scalarizer.ScalarizeVariableInsertExtract = true;
    passes.addPass(ScalarizerPass(scalarizer));
    passes.addPass(LowerSwitchPass());
    passes.addPass(UnifyFunctionExitNodesPass());
    passes.run(scalar, optimizer.functions());
    for (BasicBlock& block : scalar) ConstantFoldTerminator(&block, true);
    removeUnreachableBlocks(scalar);
    optimizer.forget(scalar);
    FunctionPassManager loops;
    loops.addPass(LoopSimplifyPass());
    loops.addPass(LCSSAPass());
    loops.run(scalar, optimizer.functions());
    for (BasicBlock& block : scalar) {
        // One way to one place.
        auto* branch = dyn_cast<BranchInst>(block.getTerminator());
        if (branch == nullptr || !branch->isConditional() ||
            branch->getSuccessor(0) != branch->getSuccessor(1))
            continue;
        ConstantFoldTerminator(&block, true);
    }
    optimizer.forget(scalar);
}

bool is_irreducible(Function& function) {
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    ReversePostOrderTraversal<Function*> order(&function);
    return containsIrreducibleCFG<BasicBlock*>(order, loops);
}

namespace {

Function* declare_vector(Function& scalar, const LaneVector& kind, const std::string& symbol) {
    Module& module = *scalar.getParent();
    LLVMContext& context = module.getContext();
    SmallVector<Type*, 8> types(scalar.getFunctionType()->params());
    if (!kind.full) types.push_back(Type::getInt32Ty(context));
    Function* vector = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false),
                                        GlobalValue::InternalLinkage, symbol, module);
    vector->setAttributes(AttributeList().addFnAttributes(
        context, AttrBuilder(context, scalar.getAttributes().getFnAttrs())));
    vector->removeFnAttr(Attribute::Memory);
    for (unsigned i = 0; i < scalar.arg_size(); ++i)
        vector->addParamAttrs(i, AttrBuilder(context, scalar.getAttributes().getParamAttrs(i)));
    return vector;
}

// The version for lanes that all pass the guard; nullptr if it cannot be.
Function* pass_guard(Function& scalar, const Guard& guard, unsigned lane, LaneVector kind,
                     unsigned guards) {
    Function* passing = without_guard(scalar, guard);
    for (const Argument*& argument : kind.varying) argument = passing->getArg(argument->getArgNo());
    std::string why;
    Function* all = put_into_lanes(*passing, lane, kind, "lanes.all", why, guards - 1);
    passing->eraseFromParent();
    return all;
}

void take_in(Function& all) {
    for (User* user : make_early_inc_range(all.users())) {
        InlineFunctionInfo info;
        InlineResult result = InlineFunction(*cast<CallInst>(user), info);
        TRILANE_CHECK(result.isSuccess(), "lanes: {}", result.getFailureReason());
    }
    all.eraseFromParent();
}

}  // namespace

Function* put_into_lanes(Function& scalar, unsigned lane, const LaneVector& kind,
                         const std::string& symbol, std::string& why, unsigned guards) {
    Function *vector = declare_vector(scalar, kind, symbol), *all = nullptr;
    try {
        for (Instruction& instruction : instructions(scalar))
            if (instruction.getType()->isTokenTy() || isa<IndirectBrInst>(instruction))
                throw NotInLanes{"an operation that stands alone"};
        if (is_irreducible(scalar)) throw NotInLanes{"a loop that is entered in its middle"};
        LanePlan plan(scalar, *scalar.getArg(lane), kind);
        LaneEmitter emitter(scalar, plan, *vector, kind.lanes, kind.full);
        std::optional<Guard> guard;
        if (kind.full && guards > 0) guard = find_guard(plan);
        if (guard) all = pass_guard(scalar, *guard, lane, kind, guards);
        if (all != nullptr) emitter.set_shortcut(*guard, *all);
        emitter.run();
    } catch (const NotInLanes& reason) {
        why = reason.why;
        vector->deleteBody();
        vector->eraseFromParent();
        vector = nullptr;
    }
    if (all != nullptr) take_in(*all);
    return vector;
}

}  // namespace trilane::cpu
