// What the files of the extension share: the bound handle types, their conversion from and to
// Python, and one bind_* function per topic. Topics: errors, device, stream, memory, copy, module
// here; array (_core.array) and jit (_core.jit) in their own files.
//
// Python objects hold a Handle<T>, a value that owns a shared_ptr. So a handle that C++ keeps (in a
// pool, in a thread's current stream) never depends on a Python object or the GIL. Bound functions
// take and return core's own pointers (core::StreamPtr, ...): the casters below convert, None being
// a null pointer.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>

#include "core/buffer.h"
#include "core/context.h"
#include "core/error.h"
#include "core/host_memory.h"
#include "core/module.h"
#include "core/stream.h"

namespace nb = nanobind;

namespace trilane::bindings {

template <typename T>
struct Handle {
    std::shared_ptr<T> ptr;
};

using ContextHandle = Handle<core::Context>;
using StreamHandle = Handle<core::Stream>;
using EventHandle = Handle<core::Event>;
using BufferHandle = Handle<core::Buffer>;
using HostBufferHandle = Handle<core::HostBuffer>;
using ModuleHandle = Handle<core::Module>;
using FunctionHandle = Handle<core::Function>;
using MemoryPoolHandle = Handle<core::MemoryPool>;

// The pinned pool belongs to its context alone.
struct HostPoolHandle {
    core::ContextPtr context;
    core::HostMemoryPool& pool() const { return context->host_pool(); }
};

// The caster of std::shared_ptr<T> for handle types: from None, Handle<T> or a Python subclass.
template <typename T>
struct HandleCaster {
    using Value = std::shared_ptr<T>;
    static constexpr auto Name = nb::detail::const_name<Handle<T>>();
    template <typename U>
    using Cast = nb::detail::movable_cast_t<U>;
    Value value;

    bool from_python(nb::handle source, uint32_t flags,
                     nb::detail::cleanup_list* cleanup) noexcept {
        if (source.is_none()) {
            value.reset();
            return true;
        }
        nb::detail::make_caster<Handle<T>> caster;
        if (!caster.from_python(source, flags, cleanup)) return false;
        value = caster.operator Handle<T>*()->ptr;
        return true;
    }
    static nb::handle from_cpp(const Value& pointer, nb::rv_policy,
                               nb::detail::cleanup_list* cleanup) noexcept {
        if (!pointer) return nb::none().release();
        return nb::detail::make_caster<Handle<T>>::from_cpp(Handle<T>{pointer}, nb::rv_policy::move,
                                                            cleanup);
    }
    template <typename U>
    bool can_cast() const noexcept {
        return true;
    }
    explicit operator Value*() { return &value; }
    explicit operator Value&() { return value; }
    explicit operator Value&&() { return static_cast<Value&&>(value); }
};

// Of a stream of any face too: by its attribute __trilane_stream__.
struct StreamCaster : HandleCaster<core::Stream> {
    bool from_python(nb::handle source, uint32_t flags,
                     nb::detail::cleanup_list* cleanup) noexcept {
        if (HandleCaster::from_python(source, flags, cleanup)) return true;
        inner_ = nb::steal(PyObject_GetAttrString(source.ptr(), "__trilane_stream__"));
        if (inner_.is_valid()) return HandleCaster::from_python(inner_, flags, cleanup);
        PyErr_Clear();
        return false;
    }

  private:
    nb::object inner_;
};

// The stream or context meant by an argument that may be None.
inline core::ContextPtr context_or_current(const core::ContextPtr& context) {
    return context ? context : core::current_context();
}
inline core::StreamPtr stream_or_current(const core::StreamPtr& stream) {
    return stream ? stream : core::current_stream();
}
inline core::StreamPtr stream_or_current(const core::StreamPtr& stream,
                                         const core::ContextPtr& context) {
    return stream ? stream : core::current_stream(context);
}

inline nb::tuple dim_tuple(const core::Dim3& dim) { return nb::make_tuple(dim.x, dim.y, dim.z); }

// Sets core errors' Python class, message, kind and detail as the pending exception.
void bind_errors(nb::module_& m);
void raise_core_error(const core::Error& error);
// Whether the pending exception is one of those classes; an interrupt is not.
bool core_error_is_pending();
void bind_device(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_copy(nb::module_& m);
void bind_texture(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_module(nb::module_& m);
void bind_kernel_calls(nb::module_& m);
void bind_array(nb::module_& m);  // m is _core.array
void bind_jit(nb::module_& m);    // m is _core.jit
// Launches so many times by the driver's own function: testing.time_launches' measure.
using LaunchRaw = int (*)(const core::LaunchParams& params, int count);
void bind_testing(nb::module_& m, LaunchRaw raw);  // m is _core.testing; only where TRILANE_TESTS

}  // namespace trilane::bindings

namespace nanobind::detail {
template <>
struct type_caster<trilane::core::ContextPtr>
    : trilane::bindings::HandleCaster<trilane::core::Context> {};
template <>
struct type_caster<trilane::core::StreamPtr> : trilane::bindings::StreamCaster {};
template <>
struct type_caster<trilane::core::EventPtr>
    : trilane::bindings::HandleCaster<trilane::core::Event> {};
template <>
struct type_caster<trilane::core::BufferPtr>
    : trilane::bindings::HandleCaster<trilane::core::Buffer> {};
template <>
struct type_caster<trilane::core::HostBufferPtr>
    : trilane::bindings::HandleCaster<trilane::core::HostBuffer> {};
template <>
struct type_caster<trilane::core::ModulePtr>
    : trilane::bindings::HandleCaster<trilane::core::Module> {};
template <>
struct type_caster<trilane::core::FunctionPtr>
    : trilane::bindings::HandleCaster<trilane::core::Function> {};
}  // namespace nanobind::detail
