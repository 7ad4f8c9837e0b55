// Python objects as arguments of translated kernels: their types, and their bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "array/array.h"
#include "array/shape.h"
#include "bindings/bindings.h"
#include "bindings/type_route.h"
#include "core/buffer.h"
#include "jit/type.h"

namespace trilane::bindings {

// Memory of a NumPy array, with its layout, held while this lives. Needs the GIL to make and drop.
class StridedView {
  public:
    StridedView() = default;
    ~StridedView();
    StridedView(const StridedView&) = delete;
    StridedView& operator=(const StridedView&) = delete;
    // False, with no error set, if the object has no such memory.
    bool take(nb::handle object);

    void* data() const { return raw_.buf; }
    int ndim() const { return raw_.ndim; }
    const Py_ssize_t* shape() const { return raw_.shape; }
    const Py_ssize_t* strides() const { return raw_.strides; }
    Py_ssize_t itemsize() const { return raw_.itemsize; }
    bool readonly() const { return raw_.readonly != 0; }
    const char* format() const { return raw_.format ? raw_.format : "B"; }
    size_t nbytes() const { return static_cast<size_t>(raw_.len); }

  private:
    // CPython's Py_buffer, which the 3.10 headers hide from the limited API.
    struct Raw {
        void* buf;
        PyObject* obj;
        Py_ssize_t len, itemsize;
        int readonly, ndim;
        char* format;
        Py_ssize_t *shape, *strides, *suboffsets;
        void* internal;
    } raw_{};
};

// One array among the arguments.
struct ArrayArgument {
    core::DevicePtr address = 0;
    core::BufferPtr buffer;             // device memory, if known
    std::unique_ptr<StridedView> host;  // host memory: to be copied, or used in place
    nb::object owner;                   // of `host`
    nb::object target;                  // copy the contents of `owner` there afterwards
    size_t parameter = 0;
    bool copy_in = true, copy_out = true;
    core::BufferPtr staged;  // its device copy
};

// A number as an argument.
struct NumberArgument {
    jit::TypeRef type = nullptr;
    bool is_real = false;
    union {
        int64_t integer = 0;
        double real;
    };
    bool fits(jit::TypeRef to) const;  // a parameter of a number, and nothing would be cut off
    // Its bytes as a parameter of `type`, by C's rules of conversion. TypeMismatch if it is none of
    // a number.
    void write(jit::TypeRef to, uint8_t* out) const;
};
// False if the object is no real number of Python's or NumPy's. TypeMismatch, naming the parameter,
// if it has no place in 64 bits.
bool read_number(nb::handle object, const TypeRoute& route, size_t parameter, NumberArgument& out);
// The type of a device array as a parameter; null for elements that only Python knows.
jit::TypeRef device_array_type(const array::Array& a);

// The arguments of one launch. `types` decides which specialisation runs; pack() writes the bytes.
class KernelArguments {
  public:
    // `place`: device code can use host memory in place (the cpu device without checks).
    // `convert` is the Python function that turns other objects into ones known here.
    // `expected`: how many will be added, as far as it is known.
    KernelArguments(nb::handle convert, bool place, size_t expected = 0);
    void add(nb::handle object);
    const std::vector<jit::TypeRef>& types() const { return types_; }
    std::vector<ArrayArgument>& arrays() { return arrays_; }

    // Gives each parameter its bytes, by the layout of `parameters` (same shapes as types(),
    // numbers may differ: they convert). Arrays must have their addresses.
    void pack(const std::vector<jit::TypeRef>& parameters);
    std::vector<void*>& pointers() { return pointers_; }
    // An address that holds `nbytes` at `bytes` until this is dropped.
    void* keep(const void* bytes, size_t nbytes, size_t align);

  private:
    struct Item {
        jit::TypeRef type = nullptr;
        enum class Source : uint8_t {
            Integer,
            Real,
            Complex,
            Array,
            Tuple,
            Bytes,
            Record,
            None
        } source = Source::None;
        union {
            int64_t integer = 0;
            double real;
            struct {
                double re, im;
            } complex;
            size_t index;  // of arrays_, bytes_ or the first of `count` items_
        };
        size_t count = 0;
    };
    Item convert(nb::handle object, size_t parameter);
    Item array(nb::handle object, size_t parameter);
    Item host_array(nb::handle object, size_t parameter, bool copy_in, bool copy_out);
    // A NumPy record: kernels get the address of its bytes, and write there.
    Item record(nb::handle object, size_t parameter, bool copy_in, bool copy_out);
    Item other(nb::handle object, size_t parameter);
    void write(const Item& item, jit::TypeRef type, uint8_t* out, size_t parameter) const;
    void write_array(const ArrayArgument& array, jit::TypeRef type, uint8_t* out) const;

    nb::handle convert_;
    bool place_;
    std::vector<jit::TypeRef> types_;
    std::vector<Item> top_, items_;
    std::vector<ArrayArgument> arrays_;
    struct Layout {
        array::Shape shape, strides;
    };
    std::vector<Layout> layouts_;  // of arrays_
    std::vector<nb::object> bytes_;
    std::vector<void*> pointers_;
    std::vector<std::unique_ptr<std::max_align_t[]>> blocks_;
    alignas(16) uint8_t inline_[512];
    size_t used_ = 0;
};

}  // namespace trilane::bindings
