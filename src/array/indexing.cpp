// Basic indexing: views.
#include "array/indexing.h"

#include "core/error.h"

namespace trilane::array {

using core::ErrorKind;
using core::throw_error;

namespace {

int64_t wrapped(int64_t index, int64_t extent, int axis) {
    if (index < -extent || index >= extent)
        throw_error(ErrorKind::IndexError, "index {} is out of bounds for axis {} with size {}",
                    index, axis, extent);
    return index < 0 ? index + extent : index;
}

// What slice.indices() does: first index and number of elements.
int64_t slice_length(int64_t& start, int64_t stop, int64_t step, int64_t extent) {
    if (start < 0)
        start = start + extent < 0 ? (step < 0 ? -1 : 0) : start + extent;
    else if (start >= extent)
        start = step < 0 ? extent - 1 : extent;
    if (stop < 0)
        stop = stop + extent < 0 ? (step < 0 ? -1 : 0) : stop + extent;
    else if (stop >= extent)
        stop = step < 0 ? extent - 1 : extent;
    if (step < 0) return stop < start ? (start - stop - 1) / -step + 1 : 0;
    return start < stop ? (stop - start - 1) / step + 1 : 0;
}

}  // namespace

Array index_integer(const Array& a, int64_t index) {
    if (a.ndim() == 0)
        throw_error(ErrorKind::IndexError,
                    "too many indices for array: array is 0-dimensional, but 1 were indexed");
    index = wrapped(index, a.shape()[0], 0);
    Shape shape(a.shape().data() + 1, a.shape().size() - 1);
    Shape strides(a.strides().data() + 1, a.strides().size() - 1);
    return a.with_layout(a.offset() + index * a.strides()[0], std::move(shape), std::move(strides));
}

Array index_slice(const Array& a, int64_t start, int64_t stop, int64_t step) {
    if (a.ndim() == 0)
        throw_error(ErrorKind::IndexError,
                    "too many indices for array: array is 0-dimensional, but 1 were indexed");
    Shape shape = a.shape(), strides = a.strides();
    int64_t first = start;
    shape[0] = slice_length(first, stop, step, a.shape()[0]);
    int64_t offset = a.offset() + (shape[0] > 0 ? first * strides[0] : 0);
    strides[0] *= step;
    return a.with_layout(offset, std::move(shape), std::move(strides));
}

bool basic_index(const Array& a, std::span<const IndexItem> items, Array& view) {
    int used = 0, ellipses = 0;
    for (const IndexItem& item : items) {
        if (item.kind == IndexKind::Array) return false;
        used += item.kind == IndexKind::Integer || item.kind == IndexKind::Slice;
        ellipses += item.kind == IndexKind::Ellipsis;
    }
    if (ellipses > 1)
        throw_error(ErrorKind::IndexError, "an index can only have a single ellipsis ('...')");
    if (used > a.ndim())
        throw_error(ErrorKind::IndexError,
                    "too many indices for array: array is {}-dimensional, but {} were indexed",
                    a.ndim(), used);
    Shape shape, strides;
    int64_t offset = a.offset();
    int axis = 0;
    auto keep = [&](int count) {
        for (; count > 0; --count, ++axis) {
            shape.push_back(a.shape()[axis]);
            strides.push_back(a.strides()[axis]);
        }
    };
    for (const IndexItem& item : items) {
        switch (item.kind) {
            case IndexKind::NewAxis:
                shape.push_back(1);
                strides.push_back(0);
                break;
            case IndexKind::Ellipsis:
                keep(a.ndim() - used);
                break;
            case IndexKind::Integer:
                offset += wrapped(item.start, a.shape()[axis], axis) * a.strides()[axis];
                ++axis;
                break;
            case IndexKind::Slice: {
                int64_t first = item.start;
                int64_t length = slice_length(first, item.stop, item.step, a.shape()[axis]);
                if (length > 0) offset += first * a.strides()[axis];
                shape.push_back(length);
                strides.push_back(a.strides()[axis] * item.step);
                ++axis;
                break;
            }
            case IndexKind::Array:
                break;
        }
    }
    keep(a.ndim() - axis);
    view = a.with_layout(offset, std::move(shape), std::move(strides));
    return true;
}

}  // namespace trilane::array
