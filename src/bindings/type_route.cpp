// How a Python object of a type becomes a kernel argument or device memory.
#include "bindings/type_route.h"

#include <array>
#include <cstring>
#include <set>
#include <string>

#include "array/array.h"
#include "bindings/host_view.h"
#include "bindings/texture.h"

namespace trilane::bindings {
namespace {

// Open addressing; when it is full, further types are found out at every call.
constexpr size_t kSlots = 1024, kProbes = 16;
std::array<TypeRoute, kSlots> table;

const char* keep_text(const std::string& text) {
    static std::set<std::string>& texts = *new std::set<std::string>;
    return texts.insert(text).first->c_str();
}

std::string qualified_name(nb::handle type) {
    std::string module = nb::cast<std::string>(nb::str(type.attr("__module__")));
    std::string name = nb::cast<std::string>(nb::str(type.attr("__qualname__")));
    if (module == "builtins") return name;
    // What users call it: trilane._core.Buffer and trilane.pycuda.gpuarray.GPUArray by class name.
    if (module.starts_with("trilane.")) return name;
    return module + "." + name;
}

template <typename T>
bool derives_from_bound(nb::handle type) {
    nb::handle bound = nb::type<T>();
    return bound.is_valid() && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()),
                                                reinterpret_cast<PyTypeObject*>(bound.ptr()));
}

bool derives_from(nb::handle type, PyTypeObject& base) {
    return PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), &base);
}

// NumPy's scalar types, bfloat16 of ml_dtypes among them. False if `type` is none.
bool numpy_route(nb::handle type, TypeRoute& result) {
    nb::object modules = nb::module_::import_("sys").attr("modules");
    if (!nb::cast<bool>(modules.attr("__contains__")("numpy"))) return false;
    nb::object numpy = modules["numpy"];
    int generic = PyObject_IsSubclass(type.ptr(), numpy.attr("generic").ptr());
    if (generic <= 0) {
        PyErr_Clear();
        return false;
    }
    if (result.name && std::strstr(result.name, "bfloat16")) {
        result.route = Route::BFloat16;
        return true;
    }
    nb::object dtype = numpy.attr("dtype")(type);
    std::string kind = nb::cast<std::string>(dtype.attr("kind"));
    size_t size = nb::cast<size_t>(dtype.attr("itemsize"));
    result.size = static_cast<uint8_t>(size);
    switch (kind[0]) {
        case 'b':
            result.route = Route::NumpyBool;
            break;
        case 'i':
            result.route = Route::NumpyInt;
            break;
        case 'u':
            result.route = Route::NumpyUInt;
            break;
        case 'f':
            result.route = size <= 8 ? Route::NumpyFloat : Route::Refuse;
            break;
        case 'c':
            result.route = size <= 16 ? Route::NumpyComplex : Route::Refuse;
            break;
        case 'V':
            result.route = Route::Bytes;
            result.record = true;
            break;
        default:
            result.route = Route::Refuse;
    }
    return true;
}

// Where NumPy's own scalar types keep their values: after the object's head, as its C header says.
// Looked at, not trusted: a value of a known pattern must be found there.
uint8_t value_place(nb::handle type, const TypeRoute& route) {
    constexpr uint8_t kPlace = sizeof(PyObject);
    const bool number = route.route == Route::NumpyInt || route.route == Route::NumpyUInt ||
                        route.route == Route::NumpyFloat;
    if (!number || (route.size != 4 && route.size != 8)) return 0;
    if (nb::cast<std::string>(nb::str(type.attr("__module__"))) != "numpy") return 0;
    nb::object value = type(nb::int_(0x5a3c69));
    nb::bytes bytes = nb::cast<nb::bytes>(value.attr("tobytes")());
    const char* found = reinterpret_cast<const char*>(value.ptr()) + kPlace;
    const bool there =
        bytes.size() == route.size && std::memcmp(found, bytes.c_str(), route.size) == 0;
    return there ? kPlace : 0;
}

bool is_plain(nb::handle type, Route route) {
    switch (route) {
        case Route::Bool:
        case Route::Int:
        case Route::Float:
        case Route::NumpyBool:
        case Route::NumpyInt:
        case Route::NumpyUInt:
        case Route::NumpyFloat:
        case Route::BFloat16:
        case Route::NumpyComplex:
        case Route::Texture:
        case Route::Surface:
            return true;
        case Route::Array:
            return !nb::hasattr(type, "__cupy_get_ndarray__");
        default:
            return false;
    }
}

Route protocol_route(nb::handle object, nb::handle type) {
    if (nb::hasattr(type, "__trilane_handler__")) return Route::Handler;
    if (nb::hasattr(type, "__trilane_array__")) return Route::TrilaneArray;
    if (nb::hasattr(type, "__trilane_buffer__")) return Route::TrilaneBuffer;
    if (nb::hasattr(type, "get_pointer")) return Route::GetPointer;
    if (derives_from(type, PyBool_Type)) return Route::Bool;
    if (derives_from(type, PyLong_Type)) return Route::Int;
    if (derives_from(type, PyFloat_Type)) return Route::Float;
    if (derives_from(type, PyComplex_Type)) return Route::Complex;
    // Asked of the instance: some libraries make it an attribute of the object only.
    if (nb::hasattr(object, "__cuda_array_interface__")) return Route::CudaArrayInterface;
    if (nb::hasattr(object, "gpudata")) return Route::GpuData;
    if (HostView::is_host_memory(object)) return Route::Bytes;
    if (nb::hasattr(type, "__index__")) return Route::Index;
    return Route::Refuse;
}

TypeRoute find_route(nb::handle object) {
    nb::handle type = object.type();
    TypeRoute result;
    std::string name = qualified_name(type);
    result.name = name.c_str();
    if (derives_from_bound<BufferHandle>(type))
        result.route = Route::Buffer;
    else if (derives_from_bound<HostBufferHandle>(type))
        result.route = Route::HostBuffer;
    else if (derives_from_bound<array::Array>(type))
        result.route = Route::Array;
    else if (derives_from_bound<TextureHandle>(type))
        result.route = Route::Texture;
    else if (derives_from_bound<SurfaceHandle>(type))
        result.route = Route::Surface;
    else if (!numpy_route(type, result))
        result.route = protocol_route(object, type);
    result.name = keep_text(name);
    result.plain = is_plain(type, result.route);
    result.value_at = value_place(type, result);
    return result;
}

}  // namespace

const TypeRoute& route_of(nb::handle object) {
    PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
    size_t slot = (reinterpret_cast<uintptr_t>(type) >> 4) % kSlots;
    for (size_t probe = 0; probe < kProbes; ++probe) {
        TypeRoute& entry = table[(slot + probe) % kSlots];
        if (entry.type == type) return entry;
        if (entry.type) continue;
        TypeRoute found = find_route(object);
        // Protocols that were asked of the instance may differ from object to object.
        if (found.route == Route::Refuse) break;
        Py_INCREF(type);
        found.type = type;
        // find_route ran Python code, which may have filled the slot.
        if (!entry.type) entry = found;
        return entry.type == type ? entry : route_of(object);
    }
    static TypeRoute last;
    last = find_route(object);
    return last;
}

}  // namespace trilane::bindings
