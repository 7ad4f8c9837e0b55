// Text, geometry and launch of reduction kernels.
#include <fmt/format.h>

#include <algorithm>

#include "array/arguments.h"
#include "array/promotion.h"
#include "array/reduction.h"
#include "array/reduction_plan.h"

namespace trilane::array {

using core::DType;

std::string offsets_of(const char* counter, const char* axes, const char* target, size_t operands,
                       std::span<const LoopOperand> inputs, int rank, const char* word) {
    std::string text;
    for (int d = rank - 1; d >= 0; --d) {
        if (d > 0)
            text += fmt::format(
                "        {{ const long long c = {0} % ({3}){1}e{2}; {0} /= ({3}){1}e{2};", counter,
                axes, d, word);
        else
            text += fmt::format("        {{ const long long c = {};", counter);
        for (size_t k = 0; k < operands; ++k)
            if (k >= inputs.size() || inputs[k].array)
                text += fmt::format(" {3}{0} += c * {1}s{0}_{2};", k, axes, d, target);
        text += " }\n";
    }
    return text;
}

std::string write_result(const ReductionPlan& plan, const ReductionText& text, size_t inputs,
                         const char* value, const char* column) {
    if (!plan.final_stage)
        return fmt::format("out[segment * kept + first{}] = {};\n", column, value);
    std::string step;
    if (*column) step = fmt::format(" + ({}) * ks{}_{}", column + 3, inputs, plan.kept.rank - 1);
    return fmt::format(
        "{{ const accumulator_t a = {}; {} {}; {}; *(out_t*)(out + o{}{}) = "
        "trilane::cast<out_t>({}); }}\n",
        value, text.output_type, text.output_name, text.post, inputs, step, text.output_name);
}

namespace {

constexpr int64_t kSegment = 32768;  // elements that one thread reduces at most, roughly
constexpr int64_t kMaxSegments = 4096;
constexpr int64_t kMinSegment = 1024;
constexpr int64_t kJoinWidth = 32;    // neighbouring outputs that a block joins at most
constexpr int64_t kJoinBlocks = 256;  // blocks that it may be before it takes more of them
constexpr int64_t kLanesFrom = 1000;  // threads
constexpr int kJoinThreads = 512;     // of a block that joins segments on a GPU

Access access_of(int64_t stride, const LoopOperand& operand) {
    if (!operand.array) return Access::Scalar;
    if (stride == 0) return Access::Zero;
    return stride == static_cast<int64_t>(operand.array->itemsize()) ? Access::Unit
                                                                     : Access::Strided;
}

// --- text

// Offsets g0, g1 ... of the reduced axes but the last `inner` ones, from `rest`.
std::string reduced_offsets(const ReductionPlan& plan, std::span<const LoopOperand> inputs,
                            int inner) {
    std::string text;
    for (size_t k = 0; k < inputs.size(); ++k)
        if (inputs[k].array) text += fmt::format("        long long g{0} = o{0};\n", k);
    return text + offsets_of("rest", "r", "g", inputs.size(), inputs, plan.reduced.rank - inner);
}

std::string input_value(const ReductionPlan& plan, const ReductionText& text, size_t k,
                        const LoopOperand& input, const std::string& index) {
    std::string stored = device_type(input.array ? input.array->dtype() : input.computed);
    const std::string& computed = text.input_types[k];
    const std::string& name = text.input_names[k];
    std::string value;
    switch (plan.access[k]) {
        case Access::Scalar:
            return fmt::format("const {} {} = v{};", computed, name, k);
        case Access::Unit:
            value = fmt::format("((const {}*)q{})[{}]", stored, k, index);
            break;
        case Access::Zero:
            value = fmt::format("*(const {}*)q{}", stored, k);
            break;
        default:
            value = fmt::format("*(const {}*)(q{} + ({}) * w{})", stored, k, index, k);
            break;
    }
    if (stored != computed) value = fmt::format("trilane::cast<{}>({})", computed, value);
    return fmt::format("const {} {} = {};", computed, name, value);
}

std::string load_inputs(const ReductionPlan& plan, const ReductionText& text,
                        std::span<const LoopOperand> inputs, const std::string& index) {
    std::string all;
    for (size_t k = 0; k < inputs.size(); ++k)
        all += " " + input_value(plan, text, k, inputs[k], index);
    return all;
}

std::string reduction_parameters(const ReductionPlan& plan, const ReductionText& text,
                                 std::span<const LoopOperand> inputs) {
    std::string p;
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k].array)
            p += fmt::format("const char* __restrict__ p{}, ", k);
        else
            p += fmt::format("const {} v{}, ", text.input_types[k], k);
    }
    p += fmt::format(
        "{}* __restrict__ out, const long long kept, const long long reduced, "
        "const long long count, const long long segments, "
        "const long long segment_length, const long long tiles",
        plan.final_stage ? "char" : "accumulator_t");
    for (int d = 0; d < plan.kept.rank; ++d) p += fmt::format(", const long long ke{}", d);
    for (int d = 0; d < plan.reduced.rank; ++d) p += fmt::format(", const long long re{}", d);
    for (size_t k = 0; k <= inputs.size(); ++k) {
        if (k < inputs.size() && !inputs[k].array) continue;
        for (int d = 0; d < plan.kept.rank; ++d)
            p += fmt::format(", const long long ks{}_{}", k, d);
        if (k == inputs.size()) continue;
        for (int d = 0; d < plan.reduced.rank; ++d)
            p += fmt::format(", const long long rs{}_{}", k, d);
    }
    return p;
}

