// The cuda module inside a kernel: indices, barriers, warp functions, integer intrinsics, atomics.
#include <algorithm>

#include "jit/compiler.h"

namespace trilane::jit {

bool Compiler::index_builtin(const std::string& name, Arguments& args, Value& result) {
    if (name != "grid" && name != "gridsize") return false;
    Value v = take(args, "cuda." + name, {"ndim"}, 1)[0];
    Int128 n = static_integer(v, *args.node, "the argument of cuda.grid and cuda.gridsize");
    if (n < 1 || n > 3)
        typing(*args.node, fmt::format("cuda.{}: argument can only be 1, 2 or 3, got {}", name,
                                       static_cast<long long>(n)));
    Value all;
    std::vector<TypeRef> item_types;
    for (int i = 0; i < n; ++i) {
        char axis = "xyz"[i];
        std::string code =
            name == "grid"
                ? fmt::format("((long long)blockIdx.{0} * blockDim.{0} + threadIdx.{0})", axis)
                : fmt::format("((long long)gridDim.{0} * blockDim.{0})", axis);
        Value item = make(types::int64(), code, true);
        item.nonneg = true;
        item_types.push_back(item.type);
        all.items.push_back(item);
    }
    all.type = types::tuple(std::move(item_types));
    all.stable = true;
    result = n == 1 ? all.items[0] : all;
    return true;
}

bool Compiler::cuda_builtin(const std::string& full_name, Arguments& args, Value& result) {
    if (full_name.starts_with("libdevice."))
        return libdevice_builtin(full_name.substr(10), args, result);
    if (full_name == "cg.this_grid") {
        program_.cooperative = true;
        return result = make(types::static_object("cg.grid"), "", true), true;
    }
    if (full_name == "cg.sync") {
        emit("tl::grid_sync();");
        return result = integer(0, types::int32()), true;
    }
    if (!full_name.starts_with("cuda.")) return false;
    std::string name = full_name.substr(5);
    const Node& node = *args.node;
    if (index_builtin(name, args, result)) return true;
    if (name.starts_with("atomic.")) return result = atomic(name.substr(7), args), true;
    if (name == "shared.array" || name == "local.array")
        return result = make_array(name.substr(0, name.find('.')), args), true;
    if (name == "const.array_like") {
        Value v = take(args, full_name, {"ndarray"}, 1)[0];
        if (!v.is(TypeKind::Array)) no_function(node, full_name, {v});
        return result = v, true;
    }
    auto done = [&](const std::string& statement) {
        emit(statement);
        result = none();
        return true;
    };
    if (name == "syncthreads") return take(args, name, {}, 0), done("__syncthreads();");
    if (name == "threadfence") return done("__threadfence();");
    if (name == "threadfence_block") return done("__threadfence_block();");
    if (name == "threadfence_system") return done("__threadfence_system();");
    if (name == "nanosleep")
        return done(fmt::format("__nanosleep({});", cast(take(args, name, {"ns"}, 1)[0],
                                                         types::integer(32, false), node)));
    if (name == "syncthreads_count" || name == "syncthreads_and" || name == "syncthreads_or") {
        Value test = truth(take(args, name, {"predicate"}, 1)[0], node);
        result = effect(types::int32(), fmt::format("__{}((int)({}))", name, test.code));
        result.nonneg = true;
        return true;
    }
    if (name == "popc" || name == "brev" || name == "clz" || name == "ffs") {
        Value x = take(args, name, {"x"}, 1)[0];
        if (!x.type->integer()) no_function(node, full_name, {x});
        bool wide = x.type->bits == 64;
        bool same = name == "brev";
        TypeRef working = wide ? types::uint64() : types::integer(32, false);
        // numba types the counts as the argument (popc, clz, ffs of int64: int64)
        TypeRef type = same ? types::integer(wide ? 64 : 32, x.is(TypeKind::Int))
                            : types::integer(wide ? 64 : 32, true);
        if (same && !wide) type = types::integer(32, false);
        if (same && wide) type = types::uint64();
        std::string argument = name == "clz" || name == "ffs"
                                   ? cast(x, types::integer(wide ? 64 : 32, true), node)
                                   : cast(x, working, node);
        result = make(
            type, fmt::format("({})__{}{}({})", cuda_type(type), name, wide ? "ll" : "", argument),
            x.stable);
        result.nonneg = !same;
        return true;
    }
    if (name == "fma" || name == "cbrt") return math_builtin("math." + name, args, result);
    if (name == "selp") {
        auto v = take(args, name, {"c", "a", "b"}, 3);
        Value test = truth(v[0], node);
        return result = select(test, [&] { return v[1]; }, [&] { return v[2]; }, node), true;
    }
    if (name == "clock" || name == "clock64")
        return result = effect(types::int64(),
                               name == "clock" ? "(long long)clock()" : "(long long)clock64()"),
               true;
    return false;
}

bool Compiler::libdevice_builtin(const std::string& name, Arguments& args, Value& result) {
    const Node& node = *args.node;
    // libdevice.sinf is CUDA's sinf, libdevice.sin its sin; fast_sinf is __sinf.
    static const std::set<std::string> integers = {"abs",   "popc",  "clz",   "ffs",    "brev",
                                                   "llabs", "clzll", "ffsll", "popcll", "brevll"};
    static const std::map<std::string, std::string> renamed = {
        {"rsqrt", "rsqrt"},       {"fmod", "fmod"},          {"fmaf", "fmaf"},
        {"exp10", "exp10"},       {"sqrt_rn", "__dsqrt_rn"}, {"fsqrt_rn", "__fsqrt_rn"},
        {"frcp_rn", "__frcp_rn"}, {"drcp_rn", "__drcp_rn"}};
    static const std::set<std::string> functions = {
        "acos",    "acosh",      "asin",  "asinh", "atan",      "atan2",  "atanh",     "cbrt",
        "ceil",    "copysign",   "cos",   "cosh",  "cospi",     "erf",    "erfc",      "erfcinv",
        "erfcx",   "erfinv",     "exp",   "exp10", "exp2",      "expm1",  "fabs",      "fdim",
        "floor",   "fma",        "fmax",  "fmin",  "fmod",      "hypot",  "j0",        "j1",
        "lgamma",  "log",        "log10", "log1p", "log2",      "logb",   "nearbyint", "nextafter",
        "normcdf", "normcdfinv", "pow",   "rcbrt", "remainder", "rhypot", "rint",      "round",
        "rsqrt",   "sin",        "sinh",  "sinpi", "sqrt",      "tan",    "tanh",      "tgamma",
        "trunc",   "y0",         "y1"};
    bool fast = name.starts_with("fast_");
    std::string base = fast ? name.substr(5) : name;
    bool single = base.ends_with('f') && functions.contains(base.substr(0, base.size() - 1));
    std::string plain = single ? base.substr(0, base.size() - 1) : base;
    if (!functions.contains(plain) && !renamed.contains(base)) {
        if (!integers.contains(name)) unsupported(node, "libdevice." + name);
    }
    TypeRef type = integers.contains(name)
                       ? (name.ends_with("ll") || name == "llabs" ? types::int64() : types::int32())
                   : single || base.starts_with('f') == (base == "fsqrt_rn" || base == "frcp_rn")
                       ? (single || base == "fsqrt_rn" || base == "frcp_rn" ? types::float32()
                                                                            : types::float64())
                       : types::float64();
    std::string function = fast                     ? "__" + base
                           : renamed.contains(base) ? renamed.at(base)
                           : integers.contains(name) && name != "abs" && name != "llabs"
                               ? "__" + name
                               : base;
    std::string list;
    bool stable = true;
    for (const Value& v : args.positional) {
        list += (list.empty() ? "" : ", ") + cast(v, type, node);
        stable &= v.stable;
    }
    result = make(type, fmt::format("{}({})", function, list), stable);
    return true;
}

bool Compiler::warp_builtin(const std::string& full_name, Arguments& args, Value& result) {
    if (!full_name.starts_with("cuda.")) return false;
    std::string name = full_name.substr(5);
    const Node& node = *args.node;
    TypeRef mask_type = types::integer(32, false);
    if (name == "activemask") return result = effect(types::int32(), "(int)__activemask()"), true;
    if (name == "lanemask_lt")
        return result = make(types::int32(), "(int)((1u << tl::laneid()) - 1u)", true), true;
    if (name == "syncwarp") {
        auto v = take(args, name, {"mask"}, 0);
        emit(fmt::format("__syncwarp({});",
                         v[0].type ? cast(v[0], mask_type, node) : "0xffffffffu"));
        return result = none(), true;
    }
    if (name.starts_with("shfl_")) return result = shuffle(name, args), true;
    bool vote =
        name == "all_sync" || name == "any_sync" || name == "eq_sync" || name == "ballot_sync";
    if (!vote && name != "match_any_sync" && name != "match_all_sync") return false;
    auto v = take(args, name, {"mask", vote ? "predicate" : "value"}, 2);
    std::string mask = cast(v[0], mask_type, node);
    if (vote) {
        std::string test = truth(v[1], node).code;
        if (name == "ballot_sync")
            result = effect(types::int32(),
                            fmt::format("(int)__ballot_sync({}, (int)({}))", mask, test));
        else if (name == "eq_sync")
            result =
                effect(types::boolean(), fmt::format("tl::eq_sync({}, (int)({}))", mask, test));
        else
            result = effect(types::boolean(),
                            fmt::format("(bool)__{}({}, (int)({}))", name, mask, test));
        return true;
    }
    if (!v[1].type->real() || v[1].is(TypeKind::Bool)) no_function(node, full_name, v);
    std::string value = fmt::format("tl::match_bits({})", v[1].code);
    if (name == "match_any_sync")
        return result = effect(types::int32(),
                               fmt::format("(int)__match_any_sync({}, {})", mask, value)),
               true;
    std::string all = temporary();
    emit(fmt::format("int {} = 0;", all));
    Value members =
        effect(types::int32(), fmt::format("(int)__match_all_sync({}, {}, &{})", mask, value, all));
    result.items = {members, make(types::boolean(), fmt::format("({} != 0)", all), true)};
    result.type = types::tuple({types::int32(), types::boolean()});
    return true;
}

Value Compiler::shuffle(const std::string& name, Arguments& args) {
    const Node& node = *args.node;
    auto v = take(args, name, {"mask", "value", "lane"}, 3);
    static const std::set<std::string> names = {"shfl_sync", "shfl_up_sync", "shfl_down_sync",
                                                "shfl_xor_sync"};
    if (!names.contains(name)) unsupported(node, "cuda." + name);
    TypeRef type = v[1].type;
    if (!(type->integer() || type->kind == TypeKind::Float) || type->bits < 32)
        no_function(node, "cuda." + name, v);
    Value result = effect(
        type, fmt::format("__{}({}, {}, {})", name, cast(v[0], types::integer(32, false), node),
                          v[1].code, cast(v[2], types::int32(), node)));
    result.nonneg = v[1].nonneg;
    return result;
}

std::string Compiler::element_address(const Value& array, const Value& index, const Node& node) {
    if (!array.is(TypeKind::Array))
        typing(node, fmt::format("an array is expected here, got {}", array.type->text));
    std::vector<Value> list = index_list(array, index, node);
    for (const Value& v : list)
        if (v.is(TypeKind::Slice))
            typing(node, fmt::format("index {} does not select one element of {}", index.type->text,
                                     array.type->text));
    note_write(array, node);
    return address(array, list, node);
}

// Returns the old value. Python evaluates array, index and value first, in this order.
Value Compiler::atomic(const std::string& name, Arguments& args) {
    const Node& node = *args.node;
    struct Row {
        bool floats, integers32, only_unsigned;
    };
    static const std::map<std::string, Row> table = {
        {"add", {true, true, false}},    {"sub", {true, true, false}},
        {"max", {true, true, false}},    {"min", {true, true, false}},
        {"nanmax", {true, true, false}}, {"nanmin", {true, true, false}},
        {"and_", {false, true, false}},  {"or_", {false, true, false}},
        {"xor", {false, true, false}},   {"exch", {true, true, false}},
        {"inc", {false, true, true}},    {"dec", {false, true, true}}};
    program_.need("atomics");
    if (name == "cas" || name == "compare_and_swap") {
        auto v = name == "cas" ? take(args, name, {"ary", "idx", "old", "val"}, 4)
                               : take(args, name, {"ary", "old", "val"}, 3);
        if (name != "cas") v.insert(v.begin() + 1, integer(0));
        Value array = spill(v[0]);
        std::string at = element_address(array, v[1], node);
        TypeRef type = array.type->element;
        if (!type->integer() || type->bits < 32) no_function(node, "cuda.atomic." + name, v);
        Value result = effect(type, fmt::format("tl::atomic_cas(&{}, {}, {})", at,
                                                cast(v[2], type, node), cast(v[3], type, node)));
        return result;
    }
    auto row = table.find(name);
    if (row == table.end()) unsupported(node, "cuda.atomic." + name);
    auto v = take(args, name, {"ary", "idx", "val"}, 3);
    Value array = spill(v[0]);
    std::string at = element_address(array, v[1], node);
    TypeRef type = array.type->element;
    bool fits = (type->kind == TypeKind::Float && row->second.floats && type->bits >= 32) ||
                (type->integer() && type->bits >= 32 &&
                 (!row->second.only_unsigned || type->kind == TypeKind::UInt));
    if (!fits) no_function(node, "cuda.atomic." + name, v);
    return effect(type, fmt::format("tl::atomic_{}(&{}, {})", name, at, cast(v[2], type, node)));
}

// xoroshiro128p: states are an array of records (s0, s1 uint64); see trilane.numba.cuda.random.
bool Compiler::random_builtin(const std::string& full_name, Arguments& args, Value& result) {
    if (!full_name.starts_with("random.")) return false;
    std::string name = full_name.substr(7);
    const Node& node = *args.node;
    static const std::map<std::string, TypeRef> functions = {
        {"xoroshiro128p_uniform_float32", types::float32()},
        {"xoroshiro128p_uniform_float64", types::float64()},
        {"xoroshiro128p_normal_float32", types::float32()},
        {"xoroshiro128p_normal_float64", types::float64()},
        {"xoroshiro128p_next", types::uint64()},
        {"xoroshiro128p_jump", types::none()}};
    auto at = functions.find(name);
    if (at == functions.end()) return false;
    auto v = take(args, name, {"states", "index"}, 2);
    Value states = spill(v[0]);
    if (!states.is(TypeKind::Array) || !states.is(TypeKind::Array) ||
        states.type->element->kind != TypeKind::Record || states.type->element->nbytes != 16)
        no_function(node, "random." + name, v);
    program_.need("random");
    std::string address = element_address(states, v[1], node);
    result = effect(at->second, fmt::format("tl::{}((unsigned long long*)&{})", name, address));
    return true;
}

}  // namespace trilane::jit
