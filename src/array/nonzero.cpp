// Positions of true elements, or other values there: counts per piece, a scan of the counts, then
// what is asked for.
#include <bit>

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

// On a GPU a block of 256 threads has a piece, a thread 16 neighbouring elements of it.
constexpr int64_t kGpuPiece = 4096;
constexpr int64_t kGpuThreads = 256;

constexpr const char* kGpuRead = R"(#include "trilane/block_scan.h"
struct sum {
    template <typename T>
    __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};
// The thread's elements as bits.
__device__ __forceinline__ unsigned int read_true(const unsigned char* a, long long at, long long n) {
    unsigned int bits = 0;
    if (at + 16 <= n && ((unsigned long long)a & 15) == 0) {
        const trilane::pack<unsigned char, 16> x = *(const trilane::pack<unsigned char, 16>*)(a + at);
        #pragma unroll
        for (int k = 0; k < 16; ++k) bits |= (unsigned int)(x.x[k] != 0) << k;
    } else {
        for (int k = 0; k < 16 && at + k < n; ++k) bits |= (unsigned int)(a[at + k] != 0) << k;
    }
    return bits;
}
)";

constexpr const char* kGpuCount = R"(
extern "C" __global__ void trilane_count_true_gpu(const unsigned char* __restrict__ a,
        long long* __restrict__ counts, const long long n, const long long pieces) {
    __shared__ int tree[256];
    const long long at = (blockIdx.x * 256ll + threadIdx.x) * 16;
    tree[threadIdx.x] = __popc(read_true(a, at, n));
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    }
    if (threadIdx.x == 0) counts[blockIdx.x + 1] = tree[0];
}
)";

constexpr const char* kGpuScan = R"(
extern "C" __global__ void trilane_scan_counts_gpu(long long* counts, const long long pieces) {
    __shared__ long long shared[256];
    long long carry = 0;
    for (long long tile = 1; tile <= pieces; tile += 4096) {
        const long long at = tile + threadIdx.x * 16;
        long long value[16];
        #pragma unroll
        for (int k = 0; k < 16; ++k) value[k] = at + k <= pieces ? counts[at + k] : 0;
        #pragma unroll
        for (int k = 1; k < 16; ++k) value[k] += value[k - 1];
        const long long before =
            carry + trilane::block_prefix(value[15], shared, sum()) - value[15];
        carry += shared[255];
        #pragma unroll
        for (int k = 0; k < 16; ++k)
            if (at + k <= pieces) counts[at + k] = before + value[k];
        __syncthreads();
    }
    if (threadIdx.x == 0) counts[0] = 0;
}
)";

// Places within the piece go through shared memory, so that neighbouring threads write neighbours.
constexpr const char* kGpuWrite = R"(
extern "C" __global__ void trilane_write_true_gpu(const unsigned char* __restrict__ a,
        const long long* __restrict__ counts, V* __restrict__ out, const long long n,
        const long long pieces, const V* __restrict__ values) {
    __shared__ int shared[256];
    __shared__ unsigned short places[4096];
    unsigned int bits = read_true(a, (blockIdx.x * 256ll + threadIdx.x) * 16, n);
    const int count = __popc(bits);
    int to = trilane::block_prefix(count, shared, sum()) - count;
    const int total = shared[255];
    for (; bits; bits &= bits - 1)
        places[to++] = (unsigned short)(threadIdx.x * 16 + __ffs((int)bits) - 1);
    __syncthreads();
    V* const first = out + counts[blockIdx.x];
    for (int i = threadIdx.x; i < total; i += 256) {
        const long long at = blockIdx.x * 4096ll + places[i];
        first[i] = VALUE(at);
    }
}
)";

// What the kernel above writes: positions (item size 0), or values of that size.
std::string value_text(size_t itemsize) {
    if (itemsize == 0) return "typedef long long V;\n#define VALUE(at) (at)\n";
    const char* words[] = {"unsigned char", "unsigned short", "unsigned int", "unsigned long long"};
    std::string type =
        itemsize == 16 ? "trilane::pack<unsigned long long, 2>" : words[std::countr_zero(itemsize)];
    return "typedef " + type + " V;\n#define VALUE(at) values[at]\n";
}