// One output per thread; runs along the innermost reduced axis.
std::string along_text(const ReductionPlan& plan, const ReductionText& text,
                       std::span<const LoopOperand> inputs) {
    int rank = plan.reduced.rank;
    std::string s;
    s += "    const long long first = item % kept, segment = item / kept;\n";
    s += "    long long row = first;\n" +
         offsets_of("row", "k", "o", inputs.size() + 1, inputs, plan.kept.rank);
    s += "    accumulator_t total = " + text.identity + ";\n";
    std::string inner = fmt::format("re{}", rank - 1);
    {
        s += "    long long begin = segment * segment_length, end = begin + segment_length;\n"
             "    if (end > reduced) end = reduced;\n"
             "    while (begin < end) {\n";
        s += fmt::format(
            "        long long rest = begin / {0}, x0 = begin % {0};\n"
            "        long long run = {0} - x0; if (run > end - begin) run = end - begin;\n",
            inner);
        s += reduced_offsets(plan, inputs, 1);
        for (size_t k = 0; k < inputs.size(); ++k)
            if (inputs[k].array)
                s += fmt::format("        const char* q{0} = p{0} + g{0} + x0 * rs{0}_{1};\n", k,
                                 rank - 1);
        // Blocks of 256 in 16 parts, groups of 16 blocks, groups one by one: errors grow slowly.
        s +=
            "        long long x = 0;\n"
            "        accumulator_t group = " +
            text.identity +
            ";\n"
            "        int blocks = 0;\n"
            "        while (run - x >= 16) {\n"
            "            long long block = run - x; if (block > 256) block = 256;\n"
            "            block &= ~15ll;\n"
            "            accumulator_t part[16];\n"
            "            #pragma unroll\n"
            "            for (int u = 0; u < 16; ++u) part[u] = " +
            text.identity +
            ";\n"
            "            for (long long y = 0; y < block; y += 16) {\n"
            "                #pragma unroll\n"
            "                for (int u = 0; u < 16; ++u) {\n"
            "                    const long long j = begin + x + y + u;\n"
            "                   " +
            load_inputs(plan, text, inputs, "x + y + u") +
            "\n"
            "                    part[u] = combine(part[u], " +
            text.map +
            ");\n"
            "                }\n            }\n"
            "            #pragma unroll\n"
            "            for (int w = 8; w > 0; w >>= 1) {\n"
            "                #pragma unroll\n"
            "                for (int u = 0; u < w; ++u) part[u] = combine(part[u], part[u + w]);\n"
            "            }\n"
            "            group = combine(group, part[0]);\n"
            "            if (++blocks == 16) { total = combine(total, group); group = " +
            text.identity +
            "; blocks = 0; }\n"
            "            x += block;\n"
            "        }\n"
            "        total = combine(total, group);\n"
            "        for (; x < run; ++x) {\n"
            "            const long long j = begin + x;\n"
            "           " +
            load_inputs(plan, text, inputs, "x") +
            "\n"
            "            total = combine(total, " +
            text.map +
            ");\n"
            "        }\n"
            "        begin += run;\n"
            "    }\n";
    }
    s += "    " + write_result(plan, text, inputs.size(), "total", "");
    return s;
}

