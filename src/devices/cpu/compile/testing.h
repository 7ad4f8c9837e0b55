// Short forms for tests of the front end.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "devices/cpu/compile/front_end.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace trilane::cpu::testing {

inline FrontEndResult compile_text(std::string source, std::vector<std::string> options = {},
                                   std::vector<std::string> names = {}, bool check = false) {
    core::Program program;
    program.source = std::move(source);
    program.options = std::move(options);
    program.name_expressions = std::move(names);
    return run_front_end(program, check);
}

inline std::string ir_of(const FrontEndResult& result) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    result.module->print(stream, nullptr);
    return text;
}

// Message and log of the error, empty if the program compiles.
inline std::string compile_error(const core::Program& program) {
    try {
        run_front_end(program, false);
    } catch (const core::Error& error) {
        return error.message() + "\n" + error.detail();
    }
    return {};
}

inline std::string compile_error(std::string source, std::vector<std::string> options = {}) {
    core::Program program;
    program.source = std::move(source);
    program.options = std::move(options);
    return compile_error(program);
}

}  // namespace trilane::cpu::testing