// `text` makes the text, where the kernel is not there yet.
template <typename Text>
core::Function& kernel_of(const core::ContextPtr& context, uint64_t step, const char* entry,
                          Text text) {
    KernelKey key;
    key.add(kNonzeroId + step);
    return find_kernel(context, key, [&] { return without_lanes(entry, text()); });
}

// Positions where the contiguous `truth` is true, or the `values` (flat, contiguous) there: how
// many there are is read back. By blocks.
Array write_true_gpu(const Array& truth, const Array* values, const core::StreamPtr& stream) {
    const core::ContextPtr& context = stream->context();
    int64_t n = truth.size(), pieces = (n + kGpuPiece - 1) / kGpuPiece;
    Array counts = Array::empty({pieces + 1}, DType::Int64);
    KernelArguments count, scan, write;
    count.add(truth);
    count.add(counts);
    count.add(n);
    count.add(pieces);
    launch_threads(kernel_of(context, 3, "trilane_count_true_gpu",
                             [] { return std::string(kGpuRead) + kGpuCount; }),
                   pieces * kGpuThreads, kGpuThreads, count);
    scan.add(counts);
    scan.add(pieces);
    launch_threads(kernel_of(context, 4, "trilane_scan_counts_gpu",
                             [] { return std::string(kGpuRead) + kGpuScan; }),
                   kGpuThreads, kGpuThreads, scan);
    int64_t total = 0;
    core::copy_to_host(&total, *counts.buffer(), static_cast<size_t>(pieces) * 8, 8, stream, true);
    Array result = Array::empty({total}, values ? values->dtype() : DType::Int64);
    if (total == 0) return result;
    size_t itemsize = values ? values->itemsize() : 0;
    write.add(truth);
    write.add(counts);
    write.add(result);
    write.add(n);
    write.add(pieces);
    write.add(values ? *values : truth);
    launch_threads(kernel_of(context, 5 + itemsize, "trilane_write_true_gpu",
                             [&] { return kGpuRead + value_text(itemsize) + kGpuWrite; }),
                   pieces * kGpuThreads, kGpuThreads, write);
    return result;
}

}  // namespace

Array flat_nonzero(const Array& a) {
    Array truth = contiguous(a.dtype() == DType::Bool ? a : astype(a, DType::Bool, 'C'));
    int64_t n = truth.size();
    if (n == 0) return Array::empty({0}, DType::Int64);
    core::StreamPtr stream = core::current_stream();
    const core::ContextPtr& context = require_here(stream, truth);
    if (gpu_forms(*context)) return write_true_gpu(truth, nullptr, stream);
    int64_t pieces = (n + kPiece - 1) / kPiece, block = pieces > 128 ? 8 : 1;
    Array counts = Array::empty({pieces + 1}, DType::Int64);
    KernelArguments count;
    count.add(truth);
    count.add(counts);
    count.add(n);
    count.add(pieces);
    launch_threads(kernel_of(context, 0, "trilane_count_true", [] { return std::string(kCount); }),
                   pieces, block, count);
    KernelArguments scan;
    scan.add(counts);
    scan.add(pieces);
    launch_threads(kernel_of(context, 1, "trilane_scan_counts", [] { return std::string(kScan); }),
                   1, 1, scan);
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
    launch_threads(
        kernel_of(context, 2, "trilane_true_positions", [] { return std::string(kPositions); }),
        pieces, block, write);
    return result;
}

Array where_true(const Array& a, const Array& mask) {
    Array flat = reshape(a, {a.size()}, 'C');
    core::StreamPtr stream = core::current_stream();
    if (a.size() == 0 || !gpu_forms(*stream->context()))
        // Positions are within it: the mode that costs least.
        return take(flat, flat_nonzero(mask), 0, false, IndexMode::Clip);
    Array truth = contiguous(mask), values = contiguous(flat);
    require_here(stream, truth);
    require_here(stream, values);
    return write_true_gpu(truth, &values, stream);
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
