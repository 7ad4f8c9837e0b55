// Writing signatures into programs and reading them from symbols.
#include "devices/cuda/kernel_signature.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include <fmt/format.h>

namespace trilane::cuda {
namespace {

using core::Parameter;
using core::ParameterKind;

// Parameters without a name are called so.
constexpr std::string_view kUnnamed = "Trilane_unnamed";

// Names that no user's macro has. Enumerations count as the integers that hold them.
constexpr std::string_view kDefinitions =
    "\n#line 1 \"trilane_signatures\"\n"
    "namespace trilane_signatures {\n"
    "template <class Trilane_T, bool = __is_enum(Trilane_T)> struct Trilane_Plain {"
    " typedef Trilane_T Trilane_type; };\n"
    "template <class Trilane_T> struct Trilane_Plain<Trilane_T, true> {"
    " typedef __underlying_type(Trilane_T) Trilane_type; };\n"
    "template <class Trilane_F> struct Trilane_Of;\n"
    "template <class... Trilane_A> struct Trilane_Of<void (*)(Trilane_A...)> {"
    " typedef void Trilane_type(typename Trilane_Plain<Trilane_A>::Trilane_type...); };\n"
    "template <class... Trilane_T> __device__ char kernel;\n"
    "namespace tag {\n";

struct Builtin {
    std::string_view name;
    ParameterKind kind;
    uint32_t size;
};

constexpr Builtin kBuiltins[] = {
    {"bool", ParameterKind::Bool, 1},
    {"char", ParameterKind::Int, 1},
    {"signed char", ParameterKind::Int, 1},
    {"unsigned char", ParameterKind::UInt, 1},
    {"char8_t", ParameterKind::UInt, 1},
    {"short", ParameterKind::Int, 2},
    {"unsigned short", ParameterKind::UInt, 2},
    {"char16_t", ParameterKind::UInt, 2},
    {"int", ParameterKind::Int, 4},
    {"unsigned int", ParameterKind::UInt, 4},
    {"wchar_t", ParameterKind::Int, 4},
    {"char32_t", ParameterKind::UInt, 4},
    {"long", ParameterKind::Int, 8},
    {"unsigned long", ParameterKind::UInt, 8},
    {"long long", ParameterKind::Int, 8},
    {"unsigned long long", ParameterKind::UInt, 8},
    {"__int128", ParameterKind::Int, 16},
    {"unsigned __int128", ParameterKind::UInt, 16},
    {"float", ParameterKind::Float, 4},
    {"double", ParameterKind::Float, 8},
};

const Builtin* find_builtin(std::string_view name) {
    for (const Builtin& builtin : kBuiltins)
        if (builtin.name == name) return &builtin;
    return nullptr;
}

std::string demangle(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : std::string();
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

// At the commas that stand in no bracket.
std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> pieces;
    int depth = 0;
    size_t start = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
        if (c != ',' || depth != 0) continue;
        pieces.push_back(trim(text.substr(start, i - start)));
        start = i + 1;
    }
    const std::string_view last = trim(text.substr(start));
    if (!last.empty()) pieces.push_back(last);
    return pieces;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    text = trim(text);
    return true;
}

// "float const*" as programmers write it: "const float *".
std::string readable(std::string_view type) {
    std::string marks;
    while (!type.empty() && (type.back() == '*' || type.back() == '&')) {
        marks.insert(marks.begin(), type.back());
        type = trim(type.substr(0, type.size() - 1));
    }
    const bool is_const = take_suffix(type, " const");
    std::string text = (is_const ? "const " : "") + std::string(type);
    if (!marks.empty()) text += " " + marks;
    return text;
}

Parameter parameter_of(std::string_view type) {
    Parameter parameter;
    parameter.c_type = readable(type);
    const bool pointer = type.ends_with('*') || type.ends_with('&') ||
                         type.find("(*") != std::string_view::npos ||
                         type.find("(&") != std::string_view::npos;
    if (pointer) {
        parameter.kind = ParameterKind::Pointer;
        parameter.size = parameter.align = 8;
        std::string_view pointee = trim(type.substr(0, type.size() - 1));
        take_suffix(pointee, " volatile");
        parameter.pointee_const = take_suffix(pointee, " const");
        if (pointee.ends_with('*')) {
            parameter.pointee_kind = ParameterKind::Pointer;
            parameter.pointee_size = 8;
        } else if (const Builtin* builtin = find_builtin(pointee)) {
            parameter.pointee_kind = builtin->kind;
            parameter.pointee_size = builtin->size;
        }
    } else if (const Builtin* builtin = find_builtin(type)) {
        parameter.kind = builtin->kind;
        parameter.size = parameter.align = builtin->size;
    } else {
        parameter.kind = ParameterKind::Struct;
        parameter.size = 0;
    }
    return parameter;
}

std::vector<Parameter> parameters_of(std::string_view list) {
    std::vector<Parameter> parameters;
    for (const std::string_view type : split(list))
        if (type != "void") parameters.push_back(parameter_of(type));
    return parameters;
}

// What stands in the last pair of parentheses that closes the text; nullopt if none does.
std::optional<std::string_view> last_parentheses(std::string_view text) {
    if (!text.ends_with(')')) return std::nullopt;
    int depth = 0;
    for (size_t i = text.size(); i-- > 0;) {
        if (text[i] == ')') ++depth;
        if (text[i] == '(' && --depth == 0) return text.substr(i + 1, text.size() - i - 2);
    }
    return std::nullopt;
}

std::string tag_name(const std::string& name) {
    return name.empty() ? std::string(kUnnamed) : name;
}

}  // namespace

