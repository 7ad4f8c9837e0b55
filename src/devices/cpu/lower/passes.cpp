// Pass lists.
#include "devices/cpu/lower/passes.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Coroutines/CoroCleanup.h>
#include <llvm/Transforms/Coroutines/CoroEarly.h>
#include <llvm/Transforms/Coroutines/CoroSplit.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include "devices/cpu/lower/target.h"

namespace trilane::cpu {

using namespace llvm;

Optimizer::Optimizer(int level) : level_(level) {
    PipelineTuningOptions tuning;
    tuning.LoopVectorization = true;
    builder_ = std::make_unique<PassBuilder>(&target_machine(), tuning);
    builder_->registerModuleAnalyses(modules_);
    builder_->registerCGSCCAnalyses(components_);
    builder_->registerFunctionAnalyses(functions_);
    builder_->registerLoopAnalyses(loops_);
    builder_->crossRegisterProxies(loops_, functions_, components_, modules_);
}

Optimizer::~Optimizer() = default;

void Optimizer::forget(Function& function) {
    functions_.invalidate(function, PreservedAnalyses::none());
}

namespace {

InstCombinePass combine() { return InstCombinePass(InstCombineOptions().setVerifyFixpoint(false)); }

}  // namespace

void Optimizer::simplify(Function& function) {
    FunctionPassManager passes;
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    if (level_ > 0) {
        passes.addPass(EarlyCSEPass());
        passes.addPass(combine());
    }
    passes.addPass(SimplifyCFGPass());
    passes.run(function, functions_);
}

void Optimizer::hoist(Function& function) {
    FunctionPassManager passes;
    passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
    passes.run(function, functions_);
}

void Optimizer::optimize(Function& function) {
    FunctionPassManager passes;
    if (level_ > 0) {
        LoopPassManager loops;
        loops.addPass(LoopRotatePass(/*EnableHeaderDuplication=*/true, /*PrepareForLTO=*/false));
        loops.addPass(LICMPass(LICMOptions()));
        passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
        passes.addPass(combine());
        LoopPassManager counted;
        counted.addPass(IndVarSimplifyPass());
        counted.addPass(LoopFullUnrollPass(2));
        passes.addPass(createFunctionToLoopPassAdaptor(std::move(counted)));
        passes.addPass(SROAPass(SROAOptions::ModifyCFG));
        passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
        passes.addPass(combine());
        passes.addPass(SimplifyCFGPass());
    }
    passes.run(function, functions_);
}

void Optimizer::vectorize(Function& function) {
    FunctionPassManager passes;
    passes.addPass(LoopVectorizePass());
    passes.run(function, functions_);
    tidy(function);
}

void Optimizer::tidy(Function& function) {
    FunctionPassManager passes;
    passes.addPass(combine());
    passes.addPass(SimplifyCFGPass());
    passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
    passes.run(function, functions_);
}

void Optimizer::split_coroutines(Module& module) {
    ModulePassManager passes;
    passes.addPass(CoroEarlyPass());
    CGSCCPassManager components;
    components.addPass(CoroSplitPass(/*OptimizeFrame=*/true));
    passes.addPass(createModuleToPostOrderCGSCCPassAdaptor(std::move(components)));
    passes.addPass(CoroCleanupPass());
    passes.run(module, modules_);
}

}  // namespace trilane::cpu
