// Launches of translated kernels with no Python frame between: the base of numba's configured
// kernels, and the way of device arrays and numbers, which is nearly every call, without the heap.
#include <algorithm>
#include <cstring>
#include <memory>

#include "bindings/callable.h"
#include "bindings/jit_launch.h"
#include "core/error.h"
#include "core/peer.h"

namespace trilane::bindings {
namespace {

constexpr size_t kMost = 16;          // arguments
constexpr size_t kMostPacked = 1024;  // bytes

// Device arrays and numbers, their types and what keeps the memory while the GIL is let go.
class PlainArguments {
  public:
    PlainArguments() = default;
    ~PlainArguments() {
        for (size_t i = 0; i < held_count_; ++i) std::destroy_at(&held_.at[i]);
    }
    PlainArguments(const PlainArguments&) = delete;
    PlainArguments& operator=(const PlainArguments&) = delete;

    // False if there is something else among them.
    bool read(PyObject* const* objects, size_t count) {
        for (size_t i = 0; i < count; ++i) {
            const nb::handle object = objects[i];
            const TypeRoute& route = route_of(object);
            arrays_[i] = nullptr;
            if (route.route == Route::Array) {
                arrays_[i] = nb::inst_ptr<array::Array>(object);
                types_[i] = device_array_type(*arrays_[i]);
                if (!types_[i]) return false;
                continue;
            }
            NumberArgument& number = *std::construct_at(&numbers_.at[i]);
            if (!read_number(object, route, i, number)) return false;
            types_[i] = number.type;
        }
        return true;
    }
    const jit::TypeRef* types() const { return types_; }

    // The bytes of the parameters, and the memory in order with `stream`. False if an argument
    // needs more than its bytes moved. Evaluates arrays that wait for it.
    bool pack(const Variant& variant, const core::StreamPtr& stream) {
        for (size_t i = 0; i < variant.parameters.size(); ++i)
            if (!fits(i, variant.parameters[i])) return false;
        for (size_t i = 0; i < variant.parameters.size(); ++i) {
            uint8_t* place = bytes_ + variant.places[i];
            pointers_[i] = place;
            if (arrays_[i])
                write(*arrays_[i], variant.parameters[i], stream, place);
            else
                numbers_.at[i].write(variant.parameters[i], place);
        }
        return true;
    }
    void** pointers() { return pointers_; }

  private:
    // Not built before they are needed.
    union Numbers {
        Numbers() {}
        NumberArgument at[kMost];
    };
    union HeldBuffers {
        HeldBuffers() {}
        ~HeldBuffers() {}
        core::BufferPtr at[kMost];
    };

    bool fits(size_t i, jit::TypeRef to) const {
        const jit::TypeRef from = types_[i];
        if (from == to) return true;
        if (!arrays_[i]) return numbers_.at[i].fits(to);
        return to->kind == jit::TypeKind::Array && to->element == from->element &&
               to->ndim == from->ndim && (to->layout == 'A' || to->layout == from->layout) &&
               (!to->narrow || from->narrow);
    }

    void write(const array::Array& a, jit::TypeRef type, const core::StreamPtr& stream,
               uint8_t* out) {
        core::BufferPtr& held = *std::construct_at(&held_.at[held_count_++], a.buffer());
        const core::DevicePtr address = a.data();
        if (a.ndim() != type->ndim)  // its evaluation let the GIL go
            core::throw_error(core::ErrorKind::InvalidArgument,
                              "launch: an array changed its shape meanwhile");
        if (held->context() == stream->context()) [[likely]]
            held->record_use(stream);
        else
            core::use_on(*held, stream, "launch");
        std::memcpy(out, &address, sizeof address);
        out += sizeof address;
        const size_t width = type->narrow ? 4 : 8;
        auto put = [&](const array::Shape& values) {
            for (const int64_t value : values) {
                std::memcpy(out, &value, width);
                out += width;
            }
            if (values.empty()) out += width;
        };
        put(a.shape());
        if (type->layout == 'A') put(a.strides());
    }

