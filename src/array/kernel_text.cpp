// Writes element-wise kernels.
#include "array/kernel_text.h"

#include <fmt/format.h>

namespace trilane::array {

namespace {

bool is_array(const KernelOperand& operand) {
    return operand.access != Access::Scalar && operand.access != Access::Raw &&
           !is_alias(operand.access);
}

std::string parameters(const ElementwiseText& kernel) {
    std::string text;
    auto add = [&](std::string parameter) {
        text += (text.empty() ? "" : ", ") + std::move(parameter);
    };
    const char* restrict_word = kernel.restrict_pointers ? "__restrict__ " : "";
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
        const KernelOperand& operand = kernel.operands[k];
        if (is_alias(operand.access)) continue;
        if (operand.access == Access::Raw)
            add(fmt::format("{} {}", operand.stored, operand.name));
        else if (operand.access == Access::Scalar)
            add(fmt::format("const {} v{}", operand.computed, k));
        else {
            bool written = operand.output || operand.written;
            for (const KernelOperand& other : kernel.operands)
                written |= is_alias(other.access) && aliased_input(other.access) == int(k);
            add(fmt::format("{}{}* {}p{}", written ? "" : "const ", operand.stored, restrict_word,
                            k));
        }
    }
    add("const long long n");
    if (kernel.mapping != Mapping::Flat) {
        for (int d = kernel.mapping == Mapping::Rows ? 0 : 1; d < kernel.rank; ++d)
            add(fmt::format("const long long extent{}", d));
        if (kernel.mapping == Mapping::Rows) add("const long long chunks");
    }
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
        if (!is_array(kernel.operands[k])) continue;
        for (int d = 0; d + 1 < kernel.rank; ++d) add(fmt::format("const long long s{}_{}", k, d));
        if (kernel.operands[k].access == Access::Strided && kernel.rank > 0)
            add(fmt::format("const long long s{}_{}", k, kernel.rank - 1));
    }
    return text;
}

// Where the loop's index comes from, and each operand's offset of the outer axes.
std::string index_text(const ElementwiseText& kernel) {
    const char* word = kernel.wide ? "long long" : "unsigned int";
    int rank = kernel.rank;
    std::string text;
    if (kernel.mapping == Mapping::Flat)
        return kernel.pack ? "    const long long chunk = blockIdx.x, limit = n, first = 0;\n"
                           : "    const long long j = (long long)blockIdx.x * blockDim.x + "
                             "threadIdx.x;\n"
                             "    const long long i = j;\n"
                             "    if (j < n) {\n";
    if (kernel.mapping == Mapping::Rows) {
        text += fmt::format("    {0} rest = ({0})blockIdx.x / ({0})chunks;\n", word);
        text += fmt::format(
            "    const long long chunk = (long long)(({0})blockIdx.x - rest * ({0})chunks);\n",
            word);
        if (kernel.pack)
            text += fmt::format(
                "    const long long limit = extent{0}, first = (long long)rest * extent{0};\n",
                rank - 1);
        else
            text += fmt::format(
                "    const long long j = chunk * blockDim.x + threadIdx.x;\n"
                "    const long long i = (long long)rest * extent{} + j;\n",
                rank - 1);
    } else {
        text += "    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n";
        text += fmt::format("    {0} rest = ({0})i;\n", word);
        text += fmt::format(
            "    const long long j = (long long)(rest % ({0})extent{1});\n"
            "    rest /= ({0})extent{1};\n",
            word, rank - 1);
    }
    for (size_t k = 0; k < kernel.operands.size(); ++k)
        if (is_array(kernel.operands[k])) text += fmt::format("    long long o{} = 0;\n", k);
    for (int d = rank - 2; d >= 0; --d) {
        if (d > 0)
            text += fmt::format(
                "    const {0} c{1} = rest % ({0})extent{1};\n"
                "    rest /= ({0})extent{1};\n",
                word, d);
        else
            text += fmt::format("    const {0} c0 = rest;\n", word);
        for (size_t k = 0; k < kernel.operands.size(); ++k)
            if (is_array(kernel.operands[k]))
                text += fmt::format("    o{0} += (long long)c{1} * s{0}_{1};\n", k, d);
    }
    if (kernel.pack) return text;
    text += kernel.mapping == Mapping::Rows ? fmt::format("    if (j < extent{}) {{\n", rank - 1)
                                            : std::string("    if (i < n) {\n");
    return text;
}