// `columns` neighbouring outputs per thread; steps along the reduced axes.
std::string columns_text(const ReductionPlan& plan, const ReductionText& text,
                         std::span<const LoopOperand> inputs) {
    int rank = plan.kept.rank;
    std::string s;
    s += fmt::format(
        "    const long long tile = item % tiles; long long row = item / tiles % (kept / ke{0});\n"
        "    const long long segment = item / (tiles * (kept / ke{0}));\n"
        "    const long long x0 = tile * {1}, first = row * ke{0} + x0;\n"
        "    long long width = ke{0} - x0; if (width > {1}) width = {1};\n",
        rank - 1, plan.columns);
    s += offsets_of("row", "k", "o", inputs.size() + 1, inputs, rank - 1);
    for (size_t k = 0; k <= inputs.size(); ++k)
        if (k == inputs.size() || inputs[k].array)
            s += fmt::format("    o{0} += x0 * ks{0}_{1};\n", k, rank - 1);
    s += fmt::format(
        "    accumulator_t part[{0}];\n    for (int u = 0; u < {0}; ++u) part[u] = {1};\n",
        plan.columns, text.identity);
    s += "    long long begin = segment * segment_length, end = begin + segment_length;\n"
         "    if (end > reduced) end = reduced;\n"
         "    for (long long j = begin; j < end; ++j) {\n        long long rest = j;\n";
    s += reduced_offsets(plan, inputs, 0);
    for (size_t k = 0; k < inputs.size(); ++k)
        if (inputs[k].array) s += fmt::format("        const char* q{0} = p{0} + g{0};\n", k);
    std::string step = load_inputs(plan, text, inputs, "u") +
                       fmt::format(" part[u] = combine(part[u], {});", text.map);
    s += fmt::format(
        "        if (width == {0}) {{ for (int u = 0; u < {0}; ++u) {{{1} }} }}\n"
        "        else {{ for (int u = 0; u < width; ++u) {{{1} }} }}\n    }}\n",
        plan.columns, step);
    s += "    for (int u = 0; u < width; ++u) " +
         write_result(plan, text, inputs.size(), "part[u]", " + u");
    return s;
}

