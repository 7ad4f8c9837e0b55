// Scans: long lines are cut into segments: totals of the segments, a scan of those, then the
// segments with what came before them.
#include "array/scan.h"

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

constexpr int64_t kSegment = 4096;
constexpr int64_t kGpuThreads = 256;          // of a block that scans a contiguous segment
constexpr int64_t kGpuSegments = 4096;        // of all lines together
constexpr int64_t kGpuShortLine = 128;        // a thread's work
constexpr int64_t kGpuLineThreads = 1 << 17;  // threads wanted where a thread has a strided segment
constexpr uint64_t kScanId = (uint64_t{1} << 31) + 16384;

struct ScanRow {
    const char* name;
    const char* combine;  // over a, b
    const char* load;     // over x
    bool widen;           // small integers to 64 bits
    bool logical;         // result is bool
};

constexpr ScanRow kRows[] = {
    {"cumsum", "a + b", "x", true, false},
    {"cumprod", "a * b", "x", true, false},
    {"nancumsum", "a + b", "is_nan(x) ? T(0) : x", true, false},
    {"nancumprod", "a * b", "is_nan(x) ? T(1) : x", true, false},
    {"maximum", "ops::maximum(a, b)", "x", false, false},
    {"minimum", "ops::minimum(a, b)", "x", false, false},
    {"fmax", "ops::fmax(a, b)", "x", false, false},
    {"fmin", "ops::fmin(a, b)", "x", false, false},
    {"logical_and", "a && b", "x", false, true},
    {"logical_or", "a || b", "x", false, true},
    {"logical_xor", "a != b", "x", false, true},
    {"bitwise_and", "a & b", "x", false, false},
    {"bitwise_or", "a | b", "x", false, false},
    {"bitwise_xor", "a ^ b", "x", false, false},
};

const ScanRow& find_row(std::string_view name) {
    if (name == "add") name = "cumsum";
    if (name == "multiply") name = "cumprod";
    for (const ScanRow& row : kRows)
        if (name == row.name) return row;
    throw_error(ErrorKind::NotSupported, "accumulate: no scan for '{}'", name);
}

constexpr const char* kSteps[] = {"totals", "carry", "write"};

std::string definitions(const ScanRow& row, DType in, DType dtype) {
    return fmt::format(
        "typedef {} I;\ntypedef {} S;\ntypedef {} T;\n"
        "__device__ __forceinline__ T combine(const T a, const T b) {{ return {}; }}\n"
        "__device__ __forceinline__ T load(const I y) {{ const T x = cast<T>(y); return {}; }}\n",
        device_type(in), device_type(dtype), compute_type(dtype), row.combine, row.load);
}

std::string parameters(const ScanRow& row, int step, const char* suffix) {
    return fmt::format(
        "extern \"C\" __global__ void trilane_{}_{}{}(const I* __restrict__ in, "
        "S* __restrict__ out, T* __restrict__ part, const long long outer, "
        "const long long length, const long long inner, const long long segments, "
        "const long long segment_length) {{\n",
        row.name, kSteps[step], suffix);
}

