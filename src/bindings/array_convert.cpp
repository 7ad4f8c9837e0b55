// Conversions between Python and the array level.
#include "bindings/array_convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/error.h"

namespace trilane::bindings {

using array::Array;
using array::Scalar;
using array::ScalarType;
using core::DType;
using core::ErrorKind;
using core::throw_error;

namespace {

// NumPy's scalar types by address.
struct ScalarTypeRow {
    PyTypeObject* type;
    DType dtype;
};
ScalarTypeRow scalar_rows[32];
int scalar_row_count = 0;

const DType* scalar_type(PyTypeObject* type) {
    for (int i = 0; i < scalar_row_count; ++i)
        if (scalar_rows[i].type == type) return &scalar_rows[i].dtype;
    return nullptr;
}

void add_scalar_type(nb::handle type, DType dtype) {
    if (scalar_row_count < 32)
        scalar_rows[scalar_row_count++] = {(PyTypeObject*)type.inc_ref().ptr(), dtype};
}

bool python_int(PyObject* object, Scalar& scalar) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
    scalar = Scalar::weak_int(value);
    if (overflow == 0) return true;
    unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
    if (overflow > 0 && !PyErr_Occurred()) {
        scalar.is_large = true;
        scalar.large = large;
        return true;
    }
    PyErr_Clear();
    scalar.huge = true;
    scalar.integer = overflow;
    scalar.number = PyLong_AsDouble(object);
    if (scalar.number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        scalar.number = overflow * HUGE_VAL;
    }
    return true;
}

void numpy_scalar(PyObject* object, DType dtype, Scalar& scalar) {
    if (array::is_complex(dtype)) {
        nb::object plain = nb::handle(object).attr("item")();
        scalar = Scalar{};
        scalar.number = PyComplex_RealAsDouble(plain.ptr());
        scalar.imaginary = PyComplex_ImagAsDouble(plain.ptr());
    } else if (array::is_float(dtype)) {
        scalar = Scalar{};
        scalar.number = PyFloat_AsDouble(object);
        if (PyErr_Occurred()) nb::raise_python_error();
    } else if (dtype == DType::Bool) {
        scalar = Scalar::of_bool(PyObject_IsTrue(object) == 1);
    } else {
        nb::object plain = nb::steal(PyNumber_Index(object));
        if (!plain.is_valid()) nb::raise_python_error();
        python_int(plain.ptr(), scalar);
        scalar.type = ScalarType::Strong;
    }
    scalar.dtype = dtype;
}

// Python's own numbers that are not ints are recognised by exact type or subclass.
bool python_number(PyObject* object, Scalar& scalar) {
    if (Py_TYPE(object) == &PyBool_Type) {
        scalar = Scalar::of_bool(object == Py_True);
        return true;
    }
    if (PyLong_Check(object)) return python_int(object, scalar);
    if (PyFloat_Check(object)) {
        scalar = Scalar::weak_float(PyFloat_AsDouble(object));
        return true;
    }
    if (PyComplex_Check(object)) {
        scalar = Scalar{};
        scalar.type = ScalarType::WeakComplex;
        scalar.dtype = DType::Complex128;
        scalar.number = PyComplex_RealAsDouble(object);
        scalar.imaginary = PyComplex_ImagAsDouble(object);
        return true;
    }
    return false;
}

array::DTypeTag tag_of(nb::object dtype) {
    PyObject* object = dtype.release().ptr();
    return array::DTypeTag(object, [](const void* p) {
        if (!Py_IsInitialized()) return;
        nb::gil_scoped_acquire held;
        Py_DECREF((PyObject*)p);
    });
}

}  // namespace

ArrayTypes& array_types() {
    static ArrayTypes types;
    return types;
}

void init_array_types(nb::handle ndarray_type) {
    ArrayTypes& types = array_types();
    types.ndarray = (PyTypeObject*)ndarray_type.inc_ref().ptr();
    nb::object numpy = nb::module_::import_("numpy");
    types.numpy = numpy.inc_ref().ptr();
    types.dtype = (PyTypeObject*)nb::object(numpy.attr("dtype")).release().ptr();
    types.generic = (PyTypeObject*)nb::object(numpy.attr("generic")).release().ptr();
    types.host_array = (PyTypeObject*)nb::object(numpy.attr("ndarray")).release().ptr();
    for (int k = 0; k < core::kDTypeCount; ++k) {
        DType dtype = static_cast<DType>(k);
        if (dtype == DType::Void || dtype == DType::BFloat16) continue;
        nb::object object = numpy.attr("dtype")(core::numpy_name(dtype));
        add_scalar_type(object.attr("type"), dtype);
        types.dtypes[k] = object.release().ptr();
    }
    // Second names of 64-bit integers (long and long long are distinct types).
    add_scalar_type(numpy.attr("longlong"), DType::Int64);
    add_scalar_type(numpy.attr("ulonglong"), DType::UInt64);
}

// --- arrays

