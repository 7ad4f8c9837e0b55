// Reductions on a GPU: several wide loads in flight per thread, teams of threads for one output,
// and their joining through shared memory. How elements are grouped depends on shapes and alignment
// alone.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "array/promotion.h"
#include "array/reduction_plan.h"

namespace trilane::array {

namespace {

// By measurement on an H200.
constexpr int kPackBytes = 16;
constexpr int kMaxPack = 8;
constexpr int kPerThread = 16;               // elements in flight of a team's thread
constexpr int kRowsInFlight = 4;             // of a thread that steps down columns
constexpr int64_t kTeamBlocks = 4096;        // blocks that one reduction is cut into
constexpr int64_t kColumnThreads = 1 << 19;  // threads that columns are cut for
constexpr int64_t kMinRows = 32;             // of a thread's segment of columns

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Elements per load: 1 unless every pack of every unit-stride operand is aligned and whole.
int choose_pack(std::span<const LoopOperand> inputs, const ReductionPlan& plan) {
    const LoopLayout& inner = plan.walk == Walk::Along ? plan.reduced : plan.kept;
    size_t widest = 0;
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (plan.access[k] == Access::Strided) return 1;
        if (plan.access[k] == Access::Unit) widest = std::max(widest, inputs[k].array->itemsize());
    }
    if (widest == 0) return 1;
    int pack = std::clamp(kPackBytes / static_cast<int>(widest), 1, kMaxPack);
    int64_t bits = 0;
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (plan.access[k] != Access::Unit) continue;
        int64_t used = static_cast<int64_t>(inputs[k].array->data());
        for (const LoopLayout* layout : {&plan.kept, &plan.reduced})
            for (int d = 0; d < layout->rank; ++d)
                if (layout != &inner || d + 1 < layout->rank) used |= layout->strides[k][d];
        bits |= used & (pack * static_cast<int64_t>(inputs[k].array->itemsize()) - 1);
    }
    // Along one axis the ragged end is the kernel's affair.
    if (plan.walk == Walk::Columns || inner.rank > 1) bits |= inner.shape.back() & (pack - 1);
    return bits ? 1 : pack;
}

// Declares the registers of `unroll` loads and writes those loads: pack u begins at element (Along)
// or is of row (Columns) `place`; with `guard` places at or past `end` are the last one again.
std::string loads(const ReductionPlan& plan, std::span<const LoopOperand> inputs,
                  const std::string& step, bool guard) {
    const char* word = plan.narrow ? "int" : "long long";
    bool along = plan.walk == Walk::Along;
    std::string text, body;
    for (size_t k = 0; k < inputs.size(); ++k)
        if (inputs[k].array)
            text += fmt::format("        trilane::pack<{}, {}> x{}[{}];\n",
                                device_type(inputs[k].array->dtype()),
                                plan.access[k] == Access::Zero ? 1 : plan.pack, k, plan.unroll);
    int outer = plan.reduced.rank - along;
    auto pointers = [&](const std::string& place) {
        std::string s = fmt::format("const {} place = {};\n", word, place);
        if (outer == 0)
            s += fmt::format("        const {} x = place;", word);
        else if (along)
            s += fmt::format(
                "        {0} rest = place / ({0})re{1}; const {0} x = place % ({0})re{1};\n", word,
                outer);
        else
            s += fmt::format("        {} rest = place;\n", word);
        for (size_t k = 0; k < inputs.size(); ++k)
            if (inputs[k].array) s += fmt::format(" long long g{0} = o{0};", k);
        return s + "\n" + offsets_of("rest", "r", "g", inputs.size(), inputs, outer, word);
    };
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (!inputs[k].array) continue;
        std::string stored = device_type(inputs[k].array->dtype());
        const char* x = along ? "x" : "0";
        if (plan.access[k] == Access::Zero)
            body += fmt::format("        x{0}[u].x[0] = *(const {1}*)(p{0} + g{0});\n", k, stored);
        else if (plan.access[k] == Access::Strided)
            body += fmt::format(
                "        x{0}[u].x[{3}] = *(const {1}*)(p{0} + g{0} + (long long){2} * w{0});\n", k,
                stored, x, guard && along ? "k" : "0");
        else if (guard && along)
            body +=
                fmt::format("        x{0}[u].x[k] = ((const {1}*)(p{0} + g{0}))[x];\n", k, stored);
        else
            body += fmt::format(
                "        x{0}[u] = *(const trilane::pack<{1}, {2}>*)((const {1}*)(p{0} + g{0}) + "
                "{3});\n",
                k, stored, plan.pack, x);
    }
    text += fmt::format("        #pragma unroll\n        for (int u = 0; u < {}; ++u) {{\n",
                        plan.unroll);
    if (!guard) return text + "        " + pointers("at + u * " + step) + body + "        }\n";
    if (along)
        text += fmt::format(
            "        #pragma unroll\n        for (int k = 0; k < {}; ++k) {{\n        {}{}        "
            "}}\n",
            plan.pack,
            pointers(fmt::format("at + u * {0} + k < end ? at + u * {0} + k : end - 1", step)),
            body);
    else
        text += "        " + pointers("at + u < end ? at + u : end - 1") + body;
    return text + "        }\n";
}