std::string reduction_text(const ReductionPlan& plan, const ReductionText& text,
                           std::span<const LoopOperand> inputs, const char* out_type) {
    std::string s = "#include \"trilane/array_ops.h\"\n";
    if (text.using_ops) s += "using namespace trilane;\n";
    s += text.preamble;
    s += fmt::format("typedef {} accumulator_t;\ntypedef {} out_t;\n", text.accumulator, out_type);
    s += fmt::format(
        "__device__ __forceinline__ accumulator_t combine(const accumulator_t a, "
        "const accumulator_t b) {{ return {}; }}\n",
        text.combine);
    s += fmt::format("extern \"C\" __global__ void {}({}) {{\n", text.entry,
                     reduction_parameters(plan, text, inputs));
    s += "    const long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n";
    if (plan.walk == Walk::Along && !plan.gpu)
        s += "    if (item >= kept * segments) return;\n";
    else if (!plan.gpu)
        s += fmt::format("    if (item >= tiles * (kept / ke{}) * segments) return;\n",
                         plan.kept.rank - 1);
    for (size_t k = 0; k <= inputs.size(); ++k) {
        if (k == inputs.size() || inputs[k].array) s += fmt::format("    long long o{} = 0;\n", k);
        if (k == inputs.size() || !inputs[k].array) continue;
        if (plan.access[k] == Access::Strided)
            s += fmt::format("    const long long w{0} = {1}s{0}_{2};\n", k,
                             plan.walk == Walk::Along ? "r" : "k",
                             (plan.walk == Walk::Along ? plan.reduced.rank : plan.kept.rank) - 1);
    }
    if (plan.gpu) return s + gpu_body(plan, text, inputs) + "}\n";
    s += plan.walk == Walk::Along ? along_text(plan, text, inputs)
                                  : columns_text(plan, text, inputs);
    return s + "}\n";
}

// A thread that joins the segments of one output, one after the other.
std::string join_loop(const ReductionText& text) {
    return "    const long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (item >= kept) return;\n"
           "    accumulator_t total = " +
           text.identity +
           ";\n"
           "    for (long long k = 0; k < segments; ++k) total = combine(total, part[k * kept + "
           "item]);\n";
}

// A block that joins the segments of `width` (a power of two) neighbouring outputs, in a tree.
// Bytes, because an accumulator may have a constructor.
std::string join_tree(const ReductionText& text) {
    return fmt::format(
        "    __shared__ __align__(16) unsigned char bytes[{0} * sizeof(accumulator_t)];\n"
        "    accumulator_t* tree = (accumulator_t*)bytes;\n"
        "    const int thread = threadIdx.x, step = {0} / (int)width;\n"
        "    const long long item = blockIdx.x * width + thread % (int)width;\n"
        "    accumulator_t total = {1};\n"
        "    if (item < kept) {{\n"
        "        #pragma unroll 8\n"
        "        for (long long k = thread / (int)width; k < segments; k += step)\n"
        "            total = combine(total, part[k * kept + item]);\n"
        "    }}\n"
        "    tree[thread] = total;\n"
        "    #pragma unroll 1\n"
        "    for (int half = {0} / 2; half >= width; half /= 2) {{\n"
        "        __syncthreads();\n"
        "        if (thread < half) tree[thread] = combine(tree[thread], tree[thread + half]);\n"
        "    }}\n"
        "    if (thread >= width || item >= kept) return;\n"
        "    total = tree[thread];\n",
        kJoinThreads, text.identity);
}

// The second kernel: joins the segments of each output, by a thread or (`tree`) by threads of a
// block.
std::string join_text(const ReductionText& text, int rank, const char* out_type, bool tree) {
    std::string s = "#include \"trilane/array_ops.h\"\n";
    if (text.using_ops) s += "using namespace trilane;\n";
    s += text.preamble;
    s += fmt::format("typedef {} accumulator_t;\ntypedef {} out_t;\n", text.accumulator, out_type);
    s += fmt::format(
        "__device__ __forceinline__ accumulator_t combine(const accumulator_t a, "
        "const accumulator_t b) {{ return {}; }}\n",
        text.combine);
    s += fmt::format(
        "extern \"C\" __global__ void {}_join(const accumulator_t* __restrict__ part, "
        "char* __restrict__ out, const long long kept, const long long count, "
        "const long long segments{}",
        text.entry, tree ? ", const long long width" : "");
    for (int d = 0; d < rank; ++d)
        s += fmt::format(", const long long ke{0}, const long long ks{0}", d);
    s += ") {\n" + (tree ? join_tree(text) : join_loop(text));
    s += "    long long rest = item, o = 0;\n";
    for (int d = rank - 1; d >= 0; --d)
        s += fmt::format("    o += rest % ke{0} * ks{0}; rest /= ke{0};\n", d);
    s += fmt::format(
        "    const accumulator_t a = total; {0} {1}; {2};\n"
        "    *(out_t*)(out + o) = trilane::cast<out_t>({1});\n}}\n",
        text.output_type, text.output_name, text.post);
    return s;
}