Array& require_array(nb::handle object, const char* who) {
    if (!is_array(object.ptr())) {
        nb::str name(nb::handle((PyObject*)Py_TYPE(object.ptr())));
        throw_error(ErrorKind::TypeMismatch, "{}: not a device array: got {}", who, name.c_str());
    }
    return as_array(object.ptr());
}

PyObject* new_array_object(Array&& value, PyTypeObject* type) {
    if (!type) type = array_types().ndarray;
    nb::object object = nb::inst_alloc(nb::handle((PyObject*)type));
    new (nb::inst_ptr<Array>(object)) Array(std::move(value));
    nb::inst_mark_ready(object);
    return object.release().ptr();
}

namespace {

// The root lies in the instance's own dictionary: the collector of cycles sees it there.
PyObject* base_name() {
    static PyObject* name = PyUnicode_InternFromString("_base");
    return name;
}

}  // namespace

nb::object base_of(nb::handle object) {
    if (!as_array(object.ptr()).is_view()) return nb::none();
    PyObject* found = PyObject_GenericGetAttr(object.ptr(), base_name());
    if (found) return nb::steal(found);
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) nb::raise_python_error();
    PyErr_Clear();
    return nb::none();
}

PyObject* new_derived_object(Array&& value, PyObject* source, PyTypeObject* type) {
    bool view =
        value.is_view() && is_array(source) && value.storage() == as_array(source).storage();
    nb::object object = wrap(std::move(value), type);
    if (view) {
        nb::object root = base_of(source);
        PyObject* base = root.is_none() ? source : root.ptr();
        if (PyObject_GenericSetAttr(object.ptr(), base_name(), base) < 0) nb::raise_python_error();
    }
    return object.release().ptr();
}

// --- numbers

bool scalar_from_python(PyObject* object, Scalar& scalar) {
    PyTypeObject* type = Py_TYPE(object);
    // numpy.float64 is a float and numpy.complex128 a complex: NumPy's types come first.
    bool plain = type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type;
    if (plain) return python_number(object, scalar);
    if (const DType* dtype = scalar_type(type)) {
        numpy_scalar(object, *dtype, scalar);
        return true;
    }
    if (PyType_IsSubtype(type, array_types().generic)) return false;
    if (python_number(object, scalar)) return true;
    PyObject* bfloat16 = array_types().dtypes[static_cast<int>(DType::BFloat16)];
    if (bfloat16 && nb::handle(bfloat16).attr("type").is(nb::handle((PyObject*)type))) {
        numpy_scalar(object, DType::BFloat16, scalar);
        return true;
    }
    return false;
}

bool input_from_python(PyObject* object, array::UfuncInput& input) {
    if (is_array(object)) {
        input.array = &as_array(object);
        return true;
    }
    return scalar_from_python(object, input.scalar);
}

array::UfuncInput require_input(nb::handle object, const char* who) {
    array::UfuncInput input;
    if (!input_from_python(object.ptr(), input)) {
        nb::str name(nb::handle((PyObject*)Py_TYPE(object.ptr())));
        throw_error(ErrorKind::TypeMismatch, "{}: Unsupported type {}", who, name.c_str());
    }
    return input;
}

nb::object scalar_to_python(const void* bytes, DType dtype) {
    Scalar s = array::load_scalar(bytes, dtype);
    if (dtype == DType::Bool) return nb::bool_(s.integer != 0);
    if (array::is_complex(dtype)) return nb::steal(PyComplex_FromDoubles(s.number, s.imaginary));
    if (array::is_float(dtype)) return nb::float_(s.number);
    if (s.is_large) return nb::steal(PyLong_FromUnsignedLongLong(s.large));
    return nb::steal(PyLong_FromLongLong(s.integer));
}

// --- dtypes

nb::object dtype_to_python(DType dtype) {
    PyObject*& object = array_types().dtypes[static_cast<int>(dtype)];
    if (!object && dtype == DType::BFloat16) {
        nb::object type = nb::module_::import_("ml_dtypes").attr("bfloat16");
        object = nb::object(nb::handle((PyObject*)array_types().dtype)(type)).release().ptr();
    }
    return nb::borrow(object);
}

nb::object dtype_to_python(const Array& a) {
    if (a.dtype() != DType::Void) return dtype_to_python(a.dtype());
    return nb::borrow((PyObject*)a.tag().get());
}

namespace {

DTypeSpec spec_of(DType dtype) { return {dtype, core::size_of(dtype), nullptr}; }

DTypeSpec spec_of_numpy(nb::object dtype) {
    for (int k = 0; k < core::kDTypeCount; ++k)
        if (array_types().dtypes[k] == dtype.ptr()) return spec_of(static_cast<DType>(k));
    std::string kind = nb::cast<std::string>(dtype.attr("kind"));
    size_t itemsize = nb::cast<size_t>(dtype.attr("itemsize"));
    bool native = nb::cast<bool>(dtype.attr("isnative"));
    std::string name = nb::cast<std::string>(dtype.attr("name"));
    if (name == "bfloat16" && itemsize == 2) return spec_of(DType::BFloat16);
    if (native && std::strchr("biufc", kind[0])) {
        for (int k = 0; k < core::kDTypeCount; ++k) {
            DType candidate = static_cast<DType>(k);
            if (candidate == DType::BFloat16) continue;
            if (core::numpy_kind(candidate) == kind[0] && core::size_of(candidate) == itemsize)
                return spec_of(candidate);
        }
    }
    if (kind == "V" && !nb::cast<bool>(dtype.attr("hasobject")) && itemsize > 0)
        return {DType::Void, itemsize, tag_of(dtype)};
    throw_error(ErrorKind::InvalidArgument, "Unsupported dtype {}",
                nb::cast<std::string>(nb::str(dtype)));
}

}  // namespace

