// Shapes of products, and the kernel: each thread computes a tile of rows and neighbouring columns.
#include "array/matmul.h"

#include <fmt/format.h>

#include <algorithm>

#include "array/arguments.h"
#include "array/elementwise.h"
#include "array/host_blas.h"
#include "array/manipulation.h"
#include "array/promotion.h"
#include "array/ufunc.h"
#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::ErrorKind;
using core::throw_error;

namespace {

// Columns of one tile lie side by side in memory; a thread keeps kRows x kColumns sums in
// registers.
constexpr int kRows = 4, kColumns = 16;

KernelSource product_source(DType dtype) {
    bool logical = dtype == DType::Bool;
    KernelSource source;
    source.entry = "trilane_matmul";
    source.text = fmt::format(
        R"(#include "trilane/array_ops.h"
using namespace trilane;
typedef {0} S;
typedef {1} T;
extern "C" __global__ void trilane_matmul(const char* __restrict__ a, const char* __restrict__ b,
        S* __restrict__ c, const long long batch, const long long m, const long long n,
        const long long k, const long long row_tiles, const long long column_tiles,
        const long long a_row, const long long a_column, const long long* __restrict__ starts) {{
    const long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= batch * row_tiles * column_tiles) return;
    const long long tile = item % (row_tiles * column_tiles), which = item / (row_tiles * column_tiles);
    const long long i0 = tile % row_tiles * {2}, j0 = tile / row_tiles * {3};
    const char* x = a + starts[2 * which];
    const S* y = (const S*)(b + starts[2 * which + 1]);
    S* z = c + which * m * n;
    if (i0 + {2} <= m && j0 + {3} <= n) {{
        T sum[{2}][{3}];
        for (int r = 0; r < {2}; ++r) for (int s = 0; s < {3}; ++s) sum[r][s] = T(0);
        for (long long l = 0; l < k; ++l) {{
            const S* line = y + l * n + j0;
            #pragma unroll
            for (int r = 0; r < {2}; ++r) {{
                const T left = cast<T>(*(const S*)(x + (i0 + r) * a_row + l * a_column));
                #pragma unroll
                for (int s = 0; s < {3}; ++s) sum[r][s] = {4};
            }}
        }}
        for (int r = 0; r < {2}; ++r)
            for (int s = 0; s < {3}; ++s) z[(i0 + r) * n + j0 + s] = cast<S>(sum[r][s]);
        return;
    }}
    for (long long i = i0; i < m && i < i0 + {2}; ++i)
        for (long long j = j0; j < n && j < j0 + {3}; ++j) {{
            T total = T(0);
            for (long long l = 0; l < k; ++l) {{
                const T left = cast<T>(*(const S*)(x + i * a_row + l * a_column));
                const T right = cast<T>(y[l * n + j]);
                total = {5};
            }}
            z[i * n + j] = cast<S>(total);
        }}
}}
)",
        device_type(dtype), compute_type(dtype), kRows, kColumns,
        logical ? "sum[r][s] || (left && cast<T>(line[s]))" : "sum[r][s] + left * cast<T>(line[s])",
        logical ? "total || (left && right)" : "total + left * right");
    // Contracted: that is what every matrix library does.
    source.contract = true;
    return source;
}

// Byte offsets of each matrix of a batch.
std::vector<int64_t> batch_offsets(const Shape& a_strides, const Shape& b_strides,
                                   const Shape& batch) {
    int64_t count = element_count(batch);
    std::vector<int64_t> offsets(static_cast<size_t>(2 * count));
    for (int64_t item = 0; item < count; ++item) {
        int64_t rest = item, first = 0, second = 0;
        for (size_t d = batch.size(); d-- > 0;) {
            int64_t c = rest % batch[d];
            rest /= batch[d];
            first += c * a_strides[d];
            second += c * b_strides[d];
        }
        offsets[2 * item] = first;
        offsets[2 * item + 1] = second;
    }
    return offsets;
}

