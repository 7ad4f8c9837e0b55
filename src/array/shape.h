// Shape: a short list of int64 (extents or byte strides) that lives inside the array object up to
// six dimensions, so that making an array allocates nothing for it; and the arithmetic of shapes.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace trilane::array {

inline constexpr int kMaxDims = 64;

class Shape {
  public:
    static constexpr size_t kInline = 6;

    Shape() = default;
    Shape(std::initializer_list<int64_t> values) { assign(values.begin(), values.size()); }
    Shape(const std::vector<int64_t>& values) { assign(values.data(), values.size()); }
    Shape(const int64_t* values, size_t count) { assign(values, count); }
    Shape(size_t count, int64_t value) { resize(count, value); }
    Shape(const Shape& other) { assign(other.data(), other.size_); }
    Shape(Shape&& other) noexcept { steal(other); }
    ~Shape() { release(); }
    Shape& operator=(const Shape& other) {
        if (this != &other) assign(other.data(), other.size_);
        return *this;
    }
    Shape& operator=(Shape&& other) noexcept {
        if (this != &other) {
            release();
            steal(other);
        }
        return *this;
    }

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    int64_t* data() { return heap_ ? heap_ : inline_; }
    const int64_t* data() const { return heap_ ? heap_ : inline_; }
    int64_t& operator[](size_t i) { return data()[i]; }
    int64_t operator[](size_t i) const { return data()[i]; }
    int64_t* begin() { return data(); }
    int64_t* end() { return data() + size_; }
    const int64_t* begin() const { return data(); }
    const int64_t* end() const { return data() + size_; }
    int64_t back() const { return data()[size_ - 1]; }
    int64_t& back() { return data()[size_ - 1]; }
    int64_t front() const { return data()[0]; }

    void resize(size_t count, int64_t value = 0);
    void clear() { size_ = 0; }
    void push_back(int64_t value) { insert(size_, value); }
    void pop_back() { --size_; }
    void insert(size_t position, int64_t value);
    void erase(size_t position);
    std::vector<int64_t> to_vector() const { return {begin(), end()}; }
    bool operator==(const Shape& other) const {
        return size_ == other.size_ && std::memcmp(data(), other.data(), size_ * 8) == 0;
    }

  private:
    void assign(const int64_t* values, size_t count);
    void reserve(size_t count);
    void release() {
        if (heap_) delete[] heap_;
        heap_ = nullptr;
    }
    void steal(Shape& other) noexcept {
        size_ = other.size_;
        capacity_ = other.capacity_;
        heap_ = other.heap_;
        if (!heap_) std::memcpy(inline_, other.inline_, size_ * 8);
        other.heap_ = nullptr;
        other.size_ = 0;
        other.capacity_ = kInline;
    }
    uint32_t size_ = 0, capacity_ = kInline;
    int64_t* heap_ = nullptr;
    int64_t inline_[kInline];
};

// "(2, 3)", "(4,)", "()": as Python prints a tuple.
std::string to_string(const Shape& shape);

// Number of elements. InvalidArgument if it does not fit int64 or an extent is negative.
int64_t element_count(const Shape& shape);

Shape c_strides(const Shape& shape, int64_t itemsize);
Shape f_strides(const Shape& shape, int64_t itemsize);
bool is_c_contiguous(const Shape& shape, const Shape& strides, int64_t itemsize);
bool is_f_contiguous(const Shape& shape, const Shape& strides, int64_t itemsize);

// NumPy's broadcasting. Throws InvalidArgument with NumPy's wording.
Shape broadcast_shapes(const Shape* const* shapes, size_t count);
Shape broadcast_shapes(const Shape& a, const Shape& b);
// Strides of `shape` seen as `target`; InvalidArgument if it does not broadcast.
Shape broadcast_strides(const Shape& shape, const Shape& strides, const Shape& target);

// Axis in [-ndim, ndim) made non-negative; IndexError (AxisError's text) otherwise.
int normalize_axis(int64_t axis, int ndim);

// A view of `shape`/`strides` with the new shape, if there is one without a copy (order 'C' or
// 'F'); false if not.
bool reshape_strides(const Shape& shape, const Shape& strides, const Shape& wanted, char order,
                     int64_t itemsize, Shape& result);
// Replaces one -1 in `wanted`; InvalidArgument with NumPy's wording if the sizes do not fit.
Shape resolve_reshape(const Shape& shape, Shape wanted);

}  // namespace trilane::array
