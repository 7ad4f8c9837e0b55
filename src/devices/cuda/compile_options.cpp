// The options that need more than passing on.
#include "devices/cuda/compile_options.h"

#include <charconv>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "core/error.h"

namespace trilane::cuda {
namespace {

enum class Use { Relocatable, Object, Drop, DropValue, Arch, Gencode, Include, Language, Rename };

struct Rule {
    Use use;
    const char* name = nullptr;  // of Rename: NVRTC's
};

// Names without their dashes, '_' as '-'. What is not here is passed on.
const std::unordered_map<std::string_view, Rule>& rules() {
    static const std::unordered_map<std::string_view, Rule> kRules = {
        {"arch", {Use::Arch}},
        {"gpu-architecture", {Use::Arch}},
        {"gencode", {Use::Gencode}},
        {"generate-code", {Use::Gencode}},
        {"I", {Use::Include}},
        {"include-path", {Use::Include}},
        {"isystem", {Use::Include}},
        {"system-include", {Use::Include}},
        {"std", {Use::Language}},
        {"rdc", {Use::Relocatable}},
        {"relocatable-device-code", {Use::Relocatable}},
        {"dc", {Use::Object}},
        {"device-c", {Use::Object}},
        {"dw", {Use::Drop}},
        {"device-w", {Use::Drop}},
        {"include", {Use::Rename, "--pre-include="}},
        {"Xptxas", {Use::Rename, "--ptxas-options="}},
        {"ptxas-options", {Use::Rename, "--ptxas-options="}},
        // nvcc's alone
        {"code", {Use::DropValue}},
        {"gpu-code", {Use::DropValue}},
        {"optimize", {Use::DropValue}},
        {"Xcompiler", {Use::DropValue}},
        {"compiler-options", {Use::DropValue}},
        {"Xcicc", {Use::DropValue}},
        {"Xnvlink", {Use::DropValue}},
        {"nvlink-options", {Use::DropValue}},
        {"Werror", {Use::DropValue}},
        {"m", {Use::DropValue}},
        {"machine", {Use::DropValue}},
        {"keep-dir", {Use::DropValue}},
        {"ccbin", {Use::DropValue}},
        {"compiler-bindir", {Use::DropValue}},
        {"x", {Use::DropValue}},
        {"o", {Use::DropValue}},
        {"output-file", {Use::DropValue}},
        {"default-stream", {Use::DropValue}},
        {"lanes", {Use::DropValue}},  // of the cpu device
        {"g", {Use::Drop}},
        {"debug", {Use::Drop}},
        {"v", {Use::Drop}},
        {"verbose", {Use::Drop}},
        {"resource-usage", {Use::Drop}},
        {"res-usage", {Use::Drop}},
        {"cubin", {Use::Drop}},
        {"ptx", {Use::Drop}},
        {"fatbin", {Use::Drop}},
        {"c", {Use::Drop}},
        {"m64", {Use::Drop}},
        {"keep", {Use::Drop}},
        {"save-temps", {Use::Drop}},
        {"allow-unsupported-compiler", {Use::Drop}},
        {"expt-relaxed-constexpr", {Use::Drop}},  // NVRTC's constexpr functions are so anyway
        {"expt-extended-lambda", {Use::Drop}},
        {"extended-lambda", {Use::Drop}},
        {"fwrapv", {Use::Drop}},
    };
    return kRules;
}

struct Word {
    std::string name;        // without dashes, '_' as '-'
    std::string_view value;  // after '=' or glued to the letter
    bool has_value = false;
};

Word parse_word(std::string_view text) {
    Word word;
    std::string_view name = text;
    const bool two = name.starts_with("--");
    name.remove_prefix(two ? 2 : name.starts_with("-") ? 1 : 0);
    // "-Idir", "-DN", "-O3": the value is glued to the letter.
    if (!two && name.size() > 1 && (name[0] == 'I' || name[0] == 'O')) {
        if (name[0] == 'O' && !(name.size() == 2 || name.starts_with("O=")))
            return {std::string(name), {}, false};
        word.name = name.substr(0, 1);
        word.value = name.substr(1);
        word.has_value = true;
        return word;
    }
    const size_t equals = name.find('=');
    word.name = name.substr(0, equals);
    for (char& c : word.name)
        if (c == '_') c = '-';
    if (equals != std::string_view::npos) {
        word.value = name.substr(equals + 1);
        word.has_value = true;
    }
    return word;
}

std::string absolute_path(std::string_view path) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(std::filesystem::path(path), error);
    return error ? std::string(path) : absolute.lexically_normal().string();
}

bool takes_value(Use use) { return use != Use::Drop && use != Use::Object; }

// "arch=compute_80,code=sm_80" -> "sm_80"
std::string arch_of_gencode(std::string_view value) {
    const size_t code = value.find("code=");
    std::string_view text = code == std::string_view::npos ? value : value.substr(code + 5);
    const size_t start = text.find_first_of("sc");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    return std::string(text.substr(0, text.find_first_of(",]\" ")));
}

void apply(NvrtcOptions& out, const Rule& rule, std::string_view value) {
    switch (rule.use) {
        case Use::Drop:
        case Use::DropValue:
            return;
        case Use::Relocatable:
            out.relocatable = value == "true" || value == "1";
            return;
        case Use::Object:
            out.object = true;
            return;
        case Use::Arch:
            if (value.starts_with("sm_") || value.starts_with("compute_")) out.arch = value;
            return;
        case Use::Gencode:
            if (std::string arch = arch_of_gencode(value); !arch.empty())
                out.arch = std::move(arch);
            return;
        case Use::Include:
            out.include_dirs.push_back(absolute_path(value));
            out.words.push_back("-I" + out.include_dirs.back());
            return;
        case Use::Language:
            out.language =
                value.starts_with("gnu") ? "c" + std::string(value.substr(3)) : std::string(value);
            out.words.push_back("--std=" + out.language);
            return;
        case Use::Rename:
            out.words.push_back(rule.name + std::string(value));
            return;
    }
}

}  // namespace

int arch_number(const std::string& arch) {
    const size_t start = arch.find_first_of("0123456789");
    int number = 0;
    if (start != std::string::npos)
        std::from_chars(arch.data() + start, arch.data() + arch.size(), number);
    return number;
}

NvrtcOptions parse_options(const std::vector<std::string>& options) {
    NvrtcOptions out;
    for (size_t i = 0; i < options.size(); ++i) {
        const std::string& text = options[i];
        if (text.empty()) continue;
        const Word word = parse_word(text);
        if (word.name == "O") continue;  // NVRTC always optimises, unless -G asks for debugging
        const auto found = rules().find(word.name);
        if (found == rules().end() || text[0] != '-') {
            out.words.push_back(text);
            continue;
        }
        const Rule& rule = found->second;
        std::string_view value = word.value;
        if (takes_value(rule.use) && !word.has_value) {
            if (i + 1 == options.size())
                core::throw_error(core::ErrorKind::CompileError,
                                  "compile: option '{}' needs a value", text);
            value = options[++i];
        }
        apply(out, rule, value);
    }
    return out;
}

}  // namespace trilane::cuda
