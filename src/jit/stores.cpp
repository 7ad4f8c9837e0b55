// Assignments to items, slices and fields.
#include "jit/compiler.h"

namespace trilane::jit {

void Compiler::note_write(const Value& array, const Node& where) {
    if (array.is(TypeKind::Array) && array.type->readonly)
        typing(where, fmt::format("Cannot modify readonly array of type: {}", array.type->text));
    target_.writes |= array.origin;
}

void Compiler::store(const Node& target, Value value, const Node& where) {
    // The value is read before the target's parts are evaluated.
    std::vector<Value> parts;
    std::string text = capture([&] {
        parts = target.kind == NodeKind::Subscript ? operands({target.kid(0), target.kid(1)})
                                                   : operands({target.kid(0)});
    });
    if (!text.empty()) value = spill(value);
    out_ += text;
    if (target.kind == NodeKind::Subscript) {
        store_item(parts[0], parts[1], std::move(value), where);
        return;
    }
    const Value& record = parts[0];
    if (record.is(TypeKind::Record)) {
        Value name = make(types::string(), "", true);
        name.constant = Constant(target.text);
        store_item(record, name, std::move(value), where);
        return;
    }
    typing(where,
           fmt::format("cannot set attribute '{}' of type {}", target.text, record.type->text));
}

void Compiler::store_item(Value base, Value index, Value value, const Node& where) {
    if (base.is(TypeKind::Array)) {
        base = spill(base);
        note_write(base, where);
        std::vector<Value> list = index_list(base, index, where);
        bool view = false;
        for (const Value& v : list) view |= v.is(TypeKind::Slice);
        if (view || (index.is(TypeKind::Static) && base.type->ndim == 0)) {
            store_view(array_view(base, list, where), value, where);
            return;
        }
        std::string lvalue = address(base, list, where);
        if (base.type->element->kind == TypeKind::Record) {
            if (value.type != base.type->element)
                no_function(where, "Function(<built-in function setitem>)", {base, index, value});
            emit(fmt::format("{} = *(const tl::Bytes<{}>*)({});", lvalue,
                             base.type->element->nbytes, value.code));
            return;
        }
        if (!value.type->number() ||
            (value.is(TypeKind::Complex) && base.type->element->kind != TypeKind::Complex))
            no_function(where, "Function(<built-in function setitem>)", {base, index, value});
        emit(fmt::format("{} = {};", lvalue, cast(value, base.type->element, where)));
        return;
    }
    if (base.is(TypeKind::Record)) {
        for (const Field& field : base.type->fields) {
            bool named =
                index.is(TypeKind::Str) && field.name == std::get<std::string>(*index.constant);
            if (!named) continue;
            note_write(base, where);
            if (!field.shape.empty()) {
                store_view(spill(record_field(base, field)), value, where);
                return;
            }
            store_pointer(fmt::format("({} + {})", base.code, field.offset), field.type, value,
                          where);
            return;
        }
        typing(where, fmt::format("no such field in {}", base.type->text));
    }
    if (base.is(TypeKind::Pointer) && index.type->integer()) {
        note_write(base, where);
        emit(fmt::format("{}[{}] = {};", base.code, index.code,
                         cast(value, base.type->element, where)));
        return;
    }
    no_function(where, "Function(<built-in function setitem>)", {base, index, value});
}

void Compiler::store_pointer(const std::string& address, TypeRef type, const Value& value,
                             const Node& where) {
    program_.need("records");
    if (type->kind == TypeKind::Record) {
        if (value.type != type)
            typing(where, fmt::format("Cannot cast {} to {}", value.type->text, type->text));
        emit(fmt::format("*(tl::Bytes<{0}>*){1} = *(const tl::Bytes<{0}>*)({2});", type->nbytes,
                         address, value.code));
        return;
    }
    emit(fmt::format("tl::store<{}>({}, {});", cuda_type(type), address, cast(value, type, where)));
}

void Compiler::store_view(Value view, Value value, const Node& where) {
    program_.need("views");
    if (value.is(TypeKind::Array)) {
        if (value.type->ndim > view.type->ndim)
            typing(where, fmt::format("cannot assign {} to {}", value.type->text, view.type->text));
        if (value.type->element != view.type->element &&
            !(value.type->element->number() && view.type->element->number()))
            typing(where, fmt::format("cannot assign {} to {}", value.type->text, view.type->text));
        view = spill(view);
        value = spill(value);
        check_shape(view, value);
        emit(fmt::format("tl::copy_view({}, {});", view.code, value.code));
        return;
    }
    if (value.is(TypeKind::Tuple) && view.type->ndim == 1) {
        value = spill(value);
        for (size_t i = 0; i < value.type->items.size(); ++i)
            store_item(view, integer(static_cast<Int128>(i)), item_of(value, i), where);
        return;
    }
    if (!value.type->number())
        typing(where, fmt::format("cannot assign {} to {}", value.type->text, view.type->text));
    emit(fmt::format("tl::fill_view({}, {});", view.code, cast(value, view.type->element, where)));
}

}  // namespace trilane::jit