Array on_device(const std::vector<int64_t>& offsets) {
    Array result = Array::empty({static_cast<int64_t>(offsets.size())}, DType::Int64);
    core::copy_constant(*result.buffer(), 0, offsets.data(), offsets.size() * 8,
                        core::current_stream());
    return result;
}

// c (batch..., m, n), C order, = a @ b with matrices of one dtype; b's matrices are C-contiguous.
void multiply(const Array& a, const Array& b, const Array& c, const Shape& batch) {
    int64_t m = c.shape()[c.ndim() - 2], n = c.shape()[c.ndim() - 1], k = a.shape()[a.ndim() - 1];
    if (c.size() == 0) return;
    core::StreamPtr stream = core::current_stream();
    for (const Array* array : {&a, &b, &c}) require_here(stream, *array);
    Shape a_batch(a.shape().data(), a.shape().size() - 2),
        a_steps(a.strides().data(), a_batch.size());
    Shape b_batch(b.shape().data(), b.shape().size() - 2),
        b_steps(b.strides().data(), b_batch.size());
    const std::vector<int64_t> offsets =
        batch_offsets(broadcast_strides(a_batch, a_steps, batch),
                      broadcast_strides(b_batch, b_steps, batch), batch);
    if (multiply_by_blas(stream, a, b, c, offsets)) return;
    Array starts = on_device(offsets);
    KernelKey key;
    key.add((uint64_t{1} << 30) + static_cast<uint64_t>(a.dtype()));
    core::Function& function =
        find_kernel(stream->context(), key, [&] { return product_source(a.dtype()); });
    int64_t row_tiles = (m + kRows - 1) / kRows, column_tiles = (n + kColumns - 1) / kColumns;
    KernelArguments arguments;
    for (const Array* array : {&a, &b, &c}) arguments.add(*array);
    int64_t count = element_count(batch);
    for (int64_t value : {count, m, n, k, row_tiles, column_tiles, a.strides()[a.ndim() - 2],
                          a.strides()[a.ndim() - 1]})
        arguments.add(value);
    arguments.add(starts);
    launch_threads(function, count * row_tiles * column_tiles, 16, arguments);
}

Array with_rows_contiguous(const Array& b) {
    int n = b.ndim();
    int64_t item = static_cast<int64_t>(b.itemsize());
    bool good = (b.shape()[n - 1] <= 1 || b.strides()[n - 1] == item) &&
                (b.shape()[n - 2] <= 1 || b.strides()[n - 2] == item * b.shape()[n - 1]);
    return good ? b : copy(b, 'C');
}

}  // namespace