// --- plan

void split_axes(const Shape& shape, const std::vector<int>& axes,
                std::span<const LoopOperand> inputs, const Array& out, bool keep_order,
                ReductionPlan& plan) {
    Shape kept_shape, reduced_shape;
    Shape kept_strides[kMaxOperands], reduced_strides[kMaxOperands];
    const Shape *kept[kMaxOperands], *reduced[kMaxOperands];
    std::vector<bool> gone(shape.size(), false);
    for (int axis : axes) gone[axis] = true;
    for (size_t i = 0; i < shape.size(); ++i)
        (gone[i] ? reduced_shape : kept_shape).push_back(shape[i]);
    size_t arrays = 0;
    size_t place[kMaxOperands];
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (!inputs[k].array) continue;
        Shape full = broadcast_strides(inputs[k].array->shape(), inputs[k].array->strides(), shape);
        for (size_t i = 0; i < shape.size(); ++i)
            (gone[i] ? reduced_strides : kept_strides)[arrays].push_back(full[i]);
        place[arrays++] = k;
    }
    place[arrays] = inputs.size();
    kept_strides[arrays] = out.strides();
    for (size_t a = 0; a <= arrays; ++a) {
        kept[a] = &kept_strides[a];
        reduced[a] = &reduced_strides[a];
    }
    LoopLayout kept_layout, reduced_layout;
    make_layout(kept_shape, {kept, arrays + 1}, false, kept_layout);
    make_layout(reduced_shape, {reduced, arrays}, keep_order, reduced_layout);
    if (reduced_layout.rank == 0) {
        reduced_layout.rank = 1;
        reduced_layout.shape.push_back(1);
        for (size_t a = 0; a < arrays; ++a) reduced_layout.strides[a].push_back(0);
    }
    auto move_to = [&](LoopLayout& from, LoopLayout& to, size_t count) {
        to.rank = from.rank;
        to.count = from.count;
        to.shape = from.shape;
        for (size_t a = 0; a < count; ++a) to.strides[place[a]] = from.strides[a];
    };
    move_to(kept_layout, plan.kept, arrays + 1);
    move_to(reduced_layout, plan.reduced, arrays);
}

void choose_walk(std::span<const LoopOperand> inputs, bool gpu, size_t accumulator_bytes,
                 ReductionPlan& plan) {
    size_t main = 0;
    while (main < inputs.size() && !inputs[main].array) ++main;
    if (main < inputs.size() && plan.kept.rank > 0) {
        int64_t item = static_cast<int64_t>(inputs[main].array->itemsize());
        bool unit_kept = plan.kept.strides[main].back() == item;
        bool unit_reduced = plan.reduced.strides[main].back() == item;
        if (unit_kept && !unit_reduced && plan.kept.shape.back() >= 8) plan.walk = Walk::Columns;
    }
    for (size_t k = 0; k < inputs.size(); ++k) {
        const LoopLayout& inner = plan.walk == Walk::Along ? plan.reduced : plan.kept;
        plan.access[k] =
            inputs[k].array ? access_of(inner.strides[k].back(), inputs[k]) : Access::Scalar;
    }
    if (gpu) return plan_for_gpu(inputs, accumulator_bytes, plan);
    if (plan.walk == Walk::Columns) {
        plan.columns = 64;
        plan.tiles = (plan.kept.shape.back() + plan.columns - 1) / plan.columns;
    }
    if (accumulator_bytes == 0) {
        plan.segment_length = plan.reduced.count;
        return;
    }
    // Elements of one output's segment: enough work per thread, enough threads for the machine.
    int64_t outputs =
        plan.walk == Walk::Columns ? plan.kept.count / plan.columns + 1 : plan.kept.count;
    int64_t length = plan.walk == Walk::Columns ? kMinSegment : kSegment;
    int64_t enough = 64;  // threads
    int64_t wanted = std::max<int64_t>(1, enough / std::max<int64_t>(1, outputs));
    int64_t segments = std::min({plan.reduced.count / length, wanted * 16, kMaxSegments});
    plan.segments = std::max<int64_t>(1, outputs >= enough ? 1 : segments);
    plan.segment_length =
        (plan.reduced.count + plan.segments - 1) / std::max<int64_t>(1, plan.segments);
    if (plan.segment_length > 0)
        plan.segments = std::max<int64_t>(
            1, (plan.reduced.count + plan.segment_length - 1) / plan.segment_length);
    plan.final_stage = plan.segments == 1;
}

