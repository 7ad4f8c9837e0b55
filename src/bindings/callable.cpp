// Python types that C++ calls with no Python frame between.
#include "bindings/callable.h"

#include <structmember.h>

#include <cstring>
#include <vector>

namespace trilane::bindings {
namespace {

constexpr unsigned long kHaveVectorcall = 1UL << 11;  // headers hide it from the limited API
constexpr size_t kInline = 16;

// Room for so many pointers, on the stack for the common calls.
class Pointers {
  public:
    explicit Pointers(size_t count) {
        if (count > kInline) {
            more_.resize(count);
            at_ = more_.data();
        }
    }
    PyObject** data() { return at_; }

  private:
    PyObject* inline_[kInline];
    std::vector<PyObject*> more_;
    PyObject** at_ = inline_;
};

}  // namespace

PyObject* interned(const char* name) {
    PyObject* made = PyUnicode_InternFromString(name);
    if (!made) nb::raise_python_error();
    return made;
}

PyObject* from_vector(PyObject* self, PyObject* const* args, size_t count, PyObject* names,
                      CallFunction function) noexcept {
    CallArguments given{args, count};
    const size_t named = names ? static_cast<size_t>(PyTuple_Size(names)) : 0;
    if (named == 0) return function(self, given);
    try {
        Pointers room(named);
        for (size_t i = 0; i < named; ++i)
            room.data()[i] = PyTuple_GetItem(names, static_cast<Py_ssize_t>(i));
        given.names = room.data();
        given.values = args + count;
        given.named = named;
        return function(self, given);
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
}

PyObject* from_tuple(PyObject* self, PyObject* args, PyObject* keywords,
                     CallFunction function) noexcept {
    const auto count = static_cast<size_t>(PyTuple_Size(args));
    const size_t named = keywords ? static_cast<size_t>(PyDict_Size(keywords)) : 0;
    try {
        Pointers positional(count), names(named), values(named);
        for (size_t i = 0; i < count; ++i)
            positional.data()[i] = PyTuple_GetItem(args, static_cast<Py_ssize_t>(i));
        Py_ssize_t at = 0;
        size_t i = 0;
        if (named != 0)
            while (i < named && PyDict_Next(keywords, &at, &names.data()[i], &values.data()[i]))
                ++i;
        return function(self, {positional.data(), count, names.data(), values.data(), i});
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
}

PyObject* call_method(PyObject* self, PyObject* method, const CallArguments& given) noexcept {
    nb::object bound = nb::steal(PyObject_GetAttr(self, method));
    if (!bound.is_valid()) return nullptr;
    nb::object args = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(given.count)));
    if (!args.is_valid()) return nullptr;
    for (size_t i = 0; i < given.count; ++i) {
        Py_INCREF(given.positional[i]);
        PyTuple_SetItem(args.ptr(), static_cast<Py_ssize_t>(i), given.positional[i]);
    }
    nb::object keywords;
    if (given.named != 0) {
        keywords = nb::steal(PyDict_New());
        if (!keywords.is_valid()) return nullptr;
        for (size_t i = 0; i < given.named; ++i)
            if (PyDict_SetItem(keywords.ptr(), given.names[i], given.values[i]) < 0) return nullptr;
    }
    return PyObject_Call(bound.ptr(), args.ptr(), keywords.ptr());
}

PyObject* raise_launch_error(PyObject* self, const core::Error& error,
                             PyObject* translate) noexcept {
    try {
        raise_core_error(error);
        if (!translate || !core_error_is_pending()) return nullptr;
        nb::python_error raised;
        nb::object made = nb::steal(PyObject_CallFunctionObjArgs(
            nb::object(nb::handle(self).attr(nb::handle(translate))).ptr(), raised.value().ptr(),
            nullptr));
        if (!made.is_valid()) return nullptr;
        made.attr("__cause__") = nb::none();  // `from None`
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    } catch (nb::python_error& failed) {
        failed.restore();
    } catch (const std::exception& failed) {
        PyErr_SetString(PyExc_RuntimeError, failed.what());
    }
    return nullptr;
}

void add_callable_type(nb::module_& m, const CallableSpec& spec) {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallableObject, call), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr}};
    PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(spec.doc)},
                           {Py_tp_new, reinterpret_cast<void*>(spec.make)},
                           {Py_tp_dealloc, reinterpret_cast<void*>(spec.drop)},
                           {Py_tp_call, reinterpret_cast<void*>(spec.call)},
                           {Py_tp_members, members},
                           {Py_tp_methods, spec.methods},
                           {0, nullptr}};
    PyType_Spec type{
        spec.name, sizeof(CallableObject), 0,
        static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | kHaveVectorcall), slots};
    nb::object made = nb::steal(PyType_FromSpec(&type));
    if (!made.is_valid()) nb::raise_python_error();
    m.attr(std::strrchr(spec.name, '.') + 1) = made;
}

}  // namespace trilane::bindings
