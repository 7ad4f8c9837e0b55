// NumPy's ufuncs in kernels: of arrays, with an array for the result, and comparisons by its rules.
#include <algorithm>

#include "jit/compiler.h"

namespace trilane::jit {
namespace {

// How many arguments a ufunc has before the one for its result.
size_t inputs_of(const std::string& name) {
    static const std::set<std::string> two = {
        "add",         "subtract",    "multiply",    "divide",       "true_divide",   "remainder",
        "mod",         "power",       "float_power", "floor_divide", "bitwise_and",   "bitwise_or",
        "bitwise_xor", "left_shift",  "right_shift", "greater",      "greater_equal", "less",
        "less_equal",  "equal",       "not_equal",   "maximum",      "minimum",       "fmax",
        "fmin",        "logical_and", "logical_or",  "logical_xor",  "arctan2",       "hypot",
        "copysign",    "nextafter",   "fmod",        "gcd",          "ldexp"};
    return two.contains(name) ? 2 : 1;
}

const std::map<std::string, const char*>& comparisons() {
    static const std::map<std::string, const char*> table = {
        {"greater", ">"},     {"greater_equal", ">="}, {"less", "<"},
        {"less_equal", "<="}, {"equal", "=="},         {"not_equal", "!="}};
    return table;
}

}  // namespace

// An element-wise function of arrays: a loop over the result's elements, in the thread that calls.
bool Compiler::array_ufunc(const std::string& name, Arguments& args, Value& result) {
    const Node& node = *args.node;
    size_t inputs = inputs_of(name);
    Value out;
    for (const auto& [key, value] : args.named) {
        if (key != "out") unsupported(node, fmt::format("np.{}({}=...)", name, key));
        out = value;
    }
    std::vector<Value> given = args.positional;
    if (!out.type && given.size() == inputs + 1) {
        out = given.back();
        given.pop_back();
    }
    bool arrays = std::any_of(given.begin(), given.end(),
                              [](const Value& v) { return v.is(TypeKind::Array); });
    if (!out.type && !arrays) return false;
    if (given.size() != inputs) no_function(node, "np." + name, args.positional);
    if (!out.type)
        unsupported(node, fmt::format("np.{0} of an array without one for the result, as in "
                                      "np.{0}(..., out),",
                                      name));
    if (!out.is(TypeKind::Array) || !out.type->element->number())
        no_function(node, "np." + name, args.positional);
    program_.need("views");
    out = spill(out);
    note_write(out, node);
    for (Value& v : given) {
        if (v.is(TypeKind::Array) && v.type->ndim > out.type->ndim)
            typing(node, fmt::format("np.{}: {} cannot be broadcast to {}", name, v.type->text,
                                     out.type->text));
        v = spill(v);
        if (v.is(TypeKind::Array)) check_shape(out, v);
    }
    int number = ++program_.counter, n = out.type->ndim;
    std::string turn = fmt::format("k{}", number), place = fmt::format("p{}", number);
    emit(fmt::format("for (long long {0} = 0, {1}n = tl::count({2}); {0} < {1}n; ++{0}) {{", turn,
                     place, out.code));
    Arguments items;
    items.node = args.node;
    for (size_t i = 0; i < given.size(); ++i) {
        const Value& v = given[i];
        if (!v.is(TypeKind::Array)) {
            items.positional.push_back(v);
            continue;
        }
        std::string rest = fmt::format("{}_{}", place, i);
        emit(fmt::format("long long {} = {};", rest, turn));
        items.positional.push_back(spill(element(
            v,
            fmt::format("tl::at({}.data, tl::Walk<0, {}>::template beside<{}>({}, {}.shape, {}))",
                        v.code, n, v.type->ndim, v.code, out.code, rest))));
    }
    Value one = call_builtin("np." + name, items);
    emit(fmt::format("long long {} = {};", place, turn));
    emit(fmt::format("tl::at({0}.data, tl::Walk<0, {1}>::offset({0}, {2})) = {3}; }}", out.code, n,
                     place, cast(one, out.type->element, node)));
    result = out;
    return true;
}

// NumPy compares integers of any signs by value and orders complex numbers by their parts.
bool Compiler::ufunc_comparison(const std::string& name, std::vector<Value>& v, const Node& node,
                                Value& result) {
    auto found = comparisons().find(name);
    if (found == comparisons().end() || v.size() != 2) return false;
    std::string op = found->second;
    bool complex = v[0].is(TypeKind::Complex) || v[1].is(TypeKind::Complex);
    bool ordered = op[0] == '<' || op[0] == '>';
    bool stable = v[0].stable && v[1].stable;
    if (complex && ordered) {
        TypeRef type = promote(v[0].type, v[1].type);
        if (!type) no_function(node, "np." + name, v);
        program_.need(type);
        std::string a = cast(v[0], type, node), b = cast(v[1], type, node);
        if (op[0] == '>') std::swap(a, b);
        result = make(
            types::boolean(),
            fmt::format("tl::complex_{}({}, {})", op.size() == 2 ? "less_equal" : "less", a, b),
            stable);
        return true;
    }
    bool mixed = v[0].type->integer() && v[1].type->integer() && v[0].type->kind != v[1].type->kind;
    const Value& natural = v[0].is(TypeKind::UInt) ? v[0] : v[1];
    if (mixed && natural.type->bits == 64) {
        TypeRef signed_type = types::int64();
        std::string a = cast(v[0], v[0].is(TypeKind::UInt) ? types::uint64() : signed_type, node);
        std::string b = cast(v[1], v[1].is(TypeKind::UInt) ? types::uint64() : signed_type, node);
        result = make(types::boolean(), fmt::format("(tl::order({}, {}) {} 0)", a, b, op), stable);
        return true;
    }
    result = compare_one(op, v[0], v[1], node);
    return true;
}

}  // namespace trilane::jit
