// Random statements: straight code and control flow.
#include "devices/cpu/testing/lane_statements.h"

#include <fmt/format.h>

namespace trilane::cpu::testing {

using fmt::format;
using std::string;
using Names = std::vector<string>;

std::vector<Piece> Statements::list(int size, const Place& place) {
    std::vector<Piece> pieces;
    for (int i = 0; i < size; ++i) {
        int before = returns_;
        pieces.push_back(one(place));
        if (returns_ > before && place.present != Present::Some && has_.warp)
            pieces.push_back({"m = __ballot_sync(m, 1);\n", {}, "", true});
    }
    return pieces;
}

Piece Statements::one(Place place) {
    int kind = random_.below(100);
    if (place.present == Present::Block && has_.shared && kind < 25) return shared(place);
    if (place.present != Present::Some && has_.warp && kind < 50) return warp(place);
    if (has_.waiting && waits_ < 2 && !place.in_loop && !place.uniform_loop && !in_strided_ &&
        kind < 65)
        return waiting(place);
    if (place.depth > 0 && kind >= 60) return nested(place);
    return plain(place);
}

// --- straight code ------------------------------------------------------------------------------

Piece Statements::plain(const Place& place) {
    int kind = random_.below(100);
    if (kind < 12 && has_.arrays) return array_access(place);
    if (kind < 22 && has_.structs) return struct_access(place);
    if (kind < 32 && has_.pointers) return pointer(place);
    if (kind < 42 && has_.atomics) return atomic(place);
    if (kind < 50 && has_.vectors) return vector_access(place);
    if (kind < 68) return own_access(place);
    if (kind < 74 && (place.in_loop || place.uniform_loop)) return leave(place);
    const bool may_return = place.present == Present::Some ||
                            (place.present == Present::Block && has_.shared && !has_.warp);
    if (kind < 76 && has_.returns && may_return && !in_strided_) {
        ++returns_;
        return {format("if ({}) return;\n", make_.condition(1, place.scope)), {}, ""};
    }
    return assignment(place);
}

Piece Statements::assignment(const Place& place) {
    Type type = make_.type();
    string to = make_.variable(type);
    int kind = random_.below(10);
    if (has_.small && kind < 2)
        return {format("{} = {};\n", random_.of(Names{"c0", "b0", "h0", "k0"}),
                       any(random_.chance(50) ? Type::I32 : Type::U32, place)),
                {},
                ""};
    if (has_.small && kind < 3)
        return {format("{} += {};\n", random_.of(Names{"u0", "u1"}),
                       random_.of(Names{"c0 * b0", "h0 >> 3", "k0 / 7", "b0 << 2", "c0 < b0"})),
                {},
                ""};
    if (kind < 5 && type != Type::I32 && type != Type::I64)
        return {
            format("{} {}= {};\n", to, random_.of(Names{"+", "-", "*"}), any(type, place)), {}, ""};
    return {format("{} = {};\n", to, any(type, place)), {}, ""};
}

Piece Statements::own_access(const Place& place) {
    const string& i = place.scope.index;
    Names places{format("o32[{} * 4 + {}]", i, random_.below(4)),
                 format("o32[{} * 4 + ({} & 3)]", i, make_.variable(Type::U32)),
                 format("p32[{} * N + {}]", random_.below(4), i),
                 format("p32[({} & 3) * N + {}]", make_.variable(Type::U32), i)};
    if (has_.small)
        for (const char* small : {"o8[{}]", "o16[perm[{}]]"})
            places.push_back(format(fmt::runtime(small), i));
    string at = random_.of(places);
    if (has_.wide && random_.chance(25)) at = format("o64[{}]", i);
    bool floating = false;
    if (has_.floats && random_.chance(40)) at = format("of[N - 1 - {}]", i), floating = true;
    if (has_.doubles && random_.chance(20)) at = format("od[{}]", i), floating = true;
    Type type = floating ? Type::F32 : Type::I32;
    switch (random_.below(4)) {
        case 0:
            return {format("{} = {};\n", make_.variable(type), at), {}, ""};
        case 1:
            if (floating) return {format("{} += {};\n", at, any(type, place)), {}, ""};
            return {format("{} ^= {};\n", at, any(type, place)), {}, ""};
        default:
            return {format("{} = {};\n", at, any(type, place)), {}, ""};
    }
}

Piece Statements::array_access(const Place& place) {
    string index = any(Type::U32, place);
    switch (random_.below(6)) {
        case 0:
            return {format("la[({}) & 7] = {};\n", index, any(Type::I32, place)), {}, ""};
        case 1:
            return {format("lb[({}) & 15] = {};\n", index, any(Type::U32, place)), {}, ""};
        case 2:
            return {format("u1 += la[({}) & 7];\n", index), {}, ""};
        case 3:
            return {
                format("for (int a = 0; a < 8; ++a) u2 = u2 * 3u + (unsigned)la[a];\n"), {}, ""};
        case 4:
            return {format("lf[({}) % 5u] = {};\n", index, any(Type::F32, place)), {}, ""};
        default:
            return {format("f0 += lf[({}) % 5u];\n", index), {}, ""};
    }
}

Piece Statements::struct_access(const Place& place) {
    const string& i = place.scope.index;
    string index = make_.input_index(place.scope);
    return {random_.of(
                Names{format("s0 = as[{}];\n", index), format("os[{}] = s0;\n", i),
                      format("s1 = s0; s1.d[{} & 1] = (signed char){};\n",
                             make_.variable(Type::U32), make_.variable(Type::I32)),
                      format("s0.a = {};\n", any(Type::I32, place)),
                      format("s0.b = {};\n", any(Type::F32, place)),
                      format("s1 = made@({}, {});\n", any(Type::I32, place), any(Type::I32, place)),
                      format("s0 = {} ? s1 : as[{}];\n", make_.condition(1, place.scope), index),
                      format("os[{}].c += (short){};\n", i, any(Type::I32, place)),
                      format("v0 = os[{}].a ^ s1.c;\n", i),
                      format("{{ S* s = {} ? &s0 : &s1; s->c = (short){}; v1 = s->d[1]; }}\n",
                             make_.condition(1, place.scope), make_.variable(Type::I32))}),
            {},
            ""};
}

Piece Statements::pointer(const Place& place) {
    const string& i = place.scope.index;
    string test = make_.condition(1, place.scope), index = make_.input_index(place.scope);
    Names texts{
        format("{{ const int* p = {} ? a32 : b32; v0 = p[{}]; }}\n", test, index),
        format("{{ const int* p = {} ? a32 + ({}) : o32 + {} * 4; v1 = *p; }}\n", test, index, i),
        format("{{ int* p = {} ? &v2 : &v3; *p = {}; }}\n", test, any(Type::I32, place)),
        format("{{ const float* p = af + {}; for (int a = 0; a < 4; ++a) f0 += *p++; }}\n", i),
        format("{{ int* p = o32 + {} * 4; for (int a = 0; a < ({} & 3); ++a) *p++ = v0 ^ a; }}\n",
               i, make_.variable(Type::U32)),
        format("{{ const int* p = a32 + {}; const int* e = p + (t & 7); while (p != e) u3 += *p++; "
               "}}\n",
               i),
    };
    if (has_.arrays) {
        texts.push_back(format("{{ int* p = {} ? la : o32 + {} * 4; p[{} & 3] = {}; }}\n", test, i,
                               make_.variable(Type::U32), any(Type::I32, place)));
        texts.push_back(format("{{ int* p = la + ({} & 3); v0 = p[2]; p[1] = {}; }}\n",
                               make_.variable(Type::U32), any(Type::I32, place)));
    }
    return {random_.of(texts), {}, ""};
}

Piece Statements::atomic(const Place& place) {
    string index = format("({}) & 31", any(Type::U32, place));
    if (has_.warp && random_.chance(20)) return opportunistic();
    switch (random_.below(5)) {
        case 0:
            return {format("atomicMax(&acc[48], {});\n", any(Type::I32, place)), {}, ""};
        case 1:
            return {format("atomicOr((unsigned*)&acc[49], {});\n", any(Type::U32, place)), {}, ""};
        case 2:
            return {format("atomicAdd(&acc64[({}) & 7], (unsigned long long){});\n",
                           make_.variable(Type::U32), any(Type::I32, place)),
                    {},
                    ""};
        case 3:
            return {format("if ({}) atomicMin(&acc[50], {});\n", make_.condition(1, place.scope),
                           any(Type::I32, place)),
                    {},
                    ""};
        default:
            return {format("atomicAdd(&acc[{}], {});\n", index, any(Type::I32, place)), {}, ""};
    }
}

Piece Statements::vector_access(const Place& place) {
    const string& i = place.scope.index;
    string index = make_.input_index(place.scope);
    return {random_.of(Names{
                format("{{ float4 x = a4[{}]; o4[{}] = make_float4(x.w, x.x + f0, x.y, x.z); }}\n",
                       index, i),
                format("{{ int2 x = a2[{}]; o2[{}] = make_int2(x.y, v0); }}\n", index, i),
                format("o4[{}].{} = {};\n", i, random_.of(Names{"x", "y", "z", "w"}),
                       any(Type::F32, place)),
                format("{{ float4 x = o4[{}]; f1 = x.x + x.z; }}\n", i),
                format("{{ int2 x = o2[{}]; v0 = x.x; v1 = x.y; }}\n", i)}),
            {},
            ""};
}

// --- control flow -------------------------------------------------------------------------------

Piece Statements::nested(const Place& place) {
    int kind = random_.below(100);
    if (place.present == Present::Block && kind < 25) return uniform_loop(place);
    if (has_.strided && !in_strided_ && !place.in_loop && place.depth >= 2 &&
        place.scope.counters.empty() && place.scope.index == "i" && kind < 40)
        return strided_loop(place);
    if (has_.loops && kind < 65)
        return place.present != Present::Some && has_.warp && random_.chance(50)
                   ? masked_loop(place)
                   : loop(place);
    if (has_.switches && kind < 75) return switched(place);
    if (has_.jumps && kind < 82) return jump(place);
    return branch(place);
}

Piece Statements::branch(const Place& place) {
    Place inside = place;
    --inside.depth;
    int size = random_.below(3) + 1;
    if (place.present == Present::Block && random_.chance(40)) {
        Piece piece{format("if ({}) {{\n", make_.uniform_condition(place.scope)),
                    list(size, inside), "}\n"};
        if (random_.chance(50)) {
            piece.close = "}\n";
            Piece other{"else {\n", list(size, inside), "}\n", true};
            return {"", {std::move(piece), std::move(other)}, ""};
        }
        return piece;
    }
    string test = make_.condition(2, place.scope);
    string mask;
    if (place.present != Present::Some && has_.warp && random_.chance(70)) {
        inside.present = Present::Warp;
        mask = name("m");
    } else {
        inside.present = Present::Some;
    }
    bool other = random_.chance(50);
    if (mask.empty()) {
        Piece piece{format("if ({}) {{\n", test), list(size, inside), "}\n"};
        if (other) {
            piece.body.push_back({"} else {\n", {}, "", true});
            for (Piece& p : list(size, inside)) piece.body.push_back(std::move(p));
        }
        return piece;
    }
    string flag = name("c");
    Piece piece{format("{{ bool {0} = {1}; unsigned {2} = __ballot_sync(m, {0});\nif ({0}) {{ "
                       "unsigned m = {2};\n",
                       flag, test, mask),
                list(size, inside), "} }\n"};
    if (other) {
        piece.body.push_back(
            {format("}} else {{ unsigned m = __ballot_sync(m_outer & ~{0}, 1);\n", mask),
             {},
             "",
             true});
        // The mask of the other side needs the outer m, which the inner one hides.
        piece.open = format(
            "{{ bool {0} = {1}; unsigned m_outer = m, {2} = __ballot_sync(m, {0});\n"
            "if ({0}) {{ unsigned m = {2};\n",
            flag, test, mask);
        for (Piece& p : list(size, inside)) piece.body.push_back(std::move(p));
    }
    return piece;
}

Piece Statements::switched(const Place& place) {
    Place inside = place;
    --inside.depth;
    inside.present = Present::Some;
    inside.uniform_loop = false;
    bool loop = place.in_loop;
    inside.in_loop = false;
    Piece piece{
        format("switch (({}) & {}) {{\n", any(Type::U32, place), random_.of(Names{"3", "7"})),
        {},
        "}\n"};
    for (int label : {0, 1, 2, 5}) {
        if (random_.chance(20)) continue;
        Piece part{format("case {}: {{\n", label), list(random_.below(2) + 1, inside), "}\n"};
        if (random_.chance(70)) part.close = "} break;\n";
        if (loop && random_.chance(20)) part.close = "} continue;\n";
        piece.body.push_back(std::move(part));
    }
    if (random_.chance(60)) piece.body.push_back({"default: {\n", list(1, inside), "}\n"});
    return piece;
}

// A loop whose threads leave one by one.
Piece Statements::loop(const Place& place) {
    string k = name("i");
    Place inside = place;
    --inside.depth;
    inside.present = Present::Some;
    inside.in_loop = true;
    inside.uniform_loop = false;
    inside.scope.counters.push_back(k);
    std::vector<Piece> body = list(random_.below(3) + 1, inside);
    string limit = random_.of(Names{format("({} & 7)", any(Type::I32, place)), "trips",
                                    "(t & 3) + 1", format("{}", random_.below(6) + 1),
                                    format("({} & 3) + trips", make_.variable(Type::U32))});
    switch (random_.below(5)) {
        case 0:
            return {format("for (int {0} = 0, {0}_end = {1}; {0} < {0}_end; ++{0}) {{\n", k, limit),
                    std::move(body), "}\n"};
        case 1:  // counted down; the condition is the body's last word
            return {format("{{ int {0} = {1}; do {{\n", k, limit), std::move(body),
                    format("}} while (--{0} > 0); }}\n", k)};
        case 2:
            return {format("{{ int {0} = 0; while ({0} < 8 && {1}) {{ ++{0};\n", k,
                           make_.condition(1, place.scope)),
                    std::move(body), "} }\n"};
        case 3:
            return {format("{{ int {0} = -1; for (;;) {{ if (++{0} >= 7 || {1}) break;\n", k,
                           make_.condition(1, place.scope)),
                    std::move(body), "} }\n"};
        default:
            return {format("for (int {0} = 0; {0} < {1}; {0} += {2}) {{\n", k,
                           random_.of(Names{"trips", "(t & 7)", "5", "(trips & 3) + (lane & 1)"}),
                           random_.below(2) + 1),
                    std::move(body), "}\n"};
    }
}

// The same, and those who are still there know each other.
Piece Statements::masked_loop(const Place& place) {
    string k = name("i"), mask = name("m"), go = name("c");
    Place inside = place;
    --inside.depth;
    inside.present = Present::Warp;
    inside.in_loop = inside.uniform_loop = false;
    inside.scope.counters.push_back(k);
    return {
        format("{{ int {0}_end = {1}; unsigned {2} = m; for (int {0} = 0;; ++{0}) {{ bool {3} = "
               "{0} < {0}_end; {2} = __ballot_sync({2}, {3}); if (!{3}) break; unsigned m = "
               "{2};\n",
               k, format("({} & 3)", any(Type::I32, place)), mask, go),
        list(random_.below(3) + 1, inside), "} }\n"};
}

Piece Statements::uniform_loop(const Place& place) {
    string k = name("i");
    Place inside = place;
    --inside.depth;
    inside.in_loop = false;
    inside.uniform_loop = true;
    inside.scope.counters.push_back(k);
    inside.scope.uniform.push_back(k);
    return {format("for (int {0} = 0; {0} < {1}; ++{0}) {{\n", k,
                   random_.of(Names{"trips", "3", "(int)blockIdx.x + 1", "(w0 & 3)"})),
            list(random_.below(3) + 1, inside), "}\n"};
}

Piece Statements::strided_loop(const Place& place) {
    string e = name("e");
    Place inside = place;
    --inside.depth;
    inside.present = Present::Some;
    inside.in_loop = true;
    inside.uniform_loop = false;
    inside.scope.index = e;
    in_strided_ = true;
    std::vector<Piece> body = list(random_.below(4) + 1, inside);
    in_strided_ = false;
    return {format("for ({2} {0} = i; {0} < {1}; {0} += threads) {{\n", e,
                   random_.of(Names{"N", "n", "N"}), random_.of(Names{"int", "unsigned", "int"})),
            std::move(body), "}\n"};
}

Piece Statements::leave(const Place& place) {
    string word = random_.of(Names{"break", "continue"});
    if (place.in_loop)
        return {format("if ({}) {};\n", make_.condition(1, place.scope), word), {}, ""};
    return {format("if ({}) {};\n", make_.uniform_condition(place.scope), word), {}, ""};
}

// Out of two loops at once.
Piece Statements::jump(const Place& place) {
    string k = name("i"), j = name("i"), label = name("out");
    Place inside = place;
    inside.depth -= 2;
    inside.present = Present::Some;
    inside.in_loop = true;
    inside.uniform_loop = false;
    inside.scope.counters.push_back(k);
    inside.scope.counters.push_back(j);
    Piece piece{
        format("{{ for (int {0} = 0; {0} < 4; ++{0}) for (int {1} = 0; {1} < 3; ++{1}) {{\n", k, j),
        {},
        format("}} {}:; }}\n", label)};
    piece.body = list(random_.below(2) + 1, inside);
    piece.body.push_back(
        {format("if ({}) goto {};\n", make_.condition(1, place.scope), label), {}, ""});
    piece.body.push_back(assignment(inside));
    return piece;
}

std::vector<Piece> Statements::stores(const Scope& scope) {
    const string& i = scope.index;
    std::vector<Piece> pieces;
    auto add = [&](const string& text) { pieces.push_back({text, {}, ""}); };
    for (int k = 0; k < 4; ++k) {
        add(format("o32[{0} * 4 + {1}] ^= v{1};\n", i, k));
        add(format("p32[{1} * N + {0}] += u{1};\n", i, k));
    }
    if (has_.small) {
        add(format("o8[{}] = (signed char)(c0 + b0);\n", i));
        add(format("o16[perm[{}]] = (unsigned short)(h0 ^ k0);\n", i));
    }
    if (has_.wide)
        add(format("o64[{}] += (long long)((unsigned long long)l0 + l1 + q0 + q1);\n", i));
    if (has_.floats) add(format("of[N - 1 - {}] += f0 + f1;\n", i));
    if (has_.doubles) add(format("od[{}] = d0 + d1;\n", i));
    if (has_.structs) add(format("os[{}] = s1;\n", i));
    if (has_.arrays)
        add(format("for (int a = 0; a < 8; ++a) o32[{} * 4 + (a & 3)] += la[a] ^ lb[a + 3];\n", i));
    return pieces;
}

}  // namespace trilane::cpu::testing