// The array is (outer, length, inner); a thread has one line (outer, inner) or a segment of it.
std::string scan_text(const ScanRow& row, DType in, DType dtype, int step) {
    std::string s =
        "#include \"trilane/array_ops.h\"\nusing namespace trilane;\n" +
        definitions(row, in, dtype) + parameters(row, step, "") +
        "    const long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n";
    if (step == 1)
        return s +
               "    if (item >= outer * inner) return;\n"
               "    T* line = part + item;\n"
               "    T total = line[0];\n"
               "    for (long long k = 1; k < segments; ++k) {\n"
               "        const T next = line[k * outer * inner];\n"
               "        line[k * outer * inner] = total;\n"
               "        total = combine(total, next);\n"
               "    }\n}\n";
    s += "    if (item >= outer * inner * segments) return;\n"
         "    const long long line = item % (outer * inner), segment = item / (outer * inner);\n"
         "    const long long start = line / inner * length * inner + line % inner;\n"
         "    const long long begin = segment * segment_length;\n"
         "    const long long end = begin + segment_length < length ? begin + segment_length : "
         "length;\n"
         "    T total = load(in[start + begin * inner]);\n";
    if (step == 0)
        return s +
               "    for (long long k = begin + 1; k < end; ++k) total = combine(total, "
               "load(in[start + k * inner]));\n"
               "    part[segment * outer * inner + line] = total;\n}\n";
    return s +
           "    if (segment > 0) total = combine(part[segment * outer * inner + line], total);\n"
           "    out[start + begin * inner] = cast<S>(total);\n"
           "    for (long long k = begin + 1; k < end; ++k) {\n"
           "        total = combine(total, load(in[start + k * inner]));\n"
           "        out[start + k * inner] = cast<S>(total);\n"
           "    }\n}\n";
}

// Elements of a thread of a block, so that a block's elements fit its shared memory.
int gpu_items(DType dtype) {
    size_t size = core::size_of(dtype);
    return size <= 4 ? 16 : size == 8 ? 8 : 4;
}

// Contiguous lines on a GPU: a block has a segment and goes over it in tiles, which pass through
// shared memory so that global accesses are coalesced. Places past the end are the last element
// again: nothing before them sees their values.
constexpr const char* kGpuScan = R"(
struct joined {
    __device__ __forceinline__ T operator()(const T a, const T b) const { return combine(a, b); }
};
__device__ __forceinline__ long long segment_end(long long begin, long long segment_length,
        long long length) {
    return begin + segment_length < length ? begin + segment_length : length;
}
)";
constexpr const char* kGpuTotals = R"(
    const long long line = blockIdx.x / segments, segment = blockIdx.x % segments;
    const long long begin = segment * segment_length;
    const long long end = segment_end(begin, segment_length, length);
    const I* const from = in + line * length;
    const long long first = begin + threadIdx.x < end ? begin + threadIdx.x : end - 1;
    T total = load(from[first]);
    long long k = first + THREADS;
    for (; k + 7 * THREADS < end; k += 8 * THREADS) {
        I y[8];
        #pragma unroll
        for (int u = 0; u < 8; ++u) y[u] = from[k + u * THREADS];
        #pragma unroll
        for (int u = 0; u < 8; ++u) total = combine(total, load(y[u]));
    }
    for (; k < end; k += THREADS) total = combine(total, load(from[k]));
    __shared__ __align__(16) unsigned char bytes[THREADS * sizeof(T)];
    T* tree = (T*)bytes;
    const int busy = end - begin < THREADS ? (int)(end - begin) : THREADS;
    tree[threadIdx.x] = total;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half && threadIdx.x + half < busy)
            tree[threadIdx.x] = combine(tree[threadIdx.x], tree[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) part[line * segments + segment] = tree[0];
}
)";
constexpr const char* kGpuCarry = R"(
    __shared__ __align__(16) unsigned char bytes[THREADS * sizeof(T)];
    T* const shared = (T*)bytes;
    T* const line = part + blockIdx.x * segments;
    T carry = line[0];
    for (long long tile = 0; tile < segments; tile += THREADS * ITEMS) {
        const long long at = tile + threadIdx.x * ITEMS;
        T value[ITEMS];
        #pragma unroll
        for (int k = 0; k < ITEMS; ++k) value[k] = line[at + k < segments ? at + k : segments - 1];
        __syncthreads();
        #pragma unroll
        for (int k = 1; k < ITEMS; ++k) value[k] = combine(value[k - 1], value[k]);
        trilane::block_prefix(value[ITEMS - 1], shared, joined());
        T before = carry;
        bool any = tile > 0;
        if (threadIdx.x > 0) {
            before = any ? combine(carry, shared[threadIdx.x - 1]) : shared[threadIdx.x - 1];
            any = true;
        }
        carry = tile > 0 ? combine(carry, shared[THREADS - 1]) : shared[THREADS - 1];
        #pragma unroll
        for (int k = 0; k < ITEMS; ++k)
            if (at + k < segments && (any || k > 0))
                line[at + k] = k == 0 ? before : any ? combine(before, value[k - 1]) : value[k - 1];
        __syncthreads();
    }
}
)";
constexpr const char* kGpuWrite = R"(
    const long long line = blockIdx.x / segments, segment = blockIdx.x % segments;
    const long long begin = segment * segment_length;
    const long long end = segment_end(begin, segment_length, length);
    __shared__ __align__(16) unsigned char bytes[THREADS * (ITEMS + 2) * sizeof(T)];
    T* const stage = (T*)bytes;
    T* const shared = stage + THREADS * (ITEMS + 1);
    T* const mine = stage + threadIdx.x * (ITEMS + 1);
    bool any = segment > 0;
    T carry = part[any ? line * segments + segment : 0];
    for (long long tile = begin; tile < end; tile += THREADS * ITEMS) {
        I y[ITEMS];
        #pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            const long long at = tile + k * THREADS + threadIdx.x;
            y[k] = in[line * length + (at < end ? at : end - 1)];
        }
        #pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            const int place = k * THREADS + threadIdx.x;
            stage[place + place / ITEMS] = load(y[k]);
        }
        __syncthreads();
        T value[ITEMS];
        value[0] = mine[0];
        #pragma unroll
        for (int k = 1; k < ITEMS; ++k) value[k] = combine(value[k - 1], mine[k]);
        trilane::block_prefix(value[ITEMS - 1], shared, joined());
        T before = carry;
        bool follows = any;
        if (threadIdx.x > 0) {
            before = any ? combine(carry, shared[threadIdx.x - 1]) : shared[threadIdx.x - 1];
            follows = true;
        }
        carry = any ? combine(carry, shared[THREADS - 1]) : shared[THREADS - 1];
        any = true;
        #pragma unroll
        for (int k = 0; k < ITEMS; ++k) mine[k] = follows ? combine(before, value[k]) : value[k];
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            const int place = k * THREADS + threadIdx.x;
            if (tile + place < end)
                out[line * length + tile + place] = trilane::cast<S>(stage[place + place / ITEMS]);
        }
        __syncthreads();
    }
}
)";

