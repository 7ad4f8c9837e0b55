// Reductions and scans of the array type, as methods and functions.
#include "array/reduction.h"

#include "array/manipulation.h"
#include "array/matmul.h"
#include "array/scan.h"
#include "array/sort.h"
#include "bindings/array_convert.h"
#include "core/error.h"

namespace trilane::bindings {

using array::Array;
using core::ErrorKind;
using core::throw_error;

namespace {

bool is_true(nb::handle object) { return object.ptr() == Py_True; }

nb::object finish(nb::handle self, nb::object out, Array result) {
    if (!out.is_none()) return out;
    return wrap(std::move(result), result_type_of(self.ptr()));
}

nb::object single_out(nb::object out) {
    if (PyTuple_Check(out.ptr()) && PyTuple_Size(out.ptr()) == 1)
        return nb::borrow(PyTuple_GetItem(out.ptr(), 0));
    return out;
}

nb::object reduce(std::string_view name, nb::handle a, nb::object axis, nb::object dtype,
                  nb::object out, bool keepdims, nb::object initial, nb::object where) {
    array::ReduceCall call;
    const Array& source = require_array(a, name.data());
    out = single_out(out);
    call.name = name;
    call.a = &source;
    call.axes = axes_from_python(axis, source.ndim());
    call.dtype = optional_dtype(dtype);
    call.keepdims = keepdims;
    if (!out.is_none()) call.out = &require_array(out, "out");
    if (!initial.is_none()) {
        array::UfuncInput input = require_input(initial, "initial");
        if (input.array) throw_error(ErrorKind::TypeMismatch, "reduce: initial must be a scalar");
        call.initial = input.scalar;
    }
    Array mask;
    if (!is_true(where)) {
        mask = is_array(where.ptr()) ? as_array(where.ptr()) : array_from_host(where, 'C');
        call.where = &mask;
    }
    return finish(a, out, array::reduce(call));
}

template <int length>
struct Name {
    char text[length];
    constexpr Name(const char (&given)[length]) {
        for (int i = 0; i < length; ++i) text[i] = given[i];
    }
};

template <Name name>
nb::object method_with_dtype(nb::handle self, nb::object axis, nb::object dtype, nb::object out,
                             bool keepdims) {
    return reduce(name.text, self, axis, dtype, out, keepdims, nb::none(), nb::bool_(true));
}
template <Name name>
nb::object method(nb::handle self, nb::object axis, nb::object out, bool keepdims) {
    return reduce(name.text, self, axis, nb::none(), out, keepdims, nb::none(), nb::bool_(true));
}
template <Name name>
nb::object arg_method(nb::handle self, nb::object axis, nb::object out, nb::object dtype,
                      bool keepdims) {
    if (!axis.is_none() && !PyIndex_Check(axis.ptr()))
        throw_error(ErrorKind::TypeMismatch, "an integer is required for the axis");
    return reduce(name.text, self, axis, dtype, out, keepdims, nb::none(), nb::bool_(true));
}

nb::object variance(nb::handle a, nb::object axis, nb::object dtype, nb::object out, double ddof,
                    bool keepdims, bool skip_nan, bool root) {
    const Array& source = require_array(a, "var");
    const Array* target = out.is_none() ? nullptr : &require_array(out, "out");
    Array result = array::variance(source, axes_from_python(axis, source.ndim()),
                                   optional_dtype(dtype), target, ddof, keepdims, skip_nan);
    if (root) {
        array::UfuncCall call;
        call.ufunc = &array::find_ufunc("sqrt");
        call.inputs[0].array = &result;
        call.outputs[0] = &result;
        array::call_ufunc(call);
    }
    return finish(a, out, std::move(result));
}

nb::object accumulate(std::string_view name, nb::handle a, nb::object axis, nb::object dtype,
                      nb::object out) {
    Array source = require_array(a, "accumulate");
    int along = 0;
    if (axis.is_none())
        source = array::ravel(source, 'C');
    else
        along = static_cast<int>(index_from_python(axis, "axis"));
    const Array* target = out.is_none() ? nullptr : &require_array(out, "out");
    return finish(a, out, array::accumulate(name, source, along, optional_dtype(dtype), target));
}

int sort_axis(const Array& a, nb::handle axis) {
    if (a.ndim() == 0)
        throw_error(ErrorKind::IndexError, "axis -1 is out of bounds for array of dimension 0");
    return array::normalize_axis(index_from_python(axis, "axis"), a.ndim());
}

nb::object sorted(nb::handle a, nb::object axis) {
    Array source = require_array(a, "sort");
    if (axis.is_none()) source = array::ravel(source, 'C');
    return finish(a, nb::none(), array::sort(source, axis.is_none() ? 0 : sort_axis(source, axis)));
}

nb::object argsorted(nb::handle a, nb::object axis) {
    Array source = require_array(a, "argsort");
    if (axis.is_none() || source.ndim() == 0) source = array::ravel(source, 'C');
    return finish(a, nb::none(),
                  array::argsort(source, axis.is_none() ? 0 : sort_axis(source, axis)));
}

nb::object clip(nb::handle self, nb::object low, nb::object high, nb::object out) {
    array::UfuncCall call;
    call.inputs[0].array = &as_array(self.ptr());
    if (low.is_none() && high.is_none()) {
        call.ufunc = &array::ufunc_of(array::Op::Positive);
        if (as_array(self.ptr()).dtype() == core::DType::Bool)
            call.ufunc = &array::find_ufunc("real");
    } else if (low.is_none() || high.is_none()) {
        call.ufunc = &array::find_ufunc(low.is_none() ? "minimum" : "maximum");
        call.inputs[1] = require_input(low.is_none() ? high : low, "clip");
    } else {
        call.ufunc = &array::find_ufunc("clip");
        call.inputs[1] = require_input(low, "clip");
        call.inputs[2] = require_input(high, "clip");
    }
    if (!out.is_none()) call.outputs[0] = &require_array(out, "out");
    return finish(self, out, array::call_ufunc(call).outputs[0]);
}

nb::object conjugate(nb::handle self) {
    const Array& a = as_array(self.ptr());
    if (!array::is_complex(a.dtype())) return nb::borrow(self);
    return finish(self, nb::none(), array::call_unary(array::find_ufunc("conjugate"), a));
}

nb::object round(nb::handle self, int decimals, nb::object out) {
    const Array& a = as_array(self.ptr());
    Array target;
    const Array* given = out.is_none() ? nullptr : &require_array(out, "out");
    return finish(self, out, array::round_to(a, decimals, given));
}

nb::object dot(nb::handle a, nb::object b, nb::object out) {
    const Array& left = require_array(a, "dot");
    const Array& right = require_array(b, "dot");
    const Array* target = out.is_none() ? nullptr : &require_array(out, "out");
    return finish(a, out, array::dot(left, right, target));
}

}  // namespace

void bind_array_reductions(nb::module_& m, nb::class_<Array>& cls) {
    using nb::arg;
    nb::object none = nb::none();
    cls.def("sum", &method_with_dtype<"sum">, arg("axis").none() = none, arg("dtype").none() = none,
            arg("out").none() = none, arg("keepdims") = false)
        .def("prod", &method_with_dtype<"prod">, arg("axis").none() = none,
             arg("dtype").none() = none, arg("out").none() = none, arg("keepdims") = false)
        .def("mean", &method_with_dtype<"mean">, arg("axis").none() = none,
             arg("dtype").none() = none, arg("out").none() = none, arg("keepdims") = false)
        .def("max", &method<"max">, arg("axis").none() = none, arg("out").none() = none,
             arg("keepdims") = false)
        .def("min", &method<"min">, arg("axis").none() = none, arg("out").none() = none,
             arg("keepdims") = false)
        .def("all", &method<"all">, arg("axis").none() = none, arg("out").none() = none,
             arg("keepdims") = false)
        .def("any", &method<"any">, arg("axis").none() = none, arg("out").none() = none,
             arg("keepdims") = false)
        .def("argmax", &arg_method<"argmax">, arg("axis").none() = none, arg("out").none() = none,
             arg("dtype").none() = none, arg("keepdims") = false)
        .def("argmin", &arg_method<"argmin">, arg("axis").none() = none, arg("out").none() = none,
             arg("dtype").none() = none, arg("keepdims") = false)
        .def(
            "var",
            [](nb::handle self, nb::object axis, nb::object dtype, nb::object out, double ddof,
               bool keepdims) {
                return variance(self, axis, dtype, out, ddof, keepdims, false, false);
            },
            arg("axis").none() = none, arg("dtype").none() = none, arg("out").none() = none,
            arg("ddof") = 0, arg("keepdims") = false)
        .def(
            "std",
            [](nb::handle self, nb::object axis, nb::object dtype, nb::object out, double ddof,
               bool keepdims) {
                return variance(self, axis, dtype, out, ddof, keepdims, false, true);
            },
            arg("axis").none() = none, arg("dtype").none() = none, arg("out").none() = none,
            arg("ddof") = 0, arg("keepdims") = false)
        .def(
            "cumsum",
            [](nb::handle self, nb::object axis, nb::object dtype, nb::object out) {
                return accumulate("cumsum", self, axis, dtype, out);
            },
            arg("axis").none() = none, arg("dtype").none() = none, arg("out").none() = none)
        .def(
            "cumprod",
            [](nb::handle self, nb::object axis, nb::object dtype, nb::object out) {
                return accumulate("cumprod", self, axis, dtype, out);
            },
            arg("axis").none() = none, arg("dtype").none() = none, arg("out").none() = none)
        .def("clip", &clip, arg("min").none() = none, arg("max").none() = none,
             arg("out").none() = none)
        .def("round", &round, arg("decimals") = 0, arg("out").none() = none)
        .def("conj", &conjugate)
        .def("conjugate", &conjugate)
        .def("dot", &dot, arg("b"), arg("out").none() = none)
        .def(
            "sort",
            [](nb::handle self, nb::object axis) {
                Array& a = as_array(self.ptr());
                array::copy_into(a, array::sort(a, sort_axis(a, axis)));
            },
            arg("axis").none() = -1)
        .def("argsort", &argsorted, arg("axis").none() = -1);

    m.def(
        "reduce",
        [](std::string name, nb::handle a, nb::object axis, nb::object dtype, nb::object out,
           bool keepdims, nb::object initial, nb::object where) {
            return reduce(name, a, axis, dtype, out, keepdims, initial, where);
        },
        arg("name"), arg("a"), arg("axis").none() = none, arg("dtype").none() = none,
        arg("out").none() = none, arg("keepdims") = false, arg("initial").none() = none,
        arg("where") = true);
    m.def(
        "var",
        [](nb::handle a, nb::object axis, nb::object dtype, nb::object out, double ddof,
           bool keepdims) { return variance(a, axis, dtype, out, ddof, keepdims, false, false); },
        arg("a"), arg("axis").none() = none, arg("dtype").none() = none, arg("out").none() = none,
        arg("ddof") = 0, arg("keepdims") = false);
    m.def(
        "nanvar",
        [](nb::handle a, nb::object axis, nb::object dtype, nb::object out, double ddof,
           bool keepdims) { return variance(a, axis, dtype, out, ddof, keepdims, true, false); },
        arg("a"), arg("axis").none() = none, arg("dtype").none() = none, arg("out").none() = none,
        arg("ddof") = 0, arg("keepdims") = false);
    m.def(
        "accumulate",
        [](std::string name, nb::handle a, nb::object axis, nb::object dtype, nb::object out) {
            return accumulate(name, a, axis, dtype, out);
        },
        arg("name"), arg("a"), arg("axis").none(), arg("dtype").none() = none,
        arg("out").none() = none);
    m.def("sort", &sorted, arg("a"), arg("axis").none() = -1);
    m.def("argsort", &argsorted, arg("a"), arg("axis").none() = -1);
    m.def("dot", &dot, arg("a"), arg("b"), arg("out").none() = none);
}

}  // namespace trilane::bindings
