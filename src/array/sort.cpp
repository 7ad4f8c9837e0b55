// Merge sort: threads sort short runs in place, then pairs of runs are merged, each thread writing
// one piece of the result that it finds by bisection.
#include "array/sort.h"

#include <fmt/format.h>

#include "array/arguments.h"
#include "array/elementwise.h"
#include "array/manipulation.h"
#include "array/promotion.h"
#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::ErrorKind;
using core::throw_error;

namespace {

constexpr int64_t kRun = 32, kPiece = 512;
constexpr uint64_t kSortId = (uint64_t{1} << 31) + (1 << 18);

// `indexed`: positions travel with the keys and are what is wanted.
std::string sort_preamble(DType dtype, bool indexed) {
    return fmt::format(
        "#include \"trilane/array_ops.h\"\nusing namespace trilane;\ntypedef {} S;\ntypedef {} T;\n"
        "__device__ __forceinline__ bool before(const S a, const S b) "
        "{{ return ops::sort_less(cast<T>(a), cast<T>(b)); }}\n#define INDEXED {}\n",
        device_type(dtype), compute_type(dtype), indexed ? 1 : 0);
}

constexpr const char* kRuns = R"(
extern "C" __global__ void trilane_sort_runs(const S* __restrict__ in, S* __restrict__ keys,
        long long* __restrict__ positions, const long long lines, const long long length,
        const long long runs) {
    const long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= lines * runs) return;
    const long long line = item / runs, begin = item % runs * 32;
    const long long count = begin + 32 < length ? 32 : length - begin;
    const S* x = in + line * length + begin;
    S* y = keys + line * length + begin;
    for (int i = 0; i < count; ++i) {
        const S key = x[i];
        int j = i;
        for (; j > 0 && before(key, y[j - 1]); --j) {
            y[j] = y[j - 1];
#if INDEXED
            positions[line * length + begin + j] = positions[line * length + begin + j - 1];
#endif
        }
        y[j] = key;
#if INDEXED
        positions[line * length + begin + j] = begin + i;
#endif
    }
}
)";

constexpr const char* kMerge = R"(
extern "C" __global__ void trilane_sort_merge(const S* __restrict__ in, S* __restrict__ out,
        const long long* __restrict__ in_positions, long long* __restrict__ out_positions,
        const long long lines, const long long length, const long long pieces, const long long width) {
    const long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= lines * pieces) return;
    const long long line = item / pieces, first = item % pieces * 512;
    const long long last = first + 512 < length ? first + 512 : length;
    const S* x = in + line * length;
    S* y = out + line * length;
    long long at = first;
    while (at < last) {
        // The pair of runs that holds position `at`, and where its two runs begin and end.
        const long long a0 = at / (2 * width) * (2 * width);
        const long long a1 = a0 + width < length ? a0 + width : length;
        const long long b1 = a1 + width < length ? a1 + width : length;
        const long long offset = at - a0, na = a1 - a0, nb = b1 - a1;
        long long low = offset > nb ? offset - nb : 0, high = offset < na ? offset : na;
        while (low < high) {
            const long long middle = (low + high) / 2;
            if (before(x[a1 + offset - middle - 1], x[a0 + middle])) high = middle;
            else low = middle + 1;
        }
        long long i = a0 + low, j = a1 + offset - low;
        const long long stop = b1 < last ? b1 : last;
        for (; at < stop; ++at) {
            const bool second = i >= a1 || (j < b1 && before(x[j], x[i]));
            const long long from = second ? j++ : i++;
            y[at] = x[from];
#if INDEXED
            out_positions[line * length + at] = in_positions[line * length + from];
#endif
        }
    }
}
)";

core::Function& sort_kernel(const core::ContextPtr& context, DType dtype, bool indexed,
                            bool merge) {
    KernelKey key;
    key.add(kSortId + static_cast<uint64_t>(dtype) * 4 + indexed * 2 + merge);
    return find_kernel(context, key, [&] {
        return without_lanes(merge ? "trilane_sort_merge" : "trilane_sort_runs",
                             sort_preamble(dtype, indexed) + (merge ? kMerge : kRuns));
    });
}

