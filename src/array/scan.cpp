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

// The array is (outer, length, inner); a thread has one line (outer, inner) or a segment of it.
std::string scan_text(const ScanRow& row, DType in, DType dtype, int step) {
    constexpr const char* kEntries[] = {"totals", "carry", "write"};
    std::string s = "#include \"trilane/array_ops.h\"\nusing namespace trilane;\n";
    s += fmt::format("typedef {} I;\ntypedef {} S;\ntypedef {} T;\n", device_type(in),
                     device_type(dtype), compute_type(dtype));
    s += fmt::format(
        "__device__ __forceinline__ T combine(const T a, const T b) {{ return {}; }}\n"
        "__device__ __forceinline__ T load(const I y) {{ const T x = cast<T>(y); return {}; }}\n",
        row.combine, row.load);
    s += fmt::format(
        "extern \"C\" __global__ void trilane_{}_{}(const I* __restrict__ in, "
        "S* __restrict__ out, T* __restrict__ part, const long long outer, "
        "const long long length, const long long inner, const long long segments, "
        "const long long segment_length) {{\n"
        "    const long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n",
        row.name, kEntries[step]);
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

void run_scan(const ScanRow& row, const Array& in, const Array& out, int axis) {
    int64_t outer = 1, inner = 1, length = in.shape()[axis];
    for (int d = 0; d < axis; ++d) outer *= in.shape()[d];
    for (int d = axis + 1; d < in.ndim(); ++d) inner *= in.shape()[d];
    core::StreamPtr stream = core::current_stream();
    const core::ContextPtr& context = require_here(stream, in);
    require_here(stream, out);
    int64_t lines = outer * inner, segments = 1;
    if (lines < 64) segments = (length + kSegment - 1) / kSegment;
    int64_t segment_length = (length + segments - 1) / segments;
    segments = (length + segment_length - 1) / segment_length;
    size_t item = core::size_of(out.dtype()) == 2 ? 4 : core::size_of(out.dtype());
    Array part = Array::empty({segments * lines * static_cast<int64_t>(item)}, DType::UInt8);
    KernelArguments arguments;
    arguments.add(in);
    arguments.add(out);
    arguments.add(part);
    for (int64_t value : {outer, length, inner, segments, segment_length}) arguments.add(value);
    for (int step = segments > 1 ? 0 : 2; step < 3; ++step) {
        KernelKey key;
        key.add(kScanId + static_cast<uint64_t>(&row - kRows) * 1024 +
                static_cast<uint64_t>(in.dtype()) * 64 + static_cast<uint64_t>(out.dtype()) * 4 +
                static_cast<uint64_t>(step));
        core::Function& function = find_kernel(context, key, [&] {
            constexpr const char* kEntries[] = {"totals", "carry", "write"};
            return KernelSource{fmt::format("trilane_{}_{}", row.name, kEntries[step]),
                                scan_text(row, in.dtype(), out.dtype(), step)};
        });
        int64_t threads = step == 1 ? lines : lines * segments;
        launch_threads(function, threads, std::clamp<int64_t>(threads / 64, 1, 128), arguments);
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
