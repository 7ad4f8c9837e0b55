// One run of clang over a text: the flags, the instance, the precompiled prelude.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "devices/cpu/compile/options.h"
#include "devices/cpu/compile/source_files.h"

namespace trilane::cpu {

// Flags of the language itself: a precompiled prelude is good for one set of them.
std::vector<std::string> language_flags(const ParsedOptions& options);

// The prelude as a precompiled header for these flags: made at first use (about 100 ms), then
// kept in the disk cache (2 ms) and for the life of the process. Threads may ask at once. Empty if
// the prelude itself is empty.
std::shared_ptr<const std::string> precompiled_prelude(const std::vector<std::string>& flags);

struct ClangRun {
    std::vector<std::string> flags;  // of cc1
    std::string file_name;           // of the text, for diagnostics
    std::string_view text;
    llvm::IntrusiveRefCntPtr<SourceFiles> files;
};

// Runs `action` and returns whether it succeeded; `log` receives the diagnostics as text.
bool run_clang(const ClangRun& run, clang::FrontendAction& action, std::string& log);

}  // namespace trilane::cpu
