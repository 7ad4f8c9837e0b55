// Views of other shapes; concatenation, repetition, ranges.
#include "array/manipulation.h"

#include <algorithm>
#include <cmath>

#include "array/elementwise.h"
#include "array/indexing.h"
#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::ErrorKind;
using core::throw_error;

Array reshape(const Array& a, const Shape& wanted, char order) {
    Shape shape = resolve_reshape(a.shape(), wanted);
    if (order == 'A') order = a.f_contiguous() && !a.c_contiguous() ? 'F' : 'C';
    Shape strides;
    int64_t item = static_cast<int64_t>(a.itemsize());
    if (order == 'C' && a.c_contiguous())
        return a.with_layout(a.offset(), shape, c_strides(shape, item));
    if (reshape_strides(a.shape(), a.strides(), shape, order, item, strides))
        return a.with_layout(a.offset(), std::move(shape), std::move(strides));
    Array whole = copy(a, order);
    strides = order == 'F' ? f_strides(shape, item) : c_strides(shape, item);
    return whole.with_layout(0, std::move(shape), std::move(strides));
}

Array ravel(const Array& a, char order) {
    if (order == 'K') {
        // The order of memory: a view of the axes sorted by stride.
        std::vector<int> axes(a.shape().size());
        for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
        // An axis of stride zero stays where it is among the others, as in NumPy: no order of
        // memory.
        for (size_t i = 1; i < axes.size(); ++i) {
            size_t place = i;
            int64_t mine = std::abs(a.strides()[axes[i]]);
            for (size_t j = i; mine != 0 && j-- > 0;) {
                int64_t other = std::abs(a.strides()[axes[j]]);
                if (other == 0) continue;
                if (other >= mine) break;
                place = j;
            }
            std::rotate(axes.begin() + place, axes.begin() + i, axes.begin() + i + 1);
        }
        return reshape(transpose(a, axes), {-1}, 'C');
    }
    return reshape(a, {a.size()}, order);
}

Array transpose(const Array& a, const std::vector<int>& order) {
    if (order.size() != a.shape().size())
        throw_error(ErrorKind::InvalidArgument, "axes don't match array");
    Shape shape, strides;
    std::vector<bool> seen(order.size(), false);
    for (int axis : order) {
        axis = normalize_axis(axis, a.ndim());
        if (seen[axis]) throw_error(ErrorKind::InvalidArgument, "repeated axis in transpose");
        seen[axis] = true;
        shape.push_back(a.shape()[axis]);
        strides.push_back(a.strides()[axis]);
    }
    return a.with_layout(a.offset(), std::move(shape), std::move(strides));
}

Array transpose(const Array& a) {
    Shape shape = a.shape(), strides = a.strides();
    std::reverse(shape.begin(), shape.end());
    std::reverse(strides.begin(), strides.end());
    return a.with_layout(a.offset(), std::move(shape), std::move(strides));
}

Array swap_axes(const Array& a, int first, int second) {
    first = normalize_axis(first, a.ndim());
    second = normalize_axis(second, a.ndim());
    Shape shape = a.shape(), strides = a.strides();
    std::swap(shape[first], shape[second]);
    std::swap(strides[first], strides[second]);
    return a.with_layout(a.offset(), std::move(shape), std::move(strides));
}

Array move_axes(const Array& a, const std::vector<int>& from, const std::vector<int>& to) {
    if (from.size() != to.size())
        throw_error(ErrorKind::InvalidArgument,
                    "`source` and `destination` arguments must have the same number of elements");
    std::vector<int> order;
    for (int i = 0; i < a.ndim(); ++i)
        if (std::find(from.begin(), from.end(), i) == from.end()) order.push_back(i);
    std::vector<std::pair<int, int>> moves;
    for (size_t k = 0; k < from.size(); ++k) moves.push_back({to[k], from[k]});
    std::sort(moves.begin(), moves.end());
    for (auto [place, axis] : moves) order.insert(order.begin() + place, axis);
    return transpose(a, order);
}

Array expand_dims(const Array& a, int axis) {
    Shape shape = a.shape(), strides = a.strides();
    axis = normalize_axis(axis, a.ndim() + 1);
    shape.insert(axis, 1);
    strides.insert(axis, 0);
    return a.with_layout(a.offset(), std::move(shape), std::move(strides));
}

