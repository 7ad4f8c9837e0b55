// Memory of other processes, and what outside profilers collect.
#include "core/ipc.h"

#include <string_view>

#include "bindings/arguments.h"
#include "bindings/locate.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;

using IpcMemoryHandle = Handle<core::IpcMemory>;

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

void bind_memory_of_others(nb::module_& m) {
    m.def(
        "export_memory",
        [](nb::object memory, const core::ContextPtr& context) {
            const MemoryRef ref = memory_of(memory, "export_memory");
            core::DevicePtr address = ref.address;
            core::ContextPtr home = context;
            if (ref.buffer) {
                ref.buffer->require_live("export_memory");
                ref.buffer->mark_escaped();
                address = ref.buffer->address() + ref.offset;
                home = ref.buffer->context();
            }
            home = home_of(address, home);
            core::ExportedMemory exported;
            {
                nb::gil_scoped_release unlocked;
                exported = core::export_memory(home, address);
            }
            return nb::make_tuple(to_bytes(exported.handle), exported.offset);
        },
        "memory"_a, "context"_a.none() = nb::none(),
        "(handle, offset): what another process opens the allocation by, and where in it `memory` "
        "is.");
    nb::class_<IpcMemoryHandle>(m, "IpcMemory", "Memory that another process exported.")
        .def(
            "__init__",
            [](IpcMemoryHandle* self, nb::bytes handle, const core::ContextPtr& context) {
                const std::string_view text(handle.c_str(), handle.size());
                nb::gil_scoped_release unlocked;
                core::IpcMemoryPtr opened =
                    core::IpcMemory::open(context_or_current(context), text);
                new (self) IpcMemoryHandle{std::move(opened)};
            },
            "handle"_a, "context"_a.none() = nb::none())
        .def_prop_ro("address", [](const IpcMemoryHandle& h) { return h.ptr->address(); })
        .def_prop_ro("context", [](const IpcMemoryHandle& h) { return h.ptr->context(); })
        .def_prop_ro("closed", [](const IpcMemoryHandle& h) { return h.ptr->closed(); })
        .def(
            "close",
            [](const IpcMemoryHandle& h) {
                nb::gil_scoped_release unlocked;
                h.ptr->close();
            },
            "Waits for the device, whose work may use the memory.");
}

}  // namespace

void bind_ipc(nb::module_& m) {
    bind_memory_of_others(m);
    m.def(
        "start_profiler",
        [](const core::ContextPtr& context) {
            nb::gil_scoped_release unlocked;
            context_or_current(context)->device().start_profiler();
        },
        "context"_a.none() = nb::none(), "Where there is an outside profiler, it collects now.");
    m.def(
        "stop_profiler",
        [](const core::ContextPtr& context) {
            nb::gil_scoped_release unlocked;
            context_or_current(context)->device().stop_profiler();
        },
        "context"_a.none() = nb::none());
}

}  // namespace trilane::bindings