std::string gpu_scan_text(const ScanRow& row, DType in, DType dtype, int step) {
    constexpr const char* kTexts[] = {kGpuTotals, kGpuCarry, kGpuWrite};
    return fmt::format(
               "#include \"trilane/array_ops.h\"\n#include \"trilane/block_scan.h\"\n"
               "using namespace trilane;\n#define THREADS {}\n#define ITEMS {}\n",
               kGpuThreads, gpu_items(dtype)) +
           definitions(row, in, dtype) + kGpuScan + parameters(row, step, "_contiguous") +
           kTexts[step];
}

struct ScanShape {
    int64_t outer = 1, length = 1, inner = 1;
    int64_t segments = 1, segment_length = 1;
    bool blocks = false;  // contiguous lines, a block for a segment
};

ScanShape scan_shape(const Array& in, DType dtype, int axis, bool gpu) {
    ScanShape s;
    s.length = in.shape()[axis];
    for (int d = 0; d < axis; ++d) s.outer *= in.shape()[d];
    for (int d = axis + 1; d < in.ndim(); ++d) s.inner *= in.shape()[d];
    int64_t lines = s.outer * s.inner, whole = 1;
    if (!gpu) {
        if (lines < 64) s.segments = (s.length + kSegment - 1) / kSegment;
    } else if (s.inner == 1 && s.length >= kGpuShortLine && lines < kGpuLineThreads * 8) {
        s.blocks = true;
        whole = kGpuThreads * gpu_items(dtype);
        s.segments = std::clamp<int64_t>(kGpuSegments / lines, 1, (s.length + whole - 1) / whole);
    } else {
        s.segments = std::clamp<int64_t>(kGpuLineThreads / lines, 1, (s.length + 63) / 64);
    }
    s.segment_length = ((s.length + s.segments - 1) / s.segments + whole - 1) / whole * whole;
    s.segments = (s.length + s.segment_length - 1) / s.segment_length;
    return s;
}

