// Python's own functions and the operator module.
#include <algorithm>
#include <cmath>

#include "jit/compiler.h"

namespace trilane::jit {

Int128 Compiler::static_integer(const Value& value, const Node& node, const char* what) const {
    if (const Int128* known = value.integer_constant()) return *known;
    typing(node, fmt::format("RequireLiteralValue: {} must be a compile-time integer, got {}: a "
                             "literal, a global or a closure variable",
                             what, value.type->text));
}

TypeRef Compiler::dtype_argument(const Value& value, const Node& node) const {
    if (value.type && value.is(TypeKind::Static) && value.type->name.starts_with("dtype:"))
        return types::parse(value.type->name.substr(6));
    if (value.type && value.is(TypeKind::Str)) {
        try {
            return types::parse(std::get<std::string>(*value.constant));
        } catch (const core::Error&) {
        }
    }
    if (value.type && value.is(TypeKind::Static)) {
        if (value.type->name == "float") return types::float64();
        if (value.type->name == "int") return types::int64();
        if (value.type->name == "bool") return types::boolean();
        if (value.type->name == "complex") return types::complex(128);
    }
    typing(node, fmt::format("a dtype is expected here, got {}",
                             value.type ? value.type->text : "nothing"));
}

std::vector<int64_t> Compiler::static_shape(const Value& value, const Node& node) const {
    std::vector<int64_t> shape;
    auto add = [&](const Value& v) {
        Int128 n = static_integer(v, node, "the shape of a shared or local array");
        if (n < 0) typing(node, "negative dimensions are not allowed");
        shape.push_back(static_cast<int64_t>(n));
    };
    if (value.is(TypeKind::Tuple)) {
        if (value.items.size() != value.type->items.size())
            typing(node,
                   fmt::format(
                       "the shape of a shared or local array must be known at compile time, got {}",
                       value.type->text));
        for (const Value& item : value.items) add(item);
    } else {
        add(value);
    }
    return shape;
}

bool Compiler::python_builtin(const std::string& name, Arguments& args, Value& result) {
    const Node& node = *args.node;
    std::vector<Value>& given = args.positional;
    if (name == "literal_unroll") return result = take(args, name, {"container"}, 1)[0], true;
    if (name == "print") return result = print(args), true;
    if (name == "round") return result = round_call(args), true;
    if (name == "min" || name == "max") return result = minmax(name, args), true;
    if (name == "len") {
        Value v = take(args, name, {"obj"}, 1)[0];
        if (v.is(TypeKind::Tuple))
            return result = integer(static_cast<Int128>(v.type->items.size())), true;
        if (v.is(TypeKind::Str))
            return result = integer(static_cast<Int128>(std::get<std::string>(*v.constant).size())),
                   true;
        if (v.is(TypeKind::Range)) {
            result = make(types::int64(), sequence(v, node).length);
            result.nonneg = true;
            return true;
        }
        if (!v.is(TypeKind::Array) || v.type->ndim == 0)
            no_function(node, "Function(<built-in function len>)", {v});
        result = make(types::int64(), fmt::format("(long long){}.shape[0]", spill(v).code), true);
        result.nonneg = true;
        return true;
    }
    if (name == "abs") {
        Value v = take(args, name, {"x"}, 1)[0];
        if (!v.type->number()) no_function(node, "Function(<built-in function abs>)", {v});
        if (v.is(TypeKind::UInt) || (v.nonneg && v.type->integer())) return result = v, true;
        if (v.is(TypeKind::Bool)) v = as(v, types::int64(), node);
        TypeRef type = v.is(TypeKind::Complex) ? types::floating(v.type->bits / 2) : v.type;
        if (v.is(TypeKind::Complex)) program_.need("complex_math");
        result = make(type, fmt::format("tl::absolute({})", v.code), v.stable);
        result.nonneg = true;
        return true;
    }
    if (name == "int" || name == "float" || name == "bool" || name == "complex") {
        if (given.empty()) given.push_back(integer(0));
        Value v = given[0];
        if (name == "complex" && given.size() <= 2) {
            bool single = std::all_of(given.begin(), given.end(), [](const Value& x) {
                return (x.is(TypeKind::Float) && x.type->bits == 32) ||
                       (x.is(TypeKind::Complex) && x.type->bits == 64);
            });
            return result = call_dtype(single ? "complex64" : "complex128", args), true;
        }
        if (given.size() != 1) typing(node, fmt::format("{}() takes one argument", name));
        if (name == "bool") return result = truth(v, node), true;
        if (!v.type->real()) no_function(node, fmt::format("class({})", name), {v});
        if (name == "int")
            result = v.type->integer() ? v : as(v, types::int64(), node);
        else
            result = v.is(TypeKind::Float) ? v : as(v, types::float64(), node);
        return true;
    }
    if (name == "divmod") {
        auto v = take(args, name, {"x", "y"}, 2);
        for (Value& x : v) x = spill(x);
        result.items = {binary("//", v[0], v[1], node), binary("%", v[0], v[1], node)};
        result.type = types::tuple({result.items[0].type, result.items[1].type});
        return true;
    }
    if (name == "pow") {
        auto v = take(args, name, {"base", "exp"}, 2);
        return result = power(v[0], v[1], node), true;
    }
    if (name == "sum") {
        auto v = take(args, name, {"iterable", "start"}, 1);
        if (!v[0].is(TypeKind::Tuple))
            no_function(node, "Function(<built-in function sum>)", {v[0]});
        Value tuple = spill(v[0]);
        result = v[1].type ? v[1] : integer(0);
        for (size_t i = 0; i < tuple.type->items.size(); ++i)
            result = binary("+", result, item_of(tuple, i), node);
        return true;
    }
    if (name == "tuple" && given.size() == 1 && given[0].is(TypeKind::Tuple))
        return result = given[0], true;
    if (name == "slice") {
        std::vector<Value> parts = given;
        if (parts.size() == 1) parts.insert(parts.begin(), none());
        while (parts.size() < 3) parts.push_back(none());
        result.type = types::special(TypeKind::Slice, "slice");
        result.items = parts;
        return true;
    }
    return false;
}

bool Compiler::iterator_builtin(const std::string& name, Arguments& args, Value& result) {
    if (name == "range") return result = range_call(args), true;
    auto iterator = [&](const char* kind, std::vector<Value> items) {
        result.type = types::special(TypeKind::Iterator, kind);
        result.items = std::move(items);
        return true;
    };
    if (name == "enumerate") {
        auto v = take(args, name, {"iterable", "start"}, 1);
        return iterator("enumerate",
                        {v[0], v[1].type ? as(v[1], types::int64(), *args.node) : integer(0)});
    }
    if (name == "zip") return iterator("zip", args.positional);
    if (name == "reversed") return iterator("reversed", {take(args, name, {"sequence"}, 1)[0]});
    if (name == "np.ndindex") {
        std::vector<Value> extents = args.positional;
        if (extents.size() == 1 && extents[0].is(TypeKind::Tuple)) {
            Value shape = spill(extents[0]);
            extents.clear();
            for (size_t i = 0; i < shape.type->items.size(); ++i)
                extents.push_back(item_of(shape, i));
        }
        return iterator("ndindex", std::move(extents));
    }
    if (name == "np.ndenumerate") {
        Value array = take(args, name, {"arr"}, 1)[0];
        if (!array.is(TypeKind::Array)) no_function(*args.node, "np.ndenumerate", {array});
        Value flat = array_attribute(spill(array), "flat", *args.node);
        return iterator("ndenumerate", flat.items);
    }
    return false;
}

Value Compiler::range_call(Arguments& args) {
    std::vector<Value>& v = args.positional;
    if (v.empty() || v.size() > 3 || !args.named.empty())
        typing(*args.node, "range() takes 1 to 3 positional arguments");
    TypeRef type = nullptr;
    bool small = true, natural = true;
    for (const Value& x : v) {
        if (!x.type->integer() && !x.is(TypeKind::Bool)) no_function(*args.node, "class(range)", v);
        small &= x.is(TypeKind::Bool) || x.type->bits <= 16 ||
                 (x.is(TypeKind::Int) && x.type->bits <= 32);
        natural &= x.is(TypeKind::UInt) && x.type->bits == 64;
    }
    type = small ? types::int32() : natural ? types::uint64() : types::int64();
    Value start = v.size() > 1 ? v[0] : integer(0), stop = v.size() > 1 ? v[1] : v[0];
    Value step = v.size() > 2 ? v[2] : integer(1);
    if (const Int128* known = step.integer_constant(); known && *known == 0)
        typing(*args.node, "range() arg 3 must not be zero");
    Value range;
    range.type = types::special(TypeKind::Range, "range_state_" + type->text);
    for (Value* part : {&start, &stop, &step}) {
        bool nonneg = part->nonneg;
        Value converted = as(*part, type, *args.node);
        converted.nonneg = nonneg;
        range.items.push_back(converted);
    }
    return range;
}

// min and max take the items of a tuple or two and more arguments; the result has NumPy's common
// type, and the choice is Python's: a later item wins only if it is strictly less (greater).
Value Compiler::minmax(const std::string& name, Arguments& args) {
    std::vector<Value> items = args.positional;
    if (items.size() == 1 && items[0].is(TypeKind::Tuple)) {
        Value tuple = spill(items[0]);
        items.clear();
        for (size_t i = 0; i < tuple.type->items.size(); ++i) items.push_back(item_of(tuple, i));
    }
    if (items.empty() || !args.named.empty())
        typing(*args.node, fmt::format("{}() of these arguments is not defined", name));
    for (const Value& item : items)
        if (!item.type->real())
            no_function(*args.node, fmt::format("Function(<built-in function {}>)", name), items);
    Value best = items[0];
    for (size_t i = 1; i < items.size(); ++i) {
        TypeRef type = promote(best.type, items[i].type);
        bool nonneg =
            name == "max" ? best.nonneg || items[i].nonneg : best.nonneg && items[i].nonneg;
        bool stable = best.stable && items[i].stable;
        best = make(type,
                    fmt::format("tl::{}({}, {})", name == "min" ? "least" : "greatest",
                                cast(best, type, *args.node), cast(items[i], type, *args.node)),
                    stable);
        best.nonneg = nonneg;
    }
    return best;
}

Value Compiler::round_call(Arguments& args) {
    auto v = take(args, "round", {"number", "ndigits"}, 1);
    const Node& node = *args.node;
    if (!v[0].type->real()) no_function(node, "Function(<built-in function round>)", {v[0]});
    if (v[0].type->integer()) return v[0];
    bool digits = v[1].type && !v[1].is_none();
    if (!digits)
        return make(types::int64(), fmt::format("(long long)rint((double)({}))", v[0].code),
                    v[0].stable);
    Value x = v[0].is(TypeKind::Float) ? v[0] : as(v[0], types::float64(), node);
    return make(x.type,
                fmt::format("tl::round_digits({}, {})", x.code, cast(v[1], types::int64(), node)),
                x.stable && v[1].stable);
}

Value Compiler::print(Arguments& args) {
    std::string format, list;
    std::function<void(const Value&)> add = [&](const Value& v) {
        auto argument = [&](const char* f, const std::string& code) {
            format += f;
            list += ", " + code;
        };
        switch (v.type->kind) {
            case TypeKind::Str: {
                std::string text = c_escape(std::get<std::string>(*v.constant));
                for (char c : text) format += c == '%' ? std::string("%%") : std::string(1, c);
                return;
            }
            case TypeKind::None:
                format += "None";
                return;
            case TypeKind::Bool:
                argument("%s", fmt::format("({} ? \"True\" : \"False\")", v.code));
                return;
            case TypeKind::Int:
                argument("%lld", fmt::format("(long long)({})", v.code));
                return;
            case TypeKind::UInt:
                argument("%llu", fmt::format("(unsigned long long)({})", v.code));
                return;
            case TypeKind::Float:
                argument("%f", fmt::format("(double)({})", v.code));
                return;
            case TypeKind::Complex: {
                Value c = spill(v);
                argument("(%f", fmt::format("(double){}.re", c.code));
                argument("%+fj)", fmt::format("(double){}.im", c.code));
                return;
            }
            case TypeKind::Dim3:
                argument("(%d", v.code + ".x");
                argument(", %d", v.code + ".y");
                argument(", %d)", v.code + ".z");
                return;
            case TypeKind::Tuple: {
                Value tuple = spill(v);
                format += "(";
                for (size_t i = 0; i < v.type->items.size(); ++i) {
                    if (i) format += ", ";
                    add(item_of(tuple, i));
                }
                format += v.type->items.size() == 1 ? ",)" : ")";
                return;
            }
            default:
                break;
        }
        if (v.is(TypeKind::Static) && v.type->name == "format string") {
            for (const Value& part : v.items) add(part);
            return;
        }
        no_function(*args.node, "print", {v});
    };
    std::string separator = " ", end = "\n";
    for (const auto& [name, value] : args.named) {
        if ((name != "sep" && name != "end") || !value.is(TypeKind::Str))
            unsupported(*args.node, fmt::format("print({}=...)", name));
        (name == "sep" ? separator : end) = std::get<std::string>(*value.constant);
    }
    for (size_t i = 0; i < args.positional.size(); ++i) {
        if (i) format += c_escape(separator);
        add(args.positional[i]);
    }
    emit(fmt::format("printf(\"{}{}\"{});", format, c_escape(end), list));
    return none();
}

bool Compiler::operator_builtin(const std::string& name, Arguments& args, Value& result) {
    if (!name.starts_with("operator.")) return false;
    static const std::map<std::string, std::string> binaries = {
        {"add", "+"},      {"sub", "-"},        {"mul", "*"},  {"truediv", "/"}, {"floordiv", "//"},
        {"mod", "%"},      {"pow", "**"},       {"and_", "&"}, {"or_", "|"},     {"xor", "^"},
        {"lshift", "<<"},  {"rshift", ">>"},    {"iadd", "+"}, {"isub", "-"},    {"imul", "*"},
        {"itruediv", "/"}, {"ifloordiv", "//"}, {"imod", "%"}};
    static const std::map<std::string, std::string> comparisons = {
        {"eq", "=="}, {"ne", "!="}, {"lt", "<"},   {"le", "<="},
        {"gt", ">"},  {"ge", ">="}, {"is_", "is"}, {"is_not", "is not"}};
    static const std::map<std::string, std::string> unaries = {
        {"neg", "-"}, {"pos", "+"}, {"invert", "~"}, {"inv", "~"}, {"not_", "not"}};
    std::string op = name.substr(9);
    const Node& node = *args.node;
    if (auto at = binaries.find(op); at != binaries.end()) {
        auto v = take(args, op, {"a", "b"}, 2);
        return result = binary(at->second, v[0], v[1], node), true;
    }
    if (auto at = comparisons.find(op); at != comparisons.end()) {
        auto v = take(args, op, {"a", "b"}, 2);
        return result = compare_one(at->second, v[0], v[1], node), true;
    }
    if (auto at = unaries.find(op); at != unaries.end())
        return result = unary(at->second, take(args, op, {"a"}, 1)[0], node), true;
    if (op == "truth") return result = truth(take(args, op, {"a"}, 1)[0], node), true;
    if (op == "abs") return python_builtin("abs", args, result);
    if (op == "getitem") {
        auto v = take(args, op, {"a", "b"}, 2);
        return result = index_value(v[0], v[1], node), true;
    }
    if (op == "setitem") {
        auto v = take(args, op, {"a", "b", "c"}, 3);
        store_item(v[0], v[1], v[2], node);
        return result = none(), true;
    }
    return false;
}

}  // namespace trilane::jit