    const array::Array* arrays_[kMost];
    Numbers numbers_;
    jit::TypeRef types_[kMost];
    void* pointers_[kMost + 1];
    HeldBuffers held_;
    size_t held_count_ = 0;
    alignas(16) uint8_t bytes_[kMostPacked];
};

}  // namespace

void Variant::set_parameters(std::vector<jit::TypeRef> types) {
    parameters = std::move(types);
    size_t at = 0;
    for (const jit::TypeRef type : parameters) {
        const jit::Layout layout = jit::layout_of(type);
        const size_t align = std::max<size_t>(layout.align, 1);
        at = (at + align - 1) / align * align;
        places.push_back(static_cast<uint32_t>(at));
        at += layout.size;
    }
    packed_size = static_cast<uint32_t>(at);
}

const Variant* KernelDispatcher::known(const jit::TypeRef* types, size_t count, int device) const {
    if (only_ && only_device_ == device)
        return only_->parameters.size() == count ? only_.get() : nullptr;
    for (const Entry& entry : entries_)
        if (entry.device == device && entry.types.size() == count &&
            std::equal(types, types + count, entry.types.begin()))
            return entry.variant->parameters.size() == count ? entry.variant.get() : nullptr;
    return nullptr;
}

bool KernelDispatcher::launch_plain(const core::LaunchConfig& given, PyObject* const* objects,
                                    size_t count, bool& started) {
    if (count > kMost) return false;
    PlainArguments arguments;
    if (!arguments.read(objects, count)) return false;
    core::LaunchConfig config = given;
    if (!config.stream) config.stream = core::current_stream();
    const Variant* variant = known(arguments.types(), count, config.stream->context()->index());
    if (!variant || variant->raises || variant->packed_size > kMostPacked) return false;
    if (!arguments.pack(*variant, config.stream)) return false;
    auto shared = static_cast<uint32_t>(config.shared_bytes);
    if (variant->dynamic_shared) arguments.pointers()[count++] = &shared;
    config.cooperative |= variant->cooperative;
    started = true;
    nb::gil_scoped_release unlocked;
    core::launch_packed(*variant->function, config, arguments.pointers(), count);
    return true;
}

namespace {

struct ConfiguredState {
    ConfiguredKernel kernel;
    PyObject* extensions = nullptr;  // a list, with anything in it: Python's way then
    ~ConfiguredState() { Py_XDECREF(extensions); }
};

PyObject* call_configured(PyObject* self, const CallArguments& given);
using Slots = CallableSlots<ConfiguredState, call_configured>;

PyObject* call_configured(PyObject* self, const CallArguments& given) {
    static PyObject* const slow = PyUnicode_InternFromString("_launch");
    static PyObject* const translate = PyUnicode_InternFromString("_launch_error");
    bool started = false;
    return try_fast(self, given, slow, translate, started, [&] {
        ConfiguredState& state = Slots::state(self);
        if (!state.extensions || given.named != 0 || PyList_Size(state.extensions) != 0)
            return false;
        return state.kernel.dispatcher->launch_plain(state.kernel.config, given.positional,
                                                     given.count, started);
    });
}

PyObject* bind_configured(PyObject* self, PyObject* args) {
    PyObject *configured = nullptr, *extensions = nullptr;
    if (!PyArg_ParseTuple(args, "OO:_bind", &configured, &extensions)) return nullptr;
    const ConfiguredKernel* kernel = nullptr;
    if (!nb::try_cast(nb::handle(configured), kernel) || !kernel || !PyList_Check(extensions)) {
        PyErr_SetString(PyExc_TypeError, "_bind: a Configured and a list are expected");
        return nullptr;
    }
    ConfiguredState& state = Slots::state(self);
    state.kernel = *kernel;
    PyObject* before = state.extensions;
    Py_INCREF(extensions);
    state.extensions = extensions;
    Py_XDECREF(before);
    Py_INCREF(Py_None);
    return Py_None;
}

}  // namespace

void bind_configured_call(nb::module_& m) {
    static PyMethodDef methods[] = {{"_bind", bind_configured, METH_VARARGS,
                                     "_bind($self, configured, extensions, /)\n--\n\n"
                                     "What is launched, and the list that must be empty for it."},
                                    {nullptr, nullptr, 0, nullptr}};
    add_callable_type(
        m, {"trilane._core.jit.ConfiguredCall", "Base of numba's configured kernels: launches.",
            Slots::make, Slots::drop, Slots::call, methods});
}

}  // namespace trilane::bindings
