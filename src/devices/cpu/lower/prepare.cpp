// Inlining, and the rules for what cannot be inlined.
#include "devices/cpu/lower/prepare.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include <set>

#include "core/error.h"
#include "devices/cpu/lower/suspends.h"

namespace trilane::cpu {

using namespace llvm;

std::string readable_name(const Function& function) { return demangle(function.getName().str()); }

CallClass classify_call(const CallBase& call) {
    const Function* callee = call.getCalledFunction();
    if (callee == nullptr) return CallClass::Plain;
    if (suspend_of(*callee)) return CallClass::Suspend;
    if (callee->isIntrinsic() && callee->getName().starts_with("llvm.nvvm.read.ptx.sreg."))
        return CallClass::Register;
    return CallClass::Plain;
}

bool needs_thread(StringRef symbol) {
    return symbol == "__assertfail" || symbol.starts_with("__trl_rt_");
}

namespace {

bool is_defined(const Function& function) { return !function.isDeclaration(); }

// Functions on a cycle of the call graph. A self call counts.
std::set<Function*> recursive_functions(Module& module) {
    std::set<Function*> result;
    CallGraph graph(module);
    for (auto component = scc_begin(&graph); !component.isAtEnd(); ++component) {
        bool cycle = component->size() > 1;
        for (CallGraphNode* node : *component) {
            Function* function = node->getFunction();
            if (function == nullptr || function->isDeclaration()) continue;
            bool self = false;
            for (auto& record : *node) self |= record.second->getFunction() == function;
            if (cycle || self) result.insert(function);
        }
    }
    return result;
}

// Functions from which a register read or a suspending call can be reached by direct calls.
std::set<Function*> functions_that_know_threads(Module& module) {
    std::set<Function*> result;
    for (Function& function : module) {
        for (Instruction& instruction : instructions(function)) {
            auto* call = dyn_cast<CallBase>(&instruction);
            if (call != nullptr && classify_call(*call) != CallClass::Plain) {
                result.insert(&function);
                break;
            }
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (Function& function : module) {
            if (result.count(&function)) continue;
            for (Instruction& instruction : instructions(function)) {
                auto* call = dyn_cast<CallBase>(&instruction);
                Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
                if (callee != nullptr && result.count(callee)) {
                    changed = result.insert(&function).second;
                    break;
                }
            }
        }
    }
    return result;
}

}  // namespace

void inline_into_kernels(Module& module, const std::vector<KernelDescription>& kernels) {
    StringSet<> kernel_names;
    for (const KernelDescription& kernel : kernels) kernel_names.insert(kernel.name);
    std::set<Function*> recursive = recursive_functions(module);
    std::set<Function*> knowing = functions_that_know_threads(module);
    for (Function& function : module) {
        if (!is_defined(function)) continue;
        function.removeFnAttr(Attribute::OptimizeNone);
        function.removeFnAttr(Attribute::StackProtectStrong);
        if (kernel_names.contains(function.getName())) {
            function.setLinkage(GlobalValue::ExternalLinkage);
            continue;
        }
        function.setLinkage(GlobalValue::InternalLinkage);
        function.setComdat(nullptr);
        function.setDSOLocal(true);
        bool stays = recursive.count(&function) ||
                     (function.hasFnAttribute(Attribute::NoInline) && !knowing.count(&function));
        function.removeFnAttr(Attribute::AlwaysInline);
        if (stays) continue;
        function.removeFnAttr(Attribute::NoInline);
        function.addFnAttr(Attribute::AlwaysInline);
    }
    // A call site may say noinline for itself.
    for (Function& function : module)
        for (Instruction& instruction : instructions(function))
            if (auto* call = dyn_cast<CallBase>(&instruction))
                if (Function* callee = call->getCalledFunction())
                    if (callee->hasFnAttribute(Attribute::AlwaysInline))
                        call->removeFnAttr(Attribute::NoInline);

    PassBuilder builder;
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager components;
    ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    ModulePassManager passes;
    passes.addPass(AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/true));
    passes.addPass(GlobalDCEPass());
    passes.run(module, modules);
}

std::vector<Function*> check_outlined(Module& module,
                                      const std::vector<KernelDescription>& kernels) {
    StringSet<> kernel_names;
    for (const KernelDescription& kernel : kernels) kernel_names.insert(kernel.name);
    std::vector<Function*> outlined;
    for (Function& function : module) {
        if (function.isDeclaration() || kernel_names.contains(function.getName())) continue;
        outlined.push_back(&function);
        for (Instruction& instruction : instructions(function)) {
            auto* call = dyn_cast<CallBase>(&instruction);
            if (call == nullptr || classify_call(*call) != CallClass::Suspend) continue;
            core::throw_error(
                core::ErrorKind::CompileError,
                "{}: {} inside a function that is recursive or called through a pointer: the cpu "
                "device can stop threads only in kernels and in functions that are inlined into "
                "them: call it from the kernel",
                readable_name(function),
                suspend_name(suspend_of(*call->getCalledFunction())->kind));
        }
    }
    return outlined;
}

}  // namespace trilane::cpu
