// The pass lists of the lowering: short, since the front end's code is small and waiting costs.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>

#include <memory>

namespace trilane::cpu {

// Analyses and pass runs over one module.
class Optimizer {
  public:
    explicit Optimizer(int level);
    ~Optimizer();
    // Values in registers, folded: what the shapes are built from.
    void simplify(llvm::Function& function);
    // Invariant code out of the thread loops: what clamp_thread_loop() needs.
    void hoist(llvm::Function& function);
    // After a shape is there: loops, then (with `vectorize`) LLVM's vectoriser, then cleaning.
    void optimize(llvm::Function& function);
    void vectorize(llvm::Function& function);
    void tidy(llvm::Function& function);
    // Splits every coroutine of the module.
    void split_coroutines(llvm::Module& module);
    // Drops cached results after the IR was changed by hand.
    void forget(llvm::Function& function);
    llvm::FunctionAnalysisManager& functions() { return functions_; }

  private:
    int level_;
    llvm::LoopAnalysisManager loops_;
    llvm::FunctionAnalysisManager functions_;
    llvm::CGSCCAnalysisManager components_;
    llvm::ModuleAnalysisManager modules_;
    std::unique_ptr<llvm::PassBuilder> builder_;
};

}  // namespace trilane::cpu