// The element of operand k as an lvalue.
std::string element(const ElementwiseText& kernel, size_t k, bool write) {
    const KernelOperand& operand = kernel.operands[k];
    std::string pointer = fmt::format("p{}", k);
    const char* qualifier = write ? "" : "const ";
    const char* byte_type = write ? "char" : "const char";
    if (kernel.mapping != Mapping::Flat)
        pointer =
            fmt::format("(({}{}*)(({}*)p{} + o{}))", qualifier, operand.stored, byte_type, k, k);
    switch (operand.access) {
        case Access::Unit:
            return fmt::format("{}[j]", pointer);
        case Access::Zero:
            return fmt::format("{}[0]", pointer);
        default:
            break;
    }
    return fmt::format("*({}{}*)(({}*){} + j * s{}_{})", qualifier, operand.stored, byte_type,
                       pointer, k, kernel.rank - 1);
}

std::string load(const ElementwiseText& kernel, size_t k) {
    const KernelOperand& operand = kernel.operands[k];
    if (operand.by_address)
        return fmt::format("        {0}{1}* {2} = &{3};\n", operand.written ? "" : "const ",
                           operand.stored, operand.name, element(kernel, k, operand.written));
    std::string value =
        operand.access == Access::Scalar ? fmt::format("v{}", k) : element(kernel, k, false);
    if (operand.access != Access::Scalar && operand.stored != operand.computed)
        value = fmt::format("trilane::cast<{}>({})", operand.computed, value);
    return fmt::format("        {}{} {} = {};\n", operand.output ? "" : "const ", operand.computed,
                       operand.name, value);
}

std::string store(const ElementwiseText& kernel, size_t k) {
    const KernelOperand& operand = kernel.operands[k];
    size_t place =
        is_alias(operand.access) ? static_cast<size_t>(aliased_input(operand.access)) : k;
    std::string target = element(kernel, place, true);
    std::string value = operand.name;
    if (operand.stored != operand.computed)
        value = fmt::format("trilane::cast<{}>({})", operand.stored, value);
    return fmt::format("        {} = {};\n", target, value);
}

std::string body_text(const ElementwiseText& kernel) {
    std::string text;
    const std::vector<KernelOperand>& operands = kernel.operands;
    for (size_t k = 0; k < operands.size(); ++k) {
        if (operands[k].access == Access::Raw) continue;
        if (!operands[k].output)
            text += load(kernel, k);
        else if (operands[k].read_first && !is_alias(operands[k].access))
            text += load(kernel, k);
        else if (operands[k].read_first)
            text +=
                fmt::format("        {} {} = {};\n", operands[k].computed, operands[k].name,
                            operands[static_cast<size_t>(aliased_input(operands[k].access))].name);
        else
            text += fmt::format("        {} {};\n", operands[k].computed, operands[k].name);
    }
    if (kernel.masked) text += "        if (mask) {\n";
    text += "        " + kernel.body + ";\n";
    for (size_t k = 0; k < operands.size(); ++k)
        if (operands[k].output && operands[k].access != Access::Raw) text += store(kernel, k);
    if (kernel.masked) text += "        }\n";
    return text;
}

// --- several elements per thread

// The memory of operand k, or of the input that it is, from the loop's first element.
std::string base_of(const ElementwiseText& kernel, size_t k, bool write) {
    const KernelOperand& operand = kernel.operands[k];
    size_t place = is_alias(operand.access) ? size_t(aliased_input(operand.access)) : k;
    if (kernel.mapping == Mapping::Flat) return fmt::format("p{}", place);
    const char* qualifier = write ? "" : "const ";
    return fmt::format("(({0}{1}*)(({0}char*)p{2} + o{2}))", qualifier, operand.stored, place);
}

// Loads of all packs of every input that is read element by element: without a branch where they
// are all within the limit.
std::string packed_loads(const ElementwiseText& kernel, const std::string& loop) {
    std::string whole, part;
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
        const KernelOperand& operand = kernel.operands[k];
        if (operand.output || operand.access != Access::Unit) continue;
        std::string base = base_of(kernel, k, false);
        whole += fmt::format("        x{0}[u] = *(const trilane::pack<{1}, {2}>*)({3} + j);\n", k,
                             operand.stored, kernel.pack, base);
        part += fmt::format(" x{0}[u].x[k] = {1}[at];", k, base);
    }
    if (whole.empty()) return "";
    // Elements past the end are the pack's first again: the body never sees a made-up value.
    return "    if (whole) {\n" + loop + whole + "    }\n    } else {\n" + loop +
           fmt::format(
               "        if (j >= limit) break;\n"
               "        #pragma unroll\n"
               "        for (int k = 0; k < {}; ++k) {{ const long long at = j + k < limit ? j + k "
               ": j;{} }}\n    }}\n    }}\n",
               kernel.pack, part);
}

