// Host memory of Python objects: anything with the buffer protocol or `__array_interface__`.
#include "bindings/host_view.h"

#include <dlfcn.h>

#include "core/error.h"

namespace trilane::bindings {

struct BufferFunctions {
    int (*get)(PyObject*, HostView::Raw*, int) = nullptr;
    void (*release)(HostView::Raw*) = nullptr;
    int (*check)(PyObject*) = nullptr;

    static const BufferFunctions& instance() {
        static const BufferFunctions functions = [] {
            BufferFunctions f;
            f.get = reinterpret_cast<decltype(f.get)>(dlsym(RTLD_DEFAULT, "PyObject_GetBuffer"));
            f.release =
                reinterpret_cast<decltype(f.release)>(dlsym(RTLD_DEFAULT, "PyBuffer_Release"));
            f.check =
                reinterpret_cast<decltype(f.check)>(dlsym(RTLD_DEFAULT, "PyObject_CheckBuffer"));
            TRILANE_CHECK(f.get && f.release && f.check,
                          "this Python exports no buffer protocol functions");
            return f;
        }();
        return functions;
    }
};

namespace {

// Python's PyBUF_* request bits, hidden like the structure.
constexpr int kWritable = 0x0001;
constexpr int kAnyContiguous = 0x0080 | 0x0010 | 0x0008;

// Bytes of a described array, or -1 if it is not contiguous.
int64_t contiguous_bytes(nb::handle shape, nb::handle strides, int64_t itemsize) {
    size_t ndim = nb::len(shape);
    int64_t count = 1;
    for (size_t i = 0; i < ndim; ++i) count *= nb::cast<int64_t>(shape[i]);
    if (count == 0 || strides.is_none()) return count * itemsize;
    auto packed = [&](bool c_order) {
        int64_t expected = itemsize;
        for (size_t k = 0; k < ndim; ++k) {
            size_t i = c_order ? ndim - 1 - k : k;
            int64_t extent = nb::cast<int64_t>(shape[i]);
            if (extent != 1 && nb::cast<int64_t>(strides[i]) != expected) return false;
            expected *= extent;
        }
        return true;
    };
    return packed(true) || packed(false) ? count * itemsize : -1;
}

int64_t itemsize_of(const std::string& typestr) {
    size_t digits = typestr.find_first_of("0123456789");
    if (digits == std::string::npos) return 0;
    return std::stoll(typestr.substr(digits)) * (typestr[1] == 'U' ? 4 : 1);
}

}  // namespace

HostView::HostView(nb::handle object, Access access, const char* who) {
    HostBufferHandle* pinned = nullptr;
    if (nb::try_cast(object, pinned) && pinned) {
        if (pinned->ptr->freed())
            core::throw_error(core::ErrorKind::InvalidArgument,
                              "{}: the host memory was freed: got a HostBuffer after free_now()",
                              who);
        interface_owner_ = nb::borrow(object);
        data_ = pinned->ptr->data();
        nbytes_ = pinned->ptr->nbytes();
        return;
    }
    if (take_buffer(object, access) || take_interface(object, access, who)) return;
    core::throw_error(core::ErrorKind::TypeMismatch,
                      "{}: not host memory: got {}, expected an object with the buffer protocol, "
                      "such as a NumPy array",
                      who, nb::inst_name(object).c_str());
}

HostView::~HostView() {
    if (raw_.obj) BufferFunctions::instance().release(&raw_);
}

bool HostView::is_host_memory(nb::handle object) {
    return BufferFunctions::instance().check(object.ptr()) ||
           nb::hasattr(object, "__array_interface__");
}

bool HostView::take_buffer(nb::handle object, Access access) {
    const BufferFunctions& functions = BufferFunctions::instance();
    if (!functions.check(object.ptr())) return false;
    int flags = kAnyContiguous | (access == Access::Write ? kWritable : 0);
    if (functions.get(object.ptr(), &raw_, flags) != 0) nb::raise_python_error();
    data_ = raw_.buf;
    nbytes_ = static_cast<size_t>(raw_.len);
    return true;
}

bool HostView::take_interface(nb::handle object, Access access, const char* who) {
    if (!nb::hasattr(object, "__array_interface__")) return false;
    nb::dict interface = nb::cast<nb::dict>(object.attr("__array_interface__"));
    nb::object data = interface["data"];
    if (access == Access::Write && nb::cast<bool>(data[1]))
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "{}: the destination is read-only: got {}", who,
                          nb::inst_name(object).c_str());
    nb::object strides =
        interface.contains("strides") ? nb::object(interface["strides"]) : nb::object(nb::none());
    int64_t nbytes = contiguous_bytes(interface["shape"], strides,
                                      itemsize_of(nb::cast<std::string>(interface["typestr"])));
    if (nbytes < 0)
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "{}: the array is not contiguous: got {}: copy it first", who,
                          nb::inst_name(object).c_str());
    interface_owner_ = nb::borrow(object);
    data_ = reinterpret_cast<void*>(nb::cast<uintptr_t>(data[0]));
    nbytes_ = static_cast<size_t>(nbytes);
    return true;
}

}  // namespace trilane::bindings
