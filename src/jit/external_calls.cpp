// Calls of functions that are linked in: cuda.declare_device. Two ways to pass values there are:
//   "numba"  int f(T* result, arguments...): the value that is returned says whether it went well,
//            and arrays and complex numbers come as their parts, as Numba's own code passes them;
//   "c"      T f(arguments...)
#include "jit/compiler.h"

namespace trilane::jit {
namespace {

// "NAME\nABI\ncooperative or nothing\nRESULT\nARGUMENT\n..."
struct External {
    std::string name;
    bool c_abi = false, cooperative = false;
    TypeRef result = nullptr;
    std::vector<TypeRef> arguments;
};

External parse_external(const std::string& text) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    TRILANE_CHECK(parts.size() >= 4, "jit: an external function without its types: {}", text);
    External external;
    external.name = parts[0];
    external.c_abi = parts[1] == "c";
    external.cooperative = !parts[2].empty();
    external.result = types::parse(parts[3]);
    for (size_t i = 4; i < parts.size(); ++i) external.arguments.push_back(types::parse(parts[i]));
    return external;
}

struct Passed {
    std::vector<std::string> types, values;
    void add(std::string type, std::string value) {
        types.push_back(std::move(type));
        values.push_back(std::move(value));
    }
};

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

bool returnable(TypeRef type, bool c_abi) {
    if (type->kind == TypeKind::None || type->real() || type->kind == TypeKind::Pointer)
        return true;
    return type->kind == TypeKind::Complex && !c_abi;
}

}  // namespace

// The address of an array's first element, as a CPointer.
Value Compiler::from_buffer(Arguments& args) {
    const Node& node = *args.node;
    Value array = take(args, "from_buffer", {"data"}, 1)[0];
    if (!array.is(TypeKind::Array)) no_function(node, "BoundFunction(from_buffer of FFI)", {array});
    if (array.type->layout != 'C')
        typing(node, fmt::format("from_buffer() unsupported on non-contiguous buffers like {}",
                                 array.type->text));
    if (!array.type->readonly) note_write(array, node);
    TypeRef type = types::pointer(array.type->element);
    Value v = make(type, fmt::format("({})({}.data)", cuda_type(type), array.code), array.stable);
    v.origin = array.origin;
    return v;
}

Value Compiler::call_external(const std::string& text, Arguments& args) {
    const External external = parse_external(text);
    const Node& node = *args.node;
    if (!args.named.empty())
        typing(node, fmt::format("{}() takes no keyword arguments", external.name));
    if (args.positional.size() != external.arguments.size())
        typing(node, fmt::format("{}() takes {} arguments but {} were given", external.name,
                                 external.arguments.size(), args.positional.size()));
    if (!returnable(external.result, external.c_abi))
        unsupported(node, fmt::format("a result of type {} of the external function {}",
                                      external.result->text, external.name));
    Passed passed;
    for (size_t i = 0; i < args.positional.size(); ++i) {
        const Value& value = args.positional[i];
        TypeRef type = external.arguments[i];
        if (type->kind == TypeKind::Array && !external.c_abi) {
            const bool same = value.is(TypeKind::Array) && value.type->element == type->element &&
                              value.type->ndim == type->ndim &&
                              (type->layout == 'A' || value.type->layout == type->layout);
            if (!same) no_function(node, external.name, args.positional);
            note_write(value, node);
            Value array = spill(value);
            passed.add("void*", "nullptr");
            passed.add("void*", "nullptr");
            passed.add("long long", array_attribute(array, "size", node).code);
            passed.add("long long", array_attribute(array, "itemsize", node).code);
            passed.add("void*", fmt::format("(void*)({}.data)", array.code));
            for (const char* part : {"shape", "strides"}) {
                const Value numbers = array_attribute(array, part, node);
                for (const Value& number : numbers.items) passed.add("long long", number.code);
            }
        } else if (type->kind == TypeKind::Complex && !external.c_abi && value.type->number()) {
            const Value number = spill(as(value, type, node));
            const std::string part = cuda_type(types::floating(type->bits / 2));
            passed.add(part, number.code + ".re");
            passed.add(part, number.code + ".im");
        } else if (type->real() && value.type->real()) {
            passed.add(cuda_type(type), as(value, type, node).code);
        } else if (type->kind == TypeKind::Pointer && value.type == type) {
            target_.writes |= value.origin;
            passed.add(cuda_type(type), value.code);
        } else {
            no_function(node, external.name, args.positional);
        }
    }
    program_.cooperative |= external.cooperative;
    return external_result(external.name, external.result, external.c_abi, passed.types,
                           passed.values);
}

Value Compiler::external_result(const std::string& name, TypeRef type, bool c_abi,
                                const std::vector<std::string>& types,
                                const std::vector<std::string>& values) {
    const bool empty = type->kind == TypeKind::None;
    const std::string result = empty ? "void" : cuda_type(type);
    std::vector<std::string> parameters = types, arguments = values;
    Value value = empty ? none() : make(type, temporary(), true);
    if (!c_abi) {
        parameters.insert(parameters.begin(), result + "*");
        arguments.insert(arguments.begin(), empty ? "nullptr" : "&" + value.code);
    }
    const std::string prototype = fmt::format("extern \"C\" __device__ {} {}({});\n",
                                              c_abi ? result : "int", name, joined(parameters));
    auto [known, added] = program_.externals.emplace(name, prototype);
    if (!added && known->second != prototype)
        throw KernelError(Fault::Typing,
                          fmt::format("the external function {} is declared in two ways", name));
    const std::string call = fmt::format("{}({})", name, joined(arguments));
    if (!empty) program_.need(type);
    if (c_abi) {
        emit(empty ? call + ";" : fmt::format("{} {} = {};", result, value.code, call));
        return value;
    }
    if (!empty) emit(fmt::format("{} {};", result, value.code));
    // 0: a result; -2: None; anything else is a failure of its, which nothing here can tell.
    const std::string status = temporary();
    emit(fmt::format("const int {} = {};", status, call));
    emit(fmt::format("if ({0} != 0 && {0} != -2) __trap();", status));
    return value;
}

}  // namespace trilane::jit
