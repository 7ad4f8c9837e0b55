// Launches of users' kernels with no Python frame between: the bases of CuPy's RawKernel and of
// PyCUDA's Function.
//
// The GIL is let go around every launch, which costs about 50 ns of two microseconds: a launch
// waits when the device's queue is full, and what it waits for may be a host function of the
// stream that is Python's; a kernel of the cpu device runs meanwhile.
#include <vector>

#include "bindings/arguments.h"
#include "bindings/bindings.h"
#include "bindings/callable.h"
#include "core/error.h"
#include "core/launch.h"

namespace trilane::bindings {
namespace {

// The extents that a tuple of integers means, remembered by the tuple: at most call sites it is a
// constant, the same object each time. Exact types alone, so no cycle can lead here.
class KnownDim {
  public:
    KnownDim() = default;
    ~KnownDim() { Py_XDECREF(tuple_); }
    KnownDim(const KnownDim&) = delete;
    KnownDim& operator=(const KnownDim&) = delete;

    core::Dim3 of(PyObject* given, const char* what) {
        if (given == tuple_) return dim_;
        const core::Dim3 dim = dim_of(given, what);
        if (!constant(given)) return dim;
        PyObject* before = tuple_;
        Py_INCREF(given);
        tuple_ = given;
        dim_ = dim;
        Py_XDECREF(before);
        return dim;
    }

  private:
    static bool constant(PyObject* given) {
        if (!PyTuple_CheckExact(given)) return false;
        const Py_ssize_t count = PyTuple_Size(given);
        for (Py_ssize_t i = 0; i < count; ++i)
            if (!PyLong_CheckExact(PyTuple_GetItem(given, i))) return false;
        return true;
    }
    PyObject* tuple_ = nullptr;
    core::Dim3 dim_;
};

struct KernelState {
    std::vector<core::FunctionPtr> functions;  // by device; of PyCUDA's, the first alone
    std::vector<core::FunctionPtr> before;     // what was replaced: launches may still use it
    bool cooperative = false;
    Py_ssize_t prepared = -1;  // number of arguments that prepare() was told
    KnownDim grid, block;

