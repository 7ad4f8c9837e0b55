// The array type: making arrays and views, and what their memory has in common.
#include "array/array.h"

#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::ErrorKind;
using core::throw_error;

void Storage::evaluate() {
    std::lock_guard lock(mutex_);
    if (!pending()) return;
    memory_ = pending_->evaluate();
    pending_.reset();
    ready_.store(true, std::memory_order_release);
}

Array::Array(core::BufferPtr buffer, int64_t offset, Shape shape, Shape strides, DType dtype,
             size_t itemsize)
    : Array(std::make_shared<Storage>(std::move(buffer)), offset, std::move(shape),
            std::move(strides), dtype, itemsize) {}

Array::Array(StoragePtr storage, int64_t offset, Shape shape, Shape strides, DType dtype,
             size_t itemsize)
    : storage_(std::move(storage)),
      offset_(offset),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      dtype_(dtype),
      itemsize_(itemsize) {
    settle();
}

void Array::settle() {
    if (shape_.size() > kMaxDims)
        throw_error(ErrorKind::InvalidArgument,
                    "maximum supported dimension for an ndarray is currently {}, found {}",
                    kMaxDims, shape_.size());
    size_ = element_count(shape_);
    c_contiguous_ = is_c_contiguous(shape_, strides_, static_cast<int64_t>(itemsize_));
    f_contiguous_ = shape_.size() <= 1
                        ? c_contiguous_
                        : is_f_contiguous(shape_, strides_, static_cast<int64_t>(itemsize_));
}

Array Array::empty_strided(Shape shape, Shape strides, DType dtype, size_t itemsize) {
    int64_t count = element_count(shape), nbytes = 0;
    if (__builtin_mul_overflow(count, static_cast<int64_t>(itemsize), &nbytes))
        throw_error(ErrorKind::InvalidArgument, "array is too big: got shape {}", to_string(shape));
    core::BufferPtr buffer =
        core::Buffer::allocate(core::current_stream(), static_cast<size_t>(nbytes));
    return Array(std::move(buffer), 0, std::move(shape), std::move(strides), dtype, itemsize);
}

Array Array::empty(const Shape& shape, DType dtype, char order) {
    size_t itemsize = core::size_of(dtype);
    int64_t step = static_cast<int64_t>(itemsize);
    return empty_strided(shape, order == 'F' ? f_strides(shape, step) : c_strides(shape, step),
                         dtype, itemsize);
}

Array Array::empty_void(const Shape& shape, size_t itemsize, DTypeTag tag, char order) {
    int64_t step = static_cast<int64_t>(itemsize);
    Array a = empty_strided(shape, order == 'F' ? f_strides(shape, step) : c_strides(shape, step),
                            DType::Void, itemsize);
    a.tag_ = std::move(tag);
    return a;
}

Array Array::with_layout(int64_t offset, Shape shape, Shape strides) const {
    Array view(storage_, offset, std::move(shape), std::move(strides), dtype_, itemsize_);
    view.tag_ = tag_;
    view.is_view_ = true;
    return view;
}

Array Array::with_dtype(DType dtype, size_t itemsize, DTypeTag tag) const {
    Array view(storage_, offset_, shape_, strides_, dtype, itemsize);
    view.tag_ = std::move(tag);
    view.is_view_ = true;
    return view;
}

void memory_bounds(const Array& a, core::DevicePtr& low, core::DevicePtr& high) {
    int64_t first = 0, last = static_cast<int64_t>(a.itemsize());
    for (int i = 0; i < a.ndim(); ++i) {
        int64_t span = (a.shape()[i] - 1) * a.strides()[i];
        (span < 0 ? first : last) += span;
    }
    if (a.size() == 0) first = last = 0;
    low = a.data() + static_cast<core::DevicePtr>(first);
    high = a.data() + static_cast<core::DevicePtr>(last);
}

bool may_share_memory(const Array& a, const Array& b) {
    if (a.size() == 0 || b.size() == 0) return false;
    core::DevicePtr a0, a1, b0, b1;
    memory_bounds(a, a0, a1);
    memory_bounds(b, b0, b1);
    return a0 < b1 && b0 < a1;
}

bool same_elements(const Array& a, const Array& b) {
    if (a.itemsize() != b.itemsize() || a.data() != b.data() || !(a.shape() == b.shape()))
        return false;
    for (int i = 0; i < a.ndim(); ++i)
        if (a.shape()[i] > 1 && a.strides()[i] != b.strides()[i]) return false;
    return true;
}

}  // namespace trilane::array
