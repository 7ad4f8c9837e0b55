// Buffers, pinned host memory, pools.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include "bindings/arguments.h"
#include "bindings/bindings.h"
#include "bindings/host_view.h"
#include "bindings/locate.h"
#include "bindings/release_later.h"
#include "core/error.h"
#include "core/memory_pool.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;

// A Python object that must live as long as foreign memory is used.
std::function<void()> owner_release(nb::object owner) {
    PyObject* held = owner.is_none() ? nullptr : owner.release().ptr();
    return [held] {
        if (!held) return;
        if (nb::detail::cleanup_guard guard{}) Py_DECREF(held);
    };
}

void bind_buffer(nb::module_& m) {
    nb::class_<BufferHandle>(m, "Buffer",
                             "A piece of device memory. Faces derive their allocation types from "
                             "it.")
        .def(
            "__init__",
            [](BufferHandle* self, size_t nbytes, const core::StreamPtr& stream) {
                nb::gil_scoped_release unlocked;
                core::BufferPtr buffer = core::Buffer::allocate(stream_or_current(stream), nbytes);
                new (self) BufferHandle{std::move(buffer)};
            },
            "nbytes"_a, "stream"_a.none() = nb::none(),
            "From the pool of the stream's device, not initialised.")
        .def(
            "__init__",
            [](BufferHandle* self, const BufferHandle& other) { new (self) BufferHandle(other); },
            "other"_a, "Another handle of the same memory.")
        .def_static(
            "allocate",
            [](size_t nbytes, const core::StreamPtr& stream) {
                nb::gil_scoped_release unlocked;
                return core::Buffer::allocate(stream_or_current(stream), nbytes);
            },
            "nbytes"_a, "stream"_a.none() = nb::none())
        .def_static(
            "allocate_managed",
            [](size_t nbytes, unsigned flags, const core::ContextPtr& context) {
                nb::gil_scoped_release unlocked;
                return core::Buffer::allocate_managed(context_or_current(context), nbytes, flags);
            },
            "nbytes"_a, "flags"_a = 1, "context"_a.none() = nb::none())
        .def_static(
            "adopt",
            [](core::DevicePtr address, size_t nbytes, nb::object owner,
               const core::ContextPtr& context) {
                return core::Buffer::adopt(home_of(address, context), address, nbytes,
                                           owner_release(std::move(owner)));
            },
            "address"_a, "nbytes"_a, "owner"_a = nb::none(), "context"_a.none() = nb::none(),
            "Memory that `owner` owns; it is kept alive.")
        .def_prop_ro("address", [](const BufferHandle& b) { return b.ptr->address(); })
        .def_prop_ro("nbytes", [](const BufferHandle& b) { return b.ptr->nbytes(); })
        .def_prop_ro("context", [](const BufferHandle& b) { return b.ptr->context(); })
        .def_prop_ro("stream", [](const BufferHandle& b) { return b.ptr->stream(); })
        .def_prop_ro("freed", [](const BufferHandle& b) { return b.ptr->freed(); })
        .def("free_now",
             [](const BufferHandle& b) {
                 nb::gil_scoped_release unlocked;
                 b.ptr->free_now();
             })
        .def(
            "record_use",
            [](const BufferHandle& b, const StreamHandle& s) { b.ptr->record_use(s.ptr); },
            "stream"_a)
        .def("mark_escaped", [](const BufferHandle& b) { b.ptr->mark_escaped(); })
        .def(
            "set_name",
            [](const BufferHandle& b, std::string name) { b.ptr->set_name(std::move(name)); },
            "name"_a)
        .def("__index__",
             [](const BufferHandle& b) {
                 b.ptr->require_live("int(Buffer)");
                 b.ptr->mark_escaped();
                 return b.ptr->address();
             })
        .def("__int__",
             [](const BufferHandle& b) {
                 b.ptr->require_live("int(Buffer)");
                 b.ptr->mark_escaped();
                 return b.ptr->address();
             })
        .def("__len__", [](const BufferHandle& b) { return b.ptr->nbytes(); })
        .def("__bool__", [](const BufferHandle&) { return true; })
        .def("__repr__", [](const BufferHandle& b) {
            return fmt::format("<Buffer of {} bytes at {:#x}{}>", b.ptr->nbytes(), b.ptr->address(),
                               b.ptr->freed() ? ", freed" : "");
        });
}

nb::dict host_interface(const HostBufferHandle& self) {
    if (self.ptr->freed())
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "HostBuffer: the memory was freed: got {} bytes after free_now()",
                          self.ptr->nbytes());
    nb::dict result;
    result["version"] = 3;
    result["typestr"] = "|u1";
    result["shape"] = nb::make_tuple(self.ptr->nbytes());
    result["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(self.ptr->data()), false);
    return result;
}

void bind_host_buffer(nb::module_& m) {
    nb::class_<HostBufferHandle>(m, "HostBuffer",
                                 "Pinned host memory. `numpy.asarray` of it is a view of its bytes "
                                 "that keeps it alive.")
        .def_static(
            "allocate",
            [](size_t nbytes, unsigned flags, const core::ContextPtr& context) {
                nb::gil_scoped_release unlocked;
                return core::HostBuffer::allocate(context_or_current(context), nbytes, flags);
            },
            "nbytes"_a, "flags"_a = 0, "context"_a.none() = nb::none())
        .def_prop_ro("__array_interface__", host_interface)
        .def_prop_ro(
            "address",
            [](const HostBufferHandle& b) { return reinterpret_cast<uintptr_t>(b.ptr->data()); })
        .def_prop_ro("nbytes", [](const HostBufferHandle& b) { return b.ptr->nbytes(); })
        .def_prop_ro("flags", [](const HostBufferHandle& b) { return b.ptr->flags(); })
        .def_prop_ro("context", [](const HostBufferHandle& b) { return b.ptr->context(); })
        .def_prop_ro("device_pointer",
                     [](const HostBufferHandle& b) { return b.ptr->device_pointer(); })
        .def_prop_ro("freed", [](const HostBufferHandle& b) { return b.ptr->freed(); })
        .def("free_now",
             [](const HostBufferHandle& b) {
                 nb::gil_scoped_release unlocked;
                 b.ptr->free_now();
             })
        .def("__len__", [](const HostBufferHandle& b) { return b.ptr->nbytes(); });
}

