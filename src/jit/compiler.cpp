// The frame of a function: parameters, variables, conversions where paths meet, putting out.
#include "jit/compiler.h"
#include "jit/loop.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trilane::jit {
namespace {

bool compile_time(TypeRef type) {
    switch (type->kind) {
        case TypeKind::None:
        case TypeKind::Str:
        case TypeKind::Static:
        case TypeKind::Slice:
        case TypeKind::Range:
        case TypeKind::Iterator:
        case TypeKind::Conflict:
        case TypeKind::Dim3:
            return true;
        case TypeKind::Tuple:
            return std::any_of(type->items.begin(), type->items.end(), compile_time);
        default:
            return false;
    }
}

Variable merge(const Variable& a, const Variable& b) {
    Variable v = a;
    v.origin |= b.origin;
    v.nonneg &= b.nonneg;
    if (a.constant != b.constant) v.constant.reset();
    if (a.value != b.value) v.value = compile_time(a.type) ? a.value : nullptr;
    if (a.type == b.type) return v;
    v.value = nullptr;
    v.constant.reset();
    v.type = unify(a.type, b.type);
    if (!v.type || a.type->kind == TypeKind::Conflict || b.type->kind == TypeKind::Conflict)
        v.type = types::special(TypeKind::Conflict,
                                fmt::format("{} and {}", a.type->text, b.type->text));
    return v;
}

}  // namespace

State merge(const State& a, const State& b) {
    if (!a.alive) return b;
    if (!b.alive) return a;
    State all = a;
    for (const auto& [name, variable] : b.variables) {
        auto [at, added] = all.variables.emplace(name, variable);
        if (!added) at->second = merge(at->second, variable);
        if (added) at->second.constant.reset();  // zero on the other path
    }
    for (auto& [name, variable] : all.variables)
        if (!b.variables.contains(name)) variable.constant.reset();
    return all;
}

std::string mangle(std::string_view name) {
    std::string out;
    for (unsigned char c : name) {
        bool plain =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        out += plain ? std::string(1, static_cast<char>(c)) : fmt::format("u{:02x}", c);
    }
    // Names that C++ or its library has already: a kernel may be called `double` or `exp`.
    static const std::set<std::string> taken = {
        "abs",     "acos",     "alignas",   "and",     "asin",     "asm",      "assert", "atan",
        "atan2",   "auto",     "bool",      "break",   "case",     "catch",    "cbrt",   "ceil",
        "char",    "class",    "compl",     "concept", "const",    "continue", "cos",    "cosh",
        "default", "delete",   "dim3",      "do",      "double",   "else",     "enum",   "erf",
        "exp",     "exp2",     "explicit",  "export",  "extern",   "fabs",     "false",  "float",
        "floor",   "fma",      "fmax",      "fmin",    "fmod",     "for",      "free",   "friend",
        "goto",    "half",     "hypot",     "if",      "inline",   "int",      "ldexp",  "log",
        "log10",   "log2",     "long",      "main",    "malloc",   "max",      "memcpy", "memset",
        "min",     "mutable",  "namespace", "new",     "not",      "operator", "or",     "pow",
        "printf",  "private",  "protected", "public",  "register", "requires", "return", "rint",
        "round",   "short",    "signed",    "sin",     "sinh",     "sizeof",   "sqrt",   "static",
        "std",     "struct",   "switch",    "tan",     "tanh",     "template", "this",   "throw",
        "tl",      "trilane",  "true",      "trunc",   "try",      "typedef",  "typeid", "typename",
        "union",   "unsigned", "using",     "virtual", "void",     "volatile", "while",  "xor"};
    return taken.contains(out) ? out + "_" : out;
}

std::string c_escape(std::string_view text) {
    std::string out;
    for (unsigned char c : text) {
        if (c == '"' || c == '\\')
            out += fmt::format("\\{}", static_cast<char>(c));
        else if (c < 32 || c >= 127)
            out += fmt::format("\\{:03o}", c);
        else
            out += static_cast<char>(c);
    }
    return out;
}

