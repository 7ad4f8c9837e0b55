// Everything nvptx-specific that is not an intrinsic or an address space is taken out here.
#include "devices/cpu/compile/retarget.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace trilane::cpu {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";
constexpr const char* kLayout =
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

// Attributes that speak of nvptx, of the optimiser that does not run, or of clang's own choices.
constexpr const char* kTargetAttributes[] = {"target-cpu",
                                             "target-features",
                                             "no-trapping-math",
                                             "stack-protector-buffer-size",
                                             "uniform-work-group-size",
                                             "no-builtins",
                                             "frame-pointer",
                                             "tune-cpu"};

void set_target(llvm::Module& module) {
    module.setTargetTriple(kTriple);
    module.setDataLayout(kLayout);
    module.setModuleInlineAsm("");
    for (llvm::Function& function : module) {
        for (const char* name : kTargetAttributes) function.removeFnAttr(name);
        function.setCallingConv(llvm::CallingConv::C);
        for (llvm::Instruction& instruction : llvm::instructions(function))
            if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
                call->setCallingConv(llvm::CallingConv::C);
    }
}

// Another name for a function or variable: its users take the thing itself.
void resolve_aliases(llvm::Module& module) {
    for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(module.aliases())) {
        alias.replaceAllUsesWith(alias.getAliasee());
        alias.eraseFromParent();
    }
}

void set_linkage(llvm::Module& module, const std::set<std::string>& keep) {
    for (llvm::GlobalObject& object : module.global_objects()) {
        if (object.isDeclaration() || object.getName().starts_with("llvm.")) continue;
        object.setComdat(nullptr);
        object.setVisibility(llvm::GlobalValue::DefaultVisibility);
        object.setDSOLocal(true);
        object.setLinkage(keep.count(std::string(object.getName()))
                              ? llvm::GlobalValue::ExternalLinkage
                              : llvm::GlobalValue::InternalLinkage);
    }
}

// What the kept symbols reach through operands and initialisers.
class LiveSymbols {
  public:
    explicit LiveSymbols(llvm::Module& module) {
        for (llvm::GlobalValue& value : module.global_values())
            if (!value.hasLocalLinkage() && !value.isDeclaration() &&
                !value.getName().starts_with("llvm."))
                add(&value);
        while (!pending_.empty()) {
            llvm::GlobalValue* value = pending_.pop_back_val();
            if (auto* function = llvm::dyn_cast<llvm::Function>(value))
                for (llvm::Instruction& instruction : llvm::instructions(*function))
                    for (llvm::Value* operand : instruction.operands()) visit(operand);
            for (llvm::Value* operand : value->operands()) visit(operand);
        }
    }
    bool holds(const llvm::GlobalValue& value) const { return live_.count(&value); }

  private:
    void add(llvm::GlobalValue* value) {
        if (live_.insert(value).second) pending_.push_back(value);
    }
    void visit(llvm::Value* operand) {
        auto* constant = llvm::dyn_cast<llvm::Constant>(operand);
        if (constant == nullptr) return;
        if (auto* global = llvm::dyn_cast<llvm::GlobalValue>(constant)) return add(global);
        if (constant->getNumOperands() == 0 || !seen_.insert(constant).second) return;
        for (llvm::Value* inner : constant->operands()) visit(inner);
    }

    llvm::SmallPtrSet<const llvm::GlobalValue*, 32> live_;
    llvm::SmallPtrSet<const llvm::Constant*, 32> seen_;
    llvm::SmallVector<llvm::GlobalValue*, 32> pending_;
};

// llvm.used would keep the helper variables of name expressions; annotations have been read.
void drop_dead_code(llvm::Module& module) {
    for (const char* name : {"llvm.used", "llvm.compiler.used", "llvm.global.annotations"})
        if (llvm::GlobalVariable* variable = module.getNamedGlobal(name))
            variable->eraseFromParent();
    if (llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations"))
        annotations->eraseFromParent();
    LiveSymbols live(module);
    llvm::SmallVector<llvm::GlobalValue*, 64> dead;
    for (llvm::GlobalValue& value : module.global_values())
        if (!live.holds(value)) dead.push_back(&value);
    for (llvm::GlobalValue* value : dead) {
        if (auto* function = llvm::dyn_cast<llvm::Function>(value)) function->deleteBody();
        if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value))
            variable->setInitializer(nullptr);
    }
    for (llvm::GlobalValue* value : dead) {
        value->removeDeadConstantUsers();
        if (value->use_empty()) value->eraseFromParent();
    }
}

