// Random CUDA expressions.
#include "devices/cpu/testing/lane_expressions.h"

#include <fmt/format.h>

namespace trilane::cpu::testing {

using fmt::format;
using std::string;
using Names = std::vector<string>;

Features random_features(RandomSource& random) {
    Features f{};
    for (bool* common : {&f.floats, &f.wide, &f.small, &f.division, &f.arrays, &f.pointers,
                         &f.returns, &f.switches, &f.loops})
        *common = random.chance(55);
    for (bool* rarer :
         {&f.doubles, &f.calls, &f.structs, &f.vectors, &f.atomics, &f.shared, &f.warp, &f.jumps})
        *rarer = random.chance(35);
    f.waiting = random.chance(15);
    f.strided = random.chance(25);
    // Threads that have nothing to do with one another take other ways through the compiler.
    if (random.chance(50)) {
        f.shared = f.warp = f.waiting = f.strided = false;
    } else if (random.chance(50)) {
        f.shared = true;  // blocks that only meet at barriers, too
        f.warp = f.waiting = false;
    }
    return f;
}

const char* name_of(Type type) {
    static const char* const names[] = {"int",   "unsigned", "long long", "unsigned long long",
                                        "float", "double"};
    return names[size_t(type)];
}

Type Expressions::type() {
    std::vector<Type> types{Type::I32, Type::U32, Type::I32, Type::U32};
    if (has_.wide) types.insert(types.end(), {Type::I64, Type::U64});
    if (has_.floats) types.insert(types.end(), {Type::F32, Type::F32, Type::F32});
    if (has_.doubles) types.push_back(Type::F64);
    return random_.of(types);
}

string Expressions::variable(Type type) {
    static const char letters[] = {'v', 'u', 'l', 'q', 'f', 'd'};
    return format("{}{}", letters[size_t(type)], random_.below(type <= Type::U32 ? 4 : 2));
}

string Expressions::constant(Type type) {
    static const Names ints{
        "0",     "1",    "2",  "3", "7", "-1", "31", "32", "100", "2147483647", "(-2147483647 - 1)",
        "65535", "-128", "255"};
    static const Names longs{"0ll",           "1ll",          "-1ll",
                             "63ll",          "4294967296ll", "9223372036854775807ll",
                             "-4294967297ll", "10ll"};
    static const Names floats{"0.0f",        "-0.0f",  "1.0f",  "0.5f", "-3.25f",
                              "16777216.0f", "1e-40f", "3e38f", "1e10f"};
    static const Names doubles{
        "0.0", "-0.0", "1.0", "0.1", "-2.5e9", "1e-310", "9007199254740993.0"};
    switch (type) {
        case Type::I32:
            return random_.of(ints);
        case Type::U32:
            return format("(unsigned){}", random_.of(ints));
        case Type::I64:
            return random_.of(longs);
        case Type::U64:
            return format("(unsigned long long){}", random_.of(longs));
        case Type::F32:
            return random_.of(floats);
        default:
            return random_.of(doubles);
    }
}

string Expressions::input_index(const Scope& scope) {
    const string& i = scope.index;
    switch (random_.below(12)) {
        case 0:
        case 1:
        case 2:
            return i;
        case 3:
            return format("{} + {}", i, random_.below(32));
        case 4:
            return format("{} * {} + {}", i, random_.below(3) + 2, random_.below(5));
        case 5:
            return format("N - 1 - {}", i);
        case 6:
            return format("perm[{}]", i);
        case 7:
            return format("(unsigned)({}) % N", variable(Type::I32));
        case 8:
            return format("({}) & 63", uniform(scope));
        case 9:
            return format("{} / {}", i, random_.below(3) + 2);
        case 10:
            return format("{} & {}", i, random_.of(Names{"~3", "~1", "31", "7"}));
        default:
            if (scope.counters.empty()) return format("({} + {}) % N", i, random_.below(99));
            return format("{} + {} * {}", i, random_.of(scope.counters),
                          random_.of(Names{"1", "N", "3"}));
    }
}

string Expressions::load(Type type, const Scope& scope) {
    string at = input_index(scope);
    switch (type) {
        case Type::I32:
            if (has_.small && random_.chance(40))
                return format("{}[{}]", random_.of(Names{"a8", "a16"}), at);
            if (has_.structs && random_.chance(30))
                return format("as[{}].{}", at, random_.of(Names{"a", "c", "d[1]", "d[0]"}));
            if (has_.vectors && random_.chance(30))
                return format("a2[{}].{}", at, random_.of(Names{"x", "y"}));
            return format("{}[{}]", random_.of(Names{"a32", "b32"}), at);
        case Type::U32:
            return format("(unsigned){}[{}]", random_.of(Names{"a32", "b32"}), at);
        case Type::I64:
        case Type::U64:
            return format("({})a64[{}]", name_of(type), at);
        case Type::F32:
            if (has_.structs && random_.chance(30)) return format("as[{}].b", at);
            if (has_.vectors && random_.chance(30))
                return format("a4[{}].{}", at, random_.of(Names{"x", "y", "z", "w"}));
            return format("{}[{}]", random_.of(Names{"af", "bf"}), at);
        default:
            return format("ad[{}]", at);
    }
}

string Expressions::converted(Type type, const Scope& scope) {
    Type from = Expressions::type();
    string text = random_.chance(30) ? load(from, scope) : variable(from);
    if (has_.small && random_.chance(30))
        return format("({})({})({})", name_of(type),
                      random_.of(Names{"signed char", "unsigned char", "short", "unsigned short"}),
                      from >= Type::F32 ? variable(Type::I32) : text);
    return format("({})({})", name_of(type), text);
}

string Expressions::leaf(Type type, const Scope& scope) {
    int kind = random_.below(100);
    if (kind < 45) return variable(type);
    if (kind < 62) return load(type, scope);
    if (kind < 74) return constant(type);
    if (kind < 86) return converted(type, scope);
    string text;
    if (kind < 90)
        text = random_.of(Names{"t", "lane", scope.index, "(int)threadIdx.x", "(int)threadIdx.y"});
    else if (kind < 94 && !scope.counters.empty())
        text = random_.of(scope.counters);
    else if (kind < 97 && has_.arrays)
        text = random_.of(Names{"la[{} & 7]", "(int)lb[{} & 15]"});
    else if (has_.structs && random_.chance(50))
        text = random_.of(Names{"s0.a", "s1.c", "s0.d[{} & 1]", "s1.a"});
    else
        text = uniform(scope);
    if (size_t hole = text.find("{}"); hole != string::npos)
        text.replace(hole, 2, variable(Type::U32));
    return format("({})({})", name_of(type), text);
}

string Expressions::uniform(const Scope& scope) {
    string name = random_.of(scope.uniform);
    if (random_.chance(30)) return format("(int)((unsigned){} * 3u + {}u)", name, random_.below(9));
    return name;
}

string Expressions::uniform_condition(const Scope& scope) {
    return format("(({}) & {}) {} {}", uniform(scope), random_.of(Names{"1", "3", "7"}),
                  random_.of(Names{"==", "!=", "<", ">="}), random_.below(3));
}

string Expressions::condition(int depth, const Scope& scope) {
    int kind = random_.below(100);
    if (depth > 0 && kind < 25)
        return format("({} {} {})", condition(depth - 1, scope),
                      random_.of(Names{"&&", "||", "&&", "||", "==", "!="}),
                      condition(depth - 1, scope));
    if (depth > 0 && kind < 30) return format("!{}", condition(depth - 1, scope));
    if (kind < 40) return format("(u{}++ & 3u)", random_.below(4));
    if (kind < 55)
        return format("(({} >> {}) & 1)", random_.of(Names{"t", "lane", scope.index}),
                      random_.below(5));
    if (kind < 62)
        return format("({} {} {})", scope.index, random_.of(Names{"<", ">", "=="}), uniform(scope));
    Type type = Expressions::type();
    return format("({} {} {})", value(type, depth - 1, scope),
                  random_.of(Names{"<", "<=", ">", ">=", "==", "!="}),
                  value(type, depth - 1, scope));
}

string Expressions::call(const Scope& scope) {
    string a = value(Type::I32, 0, scope), b = value(Type::I32, 0, scope);
    switch (random_.below(8)) {
        case 0:
            return format("branchy@({}, {})", a, b);
        case 1:
            return format("outlined@({}, {}, {})", a, b, value(Type::F32, 0, scope));
        case 2:
            return format("recursive@({}, {} & 7)", a, b);
        case 3:
            return format("tree@({}, {} & 3)", a, b);
        case 4:
            return has_.arrays ? format("through@(la, {})", a) : format("through@(b32, {})", a);
        case 5:
            return format("table@[{} & 1]({}, {})", variable(Type::U32), a, b);
        case 6:
            return format("indexed@({})", a);
        default:
            return format("made@({}, {}).a", a, b);
    }
}

string Expressions::bits_of(int depth, const Scope& scope) {
    return format("bits_of({})", value(Type::F32, depth, scope));
}

string Expressions::integer32(bool with_sign, int depth, const Scope& scope) {
    const char* type = with_sign ? "int" : "unsigned";
    // A constant shifted or divided by a constant would be folded before it has a meaning.
    string self = variable(with_sign ? Type::I32 : Type::U32);
    auto operand = [&] { return value(with_sign ? Type::I32 : Type::U32, depth - 1, scope); };
    int kind = random_.below(100);
    if (kind < 30)
        return format("({})((unsigned)({}) {} (unsigned)({}))", type, operand(),
                      random_.of(Names{"+", "-", "*", "+"}), operand());
    if (kind < 42)
        return format("(({}) {} ({}))", operand(), random_.of(Names{"&", "|", "^"}), operand());
    if (kind < 52)
        return format("(({} ^ {}) {} ({}))", self, operand(), random_.of(Names{"<<", ">>"}),
                      operand());
    if (kind < 60 && has_.division)
        return format("(({} ^ {}) {} ({}))", self, operand(), random_.of(Names{"/", "%"}),
                      operand());
    if (kind < 66)
        return format("(({0})((({1}) & 0x7fff) {2} (({3}) & 0xffff)))", type, operand(),
                      random_.of(Names{"*", "+", "-"}), operand());
    if (kind < 72)
        return format("{}(({})({}), ({})({}))", random_.of(Names{"min", "max"}), type, operand(),
                      type, operand());
    if (kind < 80)
        return format("({} ? {} : {})", condition(depth - 1, scope), operand(), operand());
    if (kind < 84) return format("({})({})", type, condition(depth - 1, scope));
    if (kind < 90 && has_.calls) return format("({}){}", type, call(scope));
    if (kind < 93 && has_.floats) return format("({}){}", type, bits_of(depth - 1, scope));
    string one = operand(), two = operand();
    return format("({})", type) +
           random_.of(Names{format("__popc({})", one), format("__clz({})", one),
                            format("__ffs({})", one), format("__brev({})", one),
                            format("__mulhi((int)({}), (int)({}))", one, two),
                            format("__umulhi({}, {})", one, two),
                            format("__byte_perm({}, {}, {})", one, two, random_.below(0x8000)),
                            format("__funnelshift_l({}, {}, {})", one, two, variable(Type::U32)),
                            format("abs((int)({}) >> 1)", one)});
}

string Expressions::integer64(bool with_sign, int depth, const Scope& scope) {
    const char* type = with_sign ? "long long" : "unsigned long long";
    string self = variable(with_sign ? Type::I64 : Type::U64);
    auto operand = [&] { return value(with_sign ? Type::I64 : Type::U64, depth - 1, scope); };
    int kind = random_.below(100);
    if (kind < 40)
        return format("({0})((unsigned long long)({1}) {2} (unsigned long long)({3}))", type,
                      operand(), random_.of(Names{"+", "-", "*"}), operand());
    if (kind < 55)
        return format("(({}) {} ({}))", operand(), random_.of(Names{"&", "|", "^"}), operand());
    if (kind < 65)
        return format("(({} ^ {}) {} ({}))", self, operand(), random_.of(Names{"<<", ">>"}),
                      value(Type::I32, depth - 1, scope));
    if (kind < 75 && has_.division)
        return format("(({} ^ {}) {} ({}))", self, operand(), random_.of(Names{"/", "%"}),
                      operand());
    if (kind < 82)
        return format("{}(({})({}), ({})({}))", random_.of(Names{"min", "max"}), type, operand(),
                      type, operand());
    if (kind < 92)
        return format("({} ? {} : {})", condition(depth - 1, scope), operand(), operand());
    return format("({})", type) +
           random_.of(Names{format("__popcll({})", operand()), format("__clzll({})", operand()),
                            format("__ffsll({})", operand())});
}

string Expressions::floating(Type type, int depth, const Scope& scope) {
    const char* suffix = type == Type::F32 ? "f" : "";
    auto operand = [&] { return value(type, depth - 1, scope); };
    int kind = random_.below(100);
    if (kind < 45)
        return format("({} {} {})", operand(), random_.of(Names{"+", "-", "*", "/"}), operand());
    if (kind < 55) return format("fma{}({}, {}, {})", suffix, operand(), operand(), operand());
    if (kind < 65)
        return format("{}{}({}, {})", random_.of(Names{"fmin", "fmax"}), suffix, operand(),
                      operand());
    if (kind < 75)
        return format("{}{}({})", random_.of(Names{"floor", "trunc", "rint", "fabs", "ceil"}),
                      suffix, operand());
    if (kind < 80) return format("sqrt{0}(fabs{0}({1}))", suffix, operand());
    if (kind < 90)
        return format("({} ? {} : {})", condition(depth - 1, scope), operand(), operand());
    if (kind < 95) return format("(-({}))", operand());
    return converted(type, scope);
}

string Expressions::value(Type type, int depth, const Scope& scope) {
    if (depth <= 0 || random_.chance(25)) return leaf(type, scope);
    if (type >= Type::F32) return floating(type, depth, scope);
    if (type >= Type::I64) return integer64(type == Type::I64, depth, scope);
    return integer32(type == Type::I32, depth, scope);
}

}  // namespace trilane::cpu::testing