    core::Function* function(size_t index) const {
        return index < functions.size() ? functions[index].get() : nullptr;
    }
    void bind(size_t index, core::FunctionPtr function) {
        if (functions.size() <= index) functions.resize(index + 1);
        if (functions[index]) before.push_back(std::move(functions[index]));
        functions[index] = std::move(function);
    }
};

KernelState& state_of(PyObject* self) {
    return *static_cast<KernelState*>(reinterpret_cast<CallableObject*>(self)->state);
}

struct Names {
    PyObject *block, *grid, *stream, *shared, *shared_mem, *shared_size;
    PyObject *slow, *slow_prepared, *slow_prepared_async;  // methods of the faces
    PyObject *launch_error, *prepared_error;
};

const Names& names() {
    static const Names& instance = *new Names{
        interned("block"),         interned("grid"),           interned("stream"),
        interned("shared"),        interned("shared_mem"),     interned("shared_size"),
        interned("_call"),         interned("_prepared_call"), interned("_prepared_async"),
        interned("_launch_error"), interned("_prepared_error")};
    return instance;
}

// What a launch is given, as far as it was found; `stream` and `shared` may be left out.
struct Given {
    PyObject *grid = nullptr, *block = nullptr, *stream = nullptr, *shared = nullptr;
};

bool read_stream(PyObject* given, core::StreamPtr& stream) {
    if (!given || given == Py_None) return true;
    nb::detail::make_caster<core::StreamPtr> caster;
    if (!caster.from_python(given, 0, nullptr)) return false;
    stream = caster.operator core::StreamPtr&();
    return stream != nullptr;
}

bool read_size(PyObject* given, size_t& nbytes) {
    if (!given) return true;
    if (!PyLong_CheckExact(given)) return false;
    nbytes = PyLong_AsSize_t(given);
    if (nbytes != static_cast<size_t>(-1) || !PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
}

// One try of the fast way. Done() says whether the kernel was started; if it was not, what Python
// makes of the call decides, errors among it.
class Attempt {
  public:
    Attempt(PyObject* self, PyObject* translate) : self_(self), translate_(translate) {}

    // The grid, block, stream and shared memory; false if one is not of the plain kinds.
    bool configure(const Given& given) {
        KernelState& state = state_of(self_);
        config_.grid = state.grid.of(given.grid, "grid");
        config_.block = state.block.of(given.block, "block");
        config_.cooperative = state.cooperative;
        return read_size(given.shared, config_.shared_bytes) &&
               read_stream(given.stream, config_.stream);
    }
    bool start(core::Function& function, const ArgumentList& arguments) {
        if (!arguments.complete()) return false;
        started_ = true;
        nb::gil_scoped_release unlocked;
        core::launch(function, config_, arguments.span());
        return true;
    }

    // Runs `work`, which gives true once the kernel is started; else self.slow(...).
    template <typename Work>
    PyObject* run(const CallArguments& given, PyObject* slow, Work work) noexcept {
        return try_fast(self_, given, slow, translate_, started_, work);
    }

  private:
    PyObject* self_;
    PyObject* translate_;
    core::LaunchConfig config_;
    bool started_ = false;
};

// --- CuPy's: kernel(grid, block, args, *, shared_mem=0, stream=None)

PyObject* call_raw(PyObject* self, const CallArguments& given) {
    Attempt attempt(self, nullptr);
    return attempt.run(given, names().slow, [&] {
        core::Function* function =
            state_of(self).function(static_cast<size_t>(core::current_device_index()));
        if (!function || given.count != 3 || !PyTuple_CheckExact(given.positional[2])) return false;
        Given parts{given.positional[0], given.positional[1]};
        for (size_t i = 0; i < given.named; ++i) {
            if (given.names[i] == names().shared_mem)
                parts.shared = given.values[i];
            else if (given.names[i] == names().stream)
                parts.stream = given.values[i];
            else
                return false;
        }
        if (!attempt.configure(parts)) return false;
        const ArgumentList arguments(given.positional[2], *function, false,
                                     ArgumentList::Accept::Plain);
        return attempt.start(*function, arguments);
    });
}

// --- PyCUDA's: function(*args, block=, grid=(1, 1), stream=None, shared=0, ...)

PyObject* call_function(PyObject* self, const CallArguments& given) {
    Attempt attempt(self, names().launch_error);
    return attempt.run(given, names().slow, [&] {
        core::Function* function = state_of(self).function(0);
        Given parts;
        for (size_t i = 0; i < given.named; ++i) {
            PyObject *name = given.names[i], *value = given.values[i];
            if (name == names().block)
                parts.block = value;
            else if (name == names().grid)
                parts.grid = value;
            else if (name == names().stream)
                parts.stream = value;
            else if (name == names().shared)
                parts.shared = value;
            else
                return false;
        }
        if (!function || !parts.grid || !parts.block || !PyTuple_CheckExact(parts.block))
            return false;
        if (!attempt.configure(parts)) return false;
        const ArgumentList arguments(given.positional, given.count, *function);
        return attempt.start(*function, arguments);
    });
}

// The first `fixed` of what is given are grid, block and perhaps the stream.
PyObject* launch_prepared(PyObject* self, const CallArguments& given, size_t fixed,
                          PyObject* slow) {
    Attempt attempt(self, names().prepared_error);
    return attempt.run(given, slow, [&] {
        const KernelState& state = state_of(self);
        core::Function* function = state.function(0);
        if (!function || given.count < fixed ||
            static_cast<Py_ssize_t>(given.count - fixed) != state.prepared)
            return false;
        Given parts{given.positional[0], given.positional[1]};
        if (fixed == 3) parts.stream = given.positional[2];
        for (size_t i = 0; i < given.named; ++i) {
            if (given.names[i] != names().shared_size) return false;
            parts.shared = given.values[i];
        }
        if (!attempt.configure(parts)) return false;
        const ArgumentList arguments(given.positional + fixed, given.count - fixed, *function,
                                     true);
        return attempt.start(*function, arguments);
    });
}

PyObject* call_prepared(PyObject* self, const CallArguments& given) {
    return launch_prepared(self, given, 2, names().slow_prepared);
}

PyObject* call_prepared_async(PyObject* self, const CallArguments& given) {
    return launch_prepared(self, given, 3, names().slow_prepared_async);
}

// --- methods

template <CallFunction function>
PyObject* fast_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    return from_vector(self, args, static_cast<size_t>(count), names, function);
}

PyCFunction as_method(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

core::FunctionPtr function_of(PyObject* object) {
    const FunctionHandle* handle = nullptr;
    if (object && nb::try_cast(nb::handle(object), handle) && handle) return handle->ptr;
    PyErr_SetString(PyExc_TypeError, "_bind: a Function of the core is expected");
    return nullptr;
}

PyObject* none() {
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject* bind_raw(PyObject* self, PyObject* args) {
    int device = 0, cooperative = 0;
    PyObject* object = nullptr;
    if (!PyArg_ParseTuple(args, "iOp:_bind", &device, &object, &cooperative)) return nullptr;
    core::FunctionPtr function = function_of(object);
    if (!function || device < 0) return nullptr;
    state_of(self).cooperative = cooperative != 0;
    state_of(self).bind(static_cast<size_t>(device), std::move(function));
    return none();
}

PyObject* bind_function(PyObject* self, PyObject* object) {
    core::FunctionPtr function = function_of(object);
    if (!function) return nullptr;
    state_of(self).bind(0, std::move(function));
    return none();
}

PyObject* expect_arguments(PyObject* self, PyObject* object) {
    const Py_ssize_t count = PyLong_AsSsize_t(object);
    if (count == -1 && PyErr_Occurred()) return nullptr;
    state_of(self).prepared = count;
    return none();
}

}  // namespace

void bind_kernel_calls(nb::module_& m) {
    static PyMethodDef raw_methods[] = {{"_bind", bind_raw, METH_VARARGS,
                                         "_bind($self, device, function, cooperative, /)\n--\n\n"
                                         "The core's function that runs on a device."},
                                        {nullptr, nullptr, 0, nullptr}};
    using Raw = CallableSlots<KernelState, call_raw>;
    add_callable_type(m, {"trilane._core.RawCall", "Base of cupy.RawKernel: launches.", Raw::make,
                          Raw::drop, Raw::call, raw_methods});

    static PyMethodDef function_methods[] = {
        {"_bind", bind_function, METH_O,
         "_bind($self, function, /)\n--\n\nThe core's function that runs."},
        {"_expect_arguments", expect_arguments, METH_O,
         "_expect_arguments($self, count, /)\n--\n\n"
         "How many arguments prepared calls have; -1: there are none yet."},
        {"prepared_call", as_method(fast_method<call_prepared>), METH_FASTCALL | METH_KEYWORDS,
         "prepared_call($self, grid, block, *args, shared_size=0)\n--\n\n"
         "Launch with the types that `prepare` was told."},
        {"prepared_async_call", as_method(fast_method<call_prepared_async>),
         METH_FASTCALL | METH_KEYWORDS,
         "prepared_async_call($self, grid, block, stream, *args, shared_size=0)\n--\n\n"
         "As `prepared_call`, on a stream."},
        {nullptr, nullptr, 0, nullptr}};
    using Function = CallableSlots<KernelState, call_function>;
    add_callable_type(m, {"trilane._core.FunctionCall", "Base of pycuda.driver.Function: launches.",
                          Function::make, Function::drop, Function::call, function_methods});
}

}  // namespace trilane::bindings
