// run_front_end: options, text, clang, and the passes that make its IR what lower/ takes.
#include "devices/cpu/compile/front_end.h"

#include <algorithm>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Preprocessor.h"
#include "core/env.h"
#include "core/error.h"
#include "devices/cpu/check/instrument.h"
#include "devices/cpu/compile/compiler.h"
#include "devices/cpu/compile/constant_operands.h"
#include "devices/cpu/compile/device_launch.h"
#include "devices/cpu/compile/flush.h"
#include "devices/cpu/compile/guard.h"
#include "devices/cpu/compile/inline_ptx.h"
#include "devices/cpu/compile/kernel_info.h"
#include "devices/cpu/compile/retarget.h"
#include "devices/cpu/compile/semantics.h"
#include "devices/cpu/compile/unsupported.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace trilane::cpu {
namespace {

constexpr const char* kNameVariable = "__trl_name_";

// Runs after clang's code generator has seen the end of the text, while the AST is still there.
class FinishConsumer : public clang::ASTConsumer {
  public:
    FinishConsumer(clang::CodeGenerator& generator, const core::Program& program,
                   FrontEndResult& result)
        : generator_(generator), program_(program), result_(result) {}

    void HandleTranslationUnit(clang::ASTContext& context) override {
        llvm::Module* module = generator_.GetModule();
        if (module == nullptr || context.getDiagnostics().hasErrorOccurred()) return;
        context_ = &context;
        collect_kernels(*module);
        collect_variables(*module);
        collect_names(*module);
        lower_inline_ptx(*module);
        if (result_.separate)
            retarget_piece(*module, result_.keep);
        else
            retarget(*module, result_.keep);
        report_unsupported(*module, context, generator_, result_.separate);
    }

  private:
    void collect_kernels(llvm::Module& module) {
        llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
        if (annotations == nullptr) return;
        for (llvm::MDNode* node : annotations->operands()) {
            auto* function =
                llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0));
            if (function == nullptr || function->isDeclaration()) continue;
            for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
                auto* key = llvm::dyn_cast<llvm::MDString>(node->getOperand(i));
                if (key == nullptr || key->getString() != "kernel") continue;
                add_kernel(*function);
            }
        }
    }

    void add_kernel(llvm::Function& function) {
        std::string name(function.getName());
        if (!result_.keep.insert(name).second) return;
        const clang::Decl* declaration = generator_.GetDeclForMangledName(name);
        const auto* as_function = llvm::dyn_cast_or_null<clang::FunctionDecl>(declaration);
        TRILANE_CHECK(as_function != nullptr, "no declaration for kernel {}", name);
        result_.kernels.push_back(describe_kernel(*context_, *as_function, name));
    }

    // Variables of the user's text (not of the prelude) that another file could name.
    void collect_variables(llvm::Module& module) {
        const clang::SourceManager& sources = context_->getSourceManager();
        for (llvm::GlobalVariable& variable : module.globals()) {
            if (variable.isDeclaration() || variable.hasLocalLinkage()) continue;
            const auto* declaration = llvm::dyn_cast_or_null<clang::VarDecl>(
                generator_.GetDeclForMangledName(variable.getName()));
            if (declaration == nullptr ||
                sources.isLoadedSourceLocation(declaration->getLocation()) ||
                sources.isInSystemHeader(declaration->getLocation()))
                continue;
            if (declaration->hasAttr<clang::CUDADeviceAttr>() ||
                declaration->hasAttr<clang::CUDAConstantAttr>() ||
                declaration->hasAttr<clang::HIPManagedAttr>())
                if (!declaration->hasAttr<clang::CUDASharedAttr>())
                    result_.keep.insert(std::string(variable.getName()));
        }
    }

    // The initialiser of the n-th helper variable is the symbol of the n-th expression.
    void collect_names(llvm::Module& module) {
        for (llvm::GlobalVariable& variable : module.globals()) {
            size_t at = variable.getName().find(kNameVariable);
            if (at == llvm::StringRef::npos || !variable.hasInitializer()) continue;
            unsigned index = 0;
            llvm::StringRef digits = variable.getName().substr(at + strlen(kNameVariable));
            if (digits.consumeInteger(10, index) || index >= program_.name_expressions.size())
                continue;
            auto* symbol =
                llvm::dyn_cast<llvm::GlobalValue>(variable.getInitializer()->stripPointerCasts());
            if (symbol == nullptr) continue;
            result_.lowered_names[program_.name_expressions[index]] =
                std::string(symbol->getName());
            if (!symbol->isDeclaration()) result_.keep.insert(std::string(symbol->getName()));
        }
    }

    clang::CodeGenerator& generator_;
    const core::Program& program_;
    FrontEndResult& result_;
    clang::ASTContext* context_ = nullptr;
};

