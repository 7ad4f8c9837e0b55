// Statements but loops.
#include <algorithm>

#include "jit/compiler.h"
#include "jit/loop.h"

namespace trilane::jit {

void Compiler::block(const Node& node) {
    for (const NodePtr& kid : node.kids) {
        if (!state_.alive) return;
        try {
            statement(*kid);
        } catch (const Undefined&) {
            // A variable that only a later part of the loop sets: no type yet, so this path is left
            // out of this pass. The loop goes round again with the variable known, or complains.
            state_.alive = false;
        }
    }
}

void Compiler::statement(const Node& node) {
    using K = NodeKind;
    line_mark(node);
    switch (node.kind) {
        case K::Pass:
            return;
        case K::Expr:
            visit(*node.kid(0));
            return;
        case K::Assign: {
            bool named = node.kids.size() == 2 && node.kid(1)->kind == NodeKind::Local;
            assigned_ = named ? node.kid(1)->text : "";
            Value value = visit(*node.kid(0));
            assigned_.clear();
            if (node.kids.size() > 2) value = spill(value);
            for (size_t i = 1; i < node.kids.size(); ++i) assign(*node.kid(i), value, node);
            return;
        }
        case K::AugAssign:
            augmented(node);
            return;
        case K::If:
            if_statement(node);
            return;
        case K::While:
            while_statement(node);
            return;
        case K::For:
            for_statement(node);
            return;
        case K::Return:
            return_statement(node);
            return;
        case K::Raise:
            raise_statement(node.text);
            return;
        case K::Block:
            block(node);
            return;
        case K::Break:
        case K::Continue: {
            TRILANE_CHECK(!loops_.empty(), "jit: {} outside of a loop", node.line);
            loops_.back()->leave(*this, node.kind == K::Break);
            return;
        }
        case K::Assert: {
            Value test = condition(*node.kid(0));
            if (test.constant && std::get<bool>(*test.constant)) return;
            State before = state_;
            std::string text = capture([&] { raise_statement(node.text); });
            state_ = before;
            emit(fmt::format("if (!({})) {{ {} }}", test.code, text));
            return;
        }
        default:
            break;
    }
    TRILANE_CHECK(false, "jit: statement kind {}", static_cast<int>(node.kind));
}

void Compiler::raise_statement(const std::string& site) {
    emit(fmt::format("tl::raise(tl_failure, {} + 1);", site));
    leave_after_raise();
    state_.alive = false;
}

void Compiler::leave_after_raise() {
    if (!kernel_) emit("tl_raised = true;");
    emit(kernel_ ? "return;" : kReturnNothing);
}

void Compiler::return_statement(const Node& node) {
    Value value = node.kid(0) ? visit(*node.kid(0)) : none();
    if (kernel_) {
        if (!value.is_none())
            typing(node, fmt::format("CUDA kernel must have void return type: it returns {}",
                                     value.type->text));
        emit("return;");
        state_.alive = false;
        return;
    }
    if (target_.declared) value = as(value, target_.declared, node);
    TypeRef joined = target_.result ? unify(target_.result, value.type) : value.type;
    if (!joined)
        typing(node, fmt::format("Can't unify return type from the following types: {}, {}",
                                 target_.result->text, value.type->text));
    target_.result = joined;
    target_.result_origin |= value.origin;
    if (value.is(TypeKind::Static) || value.is(TypeKind::Str))
        unsupported(node, fmt::format("a function that returns {}", value.type->text));
    // The type of the result is known at the end only: `run` puts the text in.
    if (value.is(TypeKind::Tuple)) value = spill(value);
    std::string mark = fmt::format("\x01{}\x02", ++program_.counter);
    emit(mark);
    returns_.emplace_back(mark, value);
    state_.alive = false;
}

void Compiler::assign(const Node& target, Value value, const Node& where) {
    switch (target.kind) {
        case NodeKind::Local:
            assign_local(target.text, value, where);
            return;
        case NodeKind::Tuple:
            unpack(target, std::move(value), where);
            return;
        case NodeKind::Subscript:
        case NodeKind::Attribute:
            store(target, std::move(value), where);
            return;
        default:
            unsupported(target, "this target of an assignment");
    }
}

void Compiler::assign_local(const std::string& name, const Value& value, const Node& where) {
    if (value.is(TypeKind::Conflict)) typing(where, "Cannot unify " + value.type->text);
    Variable v;
    v.type = value.type;
    v.nonneg = value.nonneg || value.type->kind == TypeKind::UInt;
    v.origin = value.origin;
    v.constant = value.constant;
    bool constants = value.is(TypeKind::Tuple) && value.items.size() == value.type->items.size() &&
                     std::all_of(value.items.begin(), value.items.end(), [](const Value& item) {
                         return item.constant.has_value() || item.is(TypeKind::Static);
                     });
    bool hidden = value.is(TypeKind::Static) || value.is(TypeKind::Slice) ||
                  value.is(TypeKind::Range) || value.is(TypeKind::Iterator) ||
                  value.is(TypeKind::Str) || value.is(TypeKind::None) || value.is(TypeKind::Dim3);
    bool static_tuple =
        value.is(TypeKind::Tuple) &&
        std::any_of(value.items.begin(), value.items.end(), [](const Value& item) {
            return item.is(TypeKind::Static) || item.is(TypeKind::Str) || item.is_none();
        });
    if (hidden || static_tuple) {
        Value kept = value;
        for (Value& item : kept.items) item = spill(item);
        v.value = std::make_shared<Value>(std::move(kept));
    } else {
        if (constants) v.value = std::make_shared<Value>(value);
        emit(fmt::format("{} = {};", variable(name, value.type), code_of(value)));
    }
    state_.variables[name] = std::move(v);
}

void Compiler::unpack(const Node& target, Value value, const Node& where) {
    size_t count = target.kids.size();
    std::vector<Value> items;
    if (value.is(TypeKind::Tuple)) {
        if (value.type->items.size() != count)
            typing(where, fmt::format("cannot unpack {} into {} values", value.type->text, count));
        if (value.items.empty() && count) value = spill(value);
        for (size_t i = 0; i < count; ++i) items.push_back(item_of(value, i));
    } else if (value.is(TypeKind::Array) && value.type->ndim >= 1) {
        value = spill(value);
        for (size_t i = 0; i < count; ++i)
            items.push_back(array_item(value, integer(static_cast<Int128>(i)), where));
    } else {
        typing(where, fmt::format("cannot unpack {} into {} values", value.type->text, count));
    }
    // All values are read before any target is set: a, b = b, a.
    if (count > 1)
        for (Value& item : items) item = spill(item);
    for (size_t i = 0; i < count; ++i) assign(*target.kid(i), items[i], where);
}

void Compiler::augmented(const Node& node) {
    const Node& target = *node.kid(0);
    if (target.kind == NodeKind::Local) {
        auto values = operands({&target, node.kid(1)});
        assign_local(target.text, binary(node.text, values[0], values[1], node), node);
        return;
    }
    if (target.kind == NodeKind::Subscript) {
        auto values = operands({target.kid(0), target.kid(1), node.kid(1)});
        Value base = values[0], index = spill(values[1]);
        if (base.is(TypeKind::Array)) base = spill(base);
        Value old = index_value(base, index, target);
        if (old.is(TypeKind::Array))
            unsupported(node, "augmented assignment to a part of an array");
        store_item(base, index, binary(node.text, old, values[2], node), node);
        return;
    }
    auto values = operands({&target, node.kid(1)});
    store(target, binary(node.text, values[0], values[1], node), node);
}

void Compiler::if_statement(const Node& node) {
    Value test = condition(*node.kid(0));
    if (test.constant) {
        const Node* taken = node.kid(std::get<bool>(*test.constant) ? 1 : 2);
        if (taken) block(*taken);
        return;
    }
    State before = state_;
    ++indent_;
    std::string then = capture([&] { block(*node.kid(1)); });
    State after_then = state_;
    state_ = before;
    std::string otherwise = capture([&] {
        if (node.kid(2)) block(*node.kid(2));
    });
    --indent_;
    State both = merge(after_then, state_);
    then += conversion_text(after_then, both);
    otherwise += conversion_text(state_, both);
    state_ = both;
    std::string tail = otherwise.empty() ? "" : fmt::format(" else {{ {} }}", otherwise);
    emit(fmt::format("if ({}) {{ {} }}{}", test.code, then, tail));
}

}  // namespace trilane::jit
