// Host memory of Python objects: anything with the buffer protocol or `__array_interface__`.
//
// PyObject_GetBuffer belongs to the stable ABI from Python 3.11 on; 3.10 exports the same function
// with the same structure. It is looked up at run time, so that one extension serves both.
#pragma once

#include "bindings/bindings.h"

namespace trilane::bindings {

// Contiguous host memory, in C or Fortran order, held while the view lives. Needs the GIL.
class HostView {
  public:
    enum class Access { Read, Write };
    // Throws TypeMismatch if `object` has no host memory, Python's own error if it is read-only or
    // not contiguous. `who` is the function's name for messages.
    HostView(nb::handle object, Access access, const char* who);
    ~HostView();
    HostView(const HostView&) = delete;
    HostView& operator=(const HostView&) = delete;

    // Whether `object` offers host memory at all. Never throws.
    static bool is_host_memory(nb::handle object);

    void* data() const { return data_; }
    size_t nbytes() const { return nbytes_; }

  private:
    bool take_buffer(nb::handle object, Access access);
    bool take_interface(nb::handle object, Access access, const char* who);

    // CPython's Py_buffer, which the 3.10 headers hide from the limited API.
    struct Raw {
        void* buf;
        PyObject* obj;
        Py_ssize_t len, itemsize;
        int readonly, ndim;
        char* format;
        Py_ssize_t *shape, *strides, *suboffsets;
        void* internal;
    };
    friend struct BufferFunctions;
    Raw raw_{};
    nb::object interface_owner_;
    void* data_ = nullptr;
    size_t nbytes_ = 0;
};

}  // namespace trilane::bindings
