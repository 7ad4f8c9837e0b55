// Walks the calls and variables that are left and turns what cannot be run into diagnostics.
#include "devices/cpu/compile/unsupported.h"

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "devices/cpu/run/runtime_symbols.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace trilane::cpu {
namespace {

// Of arrays with a size in the source; dynamic ones may be larger, on request.
constexpr uint64_t kSharedLimit = 48 * 1024;
constexpr uint64_t kConstantLimit = 64 * 1024;
constexpr uint64_t kLocalLimit = 512 * 1024;          // per thread
constexpr uint64_t kGlobalLimit = uint64_t{1} << 31;  // one variable: reach of a relocation

class Reporter {
  public:
    Reporter(llvm::Module& module, clang::ASTContext& context, clang::CodeGenerator& generator,
             bool separate)
        : module_(module), context_(context), generator_(generator), separate_(separate) {}

    void run() {
        for (llvm::Function& function : module_) {
            visit_locals(function);
            for (llvm::Instruction& instruction : llvm::instructions(function))
                if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) visit_call(*call);
        }
        visit_variables();
        if (!separate_) visit_declarations();
        for (llvm::Function& function : module_)
            if (!function.isDeclaration() && function.hasExternalLinkage()) {
                if (function.isVarArg() && is_kernel(function))
                    error(place_of(function), "kernel '" + name_of(function) +
                                                  "' has a variable number of parameters: not "
                                                  "supported");
                visit_shared(function);
            }
    }

  private:
    void error(clang::SourceLocation at, const std::string& text) {
        clang::DiagnosticsEngine& diagnostics = context_.getDiagnostics();
        unsigned id = diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0");
        diagnostics.Report(at, id) << text;
    }

    // Clang leaves the place of such calls in "srcloc".
    clang::SourceLocation place_of(const llvm::Instruction& instruction) {
        const llvm::MDNode* node = instruction.getMetadata("srcloc");
        if (node == nullptr || node->getNumOperands() == 0) return {};
        auto* raw = llvm::mdconst::dyn_extract<llvm::ConstantInt>(node->getOperand(0));
        return raw == nullptr ? clang::SourceLocation()
                              : clang::SourceLocation::getFromRawEncoding(
                                    static_cast<unsigned>(raw->getZExtValue()));
    }

    clang::SourceLocation place_of(const llvm::GlobalValue& value) {
        const clang::Decl* declaration = generator_.GetDeclForMangledName(value.getName());
        return declaration == nullptr ? clang::SourceLocation() : declaration->getLocation();
    }

    std::string name_of(const llvm::GlobalValue& value) {
        const auto* declaration = llvm::dyn_cast_or_null<clang::NamedDecl>(
            generator_.GetDeclForMangledName(value.getName()));
        return declaration == nullptr ? std::string(value.getName())
                                      : declaration->getNameAsString();
    }

    // In a piece to be linked other functions are external too.
    bool is_kernel(const llvm::Function& function) {
        const clang::Decl* declaration = generator_.GetDeclForMangledName(function.getName());
        return declaration != nullptr && declaration->hasAttr<clang::CUDAGlobalAttr>();
    }