// Sorts the lines of a C-contiguous array along its last axis.
Array sort_lines(const Array& a, bool indexed) {
    int64_t length = a.shape()[a.ndim() - 1], lines = a.size() / length;
    core::StreamPtr stream = core::current_stream();
    const core::ContextPtr& context = require_here(stream, a);
    Array keys = Array::empty(a.shape(), a.dtype()), other = Array::empty(a.shape(), a.dtype());
    Array positions, other_positions;
    if (indexed) {
        positions = Array::empty(a.shape(), DType::Int64);
        other_positions = Array::empty(a.shape(), DType::Int64);
    }
    auto add_positions = [&](KernelArguments& arguments, const Array& array) {
        if (indexed)
            arguments.add(array);
        else
            arguments.add(int64_t{0});
    };
    int64_t runs = (length + kRun - 1) / kRun, pieces = (length + kPiece - 1) / kPiece;
    KernelArguments start;
    start.add(a);
    start.add(keys);
    add_positions(start, positions);
    for (int64_t value : {lines, length, runs}) start.add(value);
    int64_t threads = lines * runs;
    launch_threads(sort_kernel(context, a.dtype(), indexed, false), threads,
                   std::clamp<int64_t>(threads / 32, 1, 128), start);
    for (int64_t width = kRun; width < length; width *= 2) {
        KernelArguments merge;
        merge.add(keys);
        merge.add(other);
        add_positions(merge, positions);
        add_positions(merge, other_positions);
        for (int64_t value : {lines, length, pieces, width}) merge.add(value);
        threads = lines * pieces;
        launch_threads(sort_kernel(context, a.dtype(), indexed, true), threads,
                       std::clamp<int64_t>(threads / 32, 1, 128), merge);
        std::swap(keys, other);
        std::swap(positions, other_positions);
    }
    return indexed ? positions : keys;
}

Array sort_along(const Array& a, int axis, bool indexed) {
    if (a.dtype() == DType::Void) throw_error(ErrorKind::NotSupported, "sort: structured dtypes");
    if (a.ndim() == 0)
        throw_error(ErrorKind::IndexError, "axis {} is out of bounds for array of dimension 0",
                    axis);
    axis = normalize_axis(axis, a.ndim());
    if (a.size() == 0) return Array::empty(a.shape(), indexed ? DType::Int64 : a.dtype());
    bool last = axis == a.ndim() - 1;
    Array lines = contiguous(last ? a : swap_axes(a, axis, a.ndim() - 1));
    Array result = sort_lines(lines, indexed);
    return last ? result : copy(swap_axes(result, axis, a.ndim() - 1), 'C');
}

}  // namespace

Array sort(const Array& a, int axis) { return sort_along(a, axis, false); }
Array argsort(const Array& a, int axis) { return sort_along(a, axis, true); }

Array searchsorted(const Array& sorted0, const Array& values, bool right) {
    if (sorted0.ndim() != 1)
        throw_error(ErrorKind::InvalidArgument, "object of too small depth for desired array");
    DType dtype = promote_types(sorted0.dtype(), values.dtype());
    Array sorted = contiguous(sorted0.dtype() == dtype ? sorted0 : astype(sorted0, dtype, 'C'));
    Array result = Array::empty(values.shape(), DType::Int64);
    Scalar count = Scalar::of_int(sorted.size(), DType::Int64);
    Array base = sorted.with_layout(sorted.offset(), {}, {});
    LoopOperand operands[] = {{&values, nullptr, dtype, false},
                              {&base, nullptr, dtype, false},
                              {nullptr, &count, DType::Int64, false},
                              {&result, nullptr, DType::Int64, true}};
    LoopKernel kernel;
    kernel.id = kSortId + 1024 + static_cast<uint64_t>(dtype) * 2 + right;
    kernel.context = &right;
    kernel.by_address = true;
    kernel.describe = [](const void* context, ElementwiseText& text) {
        text.entry = "trilane_searchsorted";
        text.operands[1].by_address = true;
        bool after = *static_cast<const bool*>(context);
        text.body = fmt::format(
            "long long low = 0, high = in2; while (low < high) {{ const long long middle = (low + "
            "high) / 2; "
            "const T x = trilane::cast<T>(in1[middle]); if ({}) low = middle + 1; else high = "
            "middle; }} out0 = low",
            after ? "!ops::sort_less(in0, x)" : "ops::sort_less(x, in0)");
    };
    run_elementwise(kernel, values.shape(), operands);
    return result;
}

}  // namespace trilane::array
