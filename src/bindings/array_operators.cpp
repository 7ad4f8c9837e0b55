// Python's operators of the array type, as type slots: no method look-up, no argument tuple.
#include "array/matmul.h"
#include "bindings/array_convert.h"
#include "core/error.h"

namespace trilane::bindings {

using array::Array;
using array::Op;
using array::UfuncCall;

namespace {

// Which type the result has: a user's subclass on either side wins, then the left operand's face.
PyTypeObject* common_type(PyObject* a, PyObject* b) {
    if (!is_array(a)) return result_type_of(b);
    if (Py_TYPE(a) != array_types().ndarray) return Py_TYPE(a);
    return function_type_of(b);
}

// Python asks the right side of a comparison first if its type is a subclass, so the order of the
// operands says nothing: an array of a face and one of the bound type give the bound type.
PyTypeObject* compared_type(PyObject* a, PyObject* b) {
    PyTypeObject* base = array_types().ndarray;
    if (is_array(a) && is_array(b) && (Py_TYPE(a) == base) != (Py_TYPE(b) == base))
        return function_type_of(Py_TYPE(a) == base ? b : a);
    return common_type(a, b);
}

bool operands(PyObject* a, PyObject* b, UfuncCall& call) {
    return input_from_python(a, call.inputs[0]) && input_from_python(b, call.inputs[1]);
}

PyObject* not_implemented() {
    Py_INCREF(Py_NotImplemented);
    return Py_NotImplemented;
}

// CuPy and NumPy refuse host arrays and lists with a TypeError; Python makes one of NotImplemented.
template <Op op>
PyObject* binary(PyObject* a, PyObject* b) {
    return guarded([&]() -> PyObject* {
        UfuncCall call;
        call.ufunc = &array::ufunc_of(op);
        if (!operands(a, b, call)) return not_implemented();
        return new_array_object(std::move(array::call_ufunc(call).outputs[0]), common_type(a, b));
    });
}

PyObject* divmod(PyObject* a, PyObject* b) {
    return guarded([&]() -> PyObject* {
        UfuncCall call;
        call.ufunc = &array::ufunc_of(Op::Divmod);
        if (!operands(a, b, call)) return not_implemented();
        array::UfuncResult result = array::call_ufunc(call);
        PyTypeObject* type = common_type(a, b);
        return nb::make_tuple(wrap(std::move(result.outputs[0]), type),
                              wrap(std::move(result.outputs[1]), type))
            .release()
            .ptr();
    });
}

bool is_small_int(PyObject* object, int value) {
    if (Py_TYPE(object) != &PyLong_Type) return false;
    int overflow = 0;
    return PyLong_AsLongLongAndOverflow(object, &overflow) == value && overflow == 0;
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
    return guarded([&]() -> PyObject* {
        if (modulus != Py_None)
            core::throw_error(core::ErrorKind::NotSupported, "pow: three arguments");
        // Squares are much cheaper as a product, and exact.
        if (is_array(a) && is_small_int(b, 2) && as_array(a).dtype() != core::DType::Bool)
            return new_array_object(array::call_unary(array::find_ufunc("square"), as_array(a)),
                                    Py_TYPE(a));
        UfuncCall call;
        call.ufunc = &array::ufunc_of(Op::Power);
        if (!operands(a, b, call)) return not_implemented();
        return new_array_object(std::move(array::call_ufunc(call).outputs[0]), common_type(a, b));
    });
}

PyObject* inplace_result(PyObject* a) {
    Py_INCREF(a);
    return a;
}

template <Op op>
PyObject* inplace(PyObject* a, PyObject* b) {
    return guarded([&]() -> PyObject* {
        UfuncCall call;
        call.ufunc = &array::ufunc_of(op);
        if (!operands(a, b, call)) return not_implemented();
        call.outputs[0] = &as_array(a);
        array::call_ufunc(call);
        return inplace_result(a);
    });
}

PyObject* inplace_power(PyObject* a, PyObject* b, PyObject*) { return inplace<Op::Power>(a, b); }

template <Op op>
PyObject* unary(PyObject* a) {
    return guarded([&]() -> PyObject* {
        return new_array_object(array::call_unary(array::ufunc_of(op), as_array(a)), Py_TYPE(a));
    });
}

PyObject* matrix_multiply(PyObject* a, PyObject* b) {
    return guarded([&]() -> PyObject* {
        if (!is_array(a) || !is_array(b)) {
            array::Scalar scalar;
            if (scalar_from_python(is_array(a) ? b : a, scalar))
                core::throw_error(core::ErrorKind::InvalidArgument,
                                  "matmul: Input operand does not have enough dimensions");
            return not_implemented();
        }
        return new_array_object(array::matmul(as_array(a), as_array(b)), common_type(a, b));
    });
}

PyObject* inplace_matrix_multiply(PyObject* a, PyObject* b) {
    return guarded([&]() -> PyObject* {
        if (!is_array(b)) return not_implemented();
        array::copy_into(as_array(a), array::matmul(as_array(a), as_array(b)));
        return inplace_result(a);
    });
}

PyObject* compare(PyObject* a, PyObject* b, int operation) {
    return guarded([&]() -> PyObject* {
        constexpr Op kOps[] = {Op::Less,     Op::LessEqual, Op::Equal,
                               Op::NotEqual, Op::Greater,   Op::GreaterEqual};
        UfuncCall call;
        call.ufunc = &array::ufunc_of(kOps[operation]);
        if (!operands(a, b, call)) {
            if (operation == Py_EQ || operation == Py_NE) {
                // None and strings: no element is equal.
                bool plain = b == Py_None || PyUnicode_Check(b);
                if (!plain) return not_implemented();
                return new_array_object(array::full(as_array(a).shape(), core::DType::Bool,
                                                    array::Scalar::of_bool(operation == Py_NE)),
                                        Py_TYPE(a));
            }
            return not_implemented();
        }
        return new_array_object(std::move(array::call_ufunc(call).outputs[0]), compared_type(a, b));
    });
}

// --- conversions to Python numbers

nb::object single_item(PyObject* a, const char* who) {
    const Array& source = as_array(a);
    if (source.size() != 1)
        core::throw_error(core::ErrorKind::TypeMismatch,
                          "{}: only arrays of one element can be converted to Python scalars", who);
    return nb::handle(a).attr("item")();
}

int as_bool(PyObject* a) {
    try {
        const Array& source = as_array(a);
        if (source.size() == 0)
            core::throw_error(
                core::ErrorKind::InvalidArgument,
                "The truth value of an empty array is ambiguous. Use `array.size > 0` "
                "to check that an array is not empty.");
        if (source.size() != 1)
            core::throw_error(core::ErrorKind::InvalidArgument,
                              "The truth value of an array with more than one element is "
                              "ambiguous. Use a.any() or a.all()");
        return PyObject_IsTrue(single_item(a, "bool").ptr());
    } catch (...) {
        set_python_error(std::current_exception());
        return -1;
    }
}

PyObject* as_int(PyObject* a) {
    return guarded([&] { return PyNumber_Long(single_item(a, "int").ptr()); });
}

PyObject* as_float(PyObject* a) {
    return guarded([&] { return PyNumber_Float(single_item(a, "float").ptr()); });
}

PyObject* as_index(PyObject* a) {
    return guarded([&]() -> PyObject* {
        const Array& source = as_array(a);
        if (!array::is_integer(source.dtype()) || source.ndim() != 0)
            core::throw_error(core::ErrorKind::TypeMismatch,
                              "only integer scalar arrays can be converted to a scalar index");
        return single_item(a, "index").release().ptr();
    });
}

Py_ssize_t length(PyObject* a) {
    const Array& source = as_array(a);
    if (source.ndim() == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of unsized object");
        return -1;
    }
    return static_cast<Py_ssize_t>(source.shape()[0]);
}

template <typename F>
void* slot(F* function) {
    return reinterpret_cast<void*>(function);
}

}  // namespace

const PyType_Slot* array_operator_slots() {
    static const PyType_Slot slots[] = {
        {Py_nb_add, slot(binary<Op::Add>)},
        {Py_nb_subtract, slot(binary<Op::Subtract>)},
        {Py_nb_multiply, slot(binary<Op::Multiply>)},
        {Py_nb_true_divide, slot(binary<Op::Divide>)},
        {Py_nb_floor_divide, slot(binary<Op::FloorDivide>)},
        {Py_nb_remainder, slot(binary<Op::Remainder>)},
        {Py_nb_divmod, slot(divmod)},
        {Py_nb_power, slot(power)},
        {Py_nb_lshift, slot(binary<Op::LeftShift>)},
        {Py_nb_rshift, slot(binary<Op::RightShift>)},
        {Py_nb_and, slot(binary<Op::BitAnd>)},
        {Py_nb_or, slot(binary<Op::BitOr>)},
        {Py_nb_xor, slot(binary<Op::BitXor>)},
        {Py_nb_matrix_multiply, slot(matrix_multiply)},
        {Py_nb_inplace_add, slot(inplace<Op::Add>)},
        {Py_nb_inplace_subtract, slot(inplace<Op::Subtract>)},
        {Py_nb_inplace_multiply, slot(inplace<Op::Multiply>)},
        {Py_nb_inplace_true_divide, slot(inplace<Op::Divide>)},
        {Py_nb_inplace_floor_divide, slot(inplace<Op::FloorDivide>)},
        {Py_nb_inplace_remainder, slot(inplace<Op::Remainder>)},
        {Py_nb_inplace_power, slot(inplace_power)},
        {Py_nb_inplace_lshift, slot(inplace<Op::LeftShift>)},
        {Py_nb_inplace_rshift, slot(inplace<Op::RightShift>)},
        {Py_nb_inplace_and, slot(inplace<Op::BitAnd>)},
        {Py_nb_inplace_or, slot(inplace<Op::BitOr>)},
        {Py_nb_inplace_xor, slot(inplace<Op::BitXor>)},
        {Py_nb_inplace_matrix_multiply, slot(inplace_matrix_multiply)},
        {Py_nb_negative, slot(unary<Op::Negative>)},
        {Py_nb_positive, slot(unary<Op::Positive>)},
        {Py_nb_absolute, slot(unary<Op::Absolute>)},
        {Py_nb_invert, slot(unary<Op::Invert>)},
        {Py_nb_bool, slot(as_bool)},
        {Py_nb_int, slot(as_int)},
        {Py_nb_float, slot(as_float)},
        {Py_nb_index, slot(as_index)},
        {Py_tp_richcompare, slot(compare)},
        {Py_tp_hash, slot(PyObject_HashNotImplemented)},
        {Py_mp_length, slot(length)},
        {Py_mp_subscript, slot(array_getitem)},
        {Py_mp_ass_subscript, slot(array_setitem)},
        {0, nullptr},
    };
    return slots;
}

}  // namespace trilane::bindings
