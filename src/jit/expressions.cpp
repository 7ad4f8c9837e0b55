// Expressions: order of evaluation, variables, constants, boolean and conditional expressions.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "jit/compiler.h"
#include "jit/loop.h"

namespace trilane::jit {

Value Compiler::visit(const Node& node) {
    using K = NodeKind;
    switch (node.kind) {
        case K::Local:
            return local(node);
        case K::Int:
        case K::Float:
        case K::Complex:
        case K::Bool:
        case K::Str:
        case K::None:
        case K::Ellipsis:
        case K::Builtin:
        case K::DType:
        case K::Function:
        case K::NamedTupleClass:
            return constant_node(node);
        case K::Array:
            return constant_array(node);
        case K::DeviceArray:
            return device_array(node);
        case K::Tuple: {
            std::vector<const Node*> kids;
            for (const NodePtr& kid : node.kids) kids.push_back(kid.get());
            Value tuple;
            std::vector<TypeRef> item_types;
            for (Value& item : operands(kids)) {
                tuple.origin |= item.origin;
                item_types.push_back(item.type);
                tuple.items.push_back(std::move(item));
            }
            tuple.type = types::tuple(std::move(item_types));
            tuple.stable = std::all_of(tuple.items.begin(), tuple.items.end(),
                                       [](const Value& v) { return v.stable; });
            return tuple;
        }
        case K::BinOp: {
            auto values = operands({node.kid(0), node.kid(1)});
            return binary(node.text, values[0], values[1], node);
        }
        case K::UnaryOp:
            if (node.text == "not") {
                Value test = condition(*node.kid(0));
                if (test.constant) return boolean(!std::get<bool>(*test.constant));
                return make(types::boolean(), fmt::format("(!{})", test.code), test.stable);
            }
            return unary(node.text, visit(*node.kid(0)), node);
        case K::BoolOp:
            return bool_operator(node);
        case K::Compare:
            return compare(node);
        case K::IfExp:
            return if_expression(node);
        case K::Call:
            return call(node);
        case K::Attribute:
            return attribute(node);
        case K::Subscript:
            return subscript(node);
        case K::Slice: {
            Value slice;
            slice.type = types::special(TypeKind::Slice, "slice");
            slice.items = operands({node.kid(0), node.kid(1), node.kid(2)});
            return slice;
        }
        case K::NamedExpr: {
            Value value = visit(*node.kid(1));
            assign_local(node.kid(0)->text, value, node);
            return local(*node.kid(0));
        }
        case K::FormatString: {
            Value parts;
            parts.type = types::static_object("format string");
            std::vector<const Node*> kids;
            for (const NodePtr& kid : node.kids) kids.push_back(kid.get());
            parts.items = operands(kids);
            return parts;
        }
        case K::Starred:
            unsupported(node, "a starred expression here");
        default:
            break;
    }
    TRILANE_CHECK(false, "jit: expression kind {}", static_cast<int>(node.kind));
}

// Python evaluates from left to right. An effect of a later operand is a statement, so what was
// read before it must be kept first.
std::vector<Value> Compiler::operands(std::vector<const Node*> nodes) {
    std::vector<Value> values;
    std::vector<size_t> ends;
    for (const Node* node : nodes) {
        values.push_back(node ? visit(*node) : none());
        ends.push_back(out_.size());
    }
    for (size_t i = nodes.size(); i-- > 0;) {
        if (out_.size() == ends[i] || values[i].stable) continue;
        std::string kept = capture([&] { values[i] = spill(values[i]); });
        out_.insert(ends[i], kept);
    }
    return values;
}

Value Compiler::local(const Node& node) {
    auto found = state_.variables.find(node.text);
    if (found == state_.variables.end()) {
        bool later = false;
        for (Loop* loop : loops_) {
            if (!loop->assigned.contains(node.text) || loop->unrolled) continue;
            loop->missing.insert(node.text);
            loop->missing_at = &node;
            later = true;
        }
        if (later) throw Undefined{node.text};
        typing(node, fmt::format("variable '{}' referenced before assignment", node.text));
    }
    const Variable& v = found->second;
    if (v.type->kind == TypeKind::Conflict)
        typing(node, fmt::format("Cannot unify {} for '{}'", v.type->text, node.text));
    if (v.value) {
        Value value = *v.value;
        if (value.is(TypeKind::Tuple)) return value;
        return value;
    }
    if (v.constant && v.type->kind == TypeKind::Int)
        if (const Int128* known = std::get_if<Int128>(&*v.constant)) return integer(*known, v.type);
    Value value = make(v.type, variable(node.text, v.type));
    value.nonneg = v.nonneg;
    value.origin = v.origin;
    value.constant = v.constant;
    return value;
}

Value Compiler::constant_node(const Node& node) {
    using K = NodeKind;
    switch (node.kind) {
        case K::Int: {
            Int128 value = 0;
            bool negative = node.text.starts_with('-');
            for (char c : node.text.substr(negative)) value = value * 10 + (c - '0');
            if (negative) value = -value;
            if (node.text.size() > 21 || value > Int128(UINT64_MAX) || value < Int128(INT64_MIN))
                typing(node, fmt::format("Int value is too large: {}", node.text));
            return integer(value, value > Int128(INT64_MAX) ? types::uint64() : types::int64());
        }
        case K::Float:
            return real(std::strtod(node.text.c_str(), nullptr));
        case K::Complex: {
            size_t comma = node.text.find(',');
            double re = std::strtod(node.text.c_str(), nullptr);
            double im = std::strtod(node.text.c_str() + comma + 1, nullptr);
            TypeRef type = types::complex(128);
            return make(type,
                        fmt::format("{}{{{}, {}}}", cuda_type(type), float_text(re, 64),
                                    float_text(im, 64)),
                        true);
        }
        case K::Bool:
            return boolean(node.text == "1");
        case K::None:
            return none();
        case K::Str: {
            Value v = make(types::string(), "", true);
            v.constant = Constant(node.text);
            return v;
        }
        case K::Ellipsis:
            return make(types::static_object("ellipsis"), "", true);
        default:
            break;
    }
    if (node.kind == K::Builtin) {
        const std::string& name = node.text;
        if (name == "cuda.threadIdx" || name == "cuda.blockIdx" || name == "cuda.blockDim" ||
            name == "cuda.gridDim")
            return make(types::dim3(), name.substr(5), true);
        if (name == "cuda.laneid") {
            Value v = make(types::int32(), "tl::laneid()", true);
            v.nonneg = true;
            return v;
        }
        if (name == "cuda.warpsize") return integer(32, types::int32());
    }
    std::string what = node.kind == K::DType      ? "dtype:" + node.text
                       : node.kind == K::Function ? "function:" + node.text
                       : node.kind == K::Builtin  ? node.text
                                                  : "namedtuple:" + node.text;
    Value v = make(types::static_object(what), "", true);
    v.node = &node;
    return v;
}

Value Compiler::condition(const Node& node) {
    if (node.kind != NodeKind::BoolOp) return truth(visit(node), node);
    bool is_and = node.text == "and";
    Value left = condition(*node.kid(0));
    for (size_t i = 1; i < node.kids.size(); ++i) {
        if (left.constant && std::get<bool>(*left.constant) != is_and) return left;  // settled
        if (left.constant) {
            left = condition(*node.kid(i));
            continue;
        }
        const Node& right = *node.kid(i);
        auto evaluate = [&] { return condition(right); };
        auto settled = [&] { return boolean(!is_and); };
        left =
            is_and ? select(left, evaluate, settled, node) : select(left, settled, evaluate, node);
    }
    return left;
}

Value Compiler::bool_operator(const Node& node, size_t from) {
    Value left = visit(*node.kid(from));
    if (from + 1 == node.kids.size()) return left;
    bool is_and = node.text == "and";
    Value kept = spill(left), test = truth(kept, node);
    auto right = [&] { return bool_operator(node, from + 1); };
    auto same = [&] { return kept; };
    if (test.constant) return std::get<bool>(*test.constant) == is_and ? right() : kept;
    return is_and ? select(test, right, same, node) : select(test, same, right, node);
}

Value Compiler::if_expression(const Node& node) {
    Value test = condition(*node.kid(0));
    if (test.constant) return visit(*node.kid(std::get<bool>(*test.constant) ? 1 : 2));
    return select(
        test, [&] { return visit(*node.kid(1)); }, [&] { return visit(*node.kid(2)); }, node);
}

Value Compiler::select(const Value& test, const std::function<Value()>& then,
                       const std::function<Value()>& otherwise, const Node& node) {
    State before = state_;
    Value a, b;
    std::string first = capture([&] { a = then(); });
    State after = state_;
    state_ = before;
    std::string second = capture([&] { b = otherwise(); });
    State both = merge(after, state_);
    first += conversion_text(after, both);
    second += conversion_text(state_, both);
    state_ = both;
    TypeRef type = unify(a.type, b.type);
    if (!type)
        typing(node, fmt::format("Cannot unify {} and {} in a conditional expression", a.type->text,
                                 b.type->text));
    Value result = make(type, "", test.stable && a.stable && b.stable);
    result.nonneg = a.nonneg && b.nonneg;
    result.origin = a.origin | b.origin;
    if (first.empty() && second.empty()) {
        if (type->kind == TypeKind::Bool && b.constant && !std::get<bool>(*b.constant))
            result.code = fmt::format("({} && {})", test.code, a.code);
        else if (type->kind == TypeKind::Bool && a.constant && std::get<bool>(*a.constant))
            result.code = fmt::format("({} || {})", test.code, b.code);
        else
            result.code =
                fmt::format("({} ? {} : {})", test.code, cast(a, type, node), cast(b, type, node));
        return result;
    }
    program_.need(type);
    result.code = temporary();
    result.stable = true;
    emit(fmt::format("{}{} {}{{}};", "", cuda_type(type), result.code));
    std::string set_first =
        capture([&] { emit(fmt::format("{} = {};", result.code, cast(a, type, node))); });
    std::string set_second =
        capture([&] { emit(fmt::format("{} = {};", result.code, cast(b, type, node))); });
    emit(fmt::format("if ({}) {{ {} {} }} else {{ {} {} }}", test.code, first, set_first, second,
                     set_second));
    return result;
}

}  // namespace trilane::jit