class KernelAction : public clang::ASTFrontendAction {
  public:
    KernelAction(const core::Program& program, FrontEndResult& result)
        : program_(program), result_(result) {}

  protected:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                          llvm::StringRef) override {
        generator_ = clang::CreateLLVMCodeGen(
            compiler.getDiagnostics(), "kernel", &compiler.getVirtualFileSystem(),
            compiler.getHeaderSearchOpts(), compiler.getPreprocessorOpts(),
            compiler.getCodeGenOpts(), *result_.context);
        std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
        consumers.push_back(make_constant_operand_consumer());
        consumers.emplace_back(generator_);
        consumers.push_back(std::make_unique<FinishConsumer>(*generator_, program_, result_));
        return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
    }

    void EndSourceFileAction() override {
        if (!getCompilerInstance().getDiagnostics().hasErrorOccurred())
            result_.module.reset(generator_->ReleaseModule());
    }

  private:
    const core::Program& program_;
    FrontEndResult& result_;
    clang::CodeGenerator* generator_ = nullptr;  // owned by the consumer
};

std::string text_to_compile(const core::Program& program, const ParsedOptions& options) {
    std::string text;
    text.reserve(program.source.size() + 256);
    if (options.default_device)
        text +=
            "#pragma clang force_cuda_host_device begin\n#line 1 \"" + program.file_name + "\"\n";
    text += program.source;
    if (options.default_device) text += "\n#pragma clang force_cuda_host_device end\n";
    for (size_t i = 0; i < program.name_expressions.size(); ++i) {
        std::string expression = program.name_expressions[i];
        size_t start = expression.find_first_not_of(" \t&");
        expression.erase(0, start == std::string::npos ? expression.size() : start);
        text += fmt::format(
            "\n#line 1 \"<name expression {}>\"\nnamespace {{ __attribute__((used)) __device__ "
            "const void* const {}{} = (const void*)&{}; }}\n",
            i, kNameVariable, i, expression);
    }
    return text;
}

std::vector<std::string> flags_of(const core::Program& program, const ParsedOptions& options,
                                  std::vector<std::string> flags, bool line_tables, bool has_pch) {
    if (options.arch != 900) {
        flags.push_back("-U__CUDA_ARCH__");
        flags.push_back(fmt::format("-D__CUDA_ARCH__={}", options.arch));
    }
    flags.insert(flags.end(), options.macros.begin(), options.macros.end());
    if (!program.headers.empty()) flags.insert(flags.end(), {"-I", kUserDir});
    for (const std::string& dir : options.include_dirs) flags.insert(flags.end(), {"-I", dir});
    flags.insert(flags.end(), {"-internal-isystem", kIncludeDir});
    if (options.relocatable) flags.insert(flags.end(), {"-include", "cuda_device_runtime_api.h"});
    for (const std::string& file : options.forced_includes)
        flags.insert(flags.end(), {"-include", file});
    if (has_pch) flags.insert(flags.end(), {"-include-pch", kPchPath});
    if (line_tables)
        flags.insert(flags.end(), {"-debug-info-kind=line-tables-only", "-dwarf-version=4"});
    if (options.no_warnings) flags.push_back("-w");
    return flags;
}