DTypeSpec dtype_from_python(nb::handle object) {
    PyObject* p = object.ptr();
    for (int k = 0; k < core::kDTypeCount; ++k)
        if (p == array_types().dtypes[k] && p) return spec_of(static_cast<DType>(k));
    if (p == (PyObject*)&PyFloat_Type) return spec_of(DType::Float64);
    if (p == (PyObject*)&PyLong_Type) return spec_of(DType::Int64);
    if (p == (PyObject*)&PyBool_Type) return spec_of(DType::Bool);
    if (const DType* dtype = scalar_type((PyTypeObject*)p)) return spec_of(*dtype);
    if (object.is_none()) return spec_of(DType::Float64);
    nb::object dtype = nb::handle((PyObject*)array_types().dtype)(object);
    return spec_of_numpy(dtype);
}

std::optional<DType> optional_dtype(nb::handle object) {
    if (object.is_none()) return std::nullopt;
    return dtype_from_python(object).dtype;
}

// --- shapes

int64_t index_from_python(nb::handle object, const char* who) {
    Py_ssize_t value = PyNumber_AsSsize_t(object.ptr(), PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) nb::raise_python_error();
        PyErr_Clear();
        nb::str name(nb::handle((PyObject*)Py_TYPE(object.ptr())));
        throw_error(ErrorKind::TypeMismatch, "{}: expected an integer, got {}", who, name.c_str());
    }
    return value;
}

array::Shape shape_from_python(nb::handle object) {
    array::Shape shape;
    if (PyLong_Check(object.ptr()) ||
        (PyIndex_Check(object.ptr()) && !PySequence_Check(object.ptr()))) {
        shape.push_back(index_from_python(object, "shape"));
        return shape;
    }
    if (PyIndex_Check(object.ptr()) &&
        PyType_IsSubtype(Py_TYPE(object.ptr()), array_types().generic)) {
        shape.push_back(index_from_python(object, "shape"));
        return shape;
    }
    nb::object items = nb::steal(PySequence_Tuple(object.ptr()));
    if (!items.is_valid()) nb::raise_python_error();
    Py_ssize_t count = PyTuple_Size(items.ptr());
    for (Py_ssize_t i = 0; i < count; ++i)
        shape.push_back(index_from_python(PyTuple_GetItem(items.ptr(), i), "shape"));
    return shape;
}

nb::tuple shape_to_python(const array::Shape& shape) {
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(shape.size()));
    for (size_t i = 0; i < shape.size(); ++i)
        PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i]));
    return nb::steal<nb::tuple>(tuple);
}

std::vector<int> axes_from_python(nb::handle axis, int ndim) {
    std::vector<int> axes;
    if (axis.is_none()) {
        for (int i = 0; i < ndim; ++i) axes.push_back(i);
        return axes;
    }
    if (PyTuple_Check(axis.ptr()) || PyList_Check(axis.ptr())) {
        for (nb::handle item : axis)
            axes.push_back(array::normalize_axis(index_from_python(item, "axis"), ndim));
    } else {
        axes.push_back(array::normalize_axis(index_from_python(axis, "axis"), ndim));
    }
    std::sort(axes.begin(), axes.end());
    for (size_t i = 1; i < axes.size(); ++i)
        if (axes[i] == axes[i - 1])
            throw_error(ErrorKind::InvalidArgument, "duplicate value in 'axis'");
    return axes;
}

char order_from_python(nb::handle object, const char* allowed) {
    if (object.is_none()) return allowed[0];
    if (!PyUnicode_Check(object.ptr())) throw_error(ErrorKind::TypeMismatch, "order must be str");
    std::string text = nb::cast<std::string>(object);
    char order = text.empty() ? '\0' : static_cast<char>(std::toupper(text[0]));
    if (text.size() != 1 || !std::strchr(allowed, order))
        throw_error(ErrorKind::InvalidArgument, "order must be one of '{}' (got '{}')", allowed,
                    text);
    return order;
}

// --- errors

void set_python_error(const std::exception_ptr& exception) {
    try {
        std::rethrow_exception(exception);
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const core::Error& error) {
        raise_core_error(error);
    } catch (const std::overflow_error& error) {
        PyErr_SetString(PyExc_OverflowError, error.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const nb::cast_error& error) {
        PyErr_SetString(PyExc_TypeError, error.what());
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
}

}  // namespace trilane::bindings