    void visit_call(llvm::CallBase& call) {
        if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
            llvm::StringRef text = llvm::StringRef(assembly->getAsmString()).trim();
            // An empty text only orders what the compiler does.
            if (!text.empty())
                error(place_of(call), "inline PTX assembly is not supported on the cpu device: '" +
                                          one_line(text) + "'");
            return;
        }
        const llvm::Function* callee = call.getCalledFunction();
        if (callee == nullptr) return;
        llvm::Attribute refusal = callee->getFnAttribute("dontcall-error");
        if (refusal.isValid())
            error(place_of(call),
                  "'" + name_of(*callee) +
                      "' is not supported on the cpu device: " + refusal.getValueAsString().str());
    }

    static std::string one_line(llvm::StringRef text) {
        std::string line;
        for (char c : text) {
            bool blank = c == '\n' || c == '\t' || c == '\r' || c == ' ';
            if (!blank)
                line += c;
            else if (!line.empty() && line.back() != ' ')
                line += ' ';
        }
        return line;
    }

    uint64_t size_of(const llvm::GlobalVariable& variable) {
        return module_.getDataLayout().getTypeAllocSize(variable.getValueType());
    }

    // Declared, used, and nowhere defined.
    void visit_declarations() {
        for (llvm::Function& function : module_) {
            if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty() ||
                is_runtime_symbol(function.getName()) || function.hasFnAttribute("dontcall-error"))
                continue;
            error(place_of(function),
                  "function '" + name_of(function) + "' is used in device code but not defined");
        }
        // Weak ones may be missing: blockDim and its kin are only names for special registers.
        for (llvm::GlobalVariable& variable : module_.globals())
            if (variable.isDeclaration() && variable.getAddressSpace() != 3 &&
                !variable.hasExternalWeakLinkage() && !variable.use_empty())
                error(place_of(variable), "variable '" + name_of(variable) +
                                              "' is used in device code but not defined");
    }

    static bool is_runtime_symbol(llvm::StringRef name) {
        for (const RuntimeSymbol& symbol : runtime_symbols())
            if (name == symbol.name) return true;
        return false;
    }

    void visit_variables() {
        uint64_t constants = 0;
        for (llvm::GlobalVariable& variable : module_.globals()) {
            uint64_t size = size_of(variable);
            if (variable.getAddressSpace() == 4 && size <= kGlobalLimit) {
                constants += size;
                if (constants > kConstantLimit) {
                    error(place_of(variable),
                          "too much constant memory: " + std::to_string(constants) +
                              " bytes with '" + name_of(variable) + "', the limit is 65536");
                    constants = 0;
                }
            } else if (size > kGlobalLimit && variable.getAddressSpace() != 3) {
                error(place_of(variable), "variable '" + name_of(variable) +
                                              "' is too large for the cpu device: " +
                                              std::to_string(size) + " bytes, the limit is 2 GiB");
            }
        }
    }

    void visit_locals(llvm::Function& function) {
        uint64_t total = 0;
        for (llvm::Instruction& instruction : llvm::instructions(function)) {
            auto* slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
            if (slot == nullptr || !slot->isStaticAlloca()) continue;
            auto size = slot->getAllocationSize(module_.getDataLayout());
            if (!size || size->getFixedValue() > kLocalLimit)
                total = kLocalLimit + 1;
            else
                total += size->getFixedValue();
            if (total <= kLocalLimit) continue;
            error(place_of(function), "too much local memory in '" + name_of(function) +
                                          "', variable '" + slot->getName().str() +
                                          "': the limit is 524288 bytes per thread");
            return;
        }
    }

    // Shared variables that the kernel or what it calls names.
    void visit_shared(llvm::Function& kernel) {
        llvm::SmallPtrSet<const llvm::Value*, 32> seen;
        llvm::SmallVector<const llvm::Value*, 32> pending = {&kernel};
        uint64_t total = 0;
        auto visit = [&](const llvm::Value* value) {
            if (llvm::isa<llvm::Constant>(value) && seen.insert(value).second)
                pending.push_back(value);
        };
        while (!pending.empty()) {
            const llvm::Value* value = pending.pop_back_val();
            const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value);
            if (variable != nullptr && variable->getAddressSpace() == 3 &&
                !variable->isDeclaration()) {
                uint64_t size = size_of(*variable);
                total = size > kSharedLimit ? kSharedLimit + size : total + size;
                if (total <= kSharedLimit) continue;
                error(place_of(*variable),
                      "kernel '" + name_of(kernel) + "' uses too much shared data: '" +
                          name_of(*variable) + "' has " + std::to_string(size) +
                          " bytes, arrays of fixed size may have " + std::to_string(kSharedLimit) +
                          " bytes together: a dynamic one (extern __shared__) may have more, " +
                          "once the function's MAX_DYNAMIC_SHARED_SIZE_BYTES attribute is raised");
                return;
            }
            if (const auto* function = llvm::dyn_cast<llvm::Function>(value))
                for (const llvm::Instruction& instruction : llvm::instructions(*function))
                    for (const llvm::Value* operand : instruction.operands()) visit(operand);
            if (const auto* user = llvm::dyn_cast<llvm::User>(value))
                for (const llvm::Value* operand : user->operands()) visit(operand);
        }
    }

    llvm::Module& module_;
    clang::ASTContext& context_;
    clang::CodeGenerator& generator_;
    bool separate_;
};

}  // namespace

void report_unsupported(llvm::Module& module, clang::ASTContext& context,
                        clang::CodeGenerator& generator, bool separate) {
    Reporter(module, context, generator, separate).run();
}

}  // namespace trilane::cpu
