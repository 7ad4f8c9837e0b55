// UFunc objects: the ufunc table as Python sees it.
#include "array/indexing.h"
#include "array/manipulation.h"
#include "array/reduction.h"
#include "array/scan.h"
#include "bindings/array_convert.h"
#include "core/error.h"

namespace trilane::bindings {

using array::Array;
using array::Ufunc;
using array::UfuncCall;
using core::ErrorKind;
using core::throw_error;
using nb::arg;

namespace {

struct UfuncHandle {
    const Ufunc* ufunc;
};

// Outputs given as out=a, out=(a, None) or as further positional arguments.
void take_outputs(UfuncCall& call, nb::handle out, nb::object* kept) {
    const Ufunc& ufunc = *call.ufunc;
    if (out.is_none()) return;
    if (!PyTuple_Check(out.ptr())) {
        if (ufunc.nout != 1 && !is_array(out.ptr()))
            throw_error(ErrorKind::TypeMismatch, "'out' must be a tuple of arrays");
        kept[0] = nb::borrow(out);
    } else {
        if (PyTuple_Size(out.ptr()) != ufunc.nout)
            throw_error(ErrorKind::InvalidArgument,
                        "The 'out' tuple must have exactly one entry per ufunc output");
        for (int k = 0; k < ufunc.nout; ++k) kept[k] = nb::borrow(PyTuple_GetItem(out.ptr(), k));
    }
}

// An input of call_with; `kept` owns what a device array of another library became.
array::UfuncInput ufunc_input(nb::handle object, nb::object& kept, const char* name) {
    array::UfuncInput input;
    if (input_from_python(object.ptr(), input)) return input;
    if (array_types().converter && Py_TYPE(object.ptr()) != array_types().host_array) {
        kept = nb::handle(array_types().converter)(object);
        if (is_array(kept.ptr())) return {&as_array(kept.ptr()), {}};
    }
    return require_input(object, name);
}

nb::object call_with(const Ufunc& ufunc, const nb::args& args, nb::handle out, nb::handle where,
                     nb::handle casting, nb::handle dtype, nb::handle order) {
    UfuncCall call;
    call.ufunc = &ufunc;
    int given = static_cast<int>(args.size());
    if (given < ufunc.nin || given > ufunc.nin + ufunc.nout)
        throw_error(ErrorKind::TypeMismatch,
                    "{}() takes from {} to {} positional arguments but {} were given", ufunc.name,
                    ufunc.nin, ufunc.nin + ufunc.nout, given);
    PyTypeObject* type = array_types().ndarray;
    nb::object foreign[std::size(call.inputs)];
    for (int k = 0; k < ufunc.nin; ++k) {
        call.inputs[k] = ufunc_input(args[k], foreign[k], ufunc.name.c_str());
        PyTypeObject* own = function_type_of(args[k].ptr());
        if (own != array_types().ndarray) type = own;
    }
    nb::object kept[2] = {nb::none(), nb::none()};
    if (given > ufunc.nin && !out.is_none())
        throw_error(ErrorKind::InvalidArgument,
                    "cannot specify 'out' as both a positional and keyword argument");
    for (int k = ufunc.nin; k < given; ++k) kept[k - ufunc.nin] = nb::borrow(args[k]);
    take_outputs(call, out, kept);
    for (int k = 0; k < ufunc.nout; ++k)
        if (!kept[k].is_none()) {
            if (!is_array(kept[k].ptr()))
                throw_error(ErrorKind::TypeMismatch, "return arrays must be of ArrayType");
            call.outputs[k] = &as_array(kept[k].ptr());
        }
    Array mask;
    if (where.ptr() == Py_False || (where.ptr() != Py_True && !is_array(where.ptr())))
        mask = array::full({}, core::DType::Bool,
                           array::Scalar::of_bool(PyObject_IsTrue(where.ptr()) == 1));
    else if (is_array(where.ptr()))
        mask = as_array(where.ptr());
    if (mask.valid()) {
        if (mask.dtype() != core::DType::Bool)
            throw_error(ErrorKind::TypeMismatch,
                        "Cannot cast array data from dtype('{}') to dtype('bool') according to the "
                        "rule 'safe'",
                        core::numpy_name(mask.dtype()));
        call.where = &mask;
    }
    if (casting.ptr() && !casting.is_none())
        call.casting = array::casting_from_name(nb::cast<std::string>(casting));
    call.dtype = dtype.is_none() ? std::nullopt : optional_dtype(dtype);
    call.order = order_from_python(order, "KCFA");
    array::UfuncResult result = array::call_ufunc(call);
    if (ufunc.nout == 1)
        return call.outputs[0] ? kept[0] : wrap(std::move(result.outputs[0]), type);
    nb::object first = call.outputs[0] ? kept[0] : wrap(std::move(result.outputs[0]), type);
    nb::object second = call.outputs[1] ? kept[1] : wrap(std::move(result.outputs[1]), type);
    return nb::make_tuple(first, second);
}

nb::object call_kwargs(const Ufunc& ufunc, const nb::args& args, const nb::kwargs& kwargs) {
    nb::object out = nb::none(), where = nb::bool_(true), casting = nb::none(), dtype = nb::none(),
               order = nb::none();
    for (auto [key, value] : kwargs) {
        std::string name = nb::cast<std::string>(key);
        nb::object given = nb::borrow(value);
        if (name == "out")
            out = given;
        else if (name == "where")
            where = given;
        else if (name == "casting")
            casting = given;
        else if (name == "dtype")
            dtype = given;
        else if (name == "order")
            order = given;
        else if (name == "subok") {
        } else {
            throw_error(ErrorKind::TypeMismatch, "{}() got an unexpected keyword argument '{}'",
                        ufunc.name, name);
        }
    }
    return call_with(ufunc, args, out, where, casting, dtype, order);
}

nb::object ufunc_identity(const Ufunc& ufunc) {
    const std::string& name = ufunc.name;
    if (name == "add" || name == "subtract" || name == "bitwise_or" || name == "bitwise_xor" ||
        name == "logaddexp" || name == "hypot" || name == "gcd")
        return name == "subtract" ? nb::object(nb::none()) : nb::object(nb::int_(0));
    if (name == "multiply") return nb::int_(1);
    if (name == "bitwise_and") return nb::int_(-1);
    if (name == "logical_and") return nb::bool_(true);
    if (name == "logical_or" || name == "logical_xor") return nb::bool_(false);
    return nb::none();
}

void require_binary(const Ufunc& ufunc, const char* method) {
    if (ufunc.nin != 2 || ufunc.nout != 1)
        throw_error(ErrorKind::InvalidArgument, "{} only supported for binary functions", method);
}

nb::object outer(const UfuncHandle& self, nb::handle a, nb::handle b, const nb::kwargs& kwargs) {
    require_binary(*self.ufunc, "outer");
    array::UfuncInput x = require_input(a, "outer"), y = require_input(b, "outer");
    nb::object left = nb::borrow(a);
    if (x.array) {
        array::Shape shape = x.array->shape();
        int more = y.array ? y.array->ndim() : 0;
        for (int k = 0; k < more; ++k) shape.push_back(1);
        left = wrap(array::reshape(*x.array, shape, 'C'));
    }
    nb::tuple pair = nb::make_tuple(left, b);
    return call_kwargs(*self.ufunc, nb::borrow<nb::args>(pair), kwargs);
}

nb::list loop_types(const Ufunc& ufunc) {
    nb::list types;
    for (const array::UfuncLoop& loop : ufunc.loops) {
        std::string text = ufunc.signature(loop);
        if (text.find('E') == std::string::npos) types.append(nb::str(text.c_str()));
    }
    return types;
}

}  // namespace

void bind_array_ufunc(nb::module_& m) {
    nb::object none = nb::none();
    nb::class_<UfuncHandle> cls(
        m, "UFunc", nb::dynamic_attr(),
        "A function of elements: broadcasts, promotes types, computes in one kernel.");
    cls.def_prop_ro("name", [](const UfuncHandle& u) { return u.ufunc->name; })
        .def_prop_ro("nin", [](const UfuncHandle& u) { return u.ufunc->nin; })
        .def_prop_ro("nout", [](const UfuncHandle& u) { return u.ufunc->nout; })
        .def_prop_ro("nargs", [](const UfuncHandle& u) { return u.ufunc->nin + u.ufunc->nout; })
        .def_prop_ro("types", [](const UfuncHandle& u) { return loop_types(*u.ufunc); })
        .def_prop_ro("identity", [](const UfuncHandle& u) { return ufunc_identity(*u.ufunc); })
        .def("__repr__", [](const UfuncHandle& u) { return "<ufunc '" + u.ufunc->name + "'>"; })
        .def("__call__",
             [](const UfuncHandle& u, const nb::args& args, const nb::kwargs& kwargs) {
                 return call_kwargs(*u.ufunc, args, kwargs);
             })
        .def("outer", &outer)
        .def(
            "reduce",
            [m](const UfuncHandle& u, nb::handle a, nb::object axis, nb::object dtype,
                nb::object out, bool keepdims, nb::object initial, nb::object where) {
                require_binary(*u.ufunc, "reduce");
                return m.attr("reduce")(u.ufunc->name, a, axis, dtype, out, keepdims, initial,
                                        where);
            },
            arg("a"), arg("axis").none() = 0, arg("dtype").none() = none, arg("out").none() = none,
            arg("keepdims") = false, arg("initial").none() = none, arg("where") = true)
        .def(
            "accumulate",
            [m](const UfuncHandle& u, nb::handle a, nb::object axis, nb::object dtype,
                nb::object out) {
                require_binary(*u.ufunc, "accumulate");
                return m.attr("accumulate")(u.ufunc->name, a, axis, dtype, out);
            },
            arg("a"), arg("axis").none() = 0, arg("dtype").none() = none, arg("out").none() = none);
    nb::dict all;
    for (const Ufunc& ufunc : array::ufunc_table()) {
        nb::object object = nb::cast(UfuncHandle{&ufunc});
        object.attr("__name__") = ufunc.name;
        all[ufunc.name.c_str()] = object;
    }
    m.attr("ufuncs") = all;
    m.def(
        "ufunc",
        [](std::string name, nb::object inputs, nb::object out, nb::object where, nb::object dtype,
           std::string casting) {
            nb::object tuple = nb::steal(PySequence_Tuple(inputs.ptr()));
            return call_with(array::find_ufunc(name), nb::borrow<nb::args>(tuple), out, where,
                             nb::str(casting.c_str()), dtype, nb::none());
        },
        arg("name"), arg("inputs"), arg("out").none() = none, arg("where") = true,
        arg("dtype").none() = none, arg("casting") = "same_kind");
    m.def("ufunc_table", [] {
        nb::list rows;
        for (const Ufunc& ufunc : array::ufunc_table())
            rows.append(nb::make_tuple(ufunc.name, ufunc.nin, ufunc.nout, loop_types(ufunc)));
        return rows;
    });
}

}  // namespace trilane::bindings