std::string packed_body(const ElementwiseText& kernel) {
    std::string text = "            const long long i = first + j + k;\n", stores;
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
        const KernelOperand& operand = kernel.operands[k];
        if (operand.output) {
            text += fmt::format("            {} {};\n", operand.computed, operand.name);
            std::string value = operand.name;
            if (operand.stored != operand.computed)
                value = fmt::format("trilane::cast<{}>({})", operand.stored, value);
            stores += fmt::format("            y{}.x[k] = {};\n", k, value);
            continue;
        }
        std::string value = fmt::format("v{}", k);
        if (operand.access != Access::Scalar) {
            value = operand.access == Access::Zero ? base_of(kernel, k, false) + "[0]"
                                                   : fmt::format("x{}[u].x[k]", k);
            if (operand.stored != operand.computed)
                value = fmt::format("trilane::cast<{}>({})", operand.computed, value);
        }
        text +=
            fmt::format("            const {} {} = {};\n", operand.computed, operand.name, value);
    }
    return text + "            " + kernel.body + ";\n" + stores;
}

// Loads first, all of them, then element for element the body.
std::string packed_text(const ElementwiseText& kernel) {
    const char* place = "        const long long j = j0 + (long long)(u * blockDim.x) * {};\n";
    std::string text =
        fmt::format("    const long long j0 = (chunk * {0} * blockDim.x + threadIdx.x) * {1};\n",
                    kernel.unroll, kernel.pack);
    for (size_t k = 0; k < kernel.operands.size(); ++k)
        if (!kernel.operands[k].output && kernel.operands[k].access == Access::Unit)
            text += fmt::format("    trilane::pack<{}, {}> x{}[{}];\n", kernel.operands[k].stored,
                                kernel.pack, k, kernel.unroll);
    std::string loop =
        fmt::format("    #pragma unroll\n    for (int u = 0; u < {}; ++u) {{\n", kernel.unroll) +
        fmt::format(fmt::runtime(place), kernel.pack);
    text +=
        fmt::format("    const bool whole = j0 + (long long)({} * blockDim.x + 1) * {} <= limit;\n",
                    kernel.unroll - 1, kernel.pack);
    text += packed_loads(kernel, loop) + loop + "        if (!whole && j >= limit) break;\n";
    std::string whole, part;
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
        const KernelOperand& operand = kernel.operands[k];
        if (!operand.output) continue;
        std::string type = fmt::format("trilane::pack<{}, {}>", operand.stored, kernel.pack);
        std::string base = base_of(kernel, k, true);
        text += fmt::format("        {} y{};\n", type, k);
        whole += fmt::format(" *({}*)({} + j) = y{};", type, base, k);
        part += fmt::format(" {}[j + k] = y{}.x[k];", base, k);
    }
    text += fmt::format(
        "        #pragma unroll\n        for (int k = 0; k < {0}; ++k) {{\n{1}        }}\n"
        "        if (whole || j + {0} <= limit) {{{2} }}\n"
        "        else for (int k = 0; k < {0}; ++k) if (j + k < limit) {{{3} }}\n    }}\n",
        kernel.pack, packed_body(kernel), whole, part);
    return text;
}

}  // namespace

std::string elementwise_text(const ElementwiseText& kernel) {
    std::string text = "#include \"trilane/array_ops.h\"\n" + kernel.preamble;
    if (kernel.using_ops) text += "using namespace trilane;\n";
    text +=
        fmt::format("extern \"C\" __global__ void {}({}) {{\n", kernel.entry, parameters(kernel));
    if (!kernel.before_loop.empty()) text += "    " + kernel.before_loop + ";\n";
    text += index_text(kernel);
    text += kernel.pack ? packed_text(kernel) : body_text(kernel) + "    }\n";
    if (!kernel.after_loop.empty()) text += "    " + kernel.after_loop + ";\n";
    return text + "}\n";
}

}  // namespace trilane::array