std::string float_text(double value, int bits) {
    const char* type = bits == 32 ? "(float)" : "";
    if (std::isnan(value))
        return fmt::format("({}__longlong_as_double(0x7ff8000000000000LL))", type);
    if (std::isinf(value))
        return fmt::format("({}{}__longlong_as_double(0x7ff0000000000000LL))", type,
                           value < 0 ? "-" : "");
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    if (bits == 32) text = fmt::format("(float){}", text);
    return std::signbit(value) || bits == 32 ? "(" + text + ")" : text;
}

Compiler::Compiler(Program& program, const FunctionTree& function, Specialisation& target,
                   bool kernel)
    : program_(program), function_(function), target_(target), kernel_(kernel) {}

void Compiler::emit(const std::string& line) { out_ += line + " "; }

void Compiler::line_mark(const Node& node) {
    if (!program_.options.line_directives) {
        out_ += "\n" + std::string(static_cast<size_t>(indent_) * 4, ' ');
        return;
    }
    out_ += fmt::format("\n#line {}\n{}", node.line,
                        std::string(static_cast<size_t>(indent_) * 4, ' '));
}

std::string Compiler::temporary() { return fmt::format("t{}", ++temporaries_); }

Value Compiler::spill(const Value& value) {
    if (value.stable || compile_time(value.type)) return value;
    if (value.is(TypeKind::Tuple) && value.code.empty()) {
        Value all = value;
        for (Value& item : all.items) item = spill(item);
        all.stable = true;
        return all;
    }
    Value v = value;
    v.code = temporary();
    v.stable = true;
    program_.need(value.type);
    emit(fmt::format("const {} {} = {};", cuda_type(value.type), v.code, code_of(value)));
    return v;
}

Value Compiler::effect(TypeRef type, const std::string& call) {
    if (type->kind == TypeKind::None) {
        emit(call + ";");
        return none();
    }
    Value v = make(type, temporary(), true);
    program_.need(type);
    emit(fmt::format("const {} {} = {};", cuda_type(type), v.code, call));
    return v;
}

std::string Compiler::variable(const std::string& name, TypeRef type) {
    auto& slot = names_[{name, type}];
    if (!slot.empty()) return slot;
    std::string base = "v_" + mangle(name), chosen = base;
    for (int i = 2; !used_names_.insert(chosen).second; ++i) chosen = fmt::format("{}_{}", base, i);
    slot = chosen;
    declared_.emplace_back(chosen, type);
    program_.need(type);
    return slot;
}

std::string Compiler::conversion_text(const State& from, const State& to) {
    std::string text;
    if (!from.alive || !to.alive) return text;
    for (const auto& [name, target] : to.variables) {
        auto found = from.variables.find(name);
        if (found == from.variables.end() || found->second.type == target.type) continue;
        if (compile_time(target.type) || compile_time(found->second.type)) continue;
        Value value = make(found->second.type, variable(name, found->second.type), true);
        Node nowhere;
        text += fmt::format("{} = {}; ", variable(name, target.type),
                            cast(value, target.type, nowhere));
    }
    return text;
}

void Compiler::convert(const State& from, const State& to) { out_ += conversion_text(from, to); }

