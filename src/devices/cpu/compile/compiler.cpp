// Sets clang up so that it reads only what it is given and prints nothing by itself.
#include "devices/cpu/compile/compiler.h"

#include <map>
#include <mutex>

#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/FileManager.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Serialization/ASTWriter.h"
#include "core/compile_cache.h"
#include "core/disk_cache.h"
#include "core/env.h"
#include "core/error.h"
#include "devices/cpu/compile/embedded_files.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

namespace trilane::cpu {
namespace {

// The same for every compile. -O2 only chooses what the code generator writes down (lifetimes,
// inline hints); no pass of LLVM's runs here. Types do not tell aliases apart: kernels reuse shared
// memory as several types.
constexpr const char* kFixedFlags[] = {"-triple",
                                       "nvptx64-nvidia-cuda",
                                       "-target-cpu",
                                       "sm_90",
                                       "-target-feature",
                                       "+ptx80",
                                       "-fcuda-is-device",
                                       "-fcuda-allow-variadic-functions",
                                       "-x",
                                       "cuda",
                                       "-O2",
                                       "-disable-llvm-passes",
                                       "-relaxed-aliasing",
                                       "-nostdsysteminc",
                                       "-nobuiltininc",
                                       "-fgnuc-version=4.2.1",
                                       "-fexceptions",
                                       "-fcxx-exceptions",
                                       "-fdeprecated-macro",
                                       "-ferror-limit",
                                       "50",
                                       "-fno-autolink",
                                       "-Wno-unknown-pragmas",
                                       "-Wno-macro-redefined",
                                       "-Wno-builtin-macro-redefined",
                                       "-Wno-pragma-once-outside-header",
                                       "-Wno-unused-value",
                                       "-Wno-pass-failed",
                                       "-Wno-unknown-cuda-version",
                                       "-D__CUDACC__=1",
                                       "-D__CUDACC_RTC__=1",
                                       "-D__NVCC__=1",
                                       "-D__CUDACC_VER_MAJOR__=13",
                                       "-D__CUDACC_VER_MINOR__=0",
                                       "-D__CUDACC_VER_BUILD__=88",
                                       "-D__TRILANE_CPU__=1"};

class PrecompileAction : public clang::ASTFrontendAction {
  public:
    std::shared_ptr<clang::PCHBuffer> buffer = std::make_shared<clang::PCHBuffer>();

  protected:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                          llvm::StringRef) override {
        return std::make_unique<clang::PCHGenerator>(
            compiler.getPreprocessor(), compiler.getModuleCache(), kPchPath, "", buffer,
            compiler.getFrontendOpts().ModuleFileExtensions, false, false);
    }
    clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }
    bool hasASTFileSupport() const override { return false; }
};

std::shared_ptr<const std::string> precompile(const std::vector<std::string>& flags) {
    std::string text(embedded_text("cpu/prelude.h"));
    if (text.empty()) return std::make_shared<std::string>();
    ClangRun run;
    run.flags = flags;
    run.flags.insert(run.flags.end(), {"-internal-isystem", kIncludeDir, "-w"});
    run.file_name = kPreludePath;
    run.text = text;
    run.files = llvm::makeIntrusiveRefCnt<SourceFiles>(std::vector<std::string>());
    PrecompileAction action;
    std::string log;
    bool done = run_clang(run, action, log) && action.buffer->IsComplete;
    TRILANE_CHECK(done, "the prelude does not compile:\n{}", log);
    return std::make_shared<std::string>(action.buffer->Data.begin(), action.buffer->Data.end());
}

}  // namespace