// Pageable memory made usable for asynchronous copies.
class HostRegistration {
  public:
    HostRegistration(nb::handle memory, unsigned flags, core::ContextPtr context)
        : view_(std::make_unique<HostView>(memory, HostView::Access::Read, "register_host")),
          address_(view_->data()),
          context_(std::move(context)) {
        nb::gil_scoped_release unlocked;
        context_->device().register_host(address_, view_->nbytes(), flags);
    }
    ~HostRegistration() { unregister(); }
    HostRegistration(const HostRegistration&) = delete;
    HostRegistration& operator=(const HostRegistration&) = delete;

    void unregister() {
        if (!view_) return;
        context_->device().unregister_host(address_);
        view_.reset();
    }
    core::DevicePtr device_pointer() const {
        if (!view_)
            core::throw_error(core::ErrorKind::InvalidArgument,
                              "HostRegistration: the memory is no longer registered: got a call "
                              "after unregister()");
        return context_->device().host_device_pointer(address_);
    }

  private:
    std::unique_ptr<HostView> view_;
    void* address_;
    core::ContextPtr context_;
};

void bind_registration(nb::module_& m) {
    nb::class_<HostRegistration>(m, "HostRegistration", "Host memory that a device may reach.")
        .def("unregister", &HostRegistration::unregister)
        .def_prop_ro("device_pointer", &HostRegistration::device_pointer);
    m.def(
        "register_host",
        [](nb::object memory, unsigned flags, const core::ContextPtr& context) {
            release_now();  // it may be registered still by a copy that is over
            return std::make_unique<HostRegistration>(memory, flags, context_or_current(context));
        },
        "memory"_a, "flags"_a = 0, "context"_a.none() = nb::none());
}

nb::dict pool_statistics(const MemoryPoolHandle& self) {
    core::PoolStatistics s = self.ptr->statistics();
    nb::dict result;
    result["used_bytes"] = s.used_bytes;
    result["held_bytes"] = s.held_bytes;
    result["free_bytes"] = s.free_bytes;
    result["free_blocks"] = s.free_blocks;
    result["live_buffers"] = s.live_buffers;
    result["peak_used_bytes"] = s.peak_used_bytes;
    result["allocations"] = s.allocations;
    result["device_allocations"] = s.device_allocations;
    return result;
}

template <auto Member>
auto statistic() {
    return [](const MemoryPoolHandle& p) { return p.ptr->statistics().*Member; };
}

void bind_pools(nb::module_& m) {
    using S = core::PoolStatistics;
    nb::class_<MemoryPoolHandle>(m, "MemoryPool", "The pool of a device's memory.")
        .def_prop_ro("used_bytes", statistic<&S::used_bytes>())
        .def_prop_ro("held_bytes", statistic<&S::held_bytes>())
        .def_prop_ro("free_bytes", statistic<&S::free_bytes>())
        .def_prop_ro("free_blocks", statistic<&S::free_blocks>())
        .def_prop_ro("live_buffers", statistic<&S::live_buffers>())
        .def_prop_ro("peak_used_bytes", statistic<&S::peak_used_bytes>())
        .def_prop_ro("allocations", statistic<&S::allocations>())
        .def_prop_ro("device_allocations", statistic<&S::device_allocations>())
        .def_prop_rw(
            "limit", [](const MemoryPoolHandle& p) { return p.ptr->limit(); },
            [](const MemoryPoolHandle& p, size_t nbytes) { p.ptr->set_limit(nbytes); },
            "Bytes the pool may hold; 0: no limit.")
        .def("statistics", pool_statistics)
        .def("free_all_free_blocks",
             [](const MemoryPoolHandle& p) {
                 nb::gil_scoped_release unlocked;
                 p.ptr->free_all_free_blocks();
             })
        .def(
            "set_enabled",
            [](const MemoryPoolHandle& p, bool enabled) { p.ptr->set_enabled(enabled); },
            "enabled"_a);
    nb::class_<HostPoolHandle>(m, "HostMemoryPool", "The pool of pinned host memory.")
        .def_prop_ro("held_bytes",
                     [](const HostPoolHandle& p) { return p.pool().statistics().held_bytes; })
        .def_prop_ro("free_bytes",
                     [](const HostPoolHandle& p) { return p.pool().statistics().free_bytes; })
        .def_prop_ro("free_blocks",
                     [](const HostPoolHandle& p) { return p.pool().statistics().free_blocks; })
        .def("free_all_free_blocks", [](const HostPoolHandle& p) {
            nb::gil_scoped_release unlocked;
            p.pool().free_all_free_blocks();
        });
}

}  // namespace

void bind_memory(nb::module_& m) {
    bind_buffer(m);
    bind_host_buffer(m);
    bind_registration(m);
    bind_pools(m);
}

}  // namespace trilane::bindings