bool is_convergent_intrinsic(const llvm::Function& function) {
    return function.isIntrinsic() && function.getName().starts_with("llvm.nvvm.") &&
           function.isConvergent();
}

bool is_index_read(const llvm::Function& function) {
    return function.getName().starts_with("llvm.nvvm.read.ptx.sreg.");
}

struct Reach {
    llvm::SmallPtrSet<const llvm::Function*, 16> convergent;  // may reach a barrier or warp op
    llvm::SmallPtrSet<const llvm::Function*, 16> context;     // the same, or a thread index
    llvm::SmallPtrSet<const llvm::Function*, 16> recursive;
};

bool is_indirect(const llvm::CallBase& call) {
    return call.getCalledFunction() == nullptr && !call.isInlineAsm();
}

void visit_calls(const llvm::Function& function, Reach& reach) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (call == nullptr) continue;
        const llvm::Function* callee = call->getCalledFunction();
        if (callee == nullptr) {
            if (is_indirect(*call)) {
                reach.convergent.insert(&function);
                reach.context.insert(&function);
            }
            continue;
        }
        if (is_convergent_intrinsic(*callee) || reach.convergent.count(callee)) {
            reach.convergent.insert(&function);
            reach.context.insert(&function);
        }
        if (is_index_read(*callee) || reach.context.count(callee)) reach.context.insert(&function);
    }
}

// Bottom up over the call graph's components; inside one the sets are closed by going twice.
Reach find_reach(llvm::Module& module) {
    Reach reach;
    llvm::CallGraph graph(module);
    for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
        for (int round = 0; round < 2; ++round)
            for (const llvm::CallGraphNode* node : *component) {
                const llvm::Function* function = node->getFunction();
                if (function == nullptr || function->isDeclaration()) continue;
                if (component.hasCycle()) reach.recursive.insert(function);
                visit_calls(*function, reach);
            }
        if (component->size() < 2) continue;
        bool any_convergent = false, any_context = false;
        for (const llvm::CallGraphNode* node : *component) {
            any_convergent |= reach.convergent.count(node->getFunction()) != 0;
            any_context |= reach.context.count(node->getFunction()) != 0;
        }
        for (const llvm::CallGraphNode* node : *component) {
            if (node->getFunction() == nullptr) continue;
            if (any_convergent) reach.convergent.insert(node->getFunction());
            if (any_context) reach.context.insert(node->getFunction());
        }
    }
    return reach;
}

void mark_inlining(llvm::Module& module, const Reach& reach, const std::set<std::string>& keep) {
    for (llvm::Function& function : module) {
        if (function.isDeclaration()) continue;
        bool can_inline = !reach.recursive.count(&function) && !function.hasAddressTaken() &&
                          !keep.count(std::string(function.getName()));
        if (can_inline && reach.context.count(&function)) {
            function.removeFnAttr(llvm::Attribute::NoInline);
            function.removeFnAttr(llvm::Attribute::OptimizeNone);
            function.addFnAttr(llvm::Attribute::AlwaysInline);
        } else if (!can_inline) {
            function.removeFnAttr(llvm::Attribute::AlwaysInline);
        }
    }
}

void strip_convergent(llvm::Module& module, const Reach& reach) {
    auto keeps = [&](const llvm::Function* callee) {
        return callee != nullptr &&
               (is_convergent_intrinsic(*callee) || reach.convergent.count(callee));
    };
    for (llvm::Function& function : module) {
        if (!function.isIntrinsic() && !keeps(&function))
            function.removeFnAttr(llvm::Attribute::Convergent);
        for (llvm::Instruction& instruction : llvm::instructions(function)) {
            auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
            if (call != nullptr && !is_indirect(*call) && !keeps(call->getCalledFunction()))
                call->removeFnAttr(llvm::Attribute::Convergent);
        }
    }
}

}  // namespace

void retarget(llvm::Module& module, const std::set<std::string>& keep) {
    set_target(module);
    resolve_aliases(module);
    set_linkage(module, keep);
    drop_dead_code(module);
    Reach reach = find_reach(module);
    mark_inlining(module, reach, keep);
    strip_convergent(module, reach);
}

void retarget_piece(llvm::Module& module, const std::set<std::string>& kernels) {
    set_target(module);
    resolve_aliases(module);
    for (const std::string& name : kernels) {
        llvm::GlobalValue* kernel = module.getNamedValue(name);
        if (kernel != nullptr && kernel->hasLocalLinkage())
            kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
    }
    drop_dead_code(module);
}

}  // namespace trilane::cpu