KernelKey plan_key(const ReductionKernel& kernel, const ReductionPlan& plan,
                   std::span<const LoopOperand> inputs, const Array& out) {
    KernelKey key;
    key.add(kernel.id);
    key.add(uint64_t(plan.kept.rank) | uint64_t(plan.reduced.rank) << 8 |
            uint64_t(plan.walk) << 16 | uint64_t(plan.gpu) << 17 |
            uint64_t(plan.final_stage) << 18 | uint64_t(plan.narrow) << 19 |
            uint64_t(plan.pack) << 20 | uint64_t(inputs.size()) << 24 |
            uint64_t(out.dtype()) << 32 | uint64_t(plan.lanes) << 40 | uint64_t{1} << 63);
    uint64_t word = 0;
    for (size_t k = 0; k < inputs.size(); ++k) {
        DType stored = inputs[k].array ? inputs[k].array->dtype() : inputs[k].computed;
        word |= (uint64_t(stored) | uint64_t(plan.access[k]) << 4) << (k % 8 * 8);
        if (k % 8 == 7 || k + 1 == inputs.size()) {
            key.add(word);
            word = 0;
        }
    }
    return key;
}

ReductionText describe(const ReductionKernel& kernel, std::span<const LoopOperand> inputs,
                       const Array& out) {
    ReductionText text;
    for (size_t k = 0; k < inputs.size(); ++k) {
        text.input_names.push_back(fmt::format("in{}", k));
        text.input_types.push_back(compute_type(inputs[k].computed));
    }
    text.output_type = compute_type(out.dtype());
    kernel.describe(kernel.context, text);
    return text;
}

void launch_join(const ReductionKernel& kernel, const ReductionPlan& plan,
                 std::span<const LoopOperand> inputs, const Array& part, const Array& out,
                 const core::ContextPtr& context) {
    bool tree = plan.gpu;
    // Few outputs: a block each. Many: neighbouring threads read neighbouring partial results.
    int64_t width = 1;
    while (width < kJoinWidth && width * kJoinBlocks < plan.kept.count) width *= 2;
    KernelKey key;
    key.add(kernel.id);
    key.add(uint64_t(plan.kept.rank) | uint64_t(tree) << 16 | uint64_t(out.dtype()) << 32 |
            uint64_t{3} << 62);
    core::Function& function = find_kernel(context, key, [&] {
        ReductionText text = describe(kernel, inputs, out);
        return without_lanes(text.entry + "_join",
                             join_text(text, plan.kept.rank, device_type(out.dtype()), tree));
    });
    KernelArguments arguments;
    arguments.add(part);
    arguments.add(out);
    for (int64_t value : {plan.kept.count, plan.reduced.count, plan.segments}) arguments.add(value);
    if (tree) arguments.add(width);
    for (int d = 0; d < plan.kept.rank; ++d) {
        arguments.add(plan.kept.shape[d]);
        arguments.add(plan.kept.strides[inputs.size()][d]);
    }
    int64_t blocks = (plan.kept.count + width - 1) / width;
    if (tree)
        launch_threads(function, blocks * kJoinThreads, kJoinThreads, arguments);
    else
        launch_threads(function, plan.kept.count, 256, arguments);
}

}  // namespace