void Compiler::run() {
    for (int attempt = 0;; ++attempt) {
        TRILANE_CHECK(attempt < 16, "jit: the result type of {} does not settle", function_.name);
        TypeRef before = target_.result;
        state_ = State{};
        out_.clear();
        names_.clear();
        used_names_.clear();
        declared_.clear();
        storage_.clear();
        shared_bytes_.clear();
        returns_.clear();
        temporaries_ = 0;
        std::string parameters;
        auto add = [&](const std::string& text) {
            parameters += (parameters.empty() ? "" : ", ") + text;
        };
        std::string prologue;
        for (size_t i = 0; i < target_.arguments.size(); ++i) {
            const Value& argument = target_.arguments[i];
            bool captured = i >= function_.parameters.size();
            const std::string& name = captured ? function_.captured[i - function_.parameters.size()]
                                               : function_.parameters[i];
            Variable v;
            v.type = argument.type;
            v.origin = argument.is(TypeKind::Array) || argument.is(TypeKind::Tuple) ||
                               argument.is(TypeKind::Record) || argument.is(TypeKind::Pointer)
                           ? uint64_t{1} << std::min<size_t>(i, 63)
                           : 0;
            v.nonneg = argument.type->kind == TypeKind::UInt;
            v.constant = argument.constant;  // kept by the caller where it is to be known
            bool known_tuple = argument.is(TypeKind::Tuple) && !argument.items.empty();
            if (compile_time(argument.type) || known_tuple)
                v.value = std::make_shared<Value>(argument);
            state_.variables[name] = v;
            if (compile_time(argument.type)) {
                if (kernel_) add(fmt::format("tl::None p{}", i));
                continue;
            }
            std::string cuda = variable(name, argument.type);
            declared_.pop_back();
            add(fmt::format("{} {}", cuda_type(argument.type), cuda));
        }
        if (std::string hidden = program_.hidden_parameters(kernel_); !hidden.empty()) add(hidden);
        if (program_.raises && kernel_) prologue += " bool tl_raised = false;";
        block(*function_.body);
        if (state_.alive) {
            Node end;
            end.kind = NodeKind::Return;
            end.line = function_.first_line;
            return_statement(end);
        }
        if (target_.unresolved && !target_.result)
            typing(*function_.body,
                   fmt::format("cannot infer the result of {}: every path of it calls {} again",
                               function_.name, function_.name));
        if (target_.recursive && target_.result != before) continue;
        TypeRef result = target_.result ? target_.result : types::none();
        target_.result = result;
        bool returns = result->kind != TypeKind::None;
        program_.need(result);
        std::string type = returns ? cuda_type(result) : "void";
        target_.prototype = fmt::format("static __device__ {}{} {}({})",
                                        function_.inline_mode == "always"  ? "__forceinline__ "
                                        : function_.inline_mode == "never" ? "__noinline__ "
                                                                           : "",
                                        type, target_.cuda_name, parameters);
        const TranslateOptions& o = program_.options;
        std::string head = target_.prototype;
        if (kernel_) {
            std::string bounds;
            if (o.max_threads > 0) {
                bounds = fmt::format(" __launch_bounds__({}", o.max_threads);
                if (o.min_blocks > 0) bounds += fmt::format(", {}", o.min_blocks);
                bounds += ")";
            }
            head = fmt::format("extern \"C\" __global__ void{} {}({})", bounds, target_.cuda_name,
                               parameters);
        }
        std::string text;
        if (o.line_directives)
            text = fmt::format("#line {} \"{}\"\n", function_.first_line, c_escape(function_.file));
        text += head + " {" + prologue;
        for (const auto& [place, storage] : storage_)
            text += " " + storage.substr(storage.find('/') + 1);
        for (const auto& [name, variable_type] : declared_)
            text += fmt::format(" {} {}{{}};", cuda_type(variable_type), name);
        for (const auto& [mark, value] : returns_) {
            std::string code = returns ? " " + cast(value, result, *function_.body) : "";
            replace_all(out_, mark, fmt::format("return{};", code));
        }
        // Braces alone: `long long{}` is no expression.
        replace_all(out_, kReturnNothing, returns ? "return {};" : "return;");
        target_.text = text + out_ + "\n}\n";
        return;
    }
}

void Compiler::typing(const Node& node, const std::string& message) const {
    fail(Fault::Typing, function_, node, message);
}

void Compiler::unsupported(const Node& node, const std::string& what) const {
    fail(Fault::Unsupported, function_, node, what + " is not supported in a kernel");
}

void Compiler::no_function(const Node& node, const std::string& name,
                           const std::vector<Value>& args) const {
    std::string types;
    for (const Value& arg : args) {
        std::string text = arg.type->text;
        if (arg.is(TypeKind::Int) && arg.integer_constant())
            text = fmt::format("Literal[int]({})", static_cast<long long>(*arg.integer_constant()));
        types += (types.empty() ? "" : ", ") + text;
    }
    std::string source = source_of(function_, node);
    typing(node,
           fmt::format("No implementation of function {} found for signature:\n\n >>> {}({}){}",
                       name, name, types,
                       source.empty() ? "" : fmt::format("\n\nin the expression: {}", source)));
}

}  // namespace trilane::jit
