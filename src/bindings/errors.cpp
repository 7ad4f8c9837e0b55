// core::Error as Python exceptions: one class per kind, each also of the builtin class that plain
// Python code catches. Faces translate them into the classes of their users.
#include <array>
#include <exception>

#include "bindings/bindings.h"
#include "core/error.h"
#include "core/interrupt.h"

namespace trilane::bindings {
namespace {

struct ErrorClass {
    core::ErrorKind kind;
    const char* name;
    PyObject* builtin;
    const char* doc;
};

constexpr size_t kKindCount = static_cast<size_t>(core::ErrorKind::Internal) + 1;
// Alive until the process ends: translators run as long as the interpreter does.
std::array<PyObject*, kKindCount> classes{};
PyObject* base_class = nullptr;
// By kind, what a face made of the errors that leave the bindings unseen by it; null: nothing.
std::array<PyObject*, kKindCount> faces{};

PyObject* new_class(const char* name, const char* doc, PyObject* bases) {
    std::string qualified = std::string("trilane.") + name;
    PyObject* type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases, nullptr);
    if (!type) nb::raise_python_error();
    return type;
}

void translate(const std::exception_ptr& exception, void*) {
    try {
        std::rethrow_exception(exception);
    } catch (const core::Error& error) {
        raise_core_error(error);
    }
}

}  // namespace

// NumPy has a class of its own for axes; users of arrays catch it, or its bases ValueError and
// IndexError.
bool raise_axis_error(const core::Error& error) {
    const std::string& text = error.message();
    if (error.kind() != core::ErrorKind::IndexError || text.rfind("axis ", 0) != 0 ||
        text.find("out of bounds") == std::string::npos)
        return false;
    nb::object type = nb::module_::import_("numpy.exceptions").attr("AxisError");
    PyErr_SetString(type.ptr(), text.c_str());
    return true;
}

namespace {

// If the exception being handled is an interrupt. No dynamic_cast: the cpu device is built without
// the type information that it needs.
bool raise_interrupt() {
    try {
        throw;
    } catch (const core::Interrupted& error) {
        // Runs what waits for the main thread: the handler that raises KeyboardInterrupt.
        if (PyErr_CheckSignals() == 0) PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
        return true;
    } catch (...) {
        return false;
    }
}

}  // namespace

bool core_error_is_pending() { return base_class && PyErr_ExceptionMatches(base_class) != 0; }

void raise_core_error(const core::Error& error) {
    if (raise_axis_error(error)) return;
    if (raise_interrupt()) return;
    PyObject* type = classes[static_cast<size_t>(error.kind())];
    // Compilers quote users' source, which need not be UTF-8.
    auto text = [](const std::string& s) {
        return nb::steal(
            PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace"));
    };
    nb::object value = nb::handle(type)(text(error.message()));
    value.attr("message") = text(error.message());
    value.attr("detail") = text(error.detail());
    if (error.kind() == core::ErrorKind::KernelFault) {
        const core::FaultNames& names = core::fault_names(error.fault());
        value.attr("code") = static_cast<int>(names.code);
        value.attr("driver_name") = names.driver_name;
        value.attr("runtime_name") = names.runtime_name;
        value.attr("fault_text") = names.text;
    } else if (const core::StatusNames* names = core::capture_status_names(error.status())) {
        value.attr("code") = error.status();
        value.attr("driver_name") = names->driver_name;
        value.attr("runtime_name") = names->runtime_name;
        value.attr("fault_text") = names->text;
    }
    if (PyObject* face = faces[static_cast<size_t>(error.kind())]) value = nb::handle(face)(value);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())), value.ptr());
}

namespace {

void set_error_face(const std::string& kind, const nb::object& function) {
    for (size_t i = 0; i < kKindCount; ++i) {
        if (kind != core::kind_name(static_cast<core::ErrorKind>(i))) continue;
        Py_XDECREF(faces[i]);
        faces[i] = function.is_none() ? nullptr : nb::object(function).release().ptr();
        return;
    }
    core::throw_error(core::ErrorKind::InvalidArgument, "set_error_face: no such kind: got '{}'",
                      kind);
}

}  // namespace

void bind_errors(nb::module_& m) {
    using core::ErrorKind;
    const ErrorClass table[] = {
        {ErrorKind::InvalidArgument, "InvalidArgumentError", PyExc_ValueError,
         "A value is out of its range, or a handle was freed."},
        {ErrorKind::TypeMismatch, "TypeMismatchError", PyExc_TypeError,
         "Wrong number or type of arguments."},
        {ErrorKind::OutOfMemory, "OutOfMemoryError", PyExc_MemoryError,
         "The device or the host has not enough memory."},
        {ErrorKind::CompileError, "CompileError", PyExc_RuntimeError,
         "A program was refused; ``detail`` holds the compiler's text."},
        {ErrorKind::LaunchError, "LaunchError", PyExc_RuntimeError,
         "The configuration of a launch was refused; nothing ran."},
        {ErrorKind::KernelFault, "KernelFaultError", PyExc_RuntimeError,
         "A running kernel died. ``code`` is CUDA's number of the fault, ``driver_name`` and "
         "``runtime_name`` are its names there, ``fault_text`` its description."},
        {ErrorKind::DeviceError, "DeviceError", PyExc_RuntimeError,
         "A driver call failed. What captures of streams refuse has the attributes of "
         "``KernelFaultError``; elsewhere ``code`` is 0."},
        {ErrorKind::CheckError, "CheckError", PyExc_RuntimeError,
         "The checks of the cpu device found a fault."},
        {ErrorKind::NotFound, "NotFoundError", PyExc_LookupError,
         "There is no such function, symbol or file."},
        {ErrorKind::NotSupported, "NotSupportedError", PyExc_NotImplementedError,
         "A feature that is not there; the message names it."},
        {ErrorKind::IndexError, "IndexOutOfRangeError", PyExc_IndexError,
         "An index is out of range."},
        {ErrorKind::Internal, "InternalError", PyExc_RuntimeError,
         "A check of Trilane itself failed: please report it."},
    };
    PyObject* base =
        new_class("TrilaneError",
                  "Base of all errors of Trilane. ``kind`` names the kind, ``message`` is "
                  "the core's text, ``detail`` holds long text that belongs to it, "
                  "such as a compiler's.",
                  PyExc_Exception);
    nb::handle base_handle(base);
    base_handle.attr("kind") = "";
    base_handle.attr("message") = "";
    base_handle.attr("detail") = "";
    m.attr("TrilaneError") = base_handle;
    base_class = base;
    for (const ErrorClass& row : table) {
        nb::tuple bases = nb::make_tuple(base_handle, nb::handle(row.builtin));
        PyObject* type = new_class(row.name, row.doc, bases.ptr());
        nb::handle(type).attr("kind") = core::kind_name(row.kind);
        classes[static_cast<size_t>(row.kind)] = type;
        m.attr(row.name) = nb::handle(type);
    }
    for (const ErrorKind kind : {ErrorKind::KernelFault, ErrorKind::DeviceError}) {
        nb::handle type(classes[static_cast<size_t>(kind)]);
        type.attr("code") = 0;
        for (const char* name : {"driver_name", "runtime_name", "fault_text"}) type.attr(name) = "";
    }
    nb::register_exception_translator(translate);
    m.def("set_error_face", set_error_face, nb::arg("kind"), nb::arg("function").none(),
          "What to raise in place of the core's errors of a kind: `function(error)` gives an "
          "exception, which stays an instance of the error's class so that other faces know it. "
          "None: the errors themselves.");
}

}  // namespace trilane::bindings
