// Functions of the module: creation, exchange, joins, selection.
#include "array/elementwise.h"
#include "array/host_blas.h"
#include "array/indexing.h"
#include "array/manipulation.h"
#include "array/matmul.h"
#include "array/peer.h"
#include "array/sort.h"
#include "bindings/array_convert.h"
#include "core/error.h"

namespace trilane::bindings {

using array::Array;
using core::DType;
using core::ErrorKind;
using core::throw_error;
using nb::arg;

namespace {

PyObject* peer_notice = nullptr;  // what set_peer_notice() was given

nb::object like(nb::handle source, Array value) {
    return nb::steal(
        new_derived_object(std::move(value), source.ptr(), function_type_of(source.ptr())));
}

nb::object empty(nb::object shape, nb::object dtype, nb::object order) {
    DTypeSpec spec = dtype_from_python(dtype);
    array::Shape extents = shape_from_python(shape);
    char layout = order_from_python(order, "CF");
    if (spec.dtype == DType::Void)
        return wrap(Array::empty_void(extents, spec.itemsize, spec.tag, layout));
    return wrap(Array::empty(extents, spec.dtype, layout));
}

nb::object full(nb::object shape, nb::object value, nb::object dtype, nb::object order) {
    array::UfuncInput input;
    if (!input_from_python(value.ptr(), input))
        throw_error(ErrorKind::TypeMismatch, "full: Unsupported type {}",
                    nb::cast<std::string>(nb::str(value.type())));
    DTypeSpec spec;
    if (!dtype.is_none()) {
        spec = dtype_from_python(dtype);
    } else {
        spec.dtype = input.array ? input.array->dtype() : input.scalar.dtype;
        spec.itemsize = core::size_of(spec.dtype);
    }
    array::Shape extents = shape_from_python(shape);
    char layout = order_from_python(order, "CF");
    if (spec.dtype == DType::Void) {
        // Zeros are the only value that every structured dtype has.
        if (input.array || input.scalar.as_double() != 0)
            throw_error(ErrorKind::NotSupported, "full: a number as value of a structured dtype");
        Array result = Array::empty_void(extents, spec.itemsize, spec.tag, layout);
        array::copy_into(array::as_bits(result), array::Scalar::weak_int(0));
        return wrap(std::move(result));
    }
    if (!input.array) return wrap(array::full(extents, spec.dtype, input.scalar, layout));
    Array result = Array::empty(extents, spec.dtype, layout);
    array::copy_into(result, *input.array);
    return wrap(std::move(result));
}

array::Scalar scalar_argument(nb::handle object, const char* who) {
    array::UfuncInput input = require_input(object, who);
    if (input.array)
        throw_error(ErrorKind::TypeMismatch, "{}: expected a number, got an array", who);
    return input.scalar;
}

nb::object arange(nb::object start, nb::object stop, nb::object step, nb::object dtype) {
    // The length is Python's arithmetic: exact for integers of any size.
    nb::object length = nb::module_::import_("math").attr("ceil")((stop - start) / step);
    int64_t count = std::max<int64_t>(0, nb::cast<int64_t>(length));
    DTypeSpec spec = dtype_from_python(dtype);
    return wrap(array::arange(scalar_argument(start, "arange"), scalar_argument(step, "arange"),
                              count, spec.dtype));
}

nb::object from_host(nb::object host, nb::object order, const core::StreamPtr& stream) {
    (void)stream;  // the copy is complete on return
    return wrap(array_from_host(host, order_from_python(order, "KCFA")));
}

nb::object from_buffer(const core::BufferPtr& buffer, int64_t offset, nb::object shape,
                       nb::object dtype, nb::object strides, nb::object owner) {
    (void)owner;  // adopted buffers hold their owner themselves
    if (!buffer) throw_error(ErrorKind::TypeMismatch, "from_buffer: expected a Buffer, got None");
    DTypeSpec spec = dtype_from_python(dtype);
    array::Shape extents = shape_from_python(shape);
    array::Shape steps = strides.is_none()
                             ? array::c_strides(extents, static_cast<int64_t>(spec.itemsize))
                             : shape_from_python(strides);
    if (steps.size() != extents.size())
        throw_error(ErrorKind::InvalidArgument, "from_buffer: strides and shape differ in length");
    Array result(buffer, offset, extents, steps, spec.dtype, spec.itemsize);
    if (spec.tag) result = result.with_dtype(spec.dtype, spec.itemsize, spec.tag);
    return wrap(std::move(result));
}

std::vector<Array> array_list(nb::handle arrays, const char* who) {
    std::vector<Array> parts;
    for (nb::handle item : arrays) parts.push_back(require_array(item, who));
    return parts;
}

nb::object concatenate(nb::object arrays, nb::object axis, nb::object out, nb::object dtype,
                       std::string casting) {
    nb::object items = nb::steal(PySequence_Tuple(arrays.ptr()));
    if (!items.is_valid()) nb::raise_python_error();
    std::vector<Array> parts = array_list(items, "concatenate");
    if (axis.is_none())
        for (Array& part : parts) part = array::ravel(part, 'C');
    int along = axis.is_none() ? 0 : static_cast<int>(index_from_python(axis, "axis"));
    const Array* target = out.is_none() ? nullptr : &require_array(out, "out");
    Array result = array::concatenate(parts, along, target, optional_dtype(dtype),
                                      array::casting_from_name(casting));
    if (!out.is_none()) return out;
    return like(parts.empty() ? nb::handle() : nb::handle(PyTuple_GetItem(items.ptr(), 0)),
                std::move(result));
}

nb::object stack(nb::object arrays, int axis, nb::object out, nb::object dtype) {
    nb::object items = nb::steal(PySequence_Tuple(arrays.ptr()));
    if (!items.is_valid()) nb::raise_python_error();
    std::vector<Array> parts = array_list(items, "stack");
    if (parts.empty()) throw_error(ErrorKind::InvalidArgument, "need at least one array to stack");
    for (const Array& part : parts)
        if (!(part.shape() == parts[0].shape()))
            throw_error(ErrorKind::InvalidArgument, "all input arrays must have the same shape");
    for (Array& part : parts) part = array::expand_dims(part, axis);
    const Array* target = out.is_none() ? nullptr : &require_array(out, "out");
    Array result = array::concatenate(parts, array::normalize_axis(axis, parts[0].ndim()), target,
                                      optional_dtype(dtype), array::Casting::SameKind);
    if (!out.is_none()) return out;
    return like(PyTuple_GetItem(items.ptr(), 0), std::move(result));
}

std::vector<int> axis_list(nb::handle axes, int ndim) {
    std::vector<int> result;
    for (int64_t axis : shape_from_python(axes))
        result.push_back(array::normalize_axis(axis, ndim));
    return result;
}

nb::object where(nb::object condition, nb::object x, nb::object y) {
    Array mask;
    array::UfuncInput test = require_input(condition, "where");
    mask = test.array
               ? *test.array
               : array::full({}, DType::Bool, array::Scalar::of_bool(test.scalar.as_double() != 0));
    return wrap(array::select(mask, require_input(x, "where"), require_input(y, "where")));
}

void copyto(nb::object dst, nb::object src, std::string casting, nb::object where) {
    Array& target = require_array(dst, "copyto");
    array::UfuncInput source = require_input(src, "copyto");
    array::Casting rule = array::casting_from_name(casting);
    DType from = source.array ? source.array->dtype() : source.scalar.dtype;
    bool weak = !source.array && source.scalar.type != array::ScalarType::Strong;
    if (weak) from = array::weak_dtype(source.scalar.type, target.dtype());
    if (!array::can_cast(from, target.dtype(), rule))
        throw_error(
            ErrorKind::TypeMismatch,
            "Cannot cast array data from dtype('{}') to dtype('{}') according to the rule '{}'",
            core::numpy_name(from), core::numpy_name(target.dtype()), casting);
    if (where.ptr() == Py_True) {
        if (source.array)
            array::copy_into(target, *source.array);
        else
            array::copy_into(target, source.scalar);
        return;
    }
    if (where.ptr() == Py_False) return;
    Array mask = is_array(where.ptr()) ? as_array(where.ptr()) : array_from_host(where, 'C');
    if (mask.dtype() != DType::Bool) mask = array::astype(mask, DType::Bool);
    array::copy_where(target, source, mask);
}

nb::object result_type(const nb::args& operands) {
    std::vector<array::TypedInput> inputs;
    for (nb::handle operand : operands) {
        array::UfuncInput input;
        array::TypedInput typed;
        if (input_from_python(operand.ptr(), input)) {
            if (input.array)
                typed.dtype = input.array->dtype();
            else
                typed = {input.scalar.dtype, input.scalar.type};
        } else {
            bool host = PyType_IsSubtype(Py_TYPE(operand.ptr()), array_types().host_array);
            typed.dtype =
                dtype_from_python(host ? nb::object(operand.attr("dtype")) : nb::borrow(operand))
                    .dtype;
        }
        inputs.push_back(typed);
    }
    if (inputs.empty())
        throw_error(ErrorKind::InvalidArgument, "at least one array or dtype is required");
    return dtype_to_python(array::result_type(inputs));
}

void bind_joins(nb::module_& m) {
    nb::object none = nb::none();
    m.def("concatenate", &concatenate, arg("arrays"), arg("axis").none() = 0,
          arg("out").none() = none, arg("dtype").none() = none, arg("casting") = "same_kind");
    m.def("stack", &stack, arg("arrays"), arg("axis").none() = 0, arg("out").none() = none,
          arg("dtype").none() = none);
    m.def("broadcast_to", [](nb::handle a, nb::object shape) {
        return like(
            a, array::broadcast_to(require_array(a, "broadcast_to"), shape_from_python(shape)));
    });
    m.def("broadcast_shapes", [](const nb::args& shapes) {
        std::vector<array::Shape> given;
        std::vector<const array::Shape*> pointers;
        for (nb::handle shape : shapes) given.push_back(shape_from_python(shape));
        for (const array::Shape& shape : given) pointers.push_back(&shape);
        return shape_to_python(array::broadcast_shapes(pointers.data(), pointers.size()));
    });
    m.def("moveaxis", [](nb::handle a, nb::object source, nb::object destination) {
        const Array& x = require_array(a, "moveaxis");
        return like(
            a, array::move_axes(x, axis_list(source, x.ndim()), axis_list(destination, x.ndim())));
    });
    m.def(
        "flip",
        [](nb::handle a, nb::object axis) {
            const Array& x = require_array(a, "flip");
            return like(a, array::flip(x, axes_from_python(axis, x.ndim())));
        },
        arg("a"), arg("axis").none() = none);
    m.def(
        "diag_view",
        [](nb::handle a, int64_t offset, int axis1, int axis2) {
            return like(a, array::diagonal(require_array(a, "diagonal"), offset, axis1, axis2));
        },
        arg("a"), arg("offset") = 0, arg("axis1") = 0, arg("axis2") = 1);
    m.def(
        "repeat",
        [](nb::handle a, nb::object repeats, nb::object axis) {
            return a.attr("repeat")(repeats, axis);
        },
        arg("a"), arg("repeats"), arg("axis").none() = none);
}

void bind_selection(nb::module_& m) {
    nb::object none = nb::none();
    m.def("where", &where);
    m.def("nonzero", [](nb::handle a) { return a.attr("nonzero")(); });
    m.def("flatnonzero", [](nb::handle a) {
        return like(a, array::flat_nonzero(require_array(a, "flatnonzero")));
    });
    m.def("argwhere", [](nb::handle a) {
        std::vector<Array> parts = array::nonzero(require_array(a, "argwhere"));
        if (require_array(a, "argwhere").ndim() == 0)
            return like(a, Array::empty({parts[0].size(), 0}, DType::Int64));
        for (Array& part : parts) part = array::expand_dims(part, 1);
        return like(a,
                    array::concatenate(parts, 1, nullptr, std::nullopt, array::Casting::SameKind));
    });
    m.def(
        "take",
        [](nb::handle a, nb::object indices, nb::object axis, nb::object out, std::string mode) {
            require_array(a, "take");
            return a.attr("take")(indices, axis, out, mode);
        },
        arg("a"), arg("indices"), arg("axis").none() = none, arg("out").none() = none,
        arg("mode") = "raise");
    m.def(
        "put",
        [](nb::handle a, nb::object indices, nb::object values, std::string mode) {
            require_array(a, "put");
            a.attr("put")(indices, values, mode);
        },
        arg("a"), arg("indices"), arg("values"), arg("mode") = "raise");
    m.def("take_along_axis", [](nb::handle a, nb::handle indices, int axis) {
        return like(a, array::take_along_axis(require_array(a, "take_along_axis"),
                                              require_array(indices, "take_along_axis"), axis));
    });
    m.def("put_along_axis", [](nb::handle a, nb::handle indices, nb::handle values, int axis) {
        array::put_along_axis(require_array(a, "put_along_axis"),
                              require_array(indices, "put_along_axis"),
                              require_input(values, "put_along_axis"), axis);
    });
    m.def(
        "searchsorted",
        [](nb::handle a, nb::object v, std::string side, nb::object sorter) {
            Array sorted = require_array(a, "searchsorted");
            if (side != "left" && side != "right")
                throw_error(ErrorKind::InvalidArgument,
                            "search side must be one of 'left' or 'right' (got '{}')", side);
            if (!sorter.is_none())
                sorted = array::take(sorted, require_array(sorter, "searchsorted"), 0, false,
                                     array::IndexMode::Raise);
            array::UfuncInput input = require_input(v, "searchsorted");
            Array values = input.array
                               ? *input.array
                               : array::full({},
                                             array::is_complex(sorted.dtype()) ? sorted.dtype()
                                             : input.scalar.is_integer()       ? sorted.dtype()
                                                                               : input.scalar.dtype,
                                             input.scalar);
            return like(a, array::searchsorted(sorted, values, side == "right"));
        },
        arg("a"), arg("v"), arg("side") = "left", arg("sorter").none() = none);
}

}  // namespace

void bind_array_functions(nb::module_& m) {
    nb::object none = nb::none();
    nb::handle default_dtype((PyObject*)&PyFloat_Type);
    m.def("empty", &empty, arg("shape"), arg("dtype").none() = default_dtype,
          arg("order").none() = "C");
    m.def("full", &full, arg("shape"), arg("value"), arg("dtype").none() = none,
          arg("order").none() = "C");
    m.def("arange", &arange, arg("start"), arg("stop"), arg("step"), arg("dtype"));
    m.def("from_host", &from_host, arg("a"), arg("order").none() = "K",
          arg("stream").none() = none);
    m.def(
        "to_host",
        [](nb::handle a, nb::object out, const core::StreamPtr&, bool, nb::object order) {
            return array_to_host(require_array(a, "to_host"), out,
                                 order_from_python(order, "CFAK"));
        },
        arg("a"), arg("out").none() = none, arg("stream").none() = none, arg("blocking") = true,
        arg("order").none() = "C");
    m.def(
        "register_face",
        [](nb::handle type) {
            if (!PyType_Check(type.ptr()) ||
                !PyType_IsSubtype((PyTypeObject*)type.ptr(), array_types().ndarray))
                throw_error(ErrorKind::TypeMismatch,
                            "register_face: expected a subclass of ndarray");
            array_types().faces.push_back((PyTypeObject*)type.inc_ref().ptr());
        },
        arg("type"),
        "Say that a subclass is a face's own array type: functions given such arrays return the\n"
        "bound type, methods and operators the type of their array or left operand.");
    m.def(
        "set_converter",
        [](nb::object function) { array_types().converter = function.release().ptr(); },
        arg("function"),
        "What ufuncs call with an operand that is no array and no number: it returns the same\n"
        "memory as an array, or None.");
    m.def(
        "set_peer_notice",
        [](nb::object function) {
            peer_notice = function.release().ptr();
            array::set_peer_notice([](int memory_device, int current_device) {
                nb::gil_scoped_acquire locked;
                const nb::handle notice{peer_notice};
                notice(memory_device, current_device);
            });
        },
        arg("function"),
        "What is called with two device numbers, of the memory and the current one, when a kernel\n"
        "is about to use memory of another device.");
    m.def(
        "is_elsewhere", [](const Array& a) { return array::is_elsewhere(a); }, arg("a"),
        "Whether the memory is on a device that is not the current one.");
    m.def(
        "plain",
        [](nb::object a) -> nb::object {
            PyTypeObject* type = Py_TYPE(a.ptr());
            if (type == array_types().ndarray || !is_face_type(type)) return a;
            return wrap(as_array(a.ptr()));
        },
        arg("a"),
        "The same memory as the bound type, if `a` is an array of another face; else `a`.");
    m.def("from_buffer", &from_buffer, arg("buffer"), arg("offset"), arg("shape"), arg("dtype"),
          arg("strides").none() = none, arg("owner").none() = none);
    m.def(
        "as_strided",
        [](nb::handle a, nb::object shape, nb::object strides, int64_t offset) {
            const Array& x = require_array(a, "as_strided");
            return nb::steal(
                new_derived_object(x.with_layout(x.offset() + offset, shape_from_python(shape),
                                                 shape_from_python(strides)),
                                   a.ptr(), result_type_of(a.ptr())));
        },
        arg("a"), arg("shape"), arg("strides"), arg("offset") = 0);
    m.def("may_share_bounds", [](nb::handle a, nb::handle b) {
        return array::may_share_memory(require_array(a, "may_share_memory"),
                                       require_array(b, "may_share_memory"));
    });
    m.def("copyto", &copyto, arg("dst"), arg("src"), arg("casting") = "same_kind",
          arg("where") = true);
    m.def("result_type", &result_type);
    m.def(
        "can_cast",
        [](nb::handle from, nb::handle to, std::string casting) {
            DType source =
                is_array(from.ptr()) ? as_array(from.ptr()).dtype() : dtype_from_python(from).dtype;
            return array::can_cast(source, dtype_from_python(to).dtype,
                                   array::casting_from_name(casting));
        },
        arg("from_"), arg("to"), arg("casting") = "safe");
    m.def(
        "matmul",
        [](nb::handle a, nb::handle b, nb::object out) {
            const Array* target = out.is_none() ? nullptr : &require_array(out, "out");
            Array result =
                array::matmul(require_array(a, "matmul"), require_array(b, "matmul"), target);
            return out.is_none() ? like(a, std::move(result)) : out;
        },
        arg("a"), arg("b"), arg("out").none() = none);
    m.def(
        "set_host_blas",
        [](uintptr_t s, uintptr_t d, uintptr_t c, uintptr_t z) {
            auto function = [](uintptr_t address) { return reinterpret_cast<void*>(address); };
            array::set_host_blas({function(s), function(d), function(c), function(z)});
        },
        arg("sgemm"), arg("dgemm"), arg("cgemm"), arg("zgemm"));
    bind_joins(m);
    bind_selection(m);
}

}  // namespace trilane::bindings