Array matmul(const Array& a0, const Array& b0, const Array* out) {
    if (a0.ndim() == 0 || b0.ndim() == 0)
        throw_error(ErrorKind::InvalidArgument,
                    "matmul: Input operand {} does not have enough dimensions (has 0, gufunc core "
                    "with signature (n?,k),(k,m?)->(n?,m?) requires 1)",
                    a0.ndim() == 0 ? 0 : 1);
    DType dtype = promote_types(a0.dtype(), b0.dtype());
    if (dtype == DType::Void)
        throw_error(ErrorKind::TypeMismatch, "matmul: structured dtypes have no arithmetic");
    Array a = a0.dtype() == dtype ? a0 : astype(a0, dtype);
    Array b = b0.dtype() == dtype ? b0 : astype(b0, dtype);
    if (a.ndim() == 1) a = expand_dims(a, 0);
    if (b.ndim() == 1) b = expand_dims(b, 1);
    int64_t k = a.shape()[a.ndim() - 1];
    if (k != b.shape()[b.ndim() - 2])
        throw_error(ErrorKind::InvalidArgument,
                    "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                    "signature (n?,k),(k,m?)->(n?,m?) (size {} is different from {})",
                    b.shape()[b.ndim() - 2], k);
    b = with_rows_contiguous(b);
    Shape a_batch(a.shape().data(), a.shape().size() - 2),
        b_batch(b.shape().data(), b.shape().size() - 2);
    Shape batch = broadcast_shapes(a_batch, b_batch), shape = batch;
    shape.push_back(a.shape()[a.ndim() - 2]);
    shape.push_back(b.shape()[b.ndim() - 1]);
    Array c = Array::empty(shape, dtype);
    multiply(a, b, c, batch);
    int last = c.ndim() - 1;
    if (b0.ndim() == 1) c = squeeze(c, {last--});
    if (a0.ndim() == 1) c = squeeze(c, {b0.ndim() == 1 ? c.ndim() - 1 : c.ndim() - 2});
    if (!out) return c;
    if (!(out->shape() == c.shape()))
        throw_error(ErrorKind::InvalidArgument, "matmul: output has shape {}, expected {}",
                    to_string(out->shape()), to_string(c.shape()));
    if (!can_cast(dtype, out->dtype(), Casting::SameKind))
        throw_error(
            ErrorKind::TypeMismatch,
            "Cannot cast ufunc 'matmul' output from dtype('{}') to dtype('{}') with casting "
            "rule 'same_kind'",
            core::numpy_name(dtype), core::numpy_name(out->dtype()));
    copy_into(*out, c);
    return *out;
}

Array tensordot(const Array& a, const Array& b, const std::vector<int>& axes_a,
                const std::vector<int>& axes_b) {
    std::vector<int> order_a, order_b = axes_b;
    int64_t rows = 1, columns = 1, inner = 1;
    Shape shape;
    for (size_t i = 0; i < axes_a.size(); ++i) {
        if (a.shape()[axes_a[i]] != b.shape()[axes_b[i]])
            throw_error(ErrorKind::InvalidArgument, "shape-mismatch for sum");
        inner *= a.shape()[axes_a[i]];
    }
    for (int i = 0; i < a.ndim(); ++i)
        if (std::find(axes_a.begin(), axes_a.end(), i) == axes_a.end()) {
            order_a.push_back(i);
            shape.push_back(a.shape()[i]);
            rows *= a.shape()[i];
        }
    order_a.insert(order_a.end(), axes_a.begin(), axes_a.end());
    for (int i = 0; i < b.ndim(); ++i)
        if (std::find(axes_b.begin(), axes_b.end(), i) == axes_b.end()) {
            order_b.push_back(i);
            shape.push_back(b.shape()[i]);
            columns *= b.shape()[i];
        }
    Array left = reshape(transpose(a, order_a), {rows, inner}, 'C');
    Array right = reshape(transpose(b, order_b), {inner, columns}, 'C');
    return reshape(matmul(left, right), shape, 'C');
}

Array dot(const Array& a, const Array& b, const Array* out) {
    if (a.ndim() == 0 || b.ndim() == 0) {
        Array product = call_binary(ufunc_of(Op::Multiply), a, b);
        if (out) copy_into(*out, product);
        return out ? *out : product;
    }
    if (a.ndim() <= 2 && b.ndim() <= 2) {
        if (a.shape()[a.ndim() - 1] != b.shape()[b.ndim() == 1 ? 0 : b.ndim() - 2])
            throw_error(ErrorKind::InvalidArgument,
                        "shapes {} and {} not aligned: {} (dim {}) != {} (dim {})",
                        to_string(a.shape()), to_string(b.shape()), a.shape()[a.ndim() - 1],
                        a.ndim() - 1, b.shape()[b.ndim() == 1 ? 0 : b.ndim() - 2],
                        b.ndim() == 1 ? 0 : b.ndim() - 2);
        return matmul(a, b, out);
    }
    Array product = tensordot(a, b, {a.ndim() - 1}, {b.ndim() == 1 ? 0 : b.ndim() - 2});
    if (out) copy_into(*out, product);
    return out ? *out : product;
}

}  // namespace trilane::array
