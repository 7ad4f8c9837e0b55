// Python types that C++ calls with no Python frame between: bases of the faces' kernels.
//
// An instance is called by the vectorcall protocol; Python 3.12 and later let subclasses inherit
// it, earlier ones call those by tp_call, which costs a tuple and a dict. What C++ does not deal
// with goes to a Python method of the subclass: the fast way takes the plain cases alone, and
// every rule and message has its one place in Python.
#pragma once

#include <cstddef>
#include <new>

#include "bindings/bindings.h"

namespace trilane::bindings {

// What a call was given. `names` and `values`: the keywords.
struct CallArguments {
    PyObject* const* positional = nullptr;
    size_t count = 0;
    PyObject* const* names = nullptr;
    PyObject* const* values = nullptr;
    size_t named = 0;
};

// A new reference, or null with an error set. Never throws.
using CallFunction = PyObject* (*)(PyObject* self, const CallArguments& given);
using Vectorcall = PyObject* (*)(PyObject*, PyObject* const*, size_t, PyObject*);

struct CallableObject {
    PyObject ob_base;
    Vectorcall call;
    void* state;
};

// An interned name, kept until the process ends: keywords at call sites are the same object.
PyObject* interned(const char* name);

// The ways in: of the protocol, of tp_call, and of methods with METH_FASTCALL | METH_KEYWORDS.
PyObject* from_vector(PyObject* self, PyObject* const* args, size_t count, PyObject* names,
                      CallFunction function) noexcept;
PyObject* from_tuple(PyObject* self, PyObject* args, PyObject* keywords,
                     CallFunction function) noexcept;

// self.method(...) with all that was given.
PyObject* call_method(PyObject* self, PyObject* method, const CallArguments& given) noexcept;

// Sets what Python is to see of the core's error that is being handled; null. If `translate` is
// given, self.translate(error) makes another exception of it.
PyObject* raise_launch_error(PyObject* self, const core::Error& error,
                             PyObject* translate) noexcept;

// One try of the fast way: `work` gives true once it is done. If it gives false, or failed before
// it set `started`, self.slow(...) decides with all that was given, errors among it.
template <typename Work>
PyObject* try_fast(PyObject* self, const CallArguments& given, PyObject* slow, PyObject* translate,
                   const bool& started, Work work) noexcept {
    try {
        if (work()) {
            Py_INCREF(Py_None);
            return Py_None;
        }
    } catch (const core::Error& error) {
        // These kinds come before anything starts: Python says it as it always did.
        const core::ErrorKind kind = error.kind();
        if (kind != core::ErrorKind::InvalidArgument && kind != core::ErrorKind::TypeMismatch)
            return raise_launch_error(self, error, translate);
    } catch (nb::python_error& error) {
        if (started) {
            error.restore();
            return nullptr;
        }
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
        return nullptr;
    }
    return call_method(self, slow, given);
}

// Adds the type `name` to `m`: a base class without attributes but `methods` (which end by a null
// entry). `make`, `drop` and `call` are those of CallableSlots.
struct CallableSpec {
    const char* name;  // with its module; lives until the process ends
    const char* doc;
    newfunc make;
    destructor drop;
    ternaryfunc call;
    PyMethodDef* methods;
};
void add_callable_type(nb::module_& m, const CallableSpec& spec);

// The slots of a type whose instances hold a State and are called by `function`. States hold no
// Python object that could lead back to them: the type takes no part in the search for cycles.
template <typename State, CallFunction function>
struct CallableSlots {
    static State& state(PyObject* self) {
        return *static_cast<State*>(reinterpret_cast<CallableObject*>(self)->state);
    }
    static PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t count,
                                PyObject* names) {
        constexpr size_t kOffsetFlag = size_t{1} << (8 * sizeof(size_t) - 1);
        return from_vector(self, args, count & ~kOffsetFlag, names, function);
    }
    static PyObject* call(PyObject* self, PyObject* args, PyObject* keywords) {
        return from_tuple(self, args, keywords, function);
    }
    static PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
        auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
        PyObject* self = allocate(type, 0);
        if (!self) return nullptr;
        auto* object = reinterpret_cast<CallableObject*>(self);
        object->call = vectorcall;
        object->state = new (std::nothrow) State;
        if (object->state) return self;
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    static void drop(PyObject* self) {
        PyTypeObject* type = Py_TYPE(self);
        delete static_cast<State*>(reinterpret_cast<CallableObject*>(self)->state);
        reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
        Py_DECREF(type);
    }
};

}  // namespace trilane::bindings