// Combines what loads() has read.
std::string combines(const ReductionPlan& plan, const ReductionText& text,
                     std::span<const LoopOperand> inputs, const std::string& step, bool guard) {
    bool along = plan.walk == Walk::Along;
    std::string s = fmt::format(
        "        #pragma unroll\n        for (int u = 0; u < {}; ++u) {{\n"
        "        #pragma unroll\n        for (int k = 0; k < {}; ++k) {{\n"
        "            const long long j = at + u * {}{};\n",
        plan.unroll, plan.pack, step, along ? " + k" : "");
    if (guard) s += "            if (j < end) {\n";
    for (size_t k = 0; k < inputs.size(); ++k) {
        std::string value = fmt::format("v{}", k);
        std::string stored =
            device_type(inputs[k].array ? inputs[k].array->dtype() : inputs[k].computed);
        if (inputs[k].array) {
            value = fmt::format("x{}[u].x[{}]", k, plan.access[k] == Access::Zero ? "0" : "k");
            if (stored != text.input_types[k])
                value = fmt::format("trilane::cast<{}>({})", text.input_types[k], value);
        }
        s += fmt::format("            const {} {} = {};\n", text.input_types[k],
                         text.input_names[k], value);
    }
    std::string target = along ? fmt::format("part[(u * {} + k) % {}]", plan.pack, plan.parts)
                               : fmt::format("part[u % {}][k]", plan.parts);
    s += fmt::format("            {0} = combine({0}, {1});\n", target, text.map);
    if (guard) s += "            }\n";
    return s + "        }\n        }\n";
}

std::string walk_text(const ReductionPlan& plan, const ReductionText& text,
                      std::span<const LoopOperand> inputs, const std::string& step) {
    const char* word = plan.narrow ? "int" : "long long";
    bool along = plan.walk == Walk::Along;
    int last = along ? plan.pack : 1;
    std::string s = fmt::format(
        "        const {0} begin = ({0})(segment * segment_length);\n"
        "        const {0} end = ({0})(segment * segment_length + segment_length < reduced ? "
        "segment * segment_length + segment_length : reduced);\n"
        "        {0} at = begin{1};\n",
        word, along ? fmt::format(" + lane * {}", plan.pack) : "");
    s += fmt::format("        for (; at + {0} * {1} + {2} <= end; at += {3} * {1}) {{\n",
                     plan.unroll - 1, step, last, plan.unroll);
    s += loads(plan, inputs, step, false) + combines(plan, text, inputs, step, false);
    s += "        }\n        if (at < end) {\n";
    s += loads(plan, inputs, step, true) + combines(plan, text, inputs, step, true);
    return s + "        }\n";
}

std::string team_body(const ReductionPlan& plan, const ReductionText& text,
                      std::span<const LoopOperand> inputs) {
    const char* word = plan.narrow ? "int" : "long long";
    std::string s = fmt::format(
        "    const int team = (int)tiles, lane = (int)threadIdx.x & (team - 1);\n"
        "    const {0} step = ({0})team * {1};\n"
        "    const long long slot = item / team, first = slot / segments;\n"
        "    const long long segment = slot - first * segments;\n"
        "    const bool active = slot < kept * segments;\n"
        "    accumulator_t part[{2}];\n"
        "    #pragma unroll\n    for (int u = 0; u < {2}; ++u) part[u] = {3};\n"
        "    if (active) {{\n        long long row = first;\n",
        word, plan.pack, plan.parts, text.identity);
    s += offsets_of("row", "k", "o", inputs.size() + 1, inputs, plan.kept.rank);
    s += walk_text(plan, text, inputs, "step");
    s += fmt::format(
        "    }}\n"
        "    #pragma unroll\n    for (int half = {0} / 2; half > 0; half /= 2)\n"
        "        #pragma unroll\n        for (int u = 0; u < half; ++u) part[u] = combine(part[u], "
        "part[u + half]);\n"
        "    __shared__ __align__(16) unsigned char bytes[{1} * sizeof(accumulator_t)];\n"
        "    accumulator_t* tree = (accumulator_t*)bytes + threadIdx.x;\n"
        "    if (team > 1) *tree = part[0];\n"
        "    for (int half = team / 2; half > 0; half /= 2) {{\n"
        "        __syncthreads();\n"
        "        if (lane < half) *tree = part[0] = combine(part[0], tree[half]);\n"
        "    }}\n"
        "    if (lane > 0 || !active) return;\n    ",
        plan.parts, kTeamThreads);
    return s + write_result(plan, text, inputs.size(), "part[0]", "");
}

