// Module trilane._core.array: the array type.
#include "array/kernel_cache.h"
#include "bindings/array_convert.h"

#include <dlfcn.h>

namespace trilane::bindings {

namespace {

// Gives the GIL away around slow work of the array level, if this thread has it. The function that
// asks is not in the limited API, but every CPython exports it.
using GilCheck = int (*)();
GilCheck gil_check() {
    static GilCheck check = reinterpret_cast<GilCheck>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    return check;
}

void* leave_python() {
    if (!gil_check() || !gil_check()()) return nullptr;
    return PyEval_SaveThread();
}

void enter_python(void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); }

}  // namespace

void bind_array(nb::module_& m) {
    static const char* doc =
        "An n-dimensional array in device memory.\n\nViews share memory. Operators follow NumPy "
        "2's "
        "rules of types; Python numbers are weak. Results of reductions are arrays of no "
        "dimension.";
    nb::class_<array::Array> cls(m, "ndarray", nb::dynamic_attr(), nb::is_weak_referenceable(),
                                 nb::type_slots(array_operator_slots()), doc);
    // NumPy's scalars and arrays leave operators with this type to it; faces may put a hook here.
    cls.attr("__array_ufunc__") = nb::none();
    init_array_types(cls);
    array::set_slow_section_hooks({leave_python, enter_python});
    bind_array_methods(cls);
    bind_array_reductions(m, cls);
    bind_array_functions(m);
    bind_array_ufunc(m);
    bind_array_random(m);
    m.def("kernel_cache_size", &array::kernel_cache_size);
    m.def("launch_count", &array::launch_count);
}

}  // namespace trilane::bindings
