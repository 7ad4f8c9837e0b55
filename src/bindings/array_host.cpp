// Arrays from and to NumPy.
#include <cstring>

#include "array/elementwise.h"
#include "array/kernel_cache.h"
#include "bindings/array_convert.h"
#include "core/error.h"
#include "core/peer.h"

namespace trilane::bindings {

using array::Array;
using core::DType;
using core::ErrorKind;
using core::throw_error;

namespace {

uintptr_t host_address(nb::handle host) {
    nb::object interface = host.attr("__array_interface__");
    return nb::cast<uintptr_t>(interface["data"][0]);
}

nb::object numpy_call(const char* name, nb::handle a) {
    return nb::handle(array_types().numpy).attr(name)(a);
}

Array new_like_spec(const array::Shape& shape, const DTypeSpec& spec, char order) {
    if (spec.dtype == DType::Void) return Array::empty_void(shape, spec.itemsize, spec.tag, order);
    return Array::empty(shape, spec.dtype, order);
}

}  // namespace

Array array_from_host(nb::handle object, char order) {
    nb::object host = nb::borrow(object);
    if (!PyType_IsSubtype(Py_TYPE(host.ptr()), array_types().host_array))
        host = numpy_call("asarray", host);
    nb::object dtype = host.attr("dtype");
    if (!nb::cast<bool>(dtype.attr("isnative"))) {
        dtype = dtype.attr("newbyteorder")("=");
        host = host.attr("astype")(dtype);
    }
    DTypeSpec spec = dtype_from_python(dtype);
    bool fortran = order == 'F';
    nb::object flags = host.attr("flags");
    if (order == 'K' || order == 'A') fortran = nb::cast<bool>(flags.attr("fnc"));
    // Not ascontiguousarray: that makes 0-d arrays one-dimensional.
    if (!nb::cast<bool>(flags.attr(fortran ? "f_contiguous" : "c_contiguous")))
        host = host.attr("copy")(fortran ? "F" : "C");
    Array result = new_like_spec(shape_from_python(host.attr("shape")), spec, fortran ? 'F' : 'C');
    if (result.nbytes() == 0) return result;
    uintptr_t address = host_address(host);
    array::SlowSection slow;
    core::copy_constant(*result.buffer(), 0, reinterpret_cast<const void*>(address),
                        result.nbytes(), core::current_stream());
    return result;
}

nb::object array_to_host(const Array& a, nb::handle out, char order) {
    nb::object host;
    bool fortran =
        order == 'F' || ((order == 'A' || order == 'K') && a.f_contiguous() && !a.c_contiguous());
    if (out.is_none()) {
        host =
            nb::handle(array_types().numpy)
                .attr("empty")(shape_to_python(a.shape()), dtype_to_python(a), fortran ? "F" : "C");
    } else {
        if (!PyType_IsSubtype(Py_TYPE(out.ptr()), array_types().host_array))
            throw_error(ErrorKind::TypeMismatch,
                        "Only numpy.ndarray can be obtained from this array");
        host = nb::borrow(out);
        nb::object flags = host.attr("flags");
        bool c = nb::cast<bool>(flags.attr("c_contiguous")),
             f = nb::cast<bool>(flags.attr("f_contiguous"));
        if (!host.attr("dtype").equal(dtype_to_python(a)))
            throw_error(ErrorKind::TypeMismatch, "get: dtype mismatch: out has {}, the array {}",
                        nb::cast<std::string>(nb::str(host.attr("dtype"))),
                        nb::cast<std::string>(nb::str(dtype_to_python(a))));
        if (!(shape_from_python(host.attr("shape")) == a.shape()))
            throw_error(ErrorKind::InvalidArgument, "get: shape mismatch: out has {}, the array {}",
                        array::to_string(shape_from_python(host.attr("shape"))),
                        array::to_string(a.shape()));
        if (!c && !f) throw_error(ErrorKind::InvalidArgument, "`out` must be contiguous");
        fortran = f && !c;
    }
    if (a.nbytes() == 0) return host;
    uintptr_t address = host_address(host);
    {
        array::SlowSection slow;
        const core::DeviceScope there(a.context());
        Array source = (fortran ? a.f_contiguous() : a.c_contiguous())
                           ? a
                           : array::copy(a, fortran ? 'F' : 'C');
        core::StreamPtr stream = core::current_stream();
        array::require_here(stream, source);
        core::copy_to_host(reinterpret_cast<void*>(address), *source.buffer(),
                           static_cast<size_t>(source.offset()), source.nbytes(), stream, true);
    }
    return host;
}

}  // namespace trilane::bindings
