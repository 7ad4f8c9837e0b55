// Arrays made inside a kernel: shared, local, constant, and those captured from outside.
#include <algorithm>

#include "jit/compiler.h"

namespace trilane::jit {

namespace {

constexpr int64_t kStaticSharedLimit = 48 * 1024;  // of every device

}  // namespace

void Compiler::count_shared(const Node& node, int64_t nbytes) {
    shared_bytes_[{node.line, node.column}] = nbytes;
    int64_t total = 0;
    for (const auto& [place, part] : shared_bytes_) total += part;
    if (total <= kStaticSharedLimit) return;
    std::string name = assigned_.empty() ? "cuda.shared.array" : "'" + assigned_ + "'";
    std::string others = total > nbytes ? fmt::format(", {} with those before it", total) : "";
    fail(Fault::Resources, function_, node,
         fmt::format("{} uses too much shared data: {} has {} bytes{}, expected at most {} in all",
                     function_.name, name, nbytes, others, kStaticSharedLimit));
}

void Compiler::no_shape(const std::string& space, const Value& shape, TypeRef element,
                        const Node& node) const {
    auto described = [](const Value& v) {
        const Int128* n = v.integer_constant();
        return n ? fmt::format("Literal[int]({})", static_cast<long long>(*n)) : v.type->text;
    };
    std::string text = described(shape);
    if (shape.is(TypeKind::Tuple) && !shape.items.empty()) {
        text.clear();
        for (const Value& item : shape.items)
            text += (text.empty() ? "Tuple(" : ", ") + described(item);
        text += ")";
    }
    typing(node,
           fmt::format("No implementation of function Function(<function {}.array>) found for "
                       "signature:\n \n >>> array(shape={}, dtype=class({}))\n\nthe shape "
                       "must be a compile-time integer, or a tuple of them: literals, "
                       "globals or closure variables",
                       space, text, element->text));
}

// Loads and stores with a hint to the caches, which changes no result: the compiler's own choice.
bool Compiler::cached_access(const std::string& full_name, Arguments& args, Value& result) {
    static const std::set<std::string> loads = {"cuda.ldca", "cuda.ldcg", "cuda.ldcs", "cuda.ldlu",
                                                "cuda.ldcv"};
    static const std::set<std::string> stores = {"cuda.stcg", "cuda.stcs", "cuda.stwb",
                                                 "cuda.stwt"};
    bool load = loads.contains(full_name);
    if (!load && !stores.contains(full_name)) return false;
    const Node& node = *args.node;
    auto v = load ? take(args, full_name, {"array", "i"}, 2)
                  : take(args, full_name, {"array", "i", "value"}, 3);
    if (!v[0].is(TypeKind::Array) && !v[0].is(TypeKind::Pointer)) no_function(node, full_name, v);
    if (load)
        result = spill(index_value(v[0], v[1], node));
    else
        store_item(v[0], v[1], v[2], node), result = none();
    return true;
}

// vector.float32x4: numbers and shorter vectors in a row.
bool Compiler::vector_builtin(const std::string& full_name, Arguments& args, Value& result) {
    if (!full_name.starts_with("vector.")) return false;
    std::string name = full_name.substr(7);
    size_t cross = name.find('x');
    TypeRef element = types::parse(name.substr(0, cross));
    size_t count = static_cast<size_t>(std::stoi(name.substr(cross + 1)));
    const Node& node = *args.node;
    std::vector<Value> parts;
    for (const Value& given : args.positional) {
        if (given.type->real()) {
            parts.push_back(as(given, element, node));
            continue;
        }
        if (!given.is(TypeKind::Tuple) || given.type->names.empty())
            no_function(node, name, args.positional);
        Value vector = spill(given);
        for (size_t i = 0; i < vector.type->items.size(); ++i)
            parts.push_back(as(item_of(vector, i), element, node));
    }
    if (parts.size() != count || !args.named.empty()) no_function(node, name, args.positional);
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.emplace_back(1, "xyzw"[i]);
    result.items = std::move(parts);
    result.type = types::named_tuple(name, std::move(names), std::vector<TypeRef>(count, element));
    result.stable = std::all_of(result.items.begin(), result.items.end(),
                                [](const Value& v) { return v.stable; });
    return true;
}

Value Compiler::make_array(const std::string& space, Arguments& args) {
    const Node& node = *args.node;
    auto v = take(args, fmt::format("cuda.{}.array", space), {"shape", "dtype", "alignment"}, 2);
    TypeRef element = dtype_argument(v[1], node);
    bool known = v[0].integer_constant() ||
                 (v[0].is(TypeKind::Tuple) && v[0].items.size() == v[0].type->items.size() &&
                  std::all_of(v[0].items.begin(), v[0].items.end(), [](const Value& item) {
                      return item.integer_constant() != nullptr;
                  }));
    if (!known) no_shape(space, v[0], element, node);
    std::vector<int64_t> shape = static_shape(v[0], node);
    if (!element->number() && element->kind != TypeKind::Record)
        typing(node, fmt::format("invalid type for {} array: {}", space, element->text));
    size_t itemsize = element->kind == TypeKind::Record ? static_cast<size_t>(element->nbytes)
                                                        : static_cast<size_t>(element->bits / 8);
    int64_t count = 1;
    for (int64_t n : shape) count *= n;
    std::string item = element->kind == TypeKind::Record ? fmt::format("tl::Bytes<{}>", itemsize)
                                                         : cuda_type(element);
    bool dynamic = space == "shared" && shape.size() == 1 && count == 0;
    if (count == 0 && !dynamic)
        typing(node, fmt::format("cuda.{}.array: the shape has a zero", space));
    TypeRef type = types::array(element, static_cast<int>(shape.size()), 'C', false, true);
    program_.need(type);
    if (dynamic) {
        if (!program_.dynamic_shared)
            typing(node,
                   "cuda.shared.array: for dynamic shared memory the shape must be written as the "
                   "literal 0");
        Value array =
            make(type,
                 fmt::format("{}{{({}*)tl::dynamic_shared(), {{(int)(tl_dynamic_bytes / {})}}}}",
                             cuda_type(type), item, itemsize),
                 true);
        return array;
    }
    std::string alignment;
    if (v[2].type && !v[2].is_none()) {
        Int128 n = static_integer(v[2], node, "the alignment");
        if (n <= 0 || (n & (n - 1)) != 0) typing(node, "Alignment must be a positive power of two");
        if (n % 8 != 0) typing(node, "Alignment must be a multiple of 8");
        alignment = fmt::format("__align__({}) ", static_cast<int>(n));
    }
    if (space == "shared") count_shared(node, count * static_cast<int64_t>(itemsize));
    auto& storage = storage_[{node.line, node.column}];
    std::string name = storage.empty() ? fmt::format("{}_{}", space, ++program_.counter)
                                       : storage.substr(0, storage.find('/'));
    storage = fmt::format("{}/{}{}{} {}[{}];", name, space == "shared" ? "__shared__ " : "",
                          alignment, item, name, std::max<int64_t>(count, 1));
    return make(
        type, fmt::format("{}{{{}, {{{}}}}}", cuda_type(type), name, fmt::join(shape, ", ")), true);
}

// A NumPy array from outside is frozen into the program: constant memory while it fits, else
// global memory.
Value Compiler::constant_array(const Node& node) {
    TypeRef element = types::parse(node.kid(0)->text);
    const Node& shape_node = *node.kid(1);
    std::vector<int64_t> shape;
    for (const NodePtr& kid : shape_node.kids) shape.push_back(std::stoll(kid->text));
    TypeRef type = types::array(element, static_cast<int>(shape.size()), 'C', true, true);
    program_.need(type);
    std::string& name = program_.constant_arrays[&node];
    std::string item = element->kind == TypeKind::Record
                           ? fmt::format("tl::Bytes<{}>", element->nbytes)
                           : cuda_type(element);
    if (name.empty()) {
        name = fmt::format("tl_constant_{}", program_.constant_arrays.size());
        size_t nbytes = node.text.size(), words = (nbytes + 7) / 8;
        bool fits = program_.constant_bytes + nbytes <= 60000;
        if (fits) program_.constant_bytes += nbytes;
        std::string text;
        for (size_t i = 0; i < std::max<size_t>(words, 1); ++i) {
            uint64_t word = 0;
            for (size_t k = 0; k < 8 && i * 8 + k < nbytes; ++k)
                word |= uint64_t{static_cast<unsigned char>(node.text[i * 8 + k])} << (8 * k);
            text += fmt::format("{}0x{:x}ULL", i ? "," : "", word);
        }
        program_.constants += fmt::format("{} unsigned long long {}[{}] = {{{}}};\n",
                                          fits ? "__constant__" : "__device__", name,
                                          std::max<size_t>(words, 1), text);
    }
    return make(type,
                fmt::format("{}{{({}*){}, {{{}}}}}", cuda_type(type), item, name,
                            shape.empty() ? "1" : fmt::format("{}", fmt::join(shape, ", "))),
                true);
}

// A device array from outside is captured by its address.
Value Compiler::device_array(const Node& node) {
    TypeRef type = types::parse(node.kid(0)->text);
    std::vector<std::string> shape, strides;
    for (const NodePtr& kid : node.kid(1)->kids) shape.push_back(kid->text);
    for (const NodePtr& kid : node.kid(2)->kids) strides.push_back(kid->text);
    program_.need(type);
    std::string item = type->element->kind == TypeKind::Record
                           ? fmt::format("tl::Bytes<{}>", type->element->nbytes)
                           : cuda_type(type->element);
    std::string tail = type->layout == 'A' ? fmt::format(", {{{}}}", fmt::join(strides, ", ")) : "";
    return make(type,
                fmt::format("{}{{({}*){}ULL, {{{}}}{}}}", cuda_type(type), item, node.text,
                            shape.empty() ? "1" : fmt::format("{}", fmt::join(shape, ", ")), tail),
                true);
}

}  // namespace trilane::jit