// What clang's words do not say to someone who knows the program from a GPU.
struct Hint {
    const char* part_of_log;
    const char* text;
};
constexpr Hint kHints[] = {
    {"error: reference to __global__ function",
     "note: a kernel that launches kernels (dynamic parallelism) must be compiled with "
     "-rdc=true\n"},
    {"undeclared identifier 'cudaDeviceSynchronize'",
     "note: a kernel cannot wait for the kernels that it launched (CUDA 12 dropped it): let a "
     "kernel "
     "launched after them go on\n"},
    {"file not found",
     "note: headers are looked for among those given with the program, below the -I directories, "
     "and in the device library\n"},
    {"call to __host__ function from",
     "note: a function without __device__ is host code; the option -default-device makes it "
     "both\n"},
};

[[noreturn]] void throw_compile_error(std::string log) {
    size_t at = log.find(" error: ");
    size_t start = at == std::string::npos ? 0 : log.rfind('\n', at) + 1;
    std::string first = log.substr(start, log.find('\n', start) - start);
    for (const Hint& hint : kHints)
        if (log.find(hint.part_of_log) != std::string::npos) log += hint.text;
    core::throw_error_with_detail(core::ErrorKind::CompileError,
                                  "compile: " + (first.empty() ? "clang failed" : first), log);
}

// The program with its device-side launches as calls, and what they launch as name expressions.
core::Program with_device_launches(const core::Program& program) {
    core::Program result = program;
    DeviceLaunches launches = rewrite_device_launches(program.source);
    result.source = std::move(launches.source);
    for (std::string& kernel : launches.kernels)
        if (std::find(result.name_expressions.begin(), result.name_expressions.end(), kernel) ==
            result.name_expressions.end())
            result.name_expressions.push_back(std::move(kernel));
    return result;
}

FrontEndResult compile(const core::Program& given, bool check) {
    ParsedOptions options = parse_options(given.options);
    const core::Program& program = options.relocatable ? with_device_launches(given) : given;
    FrontEndResult result;
    result.options = {check,        check, options.fmad, options.fast_math, options.optimize,
                      options.lanes};
    result.separate = options.separate;
    result.context = std::make_unique<llvm::LLVMContext>();
    // Reports name local arrays; otherwise names are for readers of dumps only.
    result.context->setDiscardValueNames(!check && !core::env_flag("TRILANE_DUMP_IR"));

    std::vector<std::string> flags = language_flags(options);
    std::shared_ptr<const std::string> pch = precompiled_prelude(flags);
    ClangRun run;
    run.files = llvm::makeIntrusiveRefCnt<SourceFiles>(options.include_dirs);
    for (const core::Header& header : program.headers)
        run.files->add_source(std::string(kUserDir) + "/" + header.name, header.text);
    if (!pch->empty()) run.files->add(kPchPath, *pch);
    std::string text = text_to_compile(program, options);
    run.text = text;
    // "-" would mean standard input to clang.
    bool named = !program.file_name.empty() && program.file_name != "-";
    run.file_name = named ? program.file_name : "kernel.cu";
    run.flags = flags_of(program, options, flags, result.options.line_info, !pch->empty());

    KernelAction action(program, result);
    bool succeeded = run_clang(run, action, result.log);
    if (!succeeded || !result.module) throw_compile_error(result.log);
    result.files = run.files->real_files();
    apply_gpu_semantics(*result.module);
    if (options.ftz) flush_small_floats(*result.module);
    if (check && !result.separate) instrument_accesses(*result.module, result.kernels);
    return result;
}

}  // namespace

FrontEndResult run_front_end(const core::Program& program, bool check) {
    FrontEndResult result;
    run_guarded("compile", [&] { result = compile(program, check); });
    return result;
}

}  // namespace trilane::cpu
