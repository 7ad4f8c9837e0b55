// The table of options, and the walk over a command line with it.
#include "devices/cpu/compile/options.h"

#include <charconv>
#include <filesystem>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "core/error.h"

namespace trilane::cpu {
namespace {

using core::ErrorKind;
using core::throw_error;

// How an option takes its value.
enum class Form {
    Flag,      // none
    Value,     // "=v" or the next word
    Optional,  // "=v" or nothing: a bare name means "true"
};

using Setter = void (*)(ParsedOptions&, std::string_view value);

struct Option {
    Form form;
    Setter set;  // nullptr: accepted and without meaning here
};

bool parse_bool(std::string_view name, std::string_view value) {
    if (value == "true" || value == "1" || value == "on" || value.empty()) return true;
    if (value == "false" || value == "0" || value == "off") return false;
    throw_error(ErrorKind::CompileError,
                "compile: option {}: got value '{}', expected true or false", name, value);
}

void set_language(ParsedOptions& options, std::string_view value) {
    std::string_view year = value;
    if (year.starts_with("gnu")) year.remove_prefix(3);
    if (year.starts_with("c++")) year.remove_prefix(1);
    // The prelude needs C++11; what is valid C++03 means the same there.
    static const std::unordered_map<std::string_view, const char*> kKnown = {
        {"++03", "c++11"}, {"++98", "c++11"}, {"++11", "c++11"}, {"++14", "c++14"},
        {"++17", "c++17"}, {"++20", "c++20"}, {"++23", "c++23"}};
    auto found = kKnown.find(year);
    if (found == kKnown.end())
        throw_error(ErrorKind::CompileError,
                    "compile: option -std: got '{}', expected c++11, c++14, c++17, c++20 or c++23",
                    value);
    options.language = found->second;
}

// "compute_75", "sm_90a", "arch=compute_80,code=sm_80": the first number counts. A wish beyond what
// the cpu device stands for is met with what it stands for.
void set_arch(ParsedOptions& options, std::string_view value) {
    size_t start = value.find_first_of("0123456789");
    if (start == std::string_view::npos) return;
    int number = 0;
    std::from_chars(value.data() + start, value.data() + value.size(), number);
    if (number >= 20 && number <= 90) options.arch = number * 10;
}

void set_optimize(ParsedOptions& options, std::string_view value) {
    int level = 2;
    std::from_chars(value.data(), value.data() + value.size(), level);
    options.optimize = level < 0 ? 0 : level > 3 ? 3 : level;
}

void set_lanes(ParsedOptions& options, std::string_view value) {
    const char* end = value.data() + value.size();
    int lanes = 0;
    const auto [stop, error] = std::from_chars(value.data(), end, lanes);
    const bool known = lanes == 1 || lanes == 4 || lanes == 8 || lanes == 16 || lanes == 32;
    if (error != std::errc() || stop != end || !known)
        throw_error(ErrorKind::CompileError,
                    "compile: option --lanes: got '{}', expected 1, 4, 8, 16 or 32", value);
    options.lanes = lanes;
}

std::string absolute_path(std::string_view path) {
    std::error_code error;
    auto absolute = std::filesystem::absolute(std::filesystem::path(path), error);
    return error ? std::string(path) : absolute.lexically_normal().string();
}

void add_include_dir(ParsedOptions& o, std::string_view v) {
    o.include_dirs.push_back(absolute_path(v));
}
void add_define(ParsedOptions& o, std::string_view v) { o.macros.push_back("-D" + std::string(v)); }
void add_undefine(ParsedOptions& o, std::string_view v) {
    o.macros.push_back("-U" + std::string(v));
}
void add_forced_include(ParsedOptions& o, std::string_view v) { o.forced_includes.emplace_back(v); }

void set_fast_math(ParsedOptions& o, std::string_view v) {
    if (!parse_bool("--use_fast_math", v)) return;
    o.fast_math = o.ftz = o.fmad = true;
    o.prec_div = o.prec_sqrt = false;
}
void set_fmad(ParsedOptions& o, std::string_view v) { o.fmad = parse_bool("-fmad", v); }
void set_ftz(ParsedOptions& o, std::string_view v) { o.ftz = parse_bool("-ftz", v); }
void set_prec_div(ParsedOptions& o, std::string_view v) { o.prec_div = parse_bool("-prec-div", v); }
void set_prec_sqrt(ParsedOptions& o, std::string_view v) {
    o.prec_sqrt = parse_bool("-prec-sqrt", v);
}
void set_line_info(ParsedOptions& o, std::string_view) { o.line_info = true; }
void set_no_warnings(ParsedOptions& o, std::string_view) { o.no_warnings = true; }
void set_default_device(ParsedOptions& o, std::string_view) { o.default_device = true; }
void set_wrap(ParsedOptions& o, std::string_view) { o.wrap_overflow = true; }
void set_relocatable(ParsedOptions& o, std::string_view v) {
    o.relocatable = parse_bool("-rdc", v);
}
void set_device_c(ParsedOptions& o, std::string_view) { o.relocatable = o.separate = true; }

// Names without their leading dashes, '_' and '-' taken as one.
const std::unordered_map<std::string_view, Option>& table() {
    static const std::unordered_map<std::string_view, Option> kTable = {
        // what the text means
        {"D", {Form::Value, add_define}},
        {"define-macro", {Form::Value, add_define}},
        {"U", {Form::Value, add_undefine}},
        {"undefine-macro", {Form::Value, add_undefine}},
        {"I", {Form::Value, add_include_dir}},
        {"include-path", {Form::Value, add_include_dir}},
        {"isystem", {Form::Value, add_include_dir}},
        {"system-include", {Form::Value, add_include_dir}},
        {"include", {Form::Value, add_forced_include}},
        {"pre-include", {Form::Value, add_forced_include}},
        {"std", {Form::Value, set_language}},
        {"arch", {Form::Value, set_arch}},
        {"gpu-architecture", {Form::Value, set_arch}},
        {"gencode", {Form::Value, set_arch}},
        {"generate-code", {Form::Value, set_arch}},
        {"default-device", {Form::Flag, set_default_device}},
        {"device-as-default-execution-space", {Form::Flag, set_default_device}},
        {"fwrapv", {Form::Flag, set_wrap}},
        {"lanes", {Form::Value, set_lanes}},
        // arithmetic
        {"fmad", {Form::Optional, set_fmad}},
        {"ftz", {Form::Optional, set_ftz}},
        {"prec-div", {Form::Optional, set_prec_div}},
        {"prec-sqrt", {Form::Optional, set_prec_sqrt}},
        {"use-fast-math", {Form::Optional, set_fast_math}},
        // debugging and diagnostics
        {"lineinfo", {Form::Flag, set_line_info}},
        {"generate-line-info", {Form::Flag, set_line_info}},
        {"G", {Form::Flag, set_line_info}},
        {"device-debug", {Form::Flag, set_line_info}},
        {"g", {Form::Flag, set_line_info}},
        {"debug", {Form::Flag, set_line_info}},
        {"w", {Form::Flag, set_no_warnings}},
        {"disable-warnings", {Form::Flag, set_no_warnings}},
        {"O", {Form::Value, set_optimize}},
        {"optimize", {Form::Value, set_optimize}},
        {"dopt", {Form::Optional, nullptr}},
        {"diag-error", {Form::Value, nullptr}},
        {"diag-suppress", {Form::Value, nullptr}},
        {"diag-warn", {Form::Value, nullptr}},
        {"display-error-number", {Form::Flag, nullptr}},
        {"err-no", {Form::Flag, nullptr}},
        {"no-display-error-number", {Form::Flag, nullptr}},
        {"no-err-no", {Form::Flag, nullptr}},
        {"brief-diagnostics", {Form::Optional, nullptr}},
        {"brief-diag", {Form::Optional, nullptr}},
        {"Werror", {Form::Value, nullptr}},
        {"resource-usage", {Form::Flag, nullptr}},
        {"res-usage", {Form::Flag, nullptr}},
        {"time", {Form::Value, nullptr}},
        {"v", {Form::Flag, nullptr}},
        {"verbose", {Form::Flag, nullptr}},
        // code generation for a GPU: nothing to do here
        {"code", {Form::Value, nullptr}},
        {"gpu-code", {Form::Value, nullptr}},
        {"maxrregcount", {Form::Value, nullptr}},
        {"rdc", {Form::Value, set_relocatable}},
        {"relocatable-device-code", {Form::Value, set_relocatable}},
        {"dc", {Form::Flag, set_device_c}},
        {"device-c", {Form::Flag, set_device_c}},
        {"dw", {Form::Flag, nullptr}},
        {"device-w", {Form::Flag, nullptr}},
        {"dlto", {Form::Flag, nullptr}},
        {"dlink-time-opt", {Form::Flag, nullptr}},
        {"gen-opt-lto", {Form::Flag, nullptr}},
        {"ewp", {Form::Flag, nullptr}},
        {"extensible-whole-program", {Form::Flag, nullptr}},
        {"extra-device-vectorization", {Form::Flag, nullptr}},
        {"modify-stack-limit", {Form::Value, nullptr}},
        {"restrict", {Form::Flag, nullptr}},
        {"Xptxas", {Form::Value, nullptr}},
        {"ptxas-options", {Form::Value, nullptr}},
        {"Xcompiler", {Form::Value, nullptr}},
        {"compiler-options", {Form::Value, nullptr}},
        {"Xcicc", {Form::Value, nullptr}},
        {"Xnvlink", {Form::Value, nullptr}},
        {"nvlink-options", {Form::Value, nullptr}},
        {"split-compile", {Form::Value, nullptr}},
        {"jump-table-density", {Form::Value, nullptr}},
        {"device-stack-protector", {Form::Value, nullptr}},
        {"opt-info", {Form::Value, nullptr}},
        {"no-cache", {Form::Flag, nullptr}},
        {"minimal", {Form::Flag, nullptr}},
        {"frandom-seed", {Form::Value, nullptr}},
        {"fdevice-time-trace", {Form::Value, nullptr}},
        // language switches that are on here anyway
        {"builtin-move-forward", {Form::Value, nullptr}},
        {"builtin-initializer-list", {Form::Value, nullptr}},
        {"no-source-include", {Form::Flag, nullptr}},
        {"device-int128", {Form::Flag, nullptr}},
        {"device-float128", {Form::Flag, nullptr}},
        {"expt-relaxed-constexpr", {Form::Flag, nullptr}},
        {"expt-extended-lambda", {Form::Flag, nullptr}},
        {"extended-lambda", {Form::Flag, nullptr}},
        {"version-ident", {Form::Value, nullptr}},
        {"default-stream", {Form::Value, nullptr}},
        // precompiled headers of NVRTC: ours are made without asking
        {"pch", {Form::Flag, nullptr}},
        {"create-pch", {Form::Value, nullptr}},
        {"use-pch", {Form::Value, nullptr}},
        {"pch-dir", {Form::Value, nullptr}},
        {"pch-verbose", {Form::Value, nullptr}},
        {"pch-messages", {Form::Value, nullptr}},
        {"instantiate-templates-in-pch", {Form::Value, nullptr}},
        // nvcc's output and tool choice
        {"cubin", {Form::Flag, nullptr}},
        {"ptx", {Form::Flag, nullptr}},
        {"fatbin", {Form::Flag, nullptr}},
        {"c", {Form::Flag, nullptr}},
        {"m64", {Form::Flag, nullptr}},
        {"m", {Form::Value, nullptr}},
        {"machine", {Form::Value, nullptr}},
        {"keep", {Form::Flag, nullptr}},
        {"save-temps", {Form::Flag, nullptr}},
        {"keep-dir", {Form::Value, nullptr}},
        {"ccbin", {Form::Value, nullptr}},
        {"compiler-bindir", {Form::Value, nullptr}},
        {"allow-unsupported-compiler", {Form::Flag, nullptr}},
        {"x", {Form::Value, nullptr}},
        {"o", {Form::Value, nullptr}},
        {"output-file", {Form::Value, nullptr}},
    };
    return kTable;
}

struct Match {
    const Option* option = nullptr;
    std::string_view value;
    bool has_value = false;
};

// Finds "-name", "--name", "-name=value", and values glued to one-letter names ("-DN", "-O3").
Match match(std::string_view word, std::string& storage) {
    if (word.size() < 2 || word[0] != '-') return {};
    std::string_view name = word.substr(word[1] == '-' ? 2 : 1);
    bool one_dash = word[1] != '-';
    if (one_dash && !name.empty() &&
        std::string_view("DUIO").find(name[0]) != std::string_view::npos) {
        std::string_view rest = name.substr(1);
        return {&table().at(name.substr(0, 1)), rest, !rest.empty()};
    }
    size_t equals = name.find('=');
    std::string_view value =
        equals == std::string_view::npos ? std::string_view() : name.substr(equals + 1);
    storage.assign(name.substr(0, equals));
    for (char& c : storage)
        if (c == '_') c = '-';
    auto found = table().find(storage);
    if (found == table().end()) return {};
    return {&found->second, value, equals != std::string_view::npos};
}

}  // namespace

ParsedOptions parse_options(const std::vector<std::string>& options) {
    ParsedOptions parsed;
    std::string storage;
    for (size_t i = 0; i < options.size(); ++i) {
        std::string_view word = options[i];
        if (word.empty()) continue;
        Match found = match(word, storage);
        if (found.option == nullptr || (found.has_value && found.option->form == Form::Flag))
            throw_error(ErrorKind::CompileError,
                        "compile: option '{}' is not known: expected an option of NVRTC or nvcc",
                        word);
        if (found.option->form == Form::Value && !found.has_value) {
            if (i + 1 == options.size())
                throw_error(ErrorKind::CompileError, "compile: option '{}' needs a value", word);
            found.value = options[++i];
        } else if (found.option->form == Form::Optional && !found.has_value &&
                   i + 1 < options.size() &&
                   (options[i + 1] == "true" || options[i + 1] == "false")) {
            found.value = options[++i];
        }
        if (found.option->set != nullptr) found.option->set(parsed, found.value);
    }
    return parsed;
}

}  // namespace trilane::cpu
