// Calls: arguments, device functions, and which builtin a name is.
#include <algorithm>
#include <array>

#include "jit/compiler.h"
#include "jit/loop.h"

namespace trilane::jit {
namespace {

bool compile_time_argument(const Value& v) {
    return v.is(TypeKind::Static) || v.is(TypeKind::Str) || v.is_none() || v.is(TypeKind::Dim3);
}

// An integer, a bool or a tuple of such, all known.
bool settled(const Value& v) {
    if (v.type->integer() || v.is(TypeKind::Bool)) return v.constant.has_value();
    return v.is(TypeKind::Tuple) && v.items.size() == v.type->items.size() &&
           std::all_of(v.items.begin(), v.items.end(), settled);
}

// What tells the values of two settled arguments apart.
std::string known_text(const Value& v) {
    if (const Int128* n = v.integer_constant())
        return *n < 0 ? fmt::format(":{}", static_cast<int64_t>(*n))
                      : fmt::format(":{}", static_cast<uint64_t>(*n));
    if (v.is(TypeKind::Bool) && v.constant) return std::get<bool>(*v.constant) ? ":True" : ":False";
    std::string text;
    for (const Value& item : v.items) text += known_text(item);
    return text;
}

void names_in(const Node& node, std::set<std::string>& names) {
    if (node.kind == NodeKind::Local) names.insert(node.text);
    for (const NodePtr& kid : node.kids)
        if (kid) names_in(*kid, names);
}

// Before a name: only whether it is true decides. Integers are not kept for that, or a recursion
// that counts down would be one function per number.
const std::string kTested = "?";

void find_deciding(Program& program, const Node& node, std::set<std::string>& names) {
    for (const NodePtr& kid : node.kids)
        if (kid) find_deciding(program, *kid, names);
    if (node.kind == NodeKind::If && node.kid(0)->kind == NodeKind::Local)
        names.insert(kTested + node.kid(0)->text);
    if (node.kind != NodeKind::Call || !node.kid(0)) return;
    const Node& callee = *node.kid(0);
    bool shapes = callee.kind == NodeKind::Builtin &&
                  (callee.text == "cuda.shared.array" || callee.text == "cuda.local.array");
    const FunctionTree* called = nullptr;
    std::set<std::string> inner;
    if (callee.kind == NodeKind::Function) {
        called = &program.unit.functions[static_cast<size_t>(std::stoi(callee.text))];
        inner = program.deciding_parameters(std::stoi(callee.text));
    }
    for (size_t i = 1; i < node.kids.size(); ++i) {
        const Node& argument = *node.kid(i);
        if (shapes) names_in(argument, names);
        if (!called || i > called->parameters.size()) continue;
        const std::string& name =
            argument.kind == NodeKind::Keyword ? argument.text : called->parameters[i - 1];
        if (inner.contains(name)) names_in(argument, names);
        if (inner.contains(kTested + name) && argument.kind == NodeKind::Local)
            names.insert(kTested + argument.text);
    }
}

}  // namespace

const std::set<std::string>& Program::deciding_parameters(int function) {
    auto [found, fresh] = deciding.try_emplace(function);
    if (fresh) {  // a recursive call finds the empty set
        std::set<std::string> names;
        find_deciding(*this, *unit.functions[static_cast<size_t>(function)].body, names);
        found->second = std::move(names);
    }
    return found->second;
}

Arguments Compiler::arguments(const Node& node) {
    Arguments args;
    args.node = &node;
    std::vector<const Node*> nodes;
    for (size_t i = 1; i < node.kids.size(); ++i) {
        const Node* kid = node.kid(i);
        bool wrapped = kid->kind == NodeKind::Keyword || kid->kind == NodeKind::Starred;
        nodes.push_back(wrapped ? kid->kid(0) : kid);
    }
    std::vector<Value> values = operands(nodes);
    for (size_t i = 0; i < values.size(); ++i) {
        const Node* kid = node.kid(i + 1);
        if (kid->kind == NodeKind::Keyword) {
            args.named.emplace_back(kid->text, std::move(values[i]));
        } else if (kid->kind == NodeKind::Starred) {
            if (!values[i].is(TypeKind::Tuple))
                typing(*kid, fmt::format("*{} is not a tuple", values[i].type->text));
            Value tuple = values[i].items.empty() ? spill(values[i]) : values[i];
            for (size_t k = 0; k < tuple.type->items.size(); ++k)
                args.positional.push_back(item_of(tuple, k));
        } else {
            args.positional.push_back(std::move(values[i]));
        }
    }
    return args;
}

Value Compiler::call(const Node& node) {
    Value callee = visit(*node.kid(0));
    if (!callee.is(TypeKind::Static))
        typing(node, fmt::format("{} is not callable", callee.type->text));
    Arguments args = arguments(node);
    const std::string& name = callee.type->name;
    if (name.starts_with("function:")) {
        int index = std::stoi(name.substr(9));
        std::vector<Value> captured;
        for (const std::string& variable :
             program_.unit.functions[static_cast<size_t>(index)].captured) {
            Node read;
            read = Node{};
            read.kind = NodeKind::Local;
            read.text = variable;
            read.line = node.line;
            captured.push_back(local(read));
        }
        return call_function(index, args, std::move(captured));
    }
    if (name.starts_with("bound:")) {  // a method that is a Python function: array, then arguments
        args.positional.insert(args.positional.begin(), callee.items[0]);
        return call_function(std::stoi(name.substr(6)), args, {});
    }
    if (name.starts_with("dtype:")) return call_dtype(name.substr(6), args);
    if (name.starts_with("namedtuple:")) return named_tuple(*callee.node, args);
    if (name.starts_with("external:")) return call_external(name.substr(9), args);
    if (name == "cffi.from_buffer") return from_buffer(args);
    if (name == "method") return call_method(callee, args);
    return call_builtin(name, args);
}

std::vector<Value> Compiler::take(Arguments& args, const std::string& name,
                                  std::initializer_list<const char*> names, size_t required) const {
    std::vector<Value> values(names.size());
    if (args.positional.size() > names.size())
        typing(*args.node, fmt::format("{}() takes {} positional arguments but {} were given", name,
                                       names.size(), args.positional.size()));
    for (size_t i = 0; i < args.positional.size(); ++i) values[i] = args.positional[i];
    for (const auto& [key, value] : args.named) {
        auto at = std::find_if(names.begin(), names.end(), [&](const char* n) { return key == n; });
        if (at == names.end())
            typing(*args.node,
                   fmt::format("{}() got an unexpected keyword argument '{}'", name, key));
        Value& slot = values[static_cast<size_t>(at - names.begin())];
        if (slot.type)
            typing(*args.node,
                   fmt::format("{}() got multiple values for argument '{}'", name, key));
        slot = value;
    }
    for (size_t i = 0; i < required; ++i)
        if (!values[i].type)
            typing(*args.node,
                   fmt::format("{}() missing required argument '{}'", name, names.begin()[i]));
    return values;
}

std::vector<Value> Compiler::bind(const FunctionTree& f, Arguments& args) {
    size_t count = f.parameters.size(), fixed = f.star_args ? count - 1 : count;
    std::vector<Value> values(count);
    size_t given = args.positional.size();
    auto wrong = [&](const std::string& what) {
        typing(*args.node, fmt::format("{}() {}", f.name, what));
    };
    if (given > fixed && !f.star_args)
        wrong(fmt::format("takes {} positional arguments but {} were given", fixed, given));
    for (size_t i = 0; i < std::min(given, fixed); ++i) values[i] = args.positional[i];
    if (f.star_args) {
        Value rest;
        std::vector<TypeRef> item_types;
        for (size_t i = fixed; i < given; ++i) {
            rest.items.push_back(args.positional[i]);
            rest.origin |= args.positional[i].origin;
            item_types.push_back(args.positional[i].type);
        }
        rest.type = types::tuple(std::move(item_types));
        values[fixed] = std::move(rest);
    }
    for (const auto& [name, value] : args.named) {
        auto at =
            std::find(f.parameters.begin(), f.parameters.begin() + static_cast<long>(fixed), name);
        if (at == f.parameters.begin() + static_cast<long>(fixed))
            wrong(fmt::format("got an unexpected keyword argument '{}'", name));
        Value& slot = values[static_cast<size_t>(at - f.parameters.begin())];
        if (slot.type) wrong(fmt::format("got multiple values for argument '{}'", name));
        slot = value;
    }
    for (size_t i = 0; i < count; ++i) {
        if (values[i].type) continue;
        if (!f.defaults[i])
            wrong(fmt::format("missing a required argument: '{}'", f.parameters[i]));
        values[i] = visit(*f.defaults[i]);
    }
    return values;
}

Specialisation& Program::specialise(int function, std::vector<Value> arguments) {
    const FunctionTree& tree = unit.functions[static_cast<size_t>(function)];
    std::string key = fmt::format("{}", function);
    for (Value& argument : arguments) {
        key += "|" + types::code(argument.type);
        if (argument.is(TypeKind::Str)) key += ":" + std::get<std::string>(*argument.constant);
        key += known_text(argument);
    }
    auto& slot = specialisations[key];
    if (slot) {
        if (!slot->done) slot->recursive = true;
        return *slot;
    }
    slot = std::make_unique<Specialisation>();
    Specialisation& s = *slot;
    s.function = function;
    s.cuda_name = fmt::format("{}_{}", mangle(tree.name), specialisations.size());
    s.arguments = std::move(arguments);
    if (++depth > 200)
        core::throw_error(core::ErrorKind::NotSupported,
                          "jit: calls of device functions are nested too deep");
    Compiler(*this, tree, s, false).run();
    --depth;
    s.done = true;
    order.push_back(&s);
    return s;
}

namespace {

// 0: the same, 1: promotes, 2: safe, 3: unsafe; -1: cannot.
int conversion_cost(TypeRef from, TypeRef to) {
    if (from == to) return 0;
    if (from->kind == TypeKind::Array && to->kind == TypeKind::Array) {
        if (from->element != to->element || from->ndim != to->ndim || from->readonly > to->readonly)
            return -1;
        return from->layout == to->layout ? 0 : to->layout == 'A' ? 1 : -1;
    }
    if (from->kind == TypeKind::Tuple && to->kind == TypeKind::Tuple &&
        from->items.size() == to->items.size()) {
        int cost = 0;
        for (size_t i = 0; i < to->items.size(); ++i) {
            int one = conversion_cost(from->items[i], to->items[i]);
            if (one < 0) return -1;
            cost = std::max(cost, one);
        }
        return cost;
    }
    if (!from->number() || !to->number()) return -1;
    if (from->kind == TypeKind::Complex && to->kind != TypeKind::Complex) return -1;
    if (promote(from, to) != to) return 3;
    return from->kind == to->kind ? 1 : 2;
}

}  // namespace

const DeviceSignature& Compiler::choose_signature(const FunctionTree& f, std::vector<Value>& values,
                                                  const Node& node) {
    const DeviceSignature* best = nullptr;
    std::array<int, 3> least = {};
    for (const DeviceSignature& s : f.signatures) {
        if (s.arguments.size() != values.size()) continue;
        std::array<int, 3> counts = {};  // unsafe, safe, promoting
        bool fits = true;
        for (size_t i = 0; i < values.size() && fits; ++i) {
            int cost = conversion_cost(values[i].type, s.arguments[i]);
            fits = cost >= 0;
            if (cost > 0) ++counts[static_cast<size_t>(3 - cost)];
        }
        if (!fits || (best && counts >= least)) continue;
        best = &s;
        least = counts;
    }
    if (!best) {
        std::string given, known;
        for (const Value& v : values) given += (given.empty() ? "" : ", ") + v.type->text;
        for (const DeviceSignature& s : f.signatures) {
            std::string one;
            for (TypeRef type : s.arguments) one += (one.empty() ? "" : ", ") + type->text;
            known += fmt::format("\n * ({}) -> {}", one, s.result ? s.result->text : "inferred");
        }
        typing(node, fmt::format("Invalid use of type(CUDADispatcher(<function {}>)) with "
                                 "parameters ({})\nKnown signatures:{}",
                                 f.name, given, known));
    }
    for (size_t i = 0; i < values.size(); ++i) {
        TypeRef to = best->arguments[i], from = values[i].type;
        if (to->kind == TypeKind::Array)  // the width of the index is not part of a signature
            to = types::array(to->element, to->ndim, to->layout, to->readonly, from->narrow);
        values[i] = as(values[i], to, node);
    }
    return *best;
}

Value Compiler::call_function(int index, Arguments& args, std::vector<Value> captured) {
    const FunctionTree& f = program_.unit.functions[static_cast<size_t>(index)];
    std::vector<Value> values = bind(f, args);
    TypeRef declared = nullptr;
    if (!f.signatures.empty()) declared = choose_signature(f, values, *args.node).result;
    for (Value& value : captured) values.push_back(std::move(value));
    std::vector<Value> signature = values;
    const std::set<std::string>& deciding = program_.deciding_parameters(index);
    for (size_t i = 0; i < signature.size(); ++i) {
        Value& v = signature[i];
        bool fixed = compile_time_argument(v);
        bool kept = i < f.parameters.size() && settled(v) &&
                    (deciding.contains(f.parameters[i]) ||
                     (v.is(TypeKind::Bool) && deciding.contains(kTested + f.parameters[i])));
        if (!fixed && !kept) v.items.clear(), v.constant.reset();
        if (!fixed) program_.need(v.type);
    }
    Specialisation& s = program_.specialise(index, std::move(signature));
    if (!s.done && !s.result) {
        s.unresolved = true;
        throw Undefined{f.name};
    }
    std::string list;
    for (const Value& value : values) {
        if (compile_time_argument(value)) continue;
        list += (list.empty() ? "" : ", ") + code_of(value);
    }
    if (std::string hidden = program_.hidden_arguments(); !hidden.empty())
        list += (list.empty() ? "" : ", ") + hidden;
    auto through = [&](uint64_t mask) {
        uint64_t origin = 0;
        for (size_t i = 0; i < values.size(); ++i)
            if (mask >> std::min<size_t>(i, 63) & 1) origin |= values[i].origin;
        return origin;
    };
    target_.writes |= through(s.done ? s.writes : ~uint64_t{0});
    Value result =
        effect(s.result ? s.result : types::none(), fmt::format("{}({})", s.cuda_name, list));
    result.origin = through(s.done ? s.result_origin : ~uint64_t{0});
    if (program_.raises)
        emit(fmt::format("if (tl_raised) {{ {} }}", kernel_ ? "return;" : kReturnNothing));
    if (declared && declared->number() && result.type->number())
        return as(result, declared, *args.node);
    return result;
}

Value Compiler::call_builtin(const std::string& name, Arguments& args) {
    Value result;
    if (python_builtin(name, args, result) || iterator_builtin(name, args, result) ||
        math_builtin(name, args, result) || numpy_builtin(name, args, result) ||
        cuda_builtin(name, args, result) || warp_builtin(name, args, result) ||
        operator_builtin(name, args, result) || random_builtin(name, args, result) ||
        vector_builtin(name, args, result) || cached_access(name, args, result))
        return result;
    if (name == "np.zeros" || name == "np.empty" || name == "np.ones" || name == "np.zeros_like" ||
        name == "np.array" || name == "np.empty_like" || name == "np.full" || name == "np.arange" ||
        name == "cuda.device_array" || name == "cuda.to_device")
        unsupported(
            *args.node,
            fmt::format(
                "{}: kernels do not allocate; use cuda.local.array or cuda.shared.array: it",
                name));
    unsupported(*args.node, "a call of " + name);
}

Value Compiler::call_dtype(const std::string& name, Arguments& args) {
    TypeRef type = types::parse(name);
    if (!type->number()) unsupported(*args.node, "a call of type " + name);
    if (!args.named.empty()) typing(*args.node, name + "() takes no keyword arguments");
    if (args.positional.empty()) return as(integer(0), type, *args.node);
    if (args.positional.size() == 2 && type->kind == TypeKind::Complex) {
        TypeRef part = types::floating(type->bits / 2);
        std::string re = cast(args.positional[0], part, *args.node),
                    im = cast(args.positional[1], part, *args.node);
        return make(type, fmt::format("{}{{{}, {}}}", cuda_type(type), re, im),
                    args.positional[0].stable && args.positional[1].stable);
    }
    const Value& value = args.positional[0];
    if (args.positional.size() != 1 || !value.type->number() ||
        (value.is(TypeKind::Complex) && type->kind != TypeKind::Complex &&
         type->kind != TypeKind::Bool))
        no_function(*args.node, fmt::format("class({})", name), args.positional);
    if (type->kind == TypeKind::Bool) return truth(value, *args.node);
    return as(value, type, *args.node);
}

Value Compiler::named_tuple(const Node& node, Arguments& args) {
    std::vector<std::string> names;
    for (const NodePtr& kid : node.kids) names.push_back(kid->text);
    Value tuple;
    std::vector<TypeRef> item_types;
    for (size_t i = 0; i < names.size(); ++i) {
        Value item;
        if (i < args.positional.size()) item = args.positional[i];
        for (const auto& [name, value] : args.named)
            if (name == names[i]) item = value;
        if (!item.type)
            typing(*args.node,
                   fmt::format("{}() missing a required argument: '{}'", node.text, names[i]));
        tuple.origin |= item.origin;
        item_types.push_back(item.type);
        tuple.items.push_back(std::move(item));
    }
    if (args.positional.size() + args.named.size() != names.size())
        typing(*args.node, fmt::format("{}() takes {} arguments", node.text, names.size()));
    tuple.type = types::named_tuple(node.text, std::move(names), std::move(item_types));
    return tuple;
}

Value Compiler::call_method(const Value& bound, Arguments& args) {
    const std::string& name = std::get<std::string>(*bound.constant);
    const Value& self = bound.items[0];
    const Node& node = *args.node;
    if (self.is(TypeKind::Static)) {
        emit("tl::grid_sync();");
        return none();
    }
    if (name == "conjugate") {
        if (!self.is(TypeKind::Complex)) return self;
        return make(self.type, fmt::format("trilane::conj({})", self.code), self.stable);
    }
    if (name == "bit_count")
        return make(
            types::int64(),
            fmt::format("(long long)__popcll((unsigned long long)tl::magnitude({}))", self.code),
            self.stable);
    if (name == "item" && args.positional.empty()) {
        Value zero = integer(0), index;
        std::vector<TypeRef> item_types(static_cast<size_t>(self.type->ndim), types::int64());
        index.type = types::tuple(item_types);
        index.items.assign(item_types.size(), zero);
        return array_item(self, index, node);
    }
    if (name == "item") return index_value(self, args.positional[0], node);
    if (name == "fill") {
        note_write(self, node);
        store_view(self, take(args, "fill", {"value"}, 1)[0], node);
        return none();
    }
    if (name == "transpose" && args.positional.empty()) return array_attribute(self, "T", node);
    bool contiguous = self.type->layout == 'C';
    if ((name == "ravel" || name == "reshape") && !contiguous)
        typing(node, fmt::format("{}() supports contiguous array only: {}", name, self.type->text));
    if (name == "ravel" || name == "reshape") {
        Value shape =
            args.positional.empty() ? array_attribute(self, "size", node) : args.positional[0];
        std::vector<Value> extents;
        if (name == "reshape" && args.positional.size() > 1)
            extents = args.positional;
        else if (shape.is(TypeKind::Tuple))
            for (size_t i = 0; i < shape.type->items.size(); ++i)
                extents.push_back(item_of(spill(shape), i));
        else
            extents = {shape};
        std::string text, known = "1";
        for (Value& v : extents) {
            if (!v.type->integer()) typing(node, "reshape() takes integers");
            if (v.integer_constant()) {
                if (*v.integer_constant() != -1) known += fmt::format(" * (long long)({})", v.code);
                continue;
            }
            v = spill(v);
            known += fmt::format(" * ((long long)({0}) == -1 ? 1LL : (long long)({0}))", v.code);
        }
        TypeRef to = types::array(self.type->element, static_cast<int>(extents.size()), 'C',
                                  self.type->readonly, self.type->narrow);
        const char* index = to->narrow ? "int" : "long long";
        for (const Value& v : extents) {
            std::string rest = fmt::format("tl::count({}) / ({})", self.code, known);
            std::string extent = v.code;
            if (!v.integer_constant())
                extent =
                    fmt::format("((long long)({0}) == -1 ? {1} : (long long)({0}))", v.code, rest);
            else if (*v.integer_constant() == -1)
                extent = rest;
            text += fmt::format("{}({})({})", text.empty() ? "" : ", ", index, extent);
        }
        Value v = make(to, fmt::format("{}{{{}.data, {{{}}}}}", cuda_type(to), self.code, text));
        v.origin = self.origin;
        return v;
    }
    if (name == "view") {
        TypeRef element = dtype_argument(take(args, "view", {"dtype"}, 1)[0], node);
        if (!contiguous)
            typing(node, fmt::format("view() supports contiguous array only: {}", self.type->text));
        TypeRef to =
            types::array(element, self.type->ndim, 'C', self.type->readonly, self.type->narrow);
        Value v = make(to, fmt::format("tl::viewed<{}>({})", cuda_type(to), self.code));
        v.origin = self.origin;
        return v;
    }
    unsupported(node, fmt::format("the array method {}()", name));
}

}  // namespace trilane::jit
