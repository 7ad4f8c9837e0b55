// Attributes, items, slices and stores of arrays, tuples, records and pointers.
#include <algorithm>

#include "jit/compiler.h"

namespace trilane::jit {
namespace {

std::string index_type(const Value& array) { return array.type->narrow ? "int" : "long long"; }

bool is_ellipsis(const Value& v) { return v.is(TypeKind::Static) && v.type->name == "ellipsis"; }

// The layout of a view, by Numba's rule: leading integers, then at most one plain slice.
char view_layout(const Value& array, const std::vector<Value>& index) {
    if (array.type->layout == 'A') return 'A';
    std::vector<Value> order = index;
    if (array.type->layout == 'F') std::reverse(order.begin(), order.end());
    size_t used = order.size();
    auto whole = [](const Value& v) {
        return v.is(TypeKind::Slice) && v.items[0].is_none() && v.items[1].is_none() &&
               v.items[2].is_none();
    };
    while (used > 0 && whole(order[used - 1])) --used;
    for (size_t i = 0; i + 1 < used; ++i)
        if (order[i].is(TypeKind::Slice)) return 'A';
    if (used > 0 && order[used - 1].is(TypeKind::Slice)) {
        const Value& step = order[used - 1].items[2];
        const Int128* one = step.integer_constant();
        if (!step.is_none() && !(one && *one == 1)) return 'A';
    }
    return array.type->layout;
}

}  // namespace

Value Compiler::attribute(const Node& node) {
    Value base = visit(*node.kid(0));
    const std::string& name = node.text;
    switch (base.type->kind) {
        case TypeKind::Dim3:
            if (name == "x" || name == "y" || name == "z") {
                Value v = make(types::int32(), fmt::format("(int){}.{}", base.code, name), true);
                v.nonneg = true;
                return v;
            }
            break;
        case TypeKind::Array:
            return array_attribute(spill(base), name, node);
        case TypeKind::Record:
            for (const Field& field : base.type->fields)
                if (field.name == name) return record_field(base, field);
            break;
        case TypeKind::Tuple:
            for (size_t i = 0; i < base.type->names.size(); ++i)
                if (base.type->names[i] == name)
                    return item_of(base.items.empty() ? spill(base) : base, i);
            if (name == "count" || name == "index") unsupported(node, "tuple." + name);
            break;
        case TypeKind::Complex: {
            TypeRef part = types::floating(base.type->bits / 2);
            if (name == "real") return make(part, base.code + ".re", base.stable);
            if (name == "imag") return make(part, base.code + ".im", base.stable);
            break;
        }
        default:
            break;
    }
    if (base.type->real() && name == "real") return base;
    if (base.type->real() && name == "imag") return as(integer(0), base.type, node);
    bool method = (base.type->number() && (name == "conjugate" || name == "bit_count")) ||
                  (base.is(TypeKind::Static) && base.type->name == "cg.grid" && name == "sync");
    if (method) {
        Value bound = make(types::static_object("method"), "", true);
        bound.constant = Constant(name);
        bound.items = {base};
        return bound;
    }
    typing(node, fmt::format("Unknown attribute '{}' of type {}", name, base.type->text));
}

Value Compiler::array_attribute(const Value& array, const std::string& name, const Node& node) {
    TypeRef type = array.type;
    auto extent = [&](int i) {
        Value v = make(types::int64(), fmt::format("(long long){}.shape[{}]", array.code, i),
                       array.stable);
        v.nonneg = true;
        return v;
    };
    auto per_dimension = [&](auto&& item) {
        Value tuple;
        for (int i = 0; i < type->ndim; ++i) tuple.items.push_back(item(i));
        tuple.type =
            types::tuple(std::vector<TypeRef>(static_cast<size_t>(type->ndim), types::int64()));
        tuple.stable = array.stable;
        return tuple;
    };
    if (name == "shape") return per_dimension(extent);
    if (name == "strides")
        return per_dimension([&](int i) {
            return make(types::int64(), fmt::format("(long long)tl::stride<{}>({})", i, array.code),
                        array.stable);
        });
    if (name == "ndim") return integer(type->ndim);
    Value item = type->element->kind == TypeKind::Record ? integer(type->element->nbytes)
                                                         : integer(type->element->bits / 8);
    if (name == "itemsize") return item;
    if (name == "size" || name == "nbytes") {
        Value v = make(types::int64(), fmt::format("tl::count({})", array.code), array.stable);
        v.nonneg = true;
        return name == "size" ? v : binary("*", v, item, node);
    }
    if (name == "T") {
        char layout = type->layout == 'C' ? 'F' : type->layout == 'F' ? 'C' : 'A';
        TypeRef to = types::array(type->element, type->ndim, layout, type->readonly, type->narrow);
        Value v = make(to, fmt::format("tl::transposed<{}>({})", cuda_type(to), array.code));
        v.origin = array.origin;
        return v;
    }
    if (name == "dtype")
        return make(types::static_object("dtype:" + type->element->text), "", true);
    if (name == "flat") {
        Value v;
        v.type = types::special(TypeKind::Iterator, "flat");
        v.items = {array};
        for (int i = 0; i < type->ndim; ++i) v.items.push_back(extent(i));
        return v;
    }
    if ((name == "real" || name == "imag") && type->element->kind != TypeKind::Complex &&
        name == "real")
        return array;
    if (const Node* function = node.kid(1); function && function->kind == NodeKind::Function) {
        Value bound = make(types::static_object("bound:" + function->text), "", true);
        bound.items = {array};
        return bound;
    }
    static const std::set<std::string> methods = {"view", "reshape", "ravel", "transpose", "item",
                                                  "fill", "flatten", "copy",  "sum",       "min",
                                                  "max",  "mean",    "prod"};
    if (methods.contains(name)) {
        Value bound = make(types::static_object("method"), "", true);
        bound.constant = Constant(name);
        bound.items = {array};
        return bound;
    }
    typing(node, fmt::format("Unknown attribute '{}' of type {}", name, type->text));
}

Value Compiler::subscript(const Node& node) {
    auto values = operands({node.kid(0), node.kid(1)});
    return index_value(values[0], values[1], node);
}

Value Compiler::index_value(Value base, Value index, const Node& node) {
    switch (base.type->kind) {
        case TypeKind::Array:
            return array_item(spill(base), index, node);
        case TypeKind::Tuple:
            return index_tuple(base, index, node);
        case TypeKind::Record:
            if (index.is(TypeKind::Str))
                for (const Field& field : base.type->fields)
                    if (field.name == std::get<std::string>(*index.constant))
                        return record_field(base, field);
            if (const Int128* i = index.integer_constant();
                i && *i >= 0 && *i < Int128(base.type->fields.size()))
                return record_field(base, base.type->fields[static_cast<size_t>(*i)]);
            break;
        case TypeKind::Pointer:
            if (index.type->integer()) {
                Value v = element(base, fmt::format("{}[{}]", base.code, index.code));
                return v;
            }
            break;
        case TypeKind::Static:
            // float32[:] and the like: a type, not a value
            unsupported(node, fmt::format("indexing {}", base.type->name));
        default:
            break;
    }
    no_function(node, "Function(<built-in function getitem>)", {base, index});
}

Value Compiler::index_tuple(const Value& base, const Value& index, const Node& node) {
    Int128 n = static_cast<Int128>(base.type->items.size());
    if (index.is(TypeKind::Slice)) {
        auto part = [&](size_t i, Int128 absent) {
            return index.items[i].is_none()
                       ? absent
                       : static_integer(index.items[i], node, "a slice of a tuple");
        };
        Int128 step = part(2, 1);
        if (step == 0) typing(node, "slice step cannot be zero");
        auto clamp = [&](Int128 i) {
            return std::clamp<Int128>(i < 0 ? i + n : i, step > 0 ? 0 : -1, step > 0 ? n : n - 1);
        };
        Int128 start = index.items[0].is_none() ? (step > 0 ? 0 : n - 1) : clamp(part(0, 0));
        Int128 stop = index.items[1].is_none() ? (step > 0 ? n : -1) : clamp(part(1, 0));
        Value kept = base.items.empty() && n ? spill(base) : base, out;
        std::vector<TypeRef> item_types;
        for (Int128 i = start; step > 0 ? i < stop : i > stop; i += step) {
            out.items.push_back(item_of(kept, static_cast<size_t>(i)));
            item_types.push_back(out.items.back().type);
        }
        out.type = types::tuple(std::move(item_types));
        out.origin = base.origin;
        return out;
    }
    if (const Int128* known = index.integer_constant()) {
        Int128 i = *known < 0 ? *known + n : *known;
        if (i < 0 || i >= n)
            typing(node, fmt::format("tuple index out of range: {} of {}",
                                     static_cast<long long>(*known), base.type->text));
        Value kept = base.items.empty() && !base.stable ? spill(base) : base;
        return item_of(kept, static_cast<size_t>(i));
    }
    if (!index.type->integer() && !index.is(TypeKind::Bool))
        no_function(node, "Function(<built-in function getitem>)", {base, index});
    if (!base.type->uniform())
        typing(node,
               fmt::format("{} can be indexed by a constant only: its items have different types",
                           base.type->text));
    Value whole = make(base.type, base.code.empty() ? code_of(base) : base.code,
                       base.stable && !base.code.empty());
    whole = spill(whole);
    std::string at = wrapped(index, fmt::format("{}", static_cast<long long>(n)), false);
    Value v = make(base.type->items[0], fmt::format("{}.f[{}]", whole.code, at), index.stable);
    v.origin = base.origin;
    for (const Value& item : base.items) v.origin |= item.origin;
    return v;
}

std::string Compiler::wrapped(const Value& index, const std::string& extent, bool narrow) {
    const char* type = narrow ? "int" : "long long";
    if (const Int128* known = index.integer_constant()) {
        if (*known >= 0)
            return fmt::format("{}{}", static_cast<long long>(*known), narrow ? "" : "LL");
        return fmt::format("({} - {})", extent, static_cast<long long>(-*known));
    }
    if (index.nonneg || index.is(TypeKind::UInt) || index.is(TypeKind::Bool))
        return fmt::format("({})({})", type, index.code);
    return fmt::format("tl::wrap(({})({}), ({}){})", type, index.code, type, extent);
}

// One entry per dimension: an integer or a slice.
std::vector<Value> Compiler::index_list(const Value& array, const Value& index, const Node& node) {
    std::vector<Value> given;
    if (index.is(TypeKind::Tuple)) {
        Value tuple = index.items.empty() && !index.type->items.empty() ? spill(index) : index;
        for (size_t i = 0; i < tuple.type->items.size(); ++i) given.push_back(item_of(tuple, i));
    } else {
        given.push_back(index);
    }
    Value all;
    all.type = types::special(TypeKind::Slice, "slice");
    all.items = {none(), none(), none()};
    size_t ndim = static_cast<size_t>(array.type->ndim);
    size_t stated = static_cast<size_t>(
        std::count_if(given.begin(), given.end(), [](const Value& v) { return !is_ellipsis(v); }));
    if (stated > ndim)
        typing(node, fmt::format("cannot index {} with {} indices: {}", array.type->text, stated,
                                 index.type->text));
    std::vector<Value> out;
    bool filled = false;
    for (Value& one : given) {
        if (is_ellipsis(one)) {
            if (filled) typing(node, "only one ellipsis allowed in array indexing");
            for (size_t k = stated; k < ndim; ++k) out.push_back(all);
            filled = true;
            continue;
        }
        if (!one.type->integer() && !one.is(TypeKind::Bool) && !one.is(TypeKind::Slice))
            no_function(node, "Function(<built-in function getitem>)", {array, index});
        out.push_back(one);
    }
    while (out.size() < ndim) out.push_back(all);
    return out;
}

std::string Compiler::address(const Value& array, const std::vector<Value>& index, const Node&) {
    TypeRef type = array.type;
    std::vector<std::string> at;
    for (size_t i = 0; i < index.size(); ++i)
        at.push_back(wrapped(index[i], fmt::format("{}.shape[{}]", array.code, i), type->narrow));
    if (at.empty()) return fmt::format("{}.data[0]", array.code);
    if (type->layout == 'A') {
        std::string offset;
        for (size_t i = 0; i < at.size(); ++i)
            offset += fmt::format("{}{} * {}.strides[{}]", i ? " + " : "", at[i], array.code, i);
        return fmt::format("tl::at({}.data, {})", array.code, offset);
    }
    size_t n = at.size();
    bool fortran = type->layout == 'F';
    std::string offset = at[fortran ? n - 1 : 0];
    for (size_t k = 1; k < n; ++k) {
        size_t i = fortran ? n - 1 - k : k;
        offset = fmt::format("({}) * {}.shape[{}] + {}", offset, array.code, i, at[i]);
    }
    return fmt::format("{}.data[{}]", array.code, offset);
}

Value Compiler::element(const Value& array, const std::string& lvalue) {
    TypeRef type = array.type->element;
    Value v = make(type, lvalue);
    if (type->kind == TypeKind::Record) v.code = fmt::format("((unsigned char*)&{})", lvalue);
    v.nonneg = type->kind == TypeKind::UInt;
    v.origin = type->kind == TypeKind::Record ? array.origin : 0;
    return v;
}

Value Compiler::array_item(Value array, const Value& index, const Node& node) {
    std::vector<Value> list = index_list(array, index, node);
    bool view =
        std::any_of(list.begin(), list.end(), [](const Value& v) { return v.is(TypeKind::Slice); });
    if (view || (index.is(TypeKind::Static) && array.type->ndim == 0))
        return array_view(array, list, node);
    return element(array, address(array, list, node));
}

Value Compiler::array_view(const Value& array, const std::vector<Value>& index, const Node& node) {
    std::string type = index_type(array), offset, shape, strides;
    int ndim = 0;
    for (size_t i = 0; i < index.size(); ++i) {
        std::string extent = fmt::format("{}.shape[{}]", array.code, i);
        std::string stride = fmt::format("tl::stride<{}>({})", i, array.code);
        auto add = [&](const std::string& start) {
            offset += fmt::format("{}{} * {}", offset.empty() ? "" : " + ", start, stride);
        };
        if (!index[i].is(TypeKind::Slice)) {
            add(wrapped(index[i], extent, array.type->narrow));
            continue;
        }
        const auto& parts = index[i].items;
        ++ndim;
        if (parts[0].is_none() && parts[1].is_none() && parts[2].is_none()) {
            shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
            strides += fmt::format("{}{}", strides.empty() ? "" : ", ", stride);
            continue;
        }
        for (const Value& part : parts)
            if (!part.is_none() && !part.type->integer())
                typing(node,
                       fmt::format("slice indices must be integers, not {}", part.type->text));
        std::string slice = temporary();
        auto bound = [&](const Value& v) {
            return v.is_none() ? "false, 0" : fmt::format("true, (long long)({})", v.code);
        };
        emit(fmt::format("const tl::Slice<{0}> {1} = tl::slice<{0}>({2}, {3}, {4}, {5});", type,
                         slice, bound(parts[0]), bound(parts[1]),
                         parts[2].is_none() ? "1LL" : fmt::format("(long long)({})", parts[2].code),
                         extent));
        add(slice + ".start");
        shape += fmt::format("{}{}.length", shape.empty() ? "" : ", ", slice);
        strides += fmt::format("{}{}.step * {}", strides.empty() ? "" : ", ", slice, stride);
    }
    TypeRef to = types::array(array.type->element, ndim, view_layout(array, index),
                              array.type->readonly, array.type->narrow);
    std::string base = offset.empty() ? array.code + ".data"
                                      : fmt::format("&tl::at({}.data, {})", array.code, offset);
    Value v = make(to, temporary(), true);
    v.origin = array.origin;
    program_.need(to);
    emit(fmt::format("const {0} {1} = {{{2}, {{{3}}}{4}}};", cuda_type(to), v.code, base, shape,
                     to->layout == 'A' ? fmt::format(", {{{}}}", strides) : ""));
    return v;
}

Value Compiler::record_field(const Value& record, const Field& field) {
    std::string at = fmt::format("({} + {})", record.code, field.offset);
    TypeRef type = field.type;
    program_.need("records");
    if (!field.shape.empty()) {
        TypeRef array = types::array(type, static_cast<int>(field.shape.size()), 'C', false, false);
        Value v = make(array, fmt::format("{}{{({}*){}, {{{}}}}}", cuda_type(array),
                                          type->kind == TypeKind::Record
                                              ? fmt::format("tl::Bytes<{}>", type->nbytes)
                                              : cuda_type(type),
                                          at, fmt::join(field.shape, ", ")));
        v.origin = record.origin;
        return v;
    }
    Value v = make(type, type->kind == TypeKind::Record
                             ? at
                             : fmt::format("tl::load<{}>({})", cuda_type(type), at));
    v.origin = type->kind == TypeKind::Record ? record.origin : 0;
    return v;
}

}  // namespace trilane::jit