std::string signature_text(const std::vector<SourceKernel>& kernels) {
    std::string text(kDefinitions);
    for (const SourceKernel& kernel : kernels) {
        text += fmt::format("struct {};", kernel.name);
        for (const std::string& name : kernel.parameters)
            text += fmt::format(" struct {};", tag_name(name));
        text += "\n";
    }
    return text + "} }\n";
}

std::string signature_expression(const SourceKernel& kernel) {
    std::string text = fmt::format(
        "&trilane_signatures::kernel<trilane_signatures::Trilane_Of<decltype(&::{})>::"
        "Trilane_type, trilane_signatures::tag::{}",
        kernel.name, kernel.name);
    for (const std::string& name : kernel.parameters)
        text += fmt::format(", trilane_signatures::tag::{}", tag_name(name));
    return text + ">";
}

std::optional<KernelSignature> read_signature(const std::string& symbol) {
    const std::string text = demangle(symbol);
    constexpr std::string_view kHead = "trilane_signatures::kernel<";
    if (!text.starts_with(kHead) || !text.ends_with('>')) return std::nullopt;
    const auto pieces =
        split(std::string_view(text).substr(kHead.size(), text.size() - kHead.size() - 1));
    if (pieces.size() < 2) return std::nullopt;
    const auto list = last_parentheses(pieces[0]);
    if (!list) return std::nullopt;
    KernelSignature signature;
    auto plain = [](std::string_view name) {
        const size_t colon = name.rfind(':');
        return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
    };
    signature.kernel = plain(pieces[1]);
    signature.parameters = parameters_of(*list);
    if (pieces.size() - 2 != signature.parameters.size()) return signature;
    for (size_t i = 2; i < pieces.size(); ++i)
        if (std::string name = plain(pieces[i]); name != kUnnamed)
            signature.parameters[i - 2].name = std::move(name);
    return signature;
}

std::optional<KernelSignature> signature_of_mangled(const std::string& symbol) {
    if (!symbol.starts_with("_Z")) return std::nullopt;
    const std::string text = demangle(symbol);
    const auto list = last_parentheses(text);
    if (!list) return std::nullopt;
    return KernelSignature{symbol, parameters_of(*list)};
}

}  // namespace trilane::cuda
