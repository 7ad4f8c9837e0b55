// Python objects as arrays, scalars, dtypes and shapes of the array level, and back.
#pragma once

#include <optional>
#include <vector>

#include "array/array.h"
#include "array/promotion.h"
#include "array/ufunc.h"
#include "bindings/bindings.h"

namespace trilane::bindings {

// The bound type, and NumPy's objects that are needed all the time. Set once by init_array_types.
struct ArrayTypes {
    PyTypeObject* ndarray = nullptr;
    PyObject* numpy = nullptr;
    PyTypeObject* dtype = nullptr;       // numpy.dtype
    PyTypeObject* generic = nullptr;     // numpy.generic
    PyTypeObject* host_array = nullptr;  // numpy.ndarray
    PyObject* dtypes[core::kDTypeCount] = {};
    std::vector<PyTypeObject*> faces;  // subclasses that a face made for its own name
    PyObject* converter = nullptr;     // foreign device arrays -> arrays, None for anything else
};
ArrayTypes& array_types();
void init_array_types(nb::handle ndarray_type);

// --- arrays
inline bool is_array(PyObject* object) {
    PyTypeObject* type = array_types().ndarray;
    return Py_TYPE(object) == type || PyType_IsSubtype(Py_TYPE(object), type);
}
inline array::Array& as_array(PyObject* object) { return *nb::inst_ptr<array::Array>(object); }
// TypeMismatch if it is none. `who` is for messages.
array::Array& require_array(nb::handle object, const char* who);
// A new Python object of `type` (the bound type or a Python subclass; __init__ is not called).
PyObject* new_array_object(array::Array&& value, PyTypeObject* type = nullptr);
inline nb::object wrap(array::Array value, PyTypeObject* type = nullptr) {
    return nb::steal(new_array_object(std::move(value), type));
}
// As new_array_object, of an array derived from the Python array `source`. If `value` is a view of
// its memory, the new object keeps the root (the array that `source` itself is a view of, or
// `source`) as its `base`.
PyObject* new_derived_object(array::Array&& value, PyObject* source, PyTypeObject* type = nullptr);
// The array that `object` is a view of; None if it has memory of its own.
nb::object base_of(nb::handle object);
// Whether arrays of this type belong to a face that has a subclass of its own.
inline bool is_face_type(PyTypeObject* type) {
    for (PyTypeObject* face : array_types().faces)
        if (type == face || PyType_IsSubtype(type, face)) return true;
    return false;
}
// The type for results of a method of `object`: its own if it is a subclass.
inline PyTypeObject* result_type_of(PyObject* object) {
    return is_array(object) ? Py_TYPE(object) : array_types().ndarray;
}
// The type for results of a function that `object` was given to: its own if it is a user's
// subclass, the bound type if it is an array of a face.
inline PyTypeObject* function_type_of(PyObject* object) {
    PyTypeObject* type = result_type_of(object);
    return type == array_types().ndarray || is_face_type(type) ? array_types().ndarray : type;
}

// --- numbers
// False, without an error set, if the object is neither a Python number nor a NumPy scalar of a
// supported dtype.
bool scalar_from_python(PyObject* object, array::Scalar& scalar);
// Array or number; false if neither.
bool input_from_python(PyObject* object, array::UfuncInput& input);
array::UfuncInput require_input(nb::handle object, const char* who);
nb::object scalar_to_python(const void* bytes, core::DType dtype);  // as NumPy's item()

// --- dtypes
struct DTypeSpec {
    core::DType dtype = core::DType::Float64;
    size_t itemsize = 8;
    array::DTypeTag tag;
};
// Anything numpy.dtype() takes; ValueError for dtypes that device memory has none of.
DTypeSpec dtype_from_python(nb::handle object);
nb::object dtype_to_python(const array::Array& a);
nb::object dtype_to_python(core::DType dtype);
std::optional<core::DType> optional_dtype(nb::handle object);

// --- shapes
array::Shape shape_from_python(nb::handle object);  // an int or a sequence of ints
nb::tuple shape_to_python(const array::Shape& shape);
int64_t index_from_python(nb::handle object, const char* who);
// None: all axes; else sorted, distinct, non-negative.
std::vector<int> axes_from_python(nb::handle axis, int ndim);
char order_from_python(nb::handle object, const char* allowed);

// Runs `body` for a type slot: exceptions become Python's.
void set_python_error(const std::exception_ptr& exception);
template <typename Body>
PyObject* guarded(Body&& body) noexcept {
    try {
        return body();
    } catch (...) {
        set_python_error(std::current_exception());
        return nullptr;
    }
}
template <typename Body>
int guarded_int(Body&& body) noexcept {
    try {
        body();
        return 0;
    } catch (...) {
        set_python_error(std::current_exception());
        return -1;
    }
}

// --- topics
void warn_complex_cast();  // NumPy's ComplexWarning
array::Array array_from_host(nb::handle object, char order);
nb::object array_to_host(const array::Array& a, nb::handle out, char order);
PyObject* array_getitem(PyObject* self, PyObject* key);
int array_setitem(PyObject* self, PyObject* key, PyObject* value);
const PyType_Slot* array_operator_slots();
void bind_array_methods(nb::class_<array::Array>& cls);
void bind_array_reductions(nb::module_& m, nb::class_<array::Array>& cls);
void bind_array_functions(nb::module_& m);
void bind_array_ufunc(nb::module_& m);
void bind_array_random(nb::module_& m);
void bind_array_kernels(nb::module_& m);

}  // namespace trilane::bindings