std::string columns_body(const ReductionPlan& plan, const ReductionText& text,
                         std::span<const LoopOperand> inputs) {
    int rank = plan.kept.rank;
    std::string s = fmt::format(
        "    if (item >= tiles * (kept / ke{0}) * segments) return;\n"
        "    const long long tile = item % tiles; long long row = item / tiles % (kept / ke{0});\n"
        "    const long long segment = item / (tiles * (kept / ke{0}));\n"
        "    const long long x0 = tile * {1}, first = row * ke{0} + x0;\n",
        rank - 1, plan.pack);
    s += offsets_of("row", "k", "o", inputs.size() + 1, inputs, rank - 1);
    for (size_t k = 0; k <= inputs.size(); ++k)
        if (k == inputs.size() || inputs[k].array)
            s += fmt::format("    o{0} += x0 * ks{0}_{1};\n", k, rank - 1);
    s += fmt::format(
        "    accumulator_t part[{0}][{1}];\n"
        "    #pragma unroll\n    for (int u = 0; u < {0}; ++u)\n"
        "        #pragma unroll\n        for (int k = 0; k < {1}; ++k) part[u][k] = {2};\n    {{\n",
        plan.parts, plan.pack, text.identity);
    s += walk_text(plan, text, inputs, "1");
    s += fmt::format(
        "    }}\n    #pragma unroll\n    for (int k = 0; k < {0}; ++k) {{\n"
        "        #pragma unroll\n        for (int u = 1; u < {1}; ++u)\n"
        "            part[0][k] = combine(part[0][k], part[u][k]);\n        ",
        plan.pack, plan.parts);
    return s + write_result(plan, text, inputs.size(), "part[0][k]", " + k") + "    }\n";
}

}  // namespace

void plan_for_gpu(std::span<const LoopOperand> inputs, size_t accumulator_bytes,
                  ReductionPlan& plan) {
    plan.gpu = true;
    plan.narrow = plan.reduced.count < (int64_t{1} << 30);
    plan.pack = choose_pack(inputs, plan);
    int carried = accumulator_bytes == 0   ? 2
                  : accumulator_bytes <= 4 ? 8
                  : accumulator_bytes <= 8 ? 4
                                           : 2;
    int64_t reduced = plan.reduced.count, kept = plan.kept.count;
    if (plan.walk == Walk::Columns) {
        plan.unroll = kRowsInFlight * (plan.pack == 1 ? 2 : 1);
        plan.parts = plan.pack == 1 ? 4 : 2;
        plan.tiles = plan.kept.shape.back() / plan.pack;
        int64_t threads = std::max<int64_t>(1, kept / plan.pack);
        plan.segments = std::clamp<int64_t>(kColumnThreads / threads, 1,
                                            std::max<int64_t>(1, reduced / kMinRows));
    } else {
        // Axes taken apart per element make a long text: fewer of them.
        // So do accumulators that are structures.
        int most = accumulator_bytes > 8 || plan.reduced.rank > 1 ? kPerThread / 2 : kPerThread;
        plan.unroll = std::max(1, most / plan.pack);
        if (plan.reduced.rank > 1) plan.unroll = std::min(plan.unroll, 2);
        plan.parts = std::min(carried, plan.unroll * plan.pack);
        int64_t each = plan.unroll * plan.pack;
        plan.team = std::min<int64_t>(
            kTeamThreads, static_cast<int64_t>(
                              std::bit_ceil(static_cast<uint64_t>((reduced + each - 1) / each))));
        plan.tiles = plan.team;
        plan.segments =
            std::clamp<int64_t>((kTeamBlocks + kept - 1) / std::max<int64_t>(1, kept), 1,
                                std::max<int64_t>(1, reduced / (each * kTeamThreads)));
    }
    if (accumulator_bytes == 0) plan.segments = 1;
    plan.segment_length = (reduced + plan.segments - 1) / plan.segments;
    if (plan.segments > 1) {
        int64_t whole =
            plan.walk == Walk::Columns ? plan.unroll : plan.team * plan.pack * plan.unroll;
        plan.segment_length = round_up(plan.segment_length, whole);
        plan.segments = (reduced + plan.segment_length - 1) / plan.segment_length;
    }
    plan.final_stage = plan.segments == 1;
}

int64_t gpu_threads(const ReductionPlan& plan) {
    if (plan.walk == Walk::Along) return plan.kept.count * plan.segments * plan.team;
    return plan.tiles * (plan.kept.count / plan.kept.shape.back()) * plan.segments;
}

std::string gpu_body(const ReductionPlan& plan, const ReductionText& text,
                     std::span<const LoopOperand> inputs) {
    return plan.walk == Walk::Along ? team_body(plan, text, inputs)
                                    : columns_body(plan, text, inputs);
}

}  // namespace trilane::array
