// Random statements in which threads work together: warps, blocks, and threads that wait.
#include <fmt/format.h>

#include "devices/cpu/testing/lane_statements.h"

namespace trilane::cpu::testing {

using fmt::format;
using std::string;
using Names = std::vector<string>;

Piece Statements::shuffle(const Place& place) {
    bool wide = has_.wide && random_.chance(20), floating = has_.floats && random_.chance(25);
    Type type = wide ? Type::I64 : floating ? Type::F32 : Type::I32;
    string to = make_.variable(type), from = make_.variable(type);
    string width = random_.of(Names{"32", "32", "16", "8", "4"});
    string number = random_.chance(70) ? std::to_string(random_.below(31) + 1)
                                       : format("({} & 15)", make_.variable(Type::U32));
    switch (random_.below(4)) {
        case 0:
            number = random_.chance(50) ? number : format("({} & 31)", make_.variable(Type::I32));
            return {format("{} = at_lane(m, {}, {}, {});\n", to, from, number, width), {}, ""};
        case 1:
            return {format("{} = lane_up(m, {}, {}, {});\n", to, from, number, width), {}, ""};
        case 2:
            return {format("{} = lane_down(m, {}, {}, {});\n", to, from, number, width), {}, ""};
        default:
            return {format("{} = lane_xor(m, {}, {}, {});\n", to, from,
                           random_.of(Names{"1", "2", "4", "8", "16", "3", "21"}), width),
                    {},
                    ""};
    }
}

Piece Statements::warp(const Place& place) {
    string test = make_.condition(1, place.scope), value = any(Type::U32, place);
    string to = make_.variable(Type::U32);
    switch (random_.below(9)) {
        case 0:
        case 1:
        case 2:
            return shuffle(place);
        case 3:
            return {format("{} += {}(m, {});\n", to,
                           random_.of(Names{"__ballot_sync", "(unsigned)__any_sync",
                                            "(unsigned)__all_sync", "(unsigned)__uni_sync"}),
                           test),
                    {},
                    ""};
        case 4:
            return {format("{} ^= __reduce_{}_sync(m, {});\n", to,
                           random_.of(Names{"add", "min", "max", "and", "or", "xor"}), value),
                    {},
                    ""};
        case 5:
            return {format("{} += __match_any_sync(m, {} & {});\n", to, value,
                           random_.of(Names{"1u", "3u", "7u"})),
                    {},
                    ""};
        case 6: {  // each group of equal keys works by itself
            string group = name("g");
            return {format("{{ unsigned {0} = __match_any_sync(m, {1} & 3u); {2} += "
                           "__reduce_add_sync({0}, {3}); {4} ^= __ballot_sync({0}, {5}); }}\n",
                           group, value, to, make_.variable(Type::U32), make_.variable(Type::U32),
                           test),
                    {},
                    ""};
        }
        case 7:
            return {format("{{ int whole; {} += __match_all_sync(m, {} & 1u, &whole); v0 ^= whole; "
                           "}}\n",
                           to, value),
                    {},
                    ""};
        default:
            if (!has_.shared) return {"__syncwarp(m);\n", {}, ""};
            return {
                format("sh[t] = (int){0}; __syncwarp(m); v1 ^= ((m >> ((lane + {1}) & 31)) & 1) "
                       "? sh[(t & ~31) + ((lane + {1}) & 31)] : 7; __syncwarp(m);\n",
                       value, random_.below(31) + 1),
                {},
                ""};
    }
}

// Sums of every so many elements, which the threads of the block then show one another.
Piece Statements::strided_sum(const Place& place) {
    string e = name("e"), number = std::to_string(random_.below(40) + 1);
    string test = make_.condition(1, place.scope), limit = random_.of(Names{"N * 3", "n * 2", "N"});
    string type = random_.of(Names{"int", "unsigned", "long long"});
    string head = format("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", type, e, place.scope.index,
                         limit, random_.of(Names{"threads", "threads", "threads + 1"}));
    Names sums{
        format("{} u0 += (unsigned)a32[{}];", head, e),
        format("{} {{ if (b32[{}] & 3) continue; v1 ^= (int)((unsigned)a32[{} + 1] + {}); }}", head,
               e, e, number),
        format("{} {{ u1 = u1 * 3u + a16[{}]; if (u1 % 11u == 3u) break; }}", head, e),
        format("{} for (int a = 0; a < (a8[{}] & 3); ++a) u2 += (unsigned)a32[{}] ^ v0;", head, e,
               e),
        format("{} {{ if ({}) u3 += (unsigned)a64[{}]; else v2 = a32[{}] ^ v0; }}", head, test, e,
               e),
        format("{} atomicAdd(&hist[a16[{}] & 31], (unsigned){});", head, e, e),
        format("{{ {0} {1} = {2}; do {{ u0 ^= (unsigned)a32[{1}]; {1} += threads; }} while ({1} < "
               "{3} && (u0 & 15)); u1 += (unsigned){1}; }}",
               type, e, place.scope.index, limit),
    };
    if (has_.floats)
        sums.push_back(format("{} {{ f0 = f0 * 0.5f + af[{}]; f1 += bf[{}]; }}", head, e, e));
    if (has_.doubles) sums.push_back(format("{} d0 = d0 * 0.25 + ad[{}];", head, e));
    return {
        format("{}\nsh[t] = (int)((u0 ^ u1) + (u2 ^ u3) + (unsigned)v1); __syncthreads(); v0 ^= "
               "(int)((unsigned)sh[(t + {}) % size] + hist[t & 31]); __syncthreads();\n",
               random_.of(sums), number),
        {},
        ""};
}

Piece Statements::shared(const Place& place) {
    if (random_.chance(25)) return strided_sum(place);
    string value = any(Type::I32, place), test = make_.condition(1, place.scope);
    string number = std::to_string(random_.below(40) + 1);
    Names texts{
        format("sh[t] = {}; __syncthreads(); v0 ^= sh[(t + {}) % size]; __syncthreads();\n", value,
               number),
        format("sh[t] = {}; __syncthreads(); v1 += sh[size - 1 - t] & 255; v1 &= 0xffff; "
               "__syncthreads();\n",
               value),
        format(
            "sh[t] = {}; __syncthreads(); for (int s = 512; s > 0; s >>= 1) {{ if (t < s && t + s "
            "< size) sh[t] = (int)((unsigned)sh[t] + sh[t + s]); __syncthreads(); }} v2 = sh[0]; "
            "__syncthreads();\n",
            value),
        format(
            "sh[t] = {}; __syncthreads(); for (int s = 1; s < size; s *= 2) {{ unsigned x = t >= "
            "s ? sh[t - s] : 0; __syncthreads(); sh[t] = (int)(sh[t] + x); __syncthreads(); }} "
            "v3 = sh[t]; __syncthreads();\n",
            value),
        format("for (int s = t; s < 32; s += size) hist[s] = 0; __syncthreads(); "
               "atomicAdd(&hist[({}) & 31], {}); "
               "__syncthreads(); u0 += hist[(t + {}) & 31]; __syncthreads();\n",
               any(Type::U32, place), make_.variable(Type::U32), number),
        format("if (t == 0) sh[0] = {}; __syncthreads(); w0 = sh[0]; __syncthreads();\n", value),
        format("w1 = __syncthreads_count({});\n", test),
        format("w0 = __syncthreads_{}({});\n", random_.of(Names{"and", "or"}), test),
        format(
            "sh[t] = {0}; __syncthreads(); {{ int x = t / {1}, y = t % {1}; v0 = y * (size / {1}) "
            "+ x < size ? sh[y * (size / {1}) + x] : 3; }} __syncthreads();\n",
            value, random_.of(Names{"8", "16", "4", "5"})),
        format("if ({0}) sh[t] = {1}; __syncthreads(); u1 += sh[(t * {2}) % size]; "
               "__syncthreads();\n",
               test, value, number),
        format(
            "bytes[t] = (unsigned char){0}; bytes[size - 1 - t + 1024] = (unsigned char){1}; "
            "__syncthreads(); u2 += bytes[(t + {2}) % size] + bytes[1024 + t]; __syncthreads();\n",
            value, make_.variable(Type::U32), number),
    };
    if (has_.floats)
        texts.push_back(
            format("shf[t] = {}; __syncthreads(); for (int a = 0; a < 8; ++a) f0 = "
                   "fmaf(shf[(t + a * {}) % size], 0.5f, f0); __syncthreads();\n",
                   any(Type::F32, place), number));
    return {random_.of(texts), {}, ""};
}

// The threads of a warp that happen to be together send one of them.
Piece Statements::opportunistic() {
    return {
        "{ unsigned here = __activemask(); if (lane == __ffs(here) - 1) atomicAdd(&acc[54], "
        "__popc(here)); }\n",
        {},
        ""};
}

// Threads that wait for each other. The order of what they do shows nowhere.
Piece Statements::waiting(const Place& place) {
    string value = any(Type::I32, place), test = make_.condition(1, place.scope);
    string locks = "flags[N * 4 + 0]", waits = "flags[N * 4 + 1]";
    Names texts{
        // A lock that is asked for until it is given, and one that is waited for.
        format(
            "if ({0}) {{ bool done = false; while (!done) {{ if (atomicCAS(&{1}, 0, 1) == 0) {{ "
            "volatile int* sum = acc + 51; *sum = (int)((unsigned)*sum + ({2})); __threadfence(); "
            "atomicExch(&{1}, 0); done = true; }} }} }}\n",
            test, locks, value),
        format(
            "if ({0}) {{ while (atomicCAS(&{1}, 0, 1) != 0) ; volatile int* sum = acc + 52; *sum "
            "= *sum ^ ({2}); __threadfence(); atomicExch(&{1}, 0); }}\n",
            test, waits, value),
        // An addition by compare and exchange.
        format("if ({}) {{ int old = acc[53], seen; do {{ seen = old; old = atomicCAS(&acc[53], "
               "seen, (int)((unsigned)seen + ({}) * 3u)); }} while (old != seen); }}\n",
               test, value),
    };
    if (place.present == Present::Block && returns_ == 0 && place.depth == kDepth) {
        // One after the other, and odd threads after even ones.
        if (block_size() <= 256)
            texts.push_back(format(
                "{{ int* turn = flags + {0} * N + whole_block * size; volatile int* carried = "
                "flags + "
                "({0} + 2) * N + whole_block * size; while (atomicAdd(turn, 0) != t) ; int w = "
                "*carried; *carried = (int)((unsigned)w * 3u + ({1})); __threadfence(); "
                "atomicExch(turn, t + 1); v0 ^= w; }}\n",
                waits_, value));
        texts.push_back(format(
            "{{ volatile int* flag = flags + {0} * N + whole_block * size; if (t & 1) {{ while "
            "(flag[t - 1] == 0) ; __threadfence(); v1 ^= flag[t - 1]; }} else {{ __threadfence(); "
            "flag[t] = ({1}) | 1; }} }}\n",
            waits_, value));
    }
    ++waits_;
    return {random_.of(texts), {}, ""};
}

}  // namespace trilane::cpu::testing
