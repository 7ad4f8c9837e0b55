// Operators with Python's meaning and Numba's types.
#include <algorithm>
#include <cmath>

#include "jit/compiler.h"

namespace trilane::jit {
namespace {

const char* operator_name(std::string_view op) {
    static constexpr std::pair<std::string_view, const char*> names[] = {
        {"+", "add"},      {"-", "sub"},     {"*", "mul"},  {"/", "truediv"}, {"//", "floordiv"},
        {"%", "mod"},      {"**", "pow"},    {"&", "and_"}, {"|", "or_"},     {"^", "xor"},
        {"<<", "lshift"},  {">>", "rshift"}, {"==", "eq"},  {"!=", "ne"},     {"<", "lt"},
        {"<=", "le"},      {">", "gt"},      {">=", "ge"},  {"~", "invert"},  {"@", "matmul"},
        {"in", "contains"}};
    for (auto [symbol, name] : names)
        if (symbol == op) return name;
    return "operator";
}

std::string described(std::string_view op) {
    return fmt::format("Function(<built-in function {}>)", operator_name(op));
}

bool compare_constants(std::string_view op, auto a, auto b) {
    if (op == "==") return a == b;
    if (op == "!=") return a != b;
    if (op == "<") return a < b;
    if (op == "<=") return a <= b;
    if (op == ">") return a > b;
    return a >= b;
}

Int128 floor_divide(Int128 a, Int128 b) {
    Int128 q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

}  // namespace

std::optional<Value> Compiler::fold(std::string_view op, const Value& a, const Value& b,
                                    TypeRef type) {
    const Int128 *x = a.integer_constant(), *y = b.integer_constant();
    if (!x || !y || !type->integer()) return std::nullopt;
    Int128 result = 0;
    if (op == "+")
        result = *x + *y;
    else if (op == "-")
        result = *x - *y;
    else if (op == "*")
        result = *x * *y;
    else if (op == "//" && *y != 0)
        result = floor_divide(*x, *y);
    else if (op == "%" && *y != 0)
        result = *x - floor_divide(*x, *y) * *y;
    else if (op == "<<" && *y >= 0 && *y < 63 && *x >= 0)
        result = *x << static_cast<int>(*y);
    else if (op == ">>" && *y >= 0 && *y < 64)
        result = *x >> static_cast<int>(*y);
    else if (op == "&")
        result = *x & *y;
    else if (op == "|")
        result = *x | *y;
    else if (op == "^")
        result = *x ^ *y;
    else if (op == "**" && *y >= 0 && *y < 128) {
        result = 1;
        for (Int128 i = 0; i < *y; ++i) {
            result *= *x;
            if (result > Int128(UINT64_MAX) || result < Int128(INT64_MIN)) return std::nullopt;
        }
    } else
        return std::nullopt;
    bool is_signed = type->kind == TypeKind::Int;
    if (result < (is_signed ? Int128(INT64_MIN) : 0) ||
        result > (is_signed ? Int128(INT64_MAX) : Int128(UINT64_MAX)))
        return std::nullopt;
    return integer(result, type);
}

Value Compiler::binary(std::string_view op, Value left, Value right, const Node& node) {
    if (left.is(TypeKind::Tuple) && right.is(TypeKind::Tuple) && op == "+") {
        Value all;
        std::vector<TypeRef> item_types;
        for (const Value& tuple : {spill(left), spill(right)})
            for (size_t i = 0; i < tuple.type->items.size(); ++i) {
                all.items.push_back(item_of(tuple, i));
                item_types.push_back(all.items.back().type);
                all.origin |= tuple.origin;
            }
        all.type = types::tuple(std::move(item_types));
        all.stable = true;
        return all;
    }
    OperatorTypes t = binary_types(op, left.type, right.type);
    if (!t.result) no_function(node, described(op), {left, right});
    if (auto folded = fold(op, left, right, t.result)) return *folded;
    if (op == "**") return power(left, right, node);
    if (op == "/" || op == "//" || op == "%") check_divisor(right);
    std::string a = cast(left, t.operand, node);
    // The count of a shift keeps its own width: the left operand's type is the result's.
    bool shift = op == "<<" || op == ">>";
    std::string b = shift
                        ? cast(right, types::integer(64, right.type->kind != TypeKind::UInt), node)
                        : cast(right, t.operand, node);
    bool ints = t.operand->integer();
    bool both = left.nonneg && right.nonneg;
    Value v = make(t.result, "", left.stable && right.stable);
    v.nonneg =
        ints && ((both && op != "-") || (op == "%" && right.nonneg) ||
                 (op == "&" && (left.nonneg || right.nonneg)) || (op == ">>" && left.nonneg));
    if (op == "//" || op == "%") {
        const Int128* divisor = right.integer_constant();
        if (ints && both && divisor && *divisor > 0)
            v.code = fmt::format("({} {} {})", a, op == "%" ? "%" : "/", b);
        else
            v.code = fmt::format("tl::{}({}, {})", op == "%" ? "modulo" : "floor_divide", a, b);
    } else if (t.result->kind == TypeKind::Bool) {
        v.code = fmt::format("(bool)({} {} {})", a, op, b);
    } else {
        v.code = fmt::format("({} {} {})", a, op, b);
    }
    return v;
}

void Compiler::check_divisor(Value& divisor) {
    const TypeRef type = divisor.type;
    bool known = (divisor.integer_constant() && *divisor.integer_constant() != 0);
    bool plain = type->integer() || type->kind == TypeKind::Bool ||
                 (type->kind == TypeKind::Float && type->bits >= 32);
    if (!program_.options.debug || known || !plain) return;
    divisor = spill(divisor);
    check(fmt::format("{} == 0", divisor.code), kZeroDivisionSite);
}

void Compiler::check_shape(const Value& target, const Value& array) {
    program_.wants_raise = true;
    if (!program_.raises) return;
    leave_if(fmt::format("!tl::fits({}, {})", target.code, array.code), kShapeSite);
}

void Compiler::check(const std::string& test, int site) {
    if (program_.options.debug && program_.raises) leave_if(test, site);
}

void Compiler::leave_if(const std::string& test, int site) {
    std::string leave = capture([&] { leave_after_raise(); });
    emit(fmt::format("if ({}) {{ tl::raise(tl_failure, {}); {} }}", test, site, leave));
}

Value Compiler::power(Value left, Value right, const Node& node) {
    OperatorTypes t = binary_types("**", left.type, right.type);
    const Int128* exponent = right.integer_constant();
    Value v = make(t.result, "", left.stable && right.stable);
    std::string base = cast(left, t.operand, node);
    bool whole = right.type->integer() || right.type->kind == TypeKind::Bool;
    if (exponent && *exponent >= 0 && *exponent <= 64) {
        v.code = fmt::format("tl::power<{}>({})", static_cast<int>(*exponent), base);
        v.nonneg = left.nonneg || (t.result->integer() && *exponent % 2 == 0);
    } else if (whole && (t.operand->integer() || t.operand->kind == TypeKind::Float)) {
        v.code = fmt::format("tl::integer_power({}, {})", base, cast(right, types::int64(), node));
    } else if (t.operand->kind == TypeKind::Complex) {
        v.code = fmt::format("trilane::pow({}, {})", base, cast(right, t.operand, node));
        program_.need("complex_math");
    } else {
        v.code = fmt::format("{}({}, {})", t.operand->bits == 64 ? "pow" : "powf", base,
                             cast(right, t.operand, node));
    }
    return v;
}

Value Compiler::unary(const std::string& op, Value value, const Node& node) {
    if (!value.type->number())
        no_function(node,
                    fmt::format("Function(<built-in function {}>)", op == "-"   ? "neg"
                                                                    : op == "+" ? "pos"
                                                                                : "invert"),
                    {value});
    if (op == "not") {
        Value test = truth(value, node);
        return make(types::boolean(), fmt::format("(!{})", test.code), test.stable);
    }
    if (value.is(TypeKind::Bool)) {
        if (op == "~")
            return make(types::boolean(), fmt::format("(!{})", value.code), value.stable);
        value = as(value, types::int64(), node);
    } else if (value.type->integer()) {
        TypeRef wide = types::integer(64, value.is(TypeKind::Int));
        if (const Int128* known = value.integer_constant()) {
            Int128 result = op == "-" ? -*known : op == "~" ? ~*known : *known;
            if (wide->kind == TypeKind::Int && result >= Int128(INT64_MIN))
                return integer(result, wide);
            // the literal 2**63 is uint64, its negative an int64 again
            if (op == "-" && result == Int128(INT64_MIN)) return integer(result, types::int64());
        }
        value = as(value, wide, node);
    } else if (op == "~") {
        no_function(node, described(op), {value});
    } else if (op == "-" && value.constant && std::holds_alternative<double>(*value.constant)) {
        return real(-std::get<double>(*value.constant), value.type);
    }
    if (op == "+") return value;
    Value v = make(value.type, fmt::format("({}{})", op, value.code), value.stable);
    return v;
}

Value Compiler::compare(const Node& node) {
    std::vector<std::string> ops;
    for (size_t at = 0; at <= node.text.size();) {
        size_t comma = std::min(node.text.find(',', at), node.text.size());
        ops.push_back(node.text.substr(at, comma - at));
        at = comma + 1;
    }
    auto first = operands({node.kid(0), node.kid(1)});
    if (ops.size() == 1) return compare_one(ops[0], first[0], first[1], node);
    // a < b < c: each operand is evaluated once, and only while the comparisons before it hold
    std::function<Value(size_t, Value, Value)> chain = [&](size_t i, Value left, Value right) {
        if (i + 1 < ops.size()) right = spill(right);
        Value one = compare_one(ops[i], left, right, node);
        if (i + 1 == ops.size() || (one.constant && !std::get<bool>(*one.constant))) return one;
        auto rest = [&] { return chain(i + 1, right, visit(*node.kid(i + 2))); };
        if (one.constant) return rest();
        return select(one, rest, [&] { return boolean(false); }, node);
    };
    return chain(0, first[0], first[1]);
}

Value Compiler::compare_one(std::string_view op, Value left, Value right, const Node& node) {
    auto negated = [&](Value v) {
        if (v.constant) return boolean(!std::get<bool>(*v.constant));
        return make(types::boolean(), fmt::format("(!{})", v.code), v.stable);
    };
    if (op == "is not") return negated(compare_one("is", left, right, node));
    if (op == "not in") return negated(compare_one("in", left, right, node));
    if (op == "in") {
        if (!right.is(TypeKind::Tuple)) no_function(node, described(op), {right, left});
        right = spill(right);
        left = spill(left);
        Value any = boolean(false);
        for (size_t i = 0; i < right.type->items.size(); ++i) {
            Value same = compare_one("==", left, item_of(right, i), node);
            if (same.constant && std::get<bool>(*same.constant)) return same;
            if (same.constant) continue;
            any = any.constant ? same
                               : make(types::boolean(),
                                      fmt::format("({} || {})", any.code, same.code), true);
        }
        return any;
    }
    bool identity = op == "is";
    if (identity || left.is_none() || right.is_none()) {
        if (left.is_none() || right.is_none()) {
            bool same = left.is_none() && right.is_none();
            if (!identity && op != "==" && op != "!=")
                no_function(node, described(op), {left, right});
            return boolean(op == "!=" ? !same : same);
        }
        if (left.is(TypeKind::Static) || right.is(TypeKind::Static))
            return boolean(left.type == right.type);
        if (left.is(TypeKind::Bool) && right.is(TypeKind::Bool))
            return compare_one("==", left, right, node);
        if (!left.type->number() || left.type != right.type)
            unsupported(node,
                        fmt::format("'is' between {} and {}", left.type->text, right.type->text));
        return compare_one("==", left, right, node);
    }
    if (left.is(TypeKind::Tuple) && right.is(TypeKind::Tuple))
        return compare_tuples(op, left, right, node);
    if (left.is(TypeKind::Str) && right.is(TypeKind::Str))
        return boolean(compare_constants(op, std::get<std::string>(*left.constant),
                                         std::get<std::string>(*right.constant)));
    if (left.is(TypeKind::Static) && right.is(TypeKind::Static) && (op == "==" || op == "!="))
        return boolean((left.type == right.type) == (op == "=="));
    bool ordered = op != "==" && op != "!=";
    OperatorTypes t = compare_types(left.type, right.type, ordered);
    if (!t.result) no_function(node, described(op), {left, right});
    const Int128 *x = left.integer_constant(), *y = right.integer_constant();
    if (x && y) return boolean(compare_constants(op, *x, *y));
    return make(
        types::boolean(),
        fmt::format("({} {} {})", cast(left, t.operand, node), op, cast(right, t.operand, node)),
        left.stable && right.stable);
}

Value Compiler::compare_tuples(std::string_view op, const Value& left, const Value& right,
                               const Node& node) {
    Value a = spill(left), b = spill(right);
    size_t n = a.type->items.size(), m = b.type->items.size();
    if (op == "==" || op == "!=") {
        if (n != m) return boolean(op == "!=");
        Value all = boolean(true);
        for (size_t i = 0; i < n; ++i) {
            Value same = compare_one("==", item_of(a, i), item_of(b, i), node);
            if (same.constant && !std::get<bool>(*same.constant)) return boolean(op == "!=");
            if (same.constant) continue;
            all = all.constant ? same
                               : make(types::boolean(),
                                      fmt::format("({} && {})", all.code, same.code), true);
        }
        if (op == "==") return all;
        return all.constant ? boolean(!std::get<bool>(*all.constant))
                            : make(types::boolean(), fmt::format("(!{})", all.code), true);
    }
    // lexicographic: the first pair that differs decides, else the lengths
    std::string strict = op[0] == '<' ? "<" : ">";
    Value result = boolean(compare_constants(op, n, m));
    for (size_t i = std::min(n, m); i-- > 0;) {
        Value differ = compare_one("!=", item_of(a, i), item_of(b, i), node);
        Value decided = compare_one(strict, item_of(a, i), item_of(b, i), node);
        result = make(types::boolean(),
                      fmt::format("({} ? {} : {})", differ.code, decided.code, result.code), true);
    }
    return result;
}

}  // namespace trilane::jit
