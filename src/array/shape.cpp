// Shape arithmetic: counts, strides, broadcasting, reshaping without a copy.
#include "array/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace trilane::array {

using core::ErrorKind;
using core::throw_error;

void Shape::reserve(size_t count) {
    if (count <= capacity_) return;
    size_t capacity = count < 2 * kInline ? 2 * kInline : count * 2;
    int64_t* heap = new int64_t[capacity];
    std::memcpy(heap, data(), size_ * 8);
    release();
    heap_ = heap;
    capacity_ = static_cast<uint32_t>(capacity);
}

void Shape::assign(const int64_t* values, size_t count) {
    size_ = 0;
    reserve(count);
    if (count) std::memcpy(data(), values, count * 8);
    size_ = static_cast<uint32_t>(count);
}

void Shape::resize(size_t count, int64_t value) {
    reserve(count);
    for (size_t i = size_; i < count; ++i) data()[i] = value;
    size_ = static_cast<uint32_t>(count);
}

void Shape::insert(size_t position, int64_t value) {
    reserve(size_ + 1);
    int64_t* d = data();
    for (size_t i = size_; i > position; --i) d[i] = d[i - 1];
    d[position] = value;
    ++size_;
}

void Shape::erase(size_t position) {
    int64_t* d = data();
    for (size_t i = position; i + 1 < size_; ++i) d[i] = d[i + 1];
    --size_;
}

std::string to_string(const Shape& shape) {
    std::string text = "(";
    for (size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i ? ", " : "", shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

int64_t element_count(const Shape& shape) {
    int64_t count = 1;
    bool zero = false, overflow = false;
    for (int64_t extent : shape) {
        if (extent < 0)
            throw_error(ErrorKind::InvalidArgument, "negative dimensions are not allowed: got {}",
                        to_string(shape));
        zero |= extent == 0;
        overflow |= __builtin_mul_overflow(count, extent, &count);
    }
    if (zero) return 0;
    if (overflow)
        throw_error(ErrorKind::InvalidArgument, "array is too big: got shape {}", to_string(shape));
    return count;
}

Shape c_strides(const Shape& shape, int64_t itemsize) {
    Shape strides(shape.size(), 0);
    int64_t step = itemsize;
    for (size_t i = shape.size(); i-- > 0;) {
        strides[i] = step;
        if (shape[i] > 0) step *= shape[i];
    }
    return strides;
}

Shape f_strides(const Shape& shape, int64_t itemsize) {
    Shape strides(shape.size(), 0);
    int64_t step = itemsize;
    for (size_t i = 0; i < shape.size(); ++i) {
        strides[i] = step;
        if (shape[i] > 0) step *= shape[i];
    }
    return strides;
}

bool is_c_contiguous(const Shape& shape, const Shape& strides, int64_t itemsize) {
    int64_t step = itemsize;
    bool good = true;
    for (size_t i = shape.size(); i-- > 0;) {
        if (shape[i] == 0) return true;
        if (shape[i] != 1) good &= strides[i] == step;
        step *= shape[i];
    }
    return good;
}

bool is_f_contiguous(const Shape& shape, const Shape& strides, int64_t itemsize) {
    int64_t step = itemsize;
    bool good = true;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0) return true;
        if (shape[i] != 1) good &= strides[i] == step;
        step *= shape[i];
    }
    return good;
}

Shape broadcast_shapes(const Shape* const* shapes, size_t count) {
    size_t ndim = 0;
    for (size_t k = 0; k < count; ++k) ndim = std::max(ndim, shapes[k]->size());
    Shape result(ndim, 1);
    for (size_t k = 0; k < count; ++k) {
        const Shape& shape = *shapes[k];
        size_t lead = ndim - shape.size();
        for (size_t i = 0; i < shape.size(); ++i) {
            if (shape[i] == 1 || shape[i] == result[lead + i]) continue;
            if (result[lead + i] == 1) {
                result[lead + i] = shape[i];
                continue;
            }
            std::string text;
            for (size_t j = 0; j < count; ++j) text += to_string(*shapes[j]) + " ";
            throw_error(ErrorKind::InvalidArgument,
                        "operands could not be broadcast together with shapes {}", text);
        }
    }
    return result;
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
    const Shape* both[] = {&a, &b};
    return broadcast_shapes(both, 2);
}