Array squeeze(const Array& a, const std::vector<int>& axes) {
    Shape shape, strides;
    for (int i = 0; i < a.ndim(); ++i) {
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
            shape.push_back(a.shape()[i]);
            strides.push_back(a.strides()[i]);
        } else if (a.shape()[i] != 1) {
            throw_error(ErrorKind::InvalidArgument,
                        "cannot select an axis to squeeze out which has size not equal to one");
        }
    }
    return a.with_layout(a.offset(), std::move(shape), std::move(strides));
}

Array squeeze(const Array& a) {
    std::vector<int> axes;
    for (int i = 0; i < a.ndim(); ++i)
        if (a.shape()[i] == 1) axes.push_back(i);
    return squeeze(a, axes);
}

Array broadcast_to(const Array& a, const Shape& shape) {
    return a.with_layout(a.offset(), shape, broadcast_strides(a.shape(), a.strides(), shape));
}

Array flip(const Array& a, const std::vector<int>& axes) {
    Shape strides = a.strides();
    int64_t offset = a.offset();
    for (int axis : axes) {
        if (a.shape()[axis] > 0) offset += (a.shape()[axis] - 1) * strides[axis];
        strides[axis] = -strides[axis];
    }
    return a.with_layout(offset, a.shape(), std::move(strides));
}

Array diagonal(const Array& a, int64_t offset, int axis1, int axis2) {
    if (a.ndim() < 2)
        throw_error(ErrorKind::InvalidArgument,
                    "diag requires an array of at least two dimensions");
    axis1 = normalize_axis(axis1, a.ndim());
    axis2 = normalize_axis(axis2, a.ndim());
    if (axis1 == axis2)
        throw_error(ErrorKind::InvalidArgument, "axis1 and axis2 cannot be the same");
    int64_t rows = a.shape()[axis1], columns = a.shape()[axis2];
    int64_t start = a.offset();
    if (offset >= 0) {
        columns -= offset;
        start += offset * a.strides()[axis2];
    } else {
        rows += offset;
        start -= offset * a.strides()[axis1];
    }
    int64_t length = std::max<int64_t>(0, std::min(rows, columns));
    if (length == 0) start = a.offset();
    Shape shape, strides;
    for (int i = 0; i < a.ndim(); ++i) {
        if (i == axis1 || i == axis2) continue;
        shape.push_back(a.shape()[i]);
        strides.push_back(a.strides()[i]);
    }
    shape.push_back(length);
    strides.push_back(a.strides()[axis1] + a.strides()[axis2]);
    return a.with_layout(start, std::move(shape), std::move(strides));
}

Array real_part(const Array& a) {
    if (!is_complex(a.dtype())) return a;
    DType dtype = real_dtype(a.dtype());
    return a.with_dtype(dtype, core::size_of(dtype));
}

Array imaginary_part(const Array& a) {
    if (!is_complex(a.dtype())) return full(a.shape(), a.dtype(), Scalar::weak_int(0));
    DType dtype = real_dtype(a.dtype());
    size_t size = core::size_of(dtype);
    Array view = a.with_dtype(dtype, size);
    return view.with_layout(a.offset() + static_cast<int64_t>(size), view.shape(), view.strides());
}

