// Array: the one n-dimensional array of device memory that all three faces share. A value type:
// copies share the storage. Built for deferred evaluation: the storage holds memory, or an
// expression that will be computed into memory when somebody needs it (array/storage.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "array/shape.h"
#include "array/storage.h"
#include "core/buffer.h"
#include "core/dtype.h"

namespace trilane::array {

// What a binding wants to remember of a dtype that the core has no word for (structured dtypes).
using DTypeTag = std::shared_ptr<const void>;

class Array {
  public:
    Array() = default;
    // New memory on the current stream of the current device, not initialised.
    static Array empty(const Shape& shape, core::DType dtype, char order = 'C');
    static Array empty_void(const Shape& shape, size_t itemsize, DTypeTag tag, char order = 'C');
    // New memory with given strides (bytes, a permutation of a contiguous layout).
    static Array empty_strided(Shape shape, Shape strides, core::DType dtype, size_t itemsize);
    // A view of memory that exists. Strides in bytes, may be negative; `offset` in bytes.
    Array(core::BufferPtr buffer, int64_t offset, Shape shape, Shape strides, core::DType dtype,
          size_t itemsize);
    Array(StoragePtr storage, int64_t offset, Shape shape, Shape strides, core::DType dtype,
          size_t itemsize);
    // Another view of the same memory, same dtype.
    Array with_layout(int64_t offset, Shape shape, Shape strides) const;
    Array with_dtype(core::DType dtype, size_t itemsize, DTypeTag tag = nullptr) const;

    core::DType dtype() const { return dtype_; }
    size_t itemsize() const { return itemsize_; }
    const Shape& shape() const { return shape_; }
    const Shape& strides() const { return strides_; }  // bytes
    int ndim() const { return static_cast<int>(shape_.size()); }
    int64_t size() const { return size_; }  // elements
    size_t nbytes() const { return static_cast<size_t>(size_) * itemsize_; }
    bool c_contiguous() const { return c_contiguous_; }
    bool f_contiguous() const { return f_contiguous_; }
    const DTypeTag& tag() const { return tag_; }

    // Forces a pending expression. The buffer that holds the array, and the first element in it.
    const core::BufferPtr& buffer() const { return storage_->memory(); }
    int64_t offset() const { return offset_; }  // bytes from the buffer's start
    core::DevicePtr data() const {              // address of the first element
        const core::BufferPtr& memory = storage_->memory();
        memory->require_live("array");
        return memory->address() + static_cast<core::DevicePtr>(offset_);
    }
    const core::ContextPtr& context() const { return buffer()->context(); }
    const StoragePtr& storage() const { return storage_; }
    bool valid() const { return storage_ != nullptr; }
    bool is_view() const { return is_view_; }  // made from another array

  private:
    void settle();
    StoragePtr storage_;
    int64_t offset_ = 0;
    int64_t size_ = 0;
    Shape shape_, strides_;
    DTypeTag tag_;
    core::DType dtype_ = core::DType::Float64;
    bool c_contiguous_ = true, f_contiguous_ = true, is_view_ = false;
    size_t itemsize_ = 8;
};

// True if the two may touch a byte in common (bounds only: no exact solution of strides).
bool may_share_memory(const Array& a, const Array& b);
// Same first element, same strides over extents that matter, same itemsize: element i is element i.
bool same_elements(const Array& a, const Array& b);
// Lowest and one past the highest byte that the array touches, as addresses.
void memory_bounds(const Array& a, core::DevicePtr& low, core::DevicePtr& high);

}  // namespace trilane::array
