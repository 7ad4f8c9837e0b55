// a[key] and a[key] = value.
#include "array/elementwise.h"
#include "array/indexing.h"
#include "array/manipulation.h"
#include "bindings/array_convert.h"
#include "core/error.h"

namespace trilane::bindings {

using array::Array;
using array::IndexItem;
using array::IndexKind;
using core::ErrorKind;
using core::throw_error;

namespace {

[[noreturn]] void refuse_index() {
    throw_error(
        ErrorKind::IndexError,
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
        "boolean arrays are valid indices");
}

bool unpack_slice(PyObject* key, IndexItem& item) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(key, &start, &stop, &step) < 0) nb::raise_python_error();
    item.kind = IndexKind::Slice;
    item.start = start;
    item.stop = stop;
    item.step = step;
    return true;
}

// Host arrays and lists as index: uploaded; an empty list has no type of its own.
Array upload_index(nb::handle key) {
    nb::object host = nb::handle(array_types().numpy).attr("asarray")(key);
    if (nb::cast<size_t>(host.attr("size")) == 0 &&
        !PyType_IsSubtype(Py_TYPE(key.ptr()), array_types().host_array))
        host = host.attr("astype")("int64");
    std::string kind = nb::cast<std::string>(host.attr("dtype").attr("kind"));
    if (kind != "b" && kind != "i" && kind != "u") refuse_index();
    return array_from_host(host, 'C');
}

IndexItem parse_item(PyObject* key) {
    IndexItem item;
    if (Py_TYPE(key) == &PyLong_Type) {
        item.kind = IndexKind::Integer;
        item.start = index_from_python(key, "index");
    } else if (Py_TYPE(key) == &PySlice_Type) {
        unpack_slice(key, item);
    } else if (key == Py_None) {
        item.kind = IndexKind::NewAxis;
    } else if (key == Py_Ellipsis) {
        item.kind = IndexKind::Ellipsis;
    } else if (is_array(key)) {
        item.kind = IndexKind::Array;
        item.array = as_array(key);
    } else if (Py_TYPE(key) == &PyBool_Type) {
        item.kind = IndexKind::Array;
        item.array = array::full({}, core::DType::Bool, array::Scalar::of_bool(key == Py_True));
    } else if (PyType_IsSubtype(Py_TYPE(key), array_types().generic) &&
               nb::handle(key).attr("dtype").attr("kind").equal(nb::str("b"))) {
        item.kind = IndexKind::Array;
        item.array =
            array::full({}, core::DType::Bool, array::Scalar::of_bool(PyObject_IsTrue(key) == 1));
    } else if (PyList_Check(key) || PyTuple_Check(key) ||
               PyType_IsSubtype(Py_TYPE(key), array_types().host_array)) {
        item.kind = IndexKind::Array;
        item.array = upload_index(key);
    } else if (PyIndex_Check(key)) {
        item.kind = IndexKind::Integer;
        item.start = index_from_python(key, "index");
    } else {
        refuse_index();
    }
    return item;
}

std::vector<IndexItem> parse_key(PyObject* key) {
    std::vector<IndexItem> items;
    if (!PyTuple_Check(key)) {
        items.push_back(parse_item(key));
        return items;
    }
    Py_ssize_t count = PyTuple_Size(key);
    items.reserve(static_cast<size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) items.push_back(parse_item(PyTuple_GetItem(key, i)));
    return items;
}

// A field or list of fields of a structured dtype.
PyObject* get_field(PyObject* self, PyObject* key) {
    const Array& a = as_array(self);
    nb::object dtype = dtype_to_python(a);
    nb::object fields = dtype.attr("fields");
    if (fields.is_none())
        throw_error(
            ErrorKind::IndexError,
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer "
            "or boolean arrays are valid indices");
    nb::object entry = fields.attr("get")(nb::handle(key));
    if (entry.is_none())
        throw_error(ErrorKind::InvalidArgument, "no field of name {}",
                    nb::cast<std::string>(nb::handle(key)));
    nb::object field_dtype = entry[0];
    int64_t offset = nb::cast<int64_t>(entry[1]);
    nb::object sub = field_dtype.attr("subdtype");
    array::Shape extra;
    if (!sub.is_none()) {
        field_dtype = sub[0];
        extra = shape_from_python(sub[1]);
    }
    DTypeSpec spec = dtype_from_python(field_dtype);
    array::Shape shape = a.shape(), strides = a.strides();
    array::Shape inner = array::c_strides(extra, static_cast<int64_t>(spec.itemsize));
    for (size_t d = 0; d < extra.size(); ++d) {
        shape.push_back(extra[d]);
        strides.push_back(inner[d]);
    }
    Array view = a.with_dtype(spec.dtype, spec.itemsize, spec.tag)
                     .with_layout(a.offset() + offset, shape, strides);
    return new_array_object(std::move(view), Py_TYPE(self));
}

}  // namespace

PyObject* array_getitem(PyObject* self, PyObject* key) {
    return guarded([&]() -> PyObject* {
        const Array& a = as_array(self);
        if (Py_TYPE(key) == &PyLong_Type)
            return new_array_object(array::index_integer(a, index_from_python(key, "index")),
                                    Py_TYPE(self));
        if (Py_TYPE(key) == &PySlice_Type) {
            IndexItem item;
            unpack_slice(key, item);
            return new_array_object(array::index_slice(a, item.start, item.stop, item.step),
                                    Py_TYPE(self));
        }
        if (PyUnicode_Check(key)) return get_field(self, key);
        std::vector<IndexItem> items = parse_key(key);
        return new_array_object(array::index_read(a, items), Py_TYPE(self));
    });
}

int array_setitem(PyObject* self, PyObject* key, PyObject* value) {
    return guarded_int([&] {
        if (!value) throw_error(ErrorKind::InvalidArgument, "cannot delete array elements");
        Array a = as_array(self);
        if (PyUnicode_Check(key)) {
            nb::object field = nb::steal(get_field(self, key));
            if (PyObject_SetItem(field.ptr(), Py_Ellipsis, value) < 0) nb::raise_python_error();
            return;
        }
        array::UfuncInput input;
        Array uploaded;
        if (!input_from_python(value, input)) {
            nb::object host = nb::borrow(value);
            if (a.dtype() == core::DType::Void)
                host = nb::handle(array_types().numpy).attr("asarray")(host, dtype_to_python(a));
            uploaded = array_from_host(host, 'C');
            input.array = &uploaded;
        }
        if (a.dtype() == core::DType::Void && !input.array) {
            nb::object host = nb::handle(array_types().numpy)
                                  .attr("array")(nb::handle(value), dtype_to_python(a));
            uploaded = array_from_host(host, 'C');
            input.array = &uploaded;
        }
        if (input.array && array::is_complex(input.array->dtype()) &&
            !array::is_complex(a.dtype()) && a.dtype() != core::DType::Bool)
            warn_complex_cast();
        if (!input.array && input.scalar.type == array::ScalarType::WeakComplex &&
            !array::is_complex(a.dtype()))
            throw_error(ErrorKind::TypeMismatch,
                        "float() argument must be a string or a real number, not 'complex'");
        std::vector<IndexItem> items = parse_key(key);
        array::index_write(a, items, input);
    });
}

}  // namespace trilane::bindings
