// Interning, spelling and layout of types.
#include "jit/type.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/error.h"

namespace trilane::jit {
namespace {

struct Table {
    std::mutex mutex;
    std::deque<std::unique_ptr<Type>> all;
    std::unordered_map<std::string, TypeRef> by_key;
};

Table& table() {
    static auto* t = new Table;  // types outlive every static that holds one
    return *t;
}

TypeRef intern(std::string key, Type type) {
    Table& t = table();
    std::lock_guard lock(t.mutex);
    auto found = t.by_key.find(key);
    if (found != t.by_key.end()) return found->second;
    type.id = static_cast<uint32_t>(t.all.size() + 1);
    t.all.push_back(std::make_unique<Type>(std::move(type)));
    t.by_key.emplace(std::move(key), t.all.back().get());
    return t.all.back().get();
}

TypeRef plain(TypeKind kind, int bits, std::string text) {
    Type type;
    type.kind = kind;
    type.bits = bits;
    type.text = text;
    return intern(std::move(text), std::move(type));
}

std::string tuple_text(const std::vector<TypeRef>& items) {
    if (items.empty()) return "Tuple()";
    bool uniform = true;
    for (TypeRef item : items) uniform &= item == items[0];
    if (uniform) return fmt::format("UniTuple({} x {})", items[0]->text, items.size());
    std::string text = "Tuple(";
    for (size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + items[i]->text;
    return text + ")";
}

// Stable from process to process: the text of a kernel is the key of the compile cache.
std::string tuple_name(TypeRef type) {
    uint64_t hash = 1469598103934665603u;
    for (unsigned char c : types::code(type)) hash = (hash ^ c) * 1099511628211u;
    return fmt::format("tl_tuple_{:016x}", hash);
}

std::string ids(const std::vector<TypeRef>& items) {
    std::string key;
    for (TypeRef item : items) key += fmt::format("{},", item->id);
    return key;
}

}  // namespace

bool Type::uniform() const {
    if (kind != TypeKind::Tuple || items.empty()) return false;
    for (TypeRef item : items)
        if (item != items[0]) return false;
    return true;
}

namespace types {

TypeRef none() {
    static TypeRef t = plain(TypeKind::None, 0, "none");
    return t;
}
TypeRef boolean() {
    static TypeRef t = plain(TypeKind::Bool, 8, "bool");
    return t;
}

TypeRef integer(int bits, bool is_signed) {
    return plain(is_signed ? TypeKind::Int : TypeKind::UInt, bits,
                 fmt::format("{}{}", is_signed ? "int" : "uint", bits));
}

TypeRef int32() {
    static TypeRef t = integer(32, true);
    return t;
}
TypeRef int64() {
    static TypeRef t = integer(64, true);
    return t;
}
TypeRef uint64() {
    static TypeRef t = integer(64, false);
    return t;
}
TypeRef floating(int bits) { return plain(TypeKind::Float, bits, fmt::format("float{}", bits)); }
TypeRef float32() {
    static TypeRef t = floating(32);
    return t;
}
TypeRef float64() {
    static TypeRef t = floating(64);
    return t;
}
TypeRef complex(int bits) { return plain(TypeKind::Complex, bits, fmt::format("complex{}", bits)); }
TypeRef dim3() {
    static TypeRef t = plain(TypeKind::Dim3, 0, "Dim3");
    return t;
}
TypeRef string() {
    static TypeRef t = plain(TypeKind::Str, 0, "unicode_type");
    return t;
}

TypeRef array(TypeRef element, int ndim, char layout, bool readonly, bool narrow) {
    if (ndim == 0 || (ndim == 1 && layout == 'F')) layout = 'C';
    Type type;
    type.kind = TypeKind::Array;
    type.element = element;
    type.ndim = ndim;
    type.layout = layout;
    type.readonly = readonly;
    type.narrow = narrow;
    type.text = fmt::format("{}array({}, {}d, {})", readonly ? "readonly " : "", element->text,
                            ndim, layout);
    std::string key =
        fmt::format("{}/{}/{}", type.text, narrow, element->id);  // before `type` is moved from
    return intern(std::move(key), std::move(type));
}

TypeRef tuple(std::vector<TypeRef> items) {
    Type type;
    type.kind = TypeKind::Tuple;
    type.text = tuple_text(items);
    std::string key = "tuple:" + ids(items);
    type.items = std::move(items);
    return intern(std::move(key), std::move(type));
}

TypeRef named_tuple(std::string name, std::vector<std::string> names, std::vector<TypeRef> items) {
    Type type;
    type.kind = TypeKind::Tuple;
    type.text = fmt::format("{}(", name);
    std::string key = fmt::format("named:{}:{}:", name, ids(items));
    for (size_t i = 0; i < items.size(); ++i) {
        type.text += fmt::format("{}{}: {}", i ? ", " : "", names[i], items[i]->text);
        key += names[i] + ",";
    }
    type.text += ")";
    type.name = std::move(name);
    type.names = std::move(names);
    type.items = std::move(items);
    return intern(std::move(key), std::move(type));
}

TypeRef record(std::vector<Field> fields, int64_t nbytes) {
    Type type;
    type.kind = TypeKind::Record;
    type.text = "Record(";
    for (size_t i = 0; i < fields.size(); ++i) {
        const Field& f = fields[i];
        std::string inner = f.type->text;
        if (!f.shape.empty())
            inner = fmt::format("nestedarray({}, ({}))", f.type->text, fmt::join(f.shape, ", "));
        type.text += fmt::format("{}{}[type={};offset={}]", i ? ", " : "", f.name, inner, f.offset);
    }
    type.text += fmt::format(";{};False)", nbytes);
    type.fields = std::move(fields);
    type.nbytes = nbytes;
    std::string key = type.text;
    return intern(std::move(key), std::move(type));
}

TypeRef pointer(TypeRef element) {
    Type type;
    type.kind = TypeKind::Pointer;
    type.element = element;
    type.text = element->text + "*";
    std::string key = fmt::format("pointer:{}", element->id);  // before `type` is moved from
    return intern(std::move(key), std::move(type));
}

TypeRef static_object(std::string what) {
    Type type;
    type.kind = TypeKind::Static;
    type.text = type.name = what;
    return intern("static:" + what, std::move(type));
}

TypeRef special(TypeKind kind, std::string text) {
    Type type;
    type.kind = kind;
    type.text = text;
    std::string key =
        fmt::format("special:{}:{}", static_cast<int>(kind), text);  // before `type` is moved from
    return intern(std::move(key), std::move(type));
}

TypeRef of_dtype(core::DType dtype) {
    using core::DType;
    int bits = static_cast<int>(core::size_of(dtype) * 8);
    switch (core::kind_of(dtype)) {
        case core::DTypeKind::Bool:
            return boolean();
        case core::DTypeKind::Int:
            return integer(bits, true);
        case core::DTypeKind::UInt:
            return integer(bits, false);
        case core::DTypeKind::Float:
            if (dtype == DType::BFloat16) break;
            return floating(bits);
        case core::DTypeKind::Complex:
            return complex(bits);
        case core::DTypeKind::Void:
            break;
    }
    core::throw_error(core::ErrorKind::NotSupported,
                      "kernel argument: arrays of {} are not supported", core::numpy_name(dtype));
}

}  // namespace types

std::string cuda_type(TypeRef type) {
    switch (type->kind) {
        case TypeKind::None:
            return "tl::None";
        case TypeKind::Bool:
            return "bool";
        case TypeKind::Int:
            return type->bits == 8    ? "signed char"
                   : type->bits == 16 ? "short"
                   : type->bits == 32 ? "int"
                                      : "long long";
        case TypeKind::UInt:
            return type->bits == 8    ? "unsigned char"
                   : type->bits == 16 ? "unsigned short"
                   : type->bits == 32 ? "unsigned int"
                                      : "unsigned long long";
        case TypeKind::Float:
            return type->bits == 16 ? "__half" : type->bits == 32 ? "float" : "double";
        case TypeKind::Complex:
            return type->bits == 64 ? "trilane::complex<float>" : "trilane::complex<double>";
        case TypeKind::Array: {
            std::string element = cuda_type(type->element);
            if (type->element->kind == TypeKind::Record)
                element = fmt::format("tl::Bytes<{}>", type->element->nbytes);
            return fmt::format("tl::Array<{}, {}, '{}', {}>", element, type->ndim, type->layout,
                               type->narrow ? "int" : "long long");
        }
        case TypeKind::Tuple:
            if (type->items.empty()) return "tl::None";
            return tuple_name(type);
        case TypeKind::Record:
            return "unsigned char*";
        case TypeKind::Pointer:
            return cuda_type(type->element) + "*";
        default:
            break;
    }
    core::throw_error(core::ErrorKind::NotSupported, "kernel: a value of type {} cannot be stored",
                      type->text);
}

Layout layout_of(TypeRef type) {
    switch (type->kind) {
        case TypeKind::Array: {
            size_t word = type->narrow ? 4 : 8, n = type->ndim ? type->ndim : 1;
            size_t size = 8 + word * n * (type->layout == 'A' ? 2 : 1);
            return {(size + 7) / 8 * 8, 8};
        }
        case TypeKind::Tuple: {
            Layout all{0, 1};
            for (TypeRef item : type->items) {
                Layout one = layout_of(item);
                all.size = (all.size + one.align - 1) / one.align * one.align + one.size;
                all.align = std::max(all.align, one.align);
            }
            if (type->items.empty()) return {1, 1};
            all.size = (all.size + all.align - 1) / all.align * all.align;
            return all;
        }
        case TypeKind::Complex:
            return {static_cast<size_t>(type->bits / 8), static_cast<size_t>(type->bits / 8)};
        case TypeKind::None:
            return {1, 1};
        case TypeKind::Pointer:
            return {8, 8};
        case TypeKind::Record:
            return {static_cast<size_t>(type->nbytes), 8};
        default:
            break;
    }
    TRILANE_CHECK(type->bits >= 8, "layout_of: {} is no parameter", type->text);
    return {static_cast<size_t>(type->bits / 8), static_cast<size_t>(type->bits / 8)};
}

}  // namespace trilane::jit