Shape broadcast_strides(const Shape& shape, const Shape& strides, const Shape& target) {
    Shape result(target.size(), 0);
    bool fits = shape.size() <= target.size();
    size_t lead = fits ? target.size() - shape.size() : 0;
    for (size_t i = 0; fits && i < shape.size(); ++i) {
        if (shape[i] == target[lead + i])
            result[lead + i] = strides[i];
        else if (shape[i] != 1)
            fits = false;
    }
    if (!fits)
        throw_error(ErrorKind::InvalidArgument,
                    "could not broadcast input array from shape {} into shape {}", to_string(shape),
                    to_string(target));
    return result;
}

int normalize_axis(int64_t axis, int ndim) {
    if (axis < -ndim || axis >= ndim)
        throw_error(ErrorKind::IndexError, "axis {} is out of bounds for array of dimension {}",
                    axis, ndim);
    return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

Shape resolve_reshape(const Shape& shape, Shape wanted) {
    int64_t count = element_count(shape), known = 1;
    int unknown = -1;
    for (size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i] < 0) {
            if (unknown >= 0)
                throw_error(ErrorKind::InvalidArgument, "can only specify one unknown dimension");
            unknown = static_cast<int>(i);
        } else if (__builtin_mul_overflow(known, wanted[i], &known)) {
            known = -1;
            break;
        }
    }
    bool good = unknown < 0 ? known == count : known > 0 && count % known == 0;
    if (!good)
        throw_error(ErrorKind::InvalidArgument, "cannot reshape array of size {} into shape {}",
                    count, to_string(wanted));
    if (unknown >= 0) wanted[unknown] = count / known;
    return wanted;
}

namespace {

// Splits one run of old axes [a0, a1) over new axes [b0, b1) that hold as many elements.
bool split_run(const Shape& old_shape, const Shape& old_strides, size_t a0, size_t a1,
               const Shape& wanted, size_t b0, size_t b1, bool fortran, Shape& result) {
    for (size_t k = a0; k + 1 < a1; ++k) {
        int64_t expected =
            fortran ? old_shape[k] * old_strides[k] : old_shape[k + 1] * old_strides[k + 1];
        if ((fortran ? old_strides[k + 1] : old_strides[k]) != expected) return false;
    }
    if (fortran) {
        result[b0] = old_strides[a0];
        for (size_t k = b0 + 1; k < b1; ++k) result[k] = result[k - 1] * wanted[k - 1];
    } else {
        result[b1 - 1] = old_strides[a1 - 1];
        for (size_t k = b1 - 1; k > b0; --k) result[k - 1] = result[k] * wanted[k];
    }
    return true;
}

}  // namespace

bool reshape_strides(const Shape& shape, const Shape& strides, const Shape& wanted, char order,
                     int64_t itemsize, Shape& result) {
    bool fortran = order == 'F';
    if (element_count(wanted) == 0) {
        result = fortran ? f_strides(wanted, itemsize) : c_strides(wanted, itemsize);
        return true;
    }
    Shape old_shape, old_strides;  // without axes of length one: their strides say nothing
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 1) continue;
        old_shape.push_back(shape[i]);
        old_strides.push_back(strides[i]);
    }
    result = Shape(wanted.size(), 0);
    size_t a0 = 0, b0 = 0;
    while (a0 < old_shape.size() && b0 < wanted.size()) {
        size_t a1 = a0 + 1, b1 = b0 + 1;
        int64_t na = old_shape[a0], nb = wanted[b0];
        while (na != nb) {
            if (na < nb)
                na *= old_shape[a1++];
            else
                nb *= wanted[b1++];
        }
        if (!split_run(old_shape, old_strides, a0, a1, wanted, b0, b1, fortran, result))
            return false;
        a0 = a1;
        b0 = b1;
    }
    // What is left of `wanted` has length one.
    int64_t last = itemsize;
    if (b0 > 0) last = fortran ? result[b0 - 1] * wanted[b0 - 1] : result[b0 - 1];
    for (; b0 < wanted.size(); ++b0) result[b0] = last;
    return true;
}

}  // namespace trilane::array
