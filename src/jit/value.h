// What the compiler knows of an expression and of a variable at a point of the program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jit/tree.h"
#include "jit/type.h"

namespace trilane::jit {

using Int128 = __int128;

// A value known at compile time. Tuples of constants live in Value::items.
using Constant = std::variant<std::monostate /* None */, bool, Int128, double, std::string>;

// An expression: its type and a piece of CUDA C++ that gives it and has no side effect (effects are
// statements, put out before). `code` is empty for values that exist at compile time only and for
// tuples that are known by their items.
struct Value {
    TypeRef type = nullptr;
    std::string code;
    bool stable = false;  // no later statement can change what `code` gives
    bool nonneg = false;  // an integer that is proved not negative
    // Arrays: which parameters of the function it may be a view of (bit i; bit 63: 63 and up).
    uint64_t origin = 0;
    std::optional<Constant> constant;
    std::vector<Value> items;    // Tuple, Slice (start, stop, step), Range, Iterator, bound methods
    const Node* node = nullptr;  // of references: the node that made it

    bool is(TypeKind kind) const { return type->kind == kind; }
    bool is_none() const { return type->kind == TypeKind::None; }
    const Int128* integer_constant() const {
        return constant ? std::get_if<Int128>(&*constant) : nullptr;
    }
};

struct Variable {
    TypeRef type = nullptr;
    bool nonneg = false;
    uint64_t origin = 0;
    std::optional<Constant> constant;
    std::shared_ptr<const Value> value;  // of compile-time things and tuples of constants
    bool operator==(const Variable& o) const {
        return type == o.type && nonneg == o.nonneg && origin == o.origin && constant == o.constant;
    }
};

// The variables at one point. Not alive: no path leads here.
struct State {
    bool alive = true;
    std::map<std::string, Variable> variables;
    bool operator==(const State&) const = default;
};

// The state where two paths meet.
State merge(const State& a, const State& b);

// Arguments of a call as written, stars expanded.
struct Arguments {
    const Node* node = nullptr;
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

}  // namespace trilane::jit