void run_scan(const ScanRow& row, const Array& in, const Array& out, int axis) {
    core::StreamPtr stream = core::current_stream();
    const core::ContextPtr& context = require_here(stream, in);
    require_here(stream, out);
    bool gpu = gpu_forms(*context);
    ScanShape s = scan_shape(in, out.dtype(), axis, gpu);
    int64_t lines = s.outer * s.inner;
    size_t item = core::size_of(out.dtype()) == 2 ? 4 : core::size_of(out.dtype());
    Array part = Array::empty({s.segments * lines * static_cast<int64_t>(item)}, DType::UInt8);
    KernelArguments arguments;
    arguments.add(in);
    arguments.add(out);
    arguments.add(part);
    for (int64_t value : {s.outer, s.length, s.inner, s.segments, s.segment_length})
        arguments.add(value);
    for (int step = s.segments > 1 ? 0 : 2; step < 3; ++step) {
        KernelKey key;
        key.add(kScanId + static_cast<uint64_t>(&row - kRows) * 1024 +
                static_cast<uint64_t>(in.dtype()) * 64 + static_cast<uint64_t>(out.dtype()) * 4 +
                static_cast<uint64_t>(step));
        key.add(s.blocks);
        core::Function& function = find_kernel(context, key, [&] {
            std::string entry = fmt::format("trilane_{}_{}", row.name, kSteps[step]);
            if (s.blocks)
                return KernelSource{entry + "_contiguous",
                                    gpu_scan_text(row, in.dtype(), out.dtype(), step)};
            return KernelSource{entry, scan_text(row, in.dtype(), out.dtype(), step)};
        });
        int64_t threads = step == 1 ? lines : lines * s.segments;
        if (s.blocks)
            launch_threads(function, threads * kGpuThreads, kGpuThreads, arguments);
        else
            launch_threads(function, threads, gpu ? 128 : std::clamp<int64_t>(threads / 64, 1, 128),
                           arguments);
    }
}

DType scan_type(const ScanRow& row, DType in) {
    if (row.logical) return DType::Bool;
    if (!row.widen) return in;
    core::DTypeKind kind = core::kind_of(in);
    if (kind == core::DTypeKind::Bool || kind == core::DTypeKind::Int) return DType::Int64;
    return kind == core::DTypeKind::UInt ? DType::UInt64 : in;
}

}  // namespace

Array accumulate(std::string_view name, const Array& a, int axis, std::optional<DType> dtype,
                 const Array* out) {
    const ScanRow& row = find_row(name);
    if (a.dtype() == DType::Void)
        throw_error(ErrorKind::TypeMismatch, "{}: structured dtypes have no arithmetic", name);
    if (a.ndim() == 0) return accumulate(name, reshape(a, {1}, 'C'), 0, dtype, out);
    axis = normalize_axis(axis, a.ndim());
    DType result_dtype = dtype.value_or(out ? out->dtype() : scan_type(row, a.dtype()));
    if (out && !(out->shape() == a.shape()))
        throw_error(ErrorKind::InvalidArgument, "accumulate: output has shape {}, expected {}",
                    to_string(out->shape()), to_string(a.shape()));
    Array result = Array::empty(a.shape(), result_dtype);
    if (a.size() > 0) run_scan(row, contiguous(a), result, axis);
    if (!out) return result;
    copy_into(*out, result);
    return *out;
}

}  // namespace trilane::array
