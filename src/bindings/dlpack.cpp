// DLPack capsules of device memory: made for other libraries, and read. Structures and names are
// the protocol's, version 1.0. What an array is, and who waits for whose stream, is decided in
// trilane/_exchange.py.
#include <cstring>
#include <vector>

#include "bindings/bindings.h"

namespace trilane::bindings {

namespace {

struct DLTensor {
    void* data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t* shape;
    int64_t* strides;  // in elements; null: C order
    uint64_t byte_offset;
};
static_assert(sizeof(DLTensor) == 48);

struct Managed {
    DLTensor tensor;
    void* context;
    void (*deleter)(Managed*);
};

struct ManagedVersioned {
    uint32_t major, minor;
    void* context;
    void (*deleter)(ManagedVersioned*);
    uint64_t flags;
    DLTensor tensor;
};

constexpr uint64_t kReadOnly = 1;

template <class T>
const char* fresh_name();
template <>
const char* fresh_name<Managed>() {
    return "dltensor";
}
template <>
const char* fresh_name<ManagedVersioned>() {
    return "dltensor_versioned";
}

// What a capsule of ours keeps alive.
template <class T>
struct Exported {
    T managed{};
    std::vector<int64_t> shape, strides;
    PyObject* owner = nullptr;

    static void release(T* managed) {
        auto* self = static_cast<Exported*>(managed->context);
        // A library may let go after Python has ended; then the process's end frees the memory.
        if (!Py_IsInitialized()) return;
        PyGILState_STATE state = PyGILState_Ensure();
        Py_XDECREF(self->owner);
        PyGILState_Release(state);
        delete self;
    }
};

// Runs when a capsule dies that nobody took.
template <class T>
void drop_unused(PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, fresh_name<T>())) return;
    auto* managed = static_cast<T*>(PyCapsule_GetPointer(capsule, fresh_name<T>()));
    if (managed && managed->deleter) managed->deleter(managed);
}

template <class T>
nb::object make_capsule(nb::handle owner, uint64_t address, std::vector<int64_t> shape,
                        std::vector<int64_t> strides, int code, int bits, int device_type,
                        int device_id) {
    auto exported = std::make_unique<Exported<T>>();
    exported->shape = std::move(shape);
    exported->strides = std::move(strides);
    T& managed = exported->managed;
    managed.context = exported.get();
    managed.deleter = &Exported<T>::release;
    managed.tensor = DLTensor{reinterpret_cast<void*>(address),
                              device_type,
                              device_id,
                              int32_t(exported->shape.size()),
                              uint8_t(code),
                              uint8_t(bits),
                              1,
                              exported->shape.data(),
                              exported->strides.data(),
                              0};
    if constexpr (std::is_same_v<T, ManagedVersioned>) managed.major = 1;
    PyObject* capsule = PyCapsule_New(&managed, fresh_name<T>(), &drop_unused<T>);
    if (!capsule) nb::raise_python_error();
    Py_INCREF(owner.ptr());
    exported->owner = owner.ptr();
    exported.release();  // the capsule's now, or its taker's
    return nb::steal(capsule);
}

std::vector<int64_t> integers(const nb::tuple& values) {
    std::vector<int64_t> result;
    for (nb::handle value : values) result.push_back(nb::cast<int64_t>(value));
    return result;
}

nb::object export_capsule(nb::handle owner, uint64_t address, const nb::tuple& shape,
                          const nb::tuple& strides, int code, int bits, int device_type,
                          int device_id, bool versioned) {
    return versioned
               ? make_capsule<ManagedVersioned>(owner, address, integers(shape), integers(strides),
                                                code, bits, device_type, device_id)
               : make_capsule<Managed>(owner, address, integers(shape), integers(strides), code,
                                       bits, device_type, device_id);
}

// Takes what the capsule manages: its deleter runs when the returned keeper dies.
template <class T>
nb::object take(nb::handle capsule, const char* used_name, const DLTensor** tensor,
                bool* readonly) {
    auto* managed = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), fresh_name<T>()));
    if (!managed) nb::raise_python_error();
    if constexpr (std::is_same_v<T, ManagedVersioned>) {
        if (managed->major != 1)
            core::throw_error(core::ErrorKind::NotSupported,
                              "from_dlpack: DLPack version: got {}.{}, expected 1.x",
                              managed->major, managed->minor);
        *readonly = managed->flags & kReadOnly;
    }
    nb::object keeper = nb::steal(PyCapsule_New(managed, "trilane_dlpack", [](PyObject* self) {
        auto* kept = static_cast<T*>(PyCapsule_GetPointer(self, "trilane_dlpack"));
        if (kept && kept->deleter) kept->deleter(kept);
    }));
    if (!keeper.is_valid()) nb::raise_python_error();
    PyCapsule_SetName(capsule.ptr(), used_name);
    *tensor = &managed->tensor;
    return keeper;
}

// (address, shape, strides or None, code, bits, device type, device id, read-only, keeper)
nb::tuple take_capsule(nb::handle capsule) {
    const DLTensor* tensor = nullptr;
    bool readonly = false;
    nb::object keeper;
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned"))
        keeper = take<ManagedVersioned>(capsule, "used_dltensor_versioned", &tensor, &readonly);
    else if (PyCapsule_IsValid(capsule.ptr(), "dltensor"))
        keeper = take<Managed>(capsule, "used_dltensor", &tensor, &readonly);
    else
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "from_dlpack: got no capsule of DLPack that is still unused: each can be "
                          "taken once");
    if (tensor->lanes != 1)
        core::throw_error(core::ErrorKind::NotSupported,
                          "from_dlpack: elements of {} lanes: expected 1", tensor->lanes);
    auto tuple_of = [&](const int64_t* values) {
        nb::list list;
        for (int32_t i = 0; i < tensor->ndim; ++i) list.append(values[i]);
        return nb::tuple(list);
    };
    nb::object strides = nb::none();
    if (tensor->strides) strides = tuple_of(tensor->strides);
    return nb::make_tuple(reinterpret_cast<uint64_t>(tensor->data) + tensor->byte_offset,
                          tuple_of(tensor->shape), strides, int(tensor->code), int(tensor->bits),
                          tensor->device_type, tensor->device_id, readonly, keeper);
}

}  // namespace

void bind_dlpack(nb::module_& m) {
    m.def("dlpack_export", &export_capsule, nb::arg("owner"), nb::arg("address"), nb::arg("shape"),
          nb::arg("strides"), nb::arg("code"), nb::arg("bits"), nb::arg("device_type"),
          nb::arg("device_id"), nb::arg("versioned"),
          "A DLPack capsule of memory that `owner` keeps. Strides are in elements.");
    m.def(
        "dlpack_take", &take_capsule, nb::arg("capsule"),
        "What a DLPack capsule describes: (address, shape, strides in elements or None, type\n"
        "code, bits, device type, device number, read-only, keeper). The keeper holds the memory.");
}

}  // namespace trilane::bindings
