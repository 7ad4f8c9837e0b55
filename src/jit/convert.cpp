// Conversions between types in the put out text.
#include "jit/compiler.h"

namespace trilane::jit {
namespace {

// Shortest spelling of an int64: literals that fit an int keep their 64-bit type by the suffix.
std::string integer_text(Int128 value, TypeRef type) {
    if (type->kind == TypeKind::UInt && type->bits == 64)
        return fmt::format("{}ULL", static_cast<uint64_t>(value));
    if (value == Int128(INT64_MIN)) return "(-9223372036854775807LL - 1)";
    std::string text = fmt::format("{}", static_cast<int64_t>(value));
    if (type->bits == 64) text += "LL";
    return value < 0 ? "(" + text + ")" : text;
}

}  // namespace

Value Compiler::integer(Int128 value, TypeRef type) {
    Value v = make(type, integer_text(value, type), true);
    v.constant = Constant(value);
    v.nonneg = value >= 0;
    return v;
}

Value Compiler::boolean(bool value) {
    Value v = make(types::boolean(), value ? "true" : "false", true);
    v.constant = Constant(value);
    return v;
}

Value Compiler::real(double value, TypeRef type) {
    Value v = make(type, float_text(value, type->bits), true);
    v.constant = Constant(value);
    return v;
}

Value Compiler::none() {
    Value v = make(types::none(), "tl::None()", true);
    v.constant = Constant(std::monostate());
    return v;
}

std::string Compiler::code_of(const Value& value) {
    if (!value.is(TypeKind::Tuple) || !value.code.empty()) {
        if (value.code.empty()) TRILANE_CHECK(false, "jit: no text for {}", value.type->text);
        return value.code;
    }
    if (value.items.empty()) return "tl::None()";
    program_.need(value.type);
    std::string code = cuda_type(value.type) + "{";
    if (value.type->uniform()) code += "{";
    for (size_t i = 0; i < value.items.size(); ++i)
        code += (i ? ", " : "") + code_of(value.items[i]);
    return code + (value.type->uniform() ? "}}" : "}");
}

Value Compiler::item_of(const Value& tuple, size_t i) {
    if (!tuple.items.empty()) return tuple.items[i];
    std::string code = tuple.type->uniform() ? fmt::format("{}.f[{}]", tuple.code, i)
                                             : fmt::format("{}.f{}", tuple.code, i);
    Value v = make(tuple.type->items[i], std::move(code), tuple.stable);
    v.origin = tuple.origin;
    return v;
}

std::string Compiler::cast(const Value& value, TypeRef to, const Node& where) {
    TypeRef from = value.type;
    if (from == to) return code_of(value);
    std::string type = cuda_type(to);
    auto refuse = [&] { typing(where, fmt::format("Cannot cast {} to {}", from->text, to->text)); };
    if (from->kind == TypeKind::Tuple && to->kind == TypeKind::Tuple &&
        from->items.size() == to->items.size()) {
        Value tuple = value.items.empty() && !value.stable ? spill(value) : value;
        Value out;
        out.type = to;
        for (size_t i = 0; i < to->items.size(); ++i)
            out.items.push_back(make(to->items[i], cast(item_of(tuple, i), to->items[i], where)));
        return code_of(out);
    }
    if (from->kind == TypeKind::Array && to->kind == TypeKind::Array &&
        from->element == to->element && from->ndim == to->ndim)
        return fmt::format("tl::relayout<{}>({})", type, value.code);
    if (!from->number() || !to->number()) refuse();
    if (to->kind == TypeKind::Complex) {
        const char* part = to->bits == 64 ? "float" : "double";
        if (from->kind == TypeKind::Complex) return fmt::format("{}({})", type, value.code);
        return fmt::format("{}{{({})({}), 0}}", type, part, value.code);
    }
    if (from->kind == TypeKind::Complex) refuse();
    if (to->kind == TypeKind::Bool) return fmt::format("(({}) != 0)", value.code);
    if (value.constant && to->integer()) {
        if (const Int128* known = value.integer_constant()) {
            Int128 low = to->kind == TypeKind::UInt ? 0 : -(Int128(1) << (to->bits - 1));
            Int128 high = (Int128(1) << (to->bits - (to->kind == TypeKind::UInt ? 0 : 1))) - 1;
            if (*known >= low && *known <= high) return integer_text(*known, to);
        }
    }
    if (const Int128* known = value.integer_constant();
        known && to->kind == TypeKind::Float && to->bits > 16)
        return float_text(static_cast<double>(*known), to->bits);
    return fmt::format("({})({})", type, value.code);
}

Value Compiler::as(const Value& value, TypeRef to, const Node& where) {
    if (value.type == to) return value;
    Value v = make(to, cast(value, to, where), value.stable);
    v.nonneg =
        value.nonneg && to->integer() && value.type->integer() && to->bits > value.type->bits;
    if (value.nonneg && to == types::int64() && value.type == types::int64()) v.nonneg = true;
    v.origin = value.origin;
    if (value.constant && to->number()) {
        if (const Int128* known = value.integer_constant()) {
            if (to->integer()) {
                // wraps as the machine does
                uint64_t bits = static_cast<uint64_t>(*known);
                int shift = 64 - to->bits;
                Int128 wrapped = to->kind == TypeKind::UInt
                                     ? Int128(bits << shift >> shift)
                                     : Int128(static_cast<int64_t>(bits << shift) >> shift);
                return integer(wrapped, to);
            }
            if (to->kind == TypeKind::Float && to->bits == 64)
                v.constant = Constant(static_cast<double>(*known));
        } else if (const double* real = std::get_if<double>(&*value.constant);
                   real && to->kind == TypeKind::Float && to->bits == 64) {
            v.constant = Constant(*real);
        }
    }
    return v;
}

Value Compiler::truth(Value value, const Node& where) {
    if (value.is(TypeKind::Bool)) return value;
    if (value.is_none()) return boolean(false);
    if (value.is(TypeKind::Tuple)) return boolean(!value.type->items.empty());
    if (value.is(TypeKind::Str)) return boolean(!std::get<std::string>(*value.constant).empty());
    if (const Int128* known = value.integer_constant()) return boolean(*known != 0);
    if (value.is(TypeKind::Complex))
        return make(types::boolean(), fmt::format("(bool)({})", value.code), value.stable);
    if (!value.type->number())
        typing(where, fmt::format("{} has no truth value", value.type->text));
    return make(types::boolean(), fmt::format("(({}) != 0)", value.code), value.stable);
}

}  // namespace trilane::jit