std::vector<std::string> language_flags(const ParsedOptions& options) {
    std::vector<std::string> flags(std::begin(kFixedFlags), std::end(kFixedFlags));
    flags.push_back("-std=" + options.language);
    if (options.wrap_overflow) flags.push_back("-fwrapv");
    if (options.fast_math) flags.push_back("-D__USE_FAST_MATH__=1");
    if (options.ftz) flags.push_back("-D__CUDA_FTZ=1");
    if (!options.prec_div) flags.push_back("-D__CUDA_PREC_DIV=0");
    if (!options.prec_sqrt) flags.push_back("-D__CUDA_PREC_SQRT=0");
    flags.push_back(options.fmad ? "-ffp-contract=on" : "-ffp-contract=off");
    return flags;
}

namespace {

// Everything that a precompiled prelude depends on.
std::string prelude_key(const std::vector<std::string>& flags) {
    std::string all = "prelude " LLVM_VERSION_STRING " " TRILANE_VERSION;
    for (const std::string& flag : flags) all += "\n" + flag;
    for (const EmbeddedFile& file : embedded_files()) {
        all += fmt::format("\n{} {}\n", file.name, file.text.size());
        all += file.text;
    }
    return core::hash_hex(all);
}

std::shared_ptr<const std::string> load_or_precompile(const std::vector<std::string>& flags) {
    std::string directory = core::cache_directory();
    if (core::env_string("TRILANE_CACHE") == "0" || directory.empty()) return precompile(flags);
    core::DiskCache disk(directory + "/preludes");
    std::string key = prelude_key(flags);
    auto stored = std::make_shared<std::string>();
    if (disk.read(key, *stored) == core::DiskCache::Outcome::Found && !stored->empty())
        return stored;
    std::shared_ptr<const std::string> made = precompile(flags);
    disk.write(key, *made);
    return made;
}

}  // namespace

std::shared_ptr<const std::string> precompiled_prelude(const std::vector<std::string>& flags) {
    using Preludes = std::map<std::vector<std::string>, std::shared_ptr<const std::string>>;
    static std::mutex mutex;
    static auto* known = new Preludes;
    {
        std::lock_guard lock(mutex);
        if (auto found = known->find(flags); found != known->end()) return found->second;
    }
    // Not under the lock: a crash in here would leave it locked. Two threads may both make it.
    std::shared_ptr<const std::string> made = load_or_precompile(flags);
    std::lock_guard lock(mutex);
    return known->emplace(flags, std::move(made)).first->second;
}

bool run_clang(const ClangRun& run, clang::FrontendAction& action, std::string& log) {
    llvm::raw_string_ostream stream(log);
    auto diagnostic_options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
    diagnostic_options->ShowPresumedLoc = 1;  // "#line" counts
    clang::TextDiagnosticPrinter printer(stream, diagnostic_options.get());
    clang::DiagnosticsEngine early(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(),
                                   diagnostic_options, &printer, false);
    std::vector<const char*> arguments;
    for (const std::string& flag : run.flags) arguments.push_back(flag.c_str());
    arguments.push_back("-main-file-name");
    arguments.push_back(run.file_name.c_str());

    clang::CompilerInstance compiler;
    auto invocation = std::make_shared<clang::CompilerInvocation>();
    if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, early)) return false;
    clang::FrontendOptions& frontend = invocation->getFrontendOpts();
    frontend.DisableFree = false;
    frontend.Inputs.clear();
    // As a file, not a buffer: clang 19 fails on "#pragma once" in a buffer that has no file.
    run.files->add_source(run.file_name, run.text);
    frontend.Inputs.emplace_back(run.file_name, clang::InputKind(clang::Language::CUDA));
    clang::PreprocessorOptions& preprocessor = invocation->getPreprocessorOpts();
    preprocessor.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::All;
    compiler.setInvocation(std::move(invocation));
    compiler.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
    compiler.createDiagnostics(&printer, false);
    compiler.setFileManager(
        llvm::makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions(), run.files).get());
    bool succeeded = compiler.ExecuteAction(action);
    stream.flush();
    return succeeded && !compiler.getDiagnostics().hasErrorOccurred();
}

}  // namespace trilane::cpu
