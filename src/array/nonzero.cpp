// Positions of true elements: counts per piece, a scan of the counts, then the positions.
#include "array/arguments.h"
#include "array/elementwise.h"
#include "array/indexing.h"
#include "array/manipulation.h"
#include "array/ufunc.h"

namespace trilane::array {

using core::DType;

namespace {

constexpr int64_t kPiece = 1024;  // elements per thread
constexpr uint64_t kNonzeroId = (uint64_t{1} << 31) + 8192;

constexpr const char* kCount = R"(
extern "C" __global__ void trilane_count_true(const bool* __restrict__ a,
        long long* __restrict__ counts, const long long n, const long long pieces) {
    const long long piece = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (piece >= pieces) return;
    const long long begin = piece * 1024, end = begin + 1024 < n ? begin + 1024 : n;
    int count = 0;
    for (long long i = begin; i < end; ++i) count += a[i];
    counts[piece + 1] = count;
}
)";

constexpr const char* kScan = R"(
extern "C" __global__ void trilane_scan_counts(long long* counts, const long long pieces) {
    if (blockIdx.x + threadIdx.x > 0) return;
    long long total = 0;
    counts[0] = 0;
    for (long long i = 1; i <= pieces; ++i) counts[i] = total += counts[i];
}
)";

constexpr const char* kPositions = R"(
extern "C" __global__ void trilane_true_positions(const bool* __restrict__ a,
        const long long* __restrict__ counts, long long* __restrict__ out, const long long n,
        const long long pieces) {
    const long long piece = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (piece >= pieces) return;
    const long long begin = piece * 1024, end = begin + 1024 < n ? begin + 1024 : n;
    long long at = counts[piece];
    const long long stop = counts[piece + 1];
    for (long long i = begin; i < end && at < stop; ++i)
        if (a[i]) out[at++] = i;
}
)";

core::Function& kernel_of(const core::ContextPtr& context, uint64_t step, const char* entry,
                          const char* text) {
    KernelKey key;
    key.add(kNonzeroId + step);
    return find_kernel(context, key, [&] { return KernelSource{entry, text}; });
}

}  // namespace

Array flat_nonzero(const Array& a) {
    Array truth = contiguous(a.dtype() == DType::Bool ? a : astype(a, DType::Bool, 'C'));
    int64_t n = truth.size(), pieces = (n + kPiece - 1) / kPiece;
    if (n == 0) return Array::empty({0}, DType::Int64);
    core::StreamPtr stream = core::current_stream();
    const core::ContextPtr& context = require_here(stream, truth);
    Array counts = Array::empty({pieces + 1}, DType::Int64);
    int64_t block = pieces > 128 ? 8 : 1;
    if (context->properties().type == core::DeviceType::Cuda) block = 128;
    KernelArguments count;
    count.add(truth);
    count.add(counts);
    count.add(n);
    count.add(pieces);
    launch_threads(kernel_of(context, 0, "trilane_count_true", kCount), pieces, block, count);
    KernelArguments scan;
    scan.add(counts);
    scan.add(pieces);
    launch_threads(kernel_of(context, 1, "trilane_scan_counts", kScan), 1, 1, scan);
    int64_t total = 0;
    core::copy_to_host(&total, *counts.buffer(), static_cast<size_t>(pieces) * 8, 8, stream, true);
    Array result = Array::empty({total}, DType::Int64);
    if (total == 0) return result;
    KernelArguments write;
    write.add(truth);
    write.add(counts);
    write.add(result);
    write.add(n);
    write.add(pieces);
    launch_threads(kernel_of(context, 2, "trilane_true_positions", kPositions), pieces, block,
                   write);
    return result;
}

std::vector<Array> nonzero(const Array& a) {
    Array flat = flat_nonzero(a);
    if (a.ndim() == 1) return {flat};
    std::vector<Array> result(a.shape().size());
    if (a.ndim() == 0) return {flat};
    for (int axis = a.ndim() - 1; axis >= 0; --axis) {
        UfuncCall call;
        call.inputs[0].array = &flat;
        call.inputs[1].scalar = Scalar::weak_int(std::max<int64_t>(1, a.shape()[axis]));
        if (axis == 0) {
            result[0] = flat;
            break;
        }
        call.ufunc = &ufunc_of(Op::Divmod);
        UfuncResult parts = call_ufunc(call);
        result[axis] = parts.outputs[1];
        flat = parts.outputs[0];
    }
    return result;
}

}  // namespace trilane::array
