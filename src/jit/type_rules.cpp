// Numba's typing rules: promotion of variables, operand and result types of operators. They differ:
// int64 + uint64 is int64, a variable that is both is float64.
#include <algorithm>

#include "jit/type.h"

namespace trilane::jit {
namespace {

using K = TypeKind;

// The float type that an integer or bool promotes to beside a float, as NumPy has it.
int float_bits_for(TypeRef t) {
    if (t->kind == K::Bool) return 16;
    if (!t->integer()) return t->kind == K::Complex ? t->bits / 2 : t->bits;
    return t->bits == 8 ? 16 : t->bits == 16 ? 32 : 64;
}

// The same for operators: the nearest overload, in which uint16 and wider go to float64.
int operator_float_bits(TypeRef t) {
    if (t->kind == K::Bool) return 16;
    if (t->kind == K::Complex) return t->bits / 2;
    if (t->kind == K::Float) return t->bits;
    if (t->kind == K::UInt) return t->bits == 8 ? 16 : 64;
    return t->bits <= 16 ? (t->bits == 8 ? 16 : 32) : 64;
}

TypeRef wide(TypeRef t) { return types::integer(64, t->kind != K::UInt); }

TypeRef promote_integers(TypeRef a, TypeRef b) {
    if (a->kind == K::Bool) return b;
    if (b->kind == K::Bool) return a;
    if (a->kind == b->kind) return a->bits >= b->bits ? a : b;
    TypeRef u = a->kind == K::UInt ? a : b, s = a->kind == K::UInt ? b : a;
    if (s->bits > u->bits) return s;
    return u->bits == 64 ? types::float64() : types::integer(u->bits * 2, true);
}

TypeRef unify_tuples(TypeRef a, TypeRef b) {
    if (a->items.size() != b->items.size() || a->name != b->name) return nullptr;
    std::vector<TypeRef> items;
    for (size_t i = 0; i < a->items.size(); ++i) {
        TypeRef item = unify(a->items[i], b->items[i]);
        if (!item) return nullptr;
        items.push_back(item);
    }
    return a->names.empty() ? types::tuple(std::move(items))
                            : types::named_tuple(a->name, a->names, std::move(items));
}

TypeRef unify_arrays(TypeRef a, TypeRef b) {
    if (a->element != b->element || a->ndim != b->ndim) return nullptr;
    char layout = a->layout == b->layout ? a->layout : 'A';
    return types::array(a->element, a->ndim, layout, a->readonly || b->readonly,
                        a->narrow && b->narrow);
}

TypeRef float_or_complex(TypeRef a, TypeRef b, int least_bits) {
    int bits = std::max({operator_float_bits(a), operator_float_bits(b), least_bits});
    if (a->kind == K::Complex || b->kind == K::Complex)
        return types::complex(std::max(bits, 32) * 2);
    return types::floating(bits);
}

}  // namespace

TypeRef promote(TypeRef a, TypeRef b) {
    if (a == b) return a;
    if (!a->number() || !b->number()) return nullptr;
    bool complex = a->kind == K::Complex || b->kind == K::Complex;
    bool floating = a->kind == K::Float || b->kind == K::Float;
    if (!complex && !floating) return promote_integers(a, b);
    int bits = std::max(float_bits_for(a), float_bits_for(b));
    return complex ? types::complex(std::max(bits, 32) * 2) : types::floating(bits);
}

TypeRef unify(TypeRef a, TypeRef b) {
    if (a == b) return a;
    if (a->kind == K::Tuple && b->kind == K::Tuple) return unify_tuples(a, b);
    if (a->kind == K::Array && b->kind == K::Array) return unify_arrays(a, b);
    return promote(a, b);
}

OperatorTypes binary_types(std::string_view op, TypeRef a, TypeRef b) {
    if (!a->number() || !b->number()) return {};
    bool bools = a->kind == K::Bool && b->kind == K::Bool;
    bool complex = a->kind == K::Complex || b->kind == K::Complex;
    bool inexact = complex || a->kind == K::Float || b->kind == K::Float;
    if (op == "&" || op == "|" || op == "^") {
        if (inexact) return {};
        if (bools) return {a, a};
    } else if (op == "<<" || op == ">>") {
        if (inexact) return {};
        return {wide(a), wide(a)};
    } else if (op == "/") {
        if (!inexact) return {types::float64(), types::float64()};
        TypeRef type = float_or_complex(a, b, 16);
        return {type, type};
    } else if (complex && (op == "//" || op == "%")) {
        return {};
    }
    if (inexact) {
        if (op == "**" && a->kind == K::Float && b->real() && b->kind != K::Float)
            return {a, a};  // an integer power keeps the base's type
        TypeRef type = float_or_complex(a, b, 16);
        return {type, type};
    }
    bool is_signed = a->kind != K::UInt || b->kind != K::UInt;
    if (op == "**") is_signed = a->kind != K::UInt;
    TypeRef type = types::integer(64, is_signed);
    return {type, type};
}

OperatorTypes compare_types(TypeRef a, TypeRef b, bool ordered) {
    if (!a->number() || !b->number()) return {};
    if (a->kind == K::Complex || b->kind == K::Complex) {
        if (ordered) return {};
        return {float_or_complex(a, b, 32), types::boolean()};
    }
    if (a->kind == K::Float || b->kind == K::Float)
        return {float_or_complex(a, b, 16), types::boolean()};
    if (a->kind == K::Bool && b->kind == K::Bool) return {types::int32(), types::boolean()};
    if (a->kind != K::UInt && b->kind != K::UInt) return {types::int64(), types::boolean()};
    if (a->kind == b->kind) return {types::uint64(), types::boolean()};
    TypeRef u = a->kind == K::UInt ? a : b, other = u == a ? b : a;
    if (other->kind == K::Bool) return {types::uint64(), types::boolean()};
    // int64 and uint64 have only float64 in common: Numba compares there, and so do we.
    return {u->bits < 64 ? types::int64() : types::float64(), types::boolean()};
}

}  // namespace trilane::jit
