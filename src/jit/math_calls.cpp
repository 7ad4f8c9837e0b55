// math.*, cmath.* and NumPy's scalar functions.
#include <algorithm>

#include "jit/compiler.h"

namespace trilane::jit {
namespace {

// Name in the math module, CUDA's name for double (float has an f behind).
const std::map<std::string, std::string>& unary_functions() {
    static const std::map<std::string, std::string> table = {
        {"acos", "acos"},   {"acosh", "acosh"},  {"asin", "asin"},    {"asinh", "asinh"},
        {"atan", "atan"},   {"atanh", "atanh"},  {"cos", "cos"},      {"cosh", "cosh"},
        {"erf", "erf"},     {"erfc", "erfc"},    {"exp", "exp"},      {"exp2", "exp2"},
        {"expm1", "expm1"}, {"fabs", "fabs"},    {"gamma", "tgamma"}, {"lgamma", "lgamma"},
        {"log", "log"},     {"log10", "log10"},  {"log1p", "log1p"},  {"log2", "log2"},
        {"sin", "sin"},     {"sinh", "sinh"},    {"sqrt", "sqrt"},    {"tan", "tan"},
        {"tanh", "tanh"},   {"ceil", "ceil"},    {"floor", "floor"},  {"trunc", "trunc"},
        {"cbrt", "cbrt"},   {"erfinv", "erfinv"}};
    return table;
}

const std::map<std::string, std::string>& binary_functions() {
    static const std::map<std::string, std::string> table = {
        {"atan2", "atan2"},        {"copysign", "copysign"}, {"fmod", "fmod"},
        {"hypot", "hypot"},        {"pow", "pow"},           {"remainder", "remainder"},
        {"nextafter", "nextafter"}};
    return table;
}

// NumPy's names that differ from the math module's.
std::string numpy_to_math(const std::string& name) {
    static const std::map<std::string, std::string> table = {
        {"arccos", "acos"},   {"arccosh", "acosh"},   {"arcsin", "asin"},
        {"arcsinh", "asinh"}, {"arctan", "atan"},     {"arctanh", "atanh"},
        {"arctan2", "atan2"}, {"deg2rad", "radians"}, {"rad2deg", "degrees"}};
    auto at = table.find(name);
    return at == table.end() ? name : at->second;
}

TypeRef floating_type(const std::vector<Value>& args) {
    TypeRef type = nullptr;
    for (const Value& v : args) {
        TypeRef own = v.is(TypeKind::Float) ? v.type : types::float64();
        type = type ? promote(type, own) : own;
    }
    return type->bits == 16 ? types::float32() : type;
}

std::string spelled(const std::string& function, TypeRef type) {
    return type->bits == 32 ? function + "f" : function;
}

}  // namespace

bool Compiler::complex_builtin(const std::string& name, Arguments& args, Value& result) {
    static const std::set<std::string> functions = {
        "sqrt", "exp",  "log",  "log10", "sin",  "cos",   "tan",   "sinh",
        "cosh", "tanh", "asin", "acos",  "atan", "asinh", "acosh", "atanh"};
    const Node& node = *args.node;
    program_.need("complex_math");
    if (name == "rect") {
        auto v = take(args, name, {"r", "phi"}, 2);
        TypeRef part = floating_type({v[0], v[1]}), type = types::complex(part->bits * 2);
        return result = make(type, fmt::format("trilane::polar<{}>({}, {})", cuda_type(part),
                                               cast(v[0], part, node), cast(v[1], part, node))),
               true;
    }
    Value z = args.positional.empty() ? none() : args.positional[0];
    if (!z.type->number()) no_function(node, "cmath." + name, args.positional);
    if (!z.is(TypeKind::Complex))
        z = as(z, types::complex(z.is(TypeKind::Float) && z.type->bits == 32 ? 64 : 128), node);
    TypeRef part = types::floating(z.type->bits / 2);
    if (name == "phase" || name == "angle")
        return result = make(part, fmt::format("trilane::arg({})", z.code), z.stable), true;
    if (name == "polar") {
        z = spill(z);
        result.items = {make(part, fmt::format("trilane::abs({})", z.code), true),
                        make(part, fmt::format("trilane::arg({})", z.code), true)};
        result.type = types::tuple({part, part});
        return true;
    }
    if (name == "isnan" || name == "isinf" || name == "isfinite") {
        z = spill(z);
        const char* join = name == "isfinite" ? "&&" : "||";
        return result = make(
                   types::boolean(),
                   fmt::format("((bool)({0}({1}.re)) {2} (bool)({0}({1}.im)))", name, z.code, join),
                   true),
               true;
    }
    if (name == "log2") {
        z = spill(make(z.type, fmt::format("trilane::log({})", z.code)));
        std::string scale = float_text(1.4426950408889634, part->bits);
        return result = make(z.type,
                             fmt::format("{0}{{{1}.re * {2}, {1}.im * {2}}}", cuda_type(z.type),
                                         z.code, scale),
                             true),
               true;
    }
    if (!functions.contains(name)) return false;
    if (name == "log" && args.positional.size() == 2) {
        Value base = as(args.positional[1], z.type, node);
        return result = make(
                   z.type, fmt::format("(trilane::log({}) / trilane::log({}))", z.code, base.code)),
               true;
    }
    return result = make(z.type, fmt::format("trilane::{}({})", name, z.code), z.stable), true;
}

bool Compiler::math_builtin(const std::string& full_name, Arguments& args, Value& result) {
    if (full_name.starts_with("cmath.")) return complex_builtin(full_name.substr(6), args, result);
    if (!full_name.starts_with("math.")) return false;
    std::string name = full_name.substr(5);
    const Node& node = *args.node;
    std::vector<Value>& v = args.positional;
    if (!args.named.empty()) typing(node, full_name + "() takes no keyword arguments");
    for (const Value& x : v)
        if (!x.type->real()) no_function(node, full_name, v);
    auto give = [&](TypeRef type, const std::string& code) {
        bool stable = std::all_of(v.begin(), v.end(), [](const Value& x) { return x.stable; });
        result = make(type, code, stable);
        return true;
    };
    auto count = [&](size_t n) {
        if (v.size() != n)
            typing(node, fmt::format("{}() takes {} arguments, got {}", full_name, n, v.size()));
    };
    if (auto at = unary_functions().find(name); at != unary_functions().end()) {
        if (name == "log" && v.size() == 2) {
            TypeRef type = floating_type(v);
            std::string f = spelled("log", type);
            return give(type, fmt::format("({0}({1}) / {0}({2}))", f, cast(v[0], type, node),
                                          cast(v[1], type, node)));
        }
        count(1);
        TypeRef type = floating_type(v);
        give(type, fmt::format("{}({})", spelled(at->second, type), cast(v[0], type, node)));
        return true;
    }
    if (auto at = binary_functions().find(name); at != binary_functions().end()) {
        count(2);
        if (name == "pow" && v[0].is(TypeKind::Float) && v[1].type->integer())
            return result = power(v[0], v[1], node), true;
        TypeRef type = floating_type(v);
        return give(type, fmt::format("{}({}, {})", spelled(at->second, type),
                                      cast(v[0], type, node), cast(v[1], type, node)));
    }
    if (name == "isnan" || name == "isinf" || name == "isfinite") {
        count(1);
        if (!v[0].is(TypeKind::Float)) return result = boolean(name == "isfinite"), true;
        return give(types::boolean(), fmt::format("(bool){}({})", name, v[0].code));
    }
    if (name == "degrees" || name == "radians") {
        count(1);
        TypeRef type = floating_type(v);
        std::string factor =
            float_text(name == "degrees" ? 57.29577951308232 : 0.017453292519943295, type->bits);
        return give(type, fmt::format("({} * {})", cast(v[0], type, node), factor));
    }
    if (name == "ldexp") {
        count(2);
        TypeRef type = floating_type({v[0]});
        return give(type, fmt::format("{}({}, {})", spelled("ldexp", type), cast(v[0], type, node),
                                      cast(v[1], types::int32(), node)));
    }
    if (name == "frexp" || name == "modf") {
        count(1);
        TypeRef type = floating_type(v), second = name == "frexp" ? types::int32() : type;
        std::string part = temporary(), other = temporary();
        emit(fmt::format("{} {}; const {} {} = {}({}, &{});", cuda_type(second), other,
                         cuda_type(type), part, spelled(name, type), cast(v[0], type, node),
                         other));
        result.items = {make(type, part, true), make(second, other, true)};
        result.type = types::tuple({type, second});
        return true;
    }
    if (name == "fma") {
        count(3);
        TypeRef type = floating_type(v);
        return give(type,
                    fmt::format("{}({}, {}, {})", spelled("fma", type), cast(v[0], type, node),
                                cast(v[1], type, node), cast(v[2], type, node)));
    }
    if (name == "gcd") {
        count(2);
        return give(types::int64(), fmt::format("tl::gcd({}, {})", cast(v[0], types::int64(), node),
                                                cast(v[1], types::int64(), node)));
    }
    return false;
}

bool Compiler::numpy_builtin(const std::string& full_name, Arguments& args, Value& result) {
    if (!full_name.starts_with("np.")) return false;
    std::string name = full_name.substr(3);
    const Node& node = *args.node;
    std::vector<Value>& v = args.positional;
    static const std::set<std::string> allocating = {
        "zeros", "empty",     "ones",   "zeros_like", "empty_like", "ones_like",  "array",
        "full",  "full_like", "arange", "linspace",   "ndindex",    "ndenumerate"};
    if (allocating.contains(name)) return false;
    if (array_ufunc(name, args, result)) return true;
    if (!args.named.empty()) unsupported(node, full_name + " with keyword arguments");
    bool complex =
        std::any_of(v.begin(), v.end(), [](const Value& x) { return x.is(TypeKind::Complex); });
    static const std::map<std::string, const char*> binaries = {
        {"add", "+"},         {"subtract", "-"},      {"multiply", "*"},   {"divide", "/"},
        {"true_divide", "/"}, {"floor_divide", "//"}, {"remainder", "%"},  {"mod", "%"},
        {"power", "**"},      {"bitwise_and", "&"},   {"bitwise_or", "|"}, {"bitwise_xor", "^"},
        {"left_shift", "<<"}, {"right_shift", ">>"}};
    if (auto at = binaries.find(name); at != binaries.end() && v.size() == 2)
        return result = binary(at->second, v[0], v[1], node), true;
    if (ufunc_comparison(name, v, node, result)) return true;
    if ((name == "maximum" || name == "minimum" || name == "fmax" || name == "fmin") &&
        v.size() == 2) {
        TypeRef type = promote(v[0].type, v[1].type);
        if (!type || !type->number()) no_function(node, full_name, v);
        program_.need(type);
        std::string a = cast(v[0], type, node), b = cast(v[1], type, node);
        return result = make(type, fmt::format("tl::np_{}({}, {})", name, a, b),
                             v[0].stable && v[1].stable),
               true;
    }
    if (name.starts_with("logical_")) {
        std::vector<std::string> t;
        for (const Value& x : v) t.push_back(truth(x, node).code);
        std::string code =
            name == "logical_not" ? fmt::format("(!{})", t.at(0))
            : name == "logical_xor"
                ? fmt::format("({} != {})", t.at(0), t.at(1))
                : fmt::format("({} {} {})", t.at(0), name == "logical_and" ? "&&" : "||", t.at(1));
        return result = make(types::boolean(), code), true;
    }
    if (v.size() == 1) {
        if (name == "abs" || name == "absolute") return python_builtin("abs", args, result);
        if (name == "negative" || name == "invert" || name == "bitwise_not" || name == "positive")
            return result = unary(name == "negative"   ? "-"
                                  : name == "positive" ? "+"
                                                       : "~",
                                  v[0], node),
                   true;
        if (name == "square") return result = binary("*", v[0] = spill(v[0]), v[0], node), true;
        if (name == "reciprocal") return result = binary("/", integer(1), v[0], node), true;
        if (name == "conjugate" || name == "conj")
            return result = complex ? make(v[0].type, fmt::format("trilane::conj({})", v[0].code),
                                           v[0].stable)
                                    : v[0],
                   true;
        if (name == "real" && !complex) return result = v[0], true;
        if ((name == "real" || name == "imag") && complex)
            return result = make(types::floating(v[0].type->bits / 2),
                                 v[0].code + (name == "real" ? ".re" : ".im"), v[0].stable),
                   true;
        if (name == "sign" && v[0].type->real())
            return result = make(v[0].type, fmt::format("tl::sign({})", v[0].code), v[0].stable),
                   true;
        if (name == "rint" && !complex) {
            TypeRef type = floating_type(v);
            return result = make(
                       type, fmt::format("{}({})", spelled("rint", type), cast(v[0], type, node)),
                       v[0].stable),
                   true;
        }
        if (name == "signbit" && v[0].is(TypeKind::Float))
            return result = make(types::boolean(), fmt::format("(bool)signbit({})", v[0].code),
                                 v[0].stable),
                   true;
    }
    if (name == "where" && v.size() == 3) {
        Value test = truth(v[0], node);
        return result = select(test, [&] { return v[1]; }, [&] { return v[2]; }, node), true;
    }
    std::string other = numpy_to_math(name);
    if (complex) return complex_builtin(other, args, result);
    return math_builtin("math." + other, args, result);
}

}  // namespace trilane::jit
