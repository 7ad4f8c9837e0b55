// Attributes and methods of the array type that neither compute nor reduce.
#include <algorithm>
#include <cstring>

#include "array/elementwise.h"
#include "array/indexing.h"
#include "array/kernel_cache.h"
#include "array/manipulation.h"
#include "array/sort.h"
#include "bindings/arguments.h"
#include "bindings/array_convert.h"
#include "bindings/array_memory.h"
#include "core/error.h"
#include "core/peer.h"

namespace trilane::bindings {

using array::Array;
using core::DType;
using core::ErrorKind;
using core::throw_error;

void warn_complex_cast() {
    nb::object warning = nb::handle(array_types().numpy).attr("exceptions").attr("ComplexWarning");
    if (PyErr_WarnEx(warning.ptr(), "Casting complex values to real discards the imaginary part",
                     1) < 0)
        nb::raise_python_error();
}

MemoryRef array_memory(nb::handle object) {
    const Array& a = require_array(object, "memory");
    MemoryRef ref;
    ref.buffer = a.buffer();
    ref.address = a.data();
    ref.offset = static_cast<size_t>(a.offset());
    ref.nbytes = ref.buffer->nbytes() - std::min(ref.offset, ref.buffer->nbytes());
    return ref;
}

core::DevicePtr array_address(nb::handle object, core::BufferPtr& buffer) {
    const Array& a = as_array(object.ptr());
    buffer = a.buffer();
    return a.data();
}

namespace {

PyTypeObject* type_of(nb::handle self) { return Py_TYPE(self.ptr()); }

nb::object view_of(nb::handle self, Array value) {
    return nb::steal(new_derived_object(std::move(value), self.ptr(), type_of(self)));
}

// Arguments given as f(1, 2) or f((1, 2)).
array::Shape flexible_shape(const nb::args& args) {
    if (args.size() == 1) return shape_from_python(args[0]);
    array::Shape shape;
    for (nb::handle item : args) shape.push_back(index_from_python(item, "shape"));
    return shape;
}

std::vector<int> flexible_axes(const nb::args& args) {
    std::vector<int> axes;
    array::Shape given = flexible_shape(args);
    for (int64_t axis : given) axes.push_back(static_cast<int>(axis));
    return axes;
}

void init_array(nb::pointer_and_handle<Array> self, nb::object shape_object,
                nb::object dtype_object, nb::object memory, nb::object strides_object,
                nb::object order_object) {
    array::Shape shape = shape_from_python(shape_object);
    DTypeSpec spec = dtype_from_python(dtype_object);
    char order = order_from_python(order_object, "CF");
    int64_t item = static_cast<int64_t>(spec.itemsize);
    array::Shape strides =
        order == 'F' ? array::f_strides(shape, item) : array::c_strides(shape, item);
    if (!strides_object.is_none()) strides = shape_from_python(strides_object);
    if (strides.size() != shape.size())
        throw_error(ErrorKind::InvalidArgument, "ndarray: strides and shape differ in length");
    Array value;
    if (memory.is_none()) {
        value = spec.dtype == DType::Void ? Array::empty_void(shape, spec.itemsize, spec.tag, order)
                                          : Array::empty(shape, spec.dtype, order);
        if (!strides_object.is_none()) value = value.with_layout(0, shape, strides);
    } else {
        bool with_offset = nb::hasattr(memory, "buffer") && nb::hasattr(memory, "offset");
        nb::object source = with_offset ? nb::object(memory.attr("buffer")) : memory;
        int64_t offset = with_offset ? nb::cast<int64_t>(memory.attr("offset")) : 0;
        MemoryRef ref = memory_of(source, "ndarray");
        if (!ref.buffer) throw_error(ErrorKind::TypeMismatch, "ndarray: memptr has no buffer");
        offset += static_cast<int64_t>(ref.offset);
        value = Array(ref.buffer, offset, shape, strides, spec.dtype, spec.itemsize);
        if (spec.tag) value = value.with_dtype(spec.dtype, spec.itemsize, spec.tag);
    }
    new (self.p) Array(std::move(value));
}

void set_shape(Array& a, nb::object wanted) {
    array::Shape shape = array::resolve_reshape(a.shape(), shape_from_python(wanted)), strides;
    if (!array::reshape_strides(a.shape(), a.strides(), shape, 'C',
                                static_cast<int64_t>(a.itemsize()), strides)) {
        PyErr_SetString(PyExc_AttributeError,
                        "Incompatible shape for in-place modification. Use `.reshape()` to make a "
                        "copy with the desired shape.");
        nb::raise_python_error();
    }
    a = a.with_layout(a.offset(), shape, strides);
}

// reshape(*shape, order='C', copy=None): the copy that must be, must not be, or is made if needed.
nb::object reshape_method(nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
    char order = 'C';
    nb::object copy = nb::none();
    for (auto [key, value] : kwargs) {
        std::string name = nb::cast<std::string>(key);
        if (name == "order")
            order = order_from_python(nb::borrow(value), "CFA");
        else if (name == "copy")
            copy = nb::borrow(value);
        else
            throw_error(ErrorKind::TypeMismatch,
                        "reshape() got an unexpected keyword argument '{}'", name);
    }
    if (args.size() == 0)
        throw_error(ErrorKind::TypeMismatch, "reshape() missing 1 required argument: 'shape'");
    if (nb::isinstance<nb::str>(copy))
        throw_error(ErrorKind::InvalidArgument,
                    "strings are not allowed for 'copy' keyword. Use True/False/None instead.");
    const Array& a = as_array(self.ptr());
    Array result = array::reshape(a, flexible_shape(args), order);
    bool is_view = result.buffer() == a.buffer() || a.size() == 0;
    if (!copy.is_none()) {
        bool wanted = nb::cast<bool>(nb::bool_(copy));
        if (!wanted && !is_view)
            throw_error(ErrorKind::InvalidArgument,
                        "Unable to avoid creating a copy while reshaping.");
        if (wanted && is_view) result = array::copy(result, 'K');
    }
    return view_of(self, std::move(result));
}

nb::object read_item(const Array& a) {
    if (a.dtype() == DType::Void) return array_to_host(a, nb::none(), 'C').attr("item")();
    char bytes[16];
    core::StreamPtr stream = core::current_stream(a.context());
    array::require_here(stream, a);
    {
        array::SlowSection slow;
        core::copy_to_host(bytes, *a.buffer(), static_cast<size_t>(a.offset()), a.itemsize(),
                           stream, true);
    }
    return scalar_to_python(bytes, a.dtype());
}

nb::object item(nb::handle self, const nb::args& args) {
    const Array& a = as_array(self.ptr());
    if (args.size() == 0) {
        if (a.size() != 1)
            throw_error(ErrorKind::InvalidArgument,
                        "can only convert an array of size 1 to a Python scalar");
        return read_item(a.with_layout(a.offset(), {}, {}));
    }
    array::Shape index = flexible_shape(args);
    Array element = a;
    if (index.size() == 1 && a.ndim() != 1) {
        int64_t at = index[0];
        if (at < -a.size() || at >= a.size())
            throw_error(ErrorKind::IndexError, "index {} is out of bounds for size {}", at,
                        a.size());
        if (at < 0) at += a.size();
        array::Shape full(a.shape().size(), 0);
        for (size_t d = full.size(); d-- > 0; at /= a.shape()[d]) full[d] = at % a.shape()[d];
        index = full;
    }
    if (static_cast<int>(index.size()) != a.ndim())
        throw_error(ErrorKind::InvalidArgument, "incorrect number of indices for array");
    for (int64_t i : index) element = array::index_integer(element, i);
    return read_item(element);
}

nb::object astype(nb::handle self, nb::object dtype, nb::object order, nb::object casting,
                  nb::object subok, bool copy) {
    if (!subok.is_none() && nb::cast<bool>(subok))
        throw_error(ErrorKind::NotSupported, "astype: subok");
    const Array& a = as_array(self.ptr());
    DTypeSpec spec = dtype_from_python(dtype);
    char layout = order_from_python(order, "KCFA");
    if (!casting.is_none()) {
        array::Casting rule = array::casting_from_name(nb::cast<std::string>(casting));
        if (!array::can_cast(a.dtype(), spec.dtype, rule))
            throw_error(
                ErrorKind::TypeMismatch,
                "Cannot cast array data from dtype('{}') to dtype('{}') according to the rule '{}'",
                core::numpy_name(a.dtype()), core::numpy_name(spec.dtype),
                array::casting_name(rule));
    }
    bool fits = layout == 'K' || (layout == 'C' && a.c_contiguous()) ||
                (layout == 'F' && a.f_contiguous()) ||
                (layout == 'A' && (a.c_contiguous() || a.f_contiguous()));
    if (!copy && spec.dtype == a.dtype() && fits) return nb::borrow(self);
    if (array::is_complex(a.dtype()) && !array::is_complex(spec.dtype) && spec.dtype != DType::Bool)
        warn_complex_cast();
    if (spec.dtype == a.dtype()) return view_of(self, array::copy(a, layout));
    return view_of(self, array::astype(a, spec.dtype, layout));
}

nb::object view(nb::handle self, nb::object dtype, nb::object type) {
    const Array& a = as_array(self.ptr());
    if (PyType_Check(dtype.ptr()) &&
        PyType_IsSubtype((PyTypeObject*)dtype.ptr(), array_types().ndarray)) {
        type = dtype;
        dtype = nb::none();
    }
    PyTypeObject* result = type.is_none() ? type_of(self) : (PyTypeObject*)type.ptr();
    Array value = a.with_layout(a.offset(), a.shape(), a.strides());
    if (!dtype.is_none()) {
        DTypeSpec spec = dtype_from_python(dtype);
        value = array::reinterpret(value, spec.dtype, spec.itemsize, spec.tag);
    }
    return nb::steal(new_derived_object(std::move(value), self.ptr(), result));
}

void fill(Array& a, nb::object value) {
    array::UfuncInput input;
    if (!input_from_python(value.ptr(), input))
        throw_error(ErrorKind::TypeMismatch, "fill: Unsupported type {}",
                    nb::cast<std::string>(nb::str(value.type())));
    if (!input.array) return array::copy_into(a, input.scalar);
    if (input.array->ndim() != 0)
        throw_error(ErrorKind::InvalidArgument, "non-scalar ndarray cannot be used for fill");
    array::copy_into(a, *input.array);
}

nb::object get(nb::handle self, const core::StreamPtr& stream, nb::object order, nb::object out,
               bool blocking) {
    (void)blocking;  // the copy is always complete on return
    const Array& a = as_array(self.ptr());
    if (!stream) return array_to_host(a, out, order_from_python(order, "CFAK"));
    core::require_same_device(*a.buffer(), stream, "get");
    struct Restore {
        core::StreamPtr before;
        ~Restore() { core::set_current_stream(before); }
    } restore{core::current_stream(stream->context())};
    core::set_current_stream(stream);
    return array_to_host(a, out, order_from_python(order, "CFAK"));
}

void set(Array& a, nb::object value, const core::StreamPtr& stream) {
    (void)stream;
    if (!PyType_IsSubtype(Py_TYPE(value.ptr()), array_types().host_array))
        throw_error(ErrorKind::TypeMismatch, "Only numpy.ndarray can be set to this array");
    if (!value.attr("dtype").equal(dtype_to_python(a)))
        throw_error(ErrorKind::TypeMismatch, "{} array cannot be set to {} array",
                    nb::cast<std::string>(nb::str(value.attr("dtype"))),
                    nb::cast<std::string>(nb::str(dtype_to_python(a))));
    if (!(shape_from_python(value.attr("shape")) == a.shape()))
        throw_error(ErrorKind::InvalidArgument, "Shape mismatch. Old shape: {}, new shape: {}",
                    array::to_string(a.shape()),
                    array::to_string(shape_from_python(value.attr("shape"))));
    const core::DeviceScope there(a.context());
    core::refuse_wait("ndarray.set", *core::current_stream());
    array::copy_into(a, array_from_host(value, 'K'));
}

std::vector<int64_t> repeats_from_python(nb::handle repeats) {
    std::vector<int64_t> counts;
    if (is_array(repeats.ptr())) {
        nb::object host = array_to_host(as_array(repeats.ptr()), nb::none(), 'C');
        return repeats_from_python(host.attr("tolist")());
    }
    array::Shape given = shape_from_python(repeats);
    return {given.begin(), given.end()};
}

nb::object repeat(nb::handle self, nb::object repeats, nb::object axis) {
    Array a = as_array(self.ptr());
    if (axis.is_none()) a = array::ravel(a, 'C');
    int along = axis.is_none() ? 0 : static_cast<int>(index_from_python(axis, "axis"));
    return view_of(self, array::repeat(a, repeats_from_python(repeats), along));
}

nb::object transpose(nb::handle self, const nb::args& args) {
    const Array& a = as_array(self.ptr());
    if (args.size() == 0 || (args.size() == 1 && args[0].is_none()))
        return view_of(self, array::transpose(a));
    return view_of(self, array::transpose(a, flexible_axes(args)));
}

nb::object squeeze(nb::handle self, nb::object axis) {
    const Array& a = as_array(self.ptr());
    if (axis.is_none()) return view_of(self, array::squeeze(a));
    return view_of(self, array::squeeze(a, axes_from_python(axis, a.ndim())));
}

nb::object index_array(nb::handle object) {
    if (is_array(object.ptr())) return nb::borrow(object);
    return wrap(array_from_host(object, 'C'));
}

nb::object take(nb::handle self, nb::object indices, nb::object axis, nb::object out,
                std::string mode) {
    const Array& a = as_array(self.ptr());
    nb::object index = index_array(indices);
    int along = axis.is_none() ? 0 : static_cast<int>(index_from_python(axis, "axis"));
    Array result = array::take(a, as_array(index.ptr()), along, axis.is_none(),
                               array::index_mode_from_name(mode));
    if (out.is_none()) return view_of(self, std::move(result));
    array::copy_into(require_array(out, "take"), result);
    return out;
}

void put(Array& a, nb::object indices, nb::object values, std::string mode) {
    nb::object index = index_array(indices), value = index_array(values);
    array::put(a, as_array(index.ptr()), as_array(value.ptr()), array::index_mode_from_name(mode));
}

nb::object set_real_part(nb::handle self, nb::object value, bool imaginary) {
    const Array& a = as_array(self.ptr());
    if (imaginary && !array::is_complex(a.dtype()))
        throw_error(ErrorKind::TypeMismatch, "cannot set imaginary part of real array");
    nb::object part = view_of(self, imaginary ? array::imaginary_part(a) : array::real_part(a));
    if (PyObject_SetItem(part.ptr(), Py_Ellipsis, value.ptr()) < 0) nb::raise_python_error();
    return part;
}

nb::object compress(nb::handle self, nb::object condition, nb::object axis, nb::object out) {
    Array a = as_array(self.ptr());
    nb::object mask = index_array(condition);
    Array positions = array::flat_nonzero(as_array(mask.ptr()));
    int along = axis.is_none() ? 0 : static_cast<int>(index_from_python(axis, "axis"));
    Array result = array::take(a, positions, along, axis.is_none(), array::IndexMode::Raise);
    if (out.is_none()) return view_of(self, std::move(result));
    array::copy_into(require_array(out, "compress"), result);
    return out;
}

void bind_attributes(nb::class_<Array>& cls) {
    cls.def_prop_rw(
           "shape", [](const Array& a) { return shape_to_python(a.shape()); }, &set_shape)
        .def_prop_ro("strides", [](const Array& a) { return shape_to_python(a.strides()); })
        .def_prop_ro("dtype", [](const Array& a) { return dtype_to_python(a); })
        .def_prop_ro("ndim", &Array::ndim)
        .def_prop_ro("size", &Array::size)
        .def_prop_ro("nbytes", &Array::nbytes)
        .def_prop_ro("itemsize", &Array::itemsize)
        .def_prop_ro(
            "T",
            [](nb::handle self) { return view_of(self, array::transpose(as_array(self.ptr()))); })
        .def_prop_ro("mT",
                     [](nb::handle self) {
                         const Array& a = as_array(self.ptr());
                         if (a.ndim() < 2)
                             throw_error(ErrorKind::InvalidArgument,
                                         "matrix transpose with ndim < 2 is undefined");
                         return view_of(self, array::swap_axes(a, -1, -2));
                     })
        .def_prop_rw(
            "real",
            [](nb::handle self) -> nb::object {
                const Array& a = as_array(self.ptr());
                bool is_complex = a.dtype() == DType::Complex64 || a.dtype() == DType::Complex128;
                return is_complex ? view_of(self, array::real_part(a)) : nb::borrow(self);
            },
            [](nb::handle self, nb::object value) { set_real_part(self, value, false); })
        .def_prop_rw(
            "imag",
            [](nb::handle self) {
                return view_of(self, array::imaginary_part(as_array(self.ptr())));
            },
            [](nb::handle self, nb::object value) { set_real_part(self, value, true); })
        .def_prop_ro("ptr",
                     [](const Array& a) {
                         a.buffer()->mark_escaped();
                         return a.data();
                     })
        .def_prop_ro("_address", &Array::data)
        .def_prop_ro("buffer", [](const Array& a) { return a.buffer(); })
        .def_prop_ro("offset", &Array::offset)
        .def_prop_ro("device_id", [](const Array& a) { return a.context()->index(); })
        .def_prop_ro("c_contiguous", &Array::c_contiguous)
        .def_prop_ro("f_contiguous", &Array::f_contiguous)
        .def_prop_ro("base", &base_of)
        .def_prop_ro("owndata", [](const Array& a) { return !a.is_view(); });
}

}  // namespace

void bind_array_methods(nb::class_<Array>& cls) {
    using nb::arg;
    cls.def("__init__", &init_array, arg("shape"),
            arg("dtype") = nb::handle((PyObject*)&PyFloat_Type), arg("memptr").none() = nb::none(),
            arg("strides").none() = nb::none(), arg("order").none() = "C");
    bind_attributes(cls);
    cls.def("item", &item)
        .def("tolist",
             [](const Array& a) { return array_to_host(a, nb::none(), 'C').attr("tolist")(); })
        .def("get", &get, arg("stream").none() = nb::none(), arg("order").none() = "C",
             arg("out").none() = nb::none(), arg("blocking") = true)
        .def("set", &set, arg("value"), arg("stream").none() = nb::none())
        .def("reshape", &reshape_method)
        .def(
            "ravel",
            [](nb::handle self, nb::object order) {
                Array flat = array::ravel(as_array(self.ptr()), order_from_python(order, "CFAK"));
                // As NumPy's: who writes to what is strided here writes to a copy.
                return view_of(self,
                               flat.c_contiguous() ? std::move(flat) : array::copy(flat, 'C'));
            },
            arg("order").none() = "C")
        .def(
            "flatten",
            [](nb::handle self, nb::object order) {
                const Array& a = as_array(self.ptr());
                Array flat = array::ravel(a, order_from_python(order, "CFAK"));
                return view_of(self, flat.storage() == a.storage() ? array::copy(flat, 'C') : flat);
            },
            arg("order").none() = "C")
        .def("transpose", &transpose)
        .def("swapaxes",
             [](nb::handle self, int first, int second) {
                 return view_of(self, array::swap_axes(as_array(self.ptr()), first, second));
             })
        .def("squeeze", &squeeze, arg("axis").none() = nb::none())
        .def("view", &view, arg("dtype").none() = nb::none(), arg("type").none() = nb::none())
        .def("astype", &astype, arg("dtype"), arg("order").none() = "K",
             arg("casting").none() = nb::none(), arg("subok").none() = nb::none(),
             arg("copy") = true)
        .def(
            "copy",
            [](nb::handle self, nb::object order) {
                return view_of(self,
                               array::copy(as_array(self.ptr()), order_from_python(order, "CFAK")));
            },
            arg("order").none() = "C")
        .def("fill", &fill, arg("value"))
        .def("repeat", &repeat, arg("repeats"), arg("axis").none() = nb::none())
        .def("take", &take, arg("indices"), arg("axis").none() = nb::none(),
             arg("out").none() = nb::none(), arg("mode") = "raise")
        .def("put", &put, arg("indices"), arg("values"), arg("mode") = "raise")
        .def("compress", &compress, arg("condition"), arg("axis").none() = nb::none(),
             arg("out").none() = nb::none())
        .def(
            "diagonal",
            [](nb::handle self, int64_t offset, int axis1, int axis2) {
                return view_of(self, array::diagonal(as_array(self.ptr()), offset, axis1, axis2));
            },
            arg("offset") = 0, arg("axis1") = 0, arg("axis2") = 1)
        .def("nonzero",
             [](nb::handle self) {
                 if (as_array(self.ptr()).ndim() == 0)
                     throw_error(ErrorKind::InvalidArgument,
                                 "Calling nonzero on 0d arrays is not allowed. Use "
                                 "np.atleast_1d(scalar).nonzero() instead.");
                 nb::list parts;
                 for (Array& part : array::nonzero(as_array(self.ptr())))
                     parts.append(view_of(self, std::move(part)));
                 return nb::tuple(parts);
             })
        .def("as_type",
             [](nb::handle self, nb::handle cls) {
                 return wrap(as_array(self.ptr()), (PyTypeObject*)cls.ptr());
             })
        .def("__complex__",
             [](nb::handle self) {
                 return nb::handle((PyObject*)&PyComplex_Type)(self.attr("item")());
             })
        .def("__iter__",
             [](nb::handle self) {
                 const Array& a = as_array(self.ptr());
                 if (a.ndim() == 0)
                     throw_error(ErrorKind::TypeMismatch, "iteration over a 0-d array");
                 nb::list rows;
                 for (int64_t i = 0; i < a.shape()[0]; ++i)
                     rows.append(view_of(self, array::index_integer(a, i)));
                 return nb::iter(rows);
             })
        .def("__repr__", [](const Array& a) { return nb::repr(array_to_host(a, nb::none(), 'C')); })
        .def("__str__", [](const Array& a) { return nb::str(array_to_host(a, nb::none(), 'C')); })
        .def("__format__",
             [](const Array& a, nb::str format) {
                 return array_to_host(a, nb::none(), 'C').attr("__format__")(format);
             })
        .def("__copy__",
             [](nb::handle self) { return view_of(self, array::copy(as_array(self.ptr()), 'C')); })
        .def("__deepcopy__", [](nb::handle self, nb::handle) {
            return view_of(self, array::copy(as_array(self.ptr()), 'C'));
        });
}

}  // namespace trilane::bindings