void launch_threads(core::Function& function, int64_t threads, int64_t block,
                    const KernelArguments& arguments) {
    if (threads == 0) return;
    if (block > threads) block = threads;
    int64_t blocks = (threads + block - 1) / block;
    if (blocks > 2147483647)
        core::throw_error(core::ErrorKind::NotSupported, "launch: more than 2^31 blocks");
    launch_kernel(function, {static_cast<uint32_t>(blocks)}, {static_cast<uint32_t>(block)},
                  arguments.data(), arguments.size());
}

void run_reduction(const ReductionKernel& kernel, const Shape& shape, const std::vector<int>& axes,
                   std::span<const LoopOperand> inputs, const Array& out) {
    if (out.size() == 0) return;
    core::StreamPtr stream = core::current_stream();
    for (const LoopOperand& input : inputs)
        if (input.array) require_here(stream, *input.array);
    require_here(stream, out);
    bool gpu = gpu_forms(*stream->context());
    ReductionPlan plan;
    split_axes(shape, axes, inputs, out, kernel.keep_order, plan);
    choose_walk(inputs, gpu, kernel.accumulator_bytes, plan);
    const int64_t threads =
        gpu ? gpu_threads(plan)
        : plan.walk == Walk::Along
            ? plan.kept.count * plan.segments
            : plan.tiles * (plan.kept.count / plan.kept.shape.back()) * plan.segments;
    // A thread's loop is what LLVM vectorises. Where it takes places along, which it cannot, many
    // threads side by side are faster.
    if (kernel.keep_order && plan.walk == Walk::Along && threads >= kLanesFrom) plan.lanes = 0;
    core::Function& function =
        find_kernel(stream->context(), plan_key(kernel, plan, inputs, out), [&] {
            ReductionText text = describe(kernel, inputs, out);
            KernelSource source{text.entry,
                                reduction_text(plan, text, inputs, device_type(out.dtype()))};
            source.lanes = plan.lanes;
            return source;
        });
    Array part;
    if (!plan.final_stage)
        part = Array::empty(
            {plan.segments * plan.kept.count * static_cast<int64_t>(kernel.accumulator_bytes)},
            DType::UInt8);
    KernelArguments arguments;
    for (const LoopOperand& input : inputs) {
        if (input.array) {
            arguments.add(*input.array);
            continue;
        }
        alignas(16) char bytes[16];
        bool small = input.computed == DType::Float16 || input.computed == DType::BFloat16;
        store_scalar(*input.scalar, small ? DType::Float32 : input.computed, bytes);
        arguments.add_bytes(bytes, small ? 4 : core::size_of(input.computed));
    }
    arguments.add(plan.final_stage ? out : part);
    for (int64_t value : {plan.kept.count, plan.reduced.count, plan.reduced.count, plan.segments,
                          plan.segment_length, plan.tiles})
        arguments.add(value);
    for (int64_t extent : plan.kept.shape) arguments.add(extent);
    for (int64_t extent : plan.reduced.shape) arguments.add(extent);
    for (size_t k = 0; k <= inputs.size(); ++k) {
        if (k < inputs.size() && !inputs[k].array) continue;
        for (int64_t stride : plan.kept.strides[k]) arguments.add(stride);
        if (k == inputs.size()) continue;
        for (int64_t stride : plan.reduced.strides[k]) arguments.add(stride);
    }
    int64_t block = gpu ? kTeamThreads : std::clamp<int64_t>(threads / 64, 1, 256);
    launch_threads(function, threads, block, arguments);
    if (!plan.final_stage) launch_join(kernel, plan, inputs, part, out, stream->context());
}

}  // namespace trilane::array