Array reinterpret(const Array& a, DType dtype, size_t itemsize, DTypeTag tag) {
    if (itemsize == a.itemsize()) return a.with_dtype(dtype, itemsize, std::move(tag));
    if (a.ndim() == 0)
        throw_error(
            ErrorKind::InvalidArgument,
            "Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
    int last = a.ndim() - 1;
    int64_t old_size = static_cast<int64_t>(a.itemsize()),
            new_size = static_cast<int64_t>(itemsize);
    if (a.shape()[last] > 1 && a.strides()[last] != old_size)
        throw_error(ErrorKind::InvalidArgument,
                    "To change to a dtype of a different size, the last axis must be contiguous");
    int64_t bytes = a.shape()[last] * old_size;
    if (bytes % new_size != 0)
        throw_error(ErrorKind::InvalidArgument,
                    "When changing to a larger dtype, its size must be a divisor of the total size "
                    "in bytes of the last axis of the array.");
    Shape shape = a.shape(), strides = a.strides();
    shape[last] = bytes / new_size;
    strides[last] = new_size;
    return a.with_dtype(dtype, itemsize, std::move(tag)).with_layout(a.offset(), shape, strides);
}

// --- joins

Array concatenate(std::span<const Array> parts, int axis, const Array* out,
                  std::optional<DType> dtype, Casting casting) {
    if (parts.empty())
        throw_error(ErrorKind::InvalidArgument, "need at least one array to concatenate");
    const Array& first = parts[0];
    if (first.ndim() == 0)
        throw_error(ErrorKind::InvalidArgument, "zero-dimensional arrays cannot be concatenated");
    axis = normalize_axis(axis, first.ndim());
    Shape shape = first.shape();
    DType common = first.dtype();
    shape[axis] = 0;
    for (const Array& part : parts) {
        if (part.ndim() != first.ndim())
            throw_error(
                ErrorKind::InvalidArgument,
                "all the input array dimensions except for the concatenation axis must match "
                "exactly, but along dimension 0, the arrays have {} and {} dimensions",
                first.ndim(), part.ndim());
        for (int i = 0; i < first.ndim(); ++i)
            if (i != axis && part.shape()[i] != first.shape()[i])
                throw_error(ErrorKind::InvalidArgument,
                            "all the input array dimensions except for the concatenation axis must "
                            "match exactly, but along dimension {}, the arrays have size {} and {}",
                            i, first.shape()[i], part.shape()[i]);
        shape[axis] += part.shape()[axis];
        common = promote_types(common, part.dtype());
    }
    DType wanted = out ? out->dtype() : dtype.value_or(common);
    for (const Array& part : parts)
        if (!can_cast(part.dtype(), wanted, casting))
            throw_error(ErrorKind::TypeMismatch,
                        "Cannot cast array data from dtype('{}') to dtype('{}') according to the "
                        "rule '{}'",
                        core::numpy_name(part.dtype()), core::numpy_name(wanted),
                        casting_name(casting));
    Array result = out                     ? *out
                   : wanted == DType::Void ? Array::empty_void(shape, first.itemsize(), first.tag())
                                           : Array::empty(shape, wanted);
    if (out && !(out->shape() == shape))
        throw_error(ErrorKind::InvalidArgument, "Output array is the wrong shape");
    int64_t at = 0;
    for (const Array& part : parts) {
        Shape piece = result.shape();
        piece[axis] = part.shape()[axis];
        int64_t offset = result.offset() + at * result.strides()[axis];
        at += part.shape()[axis];
        if (part.size() > 0) copy_into(result.with_layout(offset, piece, result.strides()), part);
    }
    return result;
}

Array arange(const Scalar& start, const Scalar& step, int64_t count, DType dtype) {
    // As NumPy: the first two values are of the array's type, the others go on from them.
    DType compute = dtype;
    if (dtype == DType::Bool) compute = DType::Int64;
    if (dtype == DType::Float16 || dtype == DType::BFloat16) compute = DType::Float64;
    Array result = Array::empty({std::max<int64_t>(count, 0)}, dtype);
    LoopOperand operands[] = {{nullptr, &start, compute, false},
                              {nullptr, &step, compute, false},
                              {&result, nullptr, compute, true}};
    LoopKernel kernel;
    kernel.id = (uint64_t{1} << 31) + 128 + static_cast<uint64_t>(compute);
    kernel.describe = [](const void*, ElementwiseText& text) {
        text.entry = "trilane_arange";
        text.body = "out0 = in0 + T(i) * in1";
    };
    kernel.keep_order = true;
    run_elementwise(kernel, result.shape(), operands);
    return result;
}

Array repeat(const Array& a, const std::vector<int64_t>& counts, int axis) {
    axis = normalize_axis(axis, a.ndim());
    int64_t extent = a.shape()[axis];
    for (int64_t count : counts)
        if (count < 0)
            throw_error(ErrorKind::InvalidArgument, "repeats may not contain negative values.");
    if (counts.size() == 1) {
        // One count: a broadcast axis, then a copy.
        Array wide = expand_dims(a, axis + 1);
        Shape shape = wide.shape(), merged = a.shape();
        shape[axis + 1] = counts[0];
        merged[axis] = extent * counts[0];
        return reshape(broadcast_to(wide, shape), merged, 'C');
    }
    if (static_cast<int64_t>(counts.size()) != extent)
        throw_error(ErrorKind::InvalidArgument,
                    "operands could not be broadcast together with shape ({},) ({},)", extent,
                    counts.size());
    std::vector<int64_t> indices;
    for (size_t i = 0; i < counts.size(); ++i)
        indices.insert(indices.end(), static_cast<size_t>(counts[i]), static_cast<int64_t>(i));
    Array index = Array::empty({static_cast<int64_t>(indices.size())}, DType::Int64);
    if (!indices.empty())
        core::copy_constant(*index.buffer(), 0, indices.data(), indices.size() * 8,
                            core::current_stream());
    return take(a, index, axis, false, IndexMode::Wrap);
}

}  // namespace trilane::array
