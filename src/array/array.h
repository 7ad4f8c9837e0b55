// Array: the one n-dimensional array of device memory that all three faces share. A value type:
// copies share the storage. Built for deferred evaluation: the storage holds memory, or an
// expression that will be computed into memory when somebody needs it (array/storage.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/buffer.h"
#include "core/dtype.h"

namespace trilane::array {

inline constexpr int kMaxDims = 32;
using Shape = std::vector<int64_t>;

class Storage;   // memory or a pending expression
using StoragePtr = std::shared_ptr<Storage>;

class Array {
  public:
    Array() = default;
    // New memory on the current stream of the current device, not initialised, C order.
    static Array empty(const Shape& shape, core::DType dtype, char order = 'C');
    // A view of memory that exists. Strides in bytes, may be negative; `offset` in bytes.
    Array(core::BufferPtr buffer, int64_t offset, Shape shape, Shape strides, core::DType dtype,
          size_t itemsize);

    core::DType dtype() const { return dtype_; }
    size_t itemsize() const { return itemsize_; }
    const Shape& shape() const { return shape_; }
    const Shape& strides() const { return strides_; }     // bytes
    int ndim() const { return static_cast<int>(shape_.size()); }
    int64_t size() const;                                  // elements
    size_t nbytes() const { return static_cast<size_t>(size()) * itemsize_; }
    bool c_contiguous() const;
    bool f_contiguous() const;

    // Forces a pending expression. The buffer that holds the array, and the first element in it.
    const core::BufferPtr& buffer() const;
    int64_t offset() const { return offset_; }             // bytes from the buffer's start
    core::DevicePtr data() const;                          // address of the first element
    const core::ContextPtr& context() const;

  private:
    StoragePtr storage_;
    int64_t offset_ = 0;
    Shape shape_, strides_;
    core::DType dtype_ = core::DType::Float64;
    size_t itemsize_ = 8;
};

}  // namespace trilane::array
