// Devices, contexts and their properties; check reports; what `trilane info` asks.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "core/compile_cache.h"
#include "core/disk_cache.h"
#include "core/error.h"
#include "core/memory_pool.h"
#include "core/registry.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;

void bind_properties(nb::module_& m) {
    using core::DeviceProperties;
    nb::class_<DeviceProperties>(m, "DeviceProperties", "Fixed facts about a device.")
        .def_prop_ro("type",
                     [](const DeviceProperties& p) { return core::device_type_name(p.type); })
        .def_ro("ordinal", &DeviceProperties::ordinal)
        .def_ro("name", &DeviceProperties::name)
        .def_ro("pci_bus_id", &DeviceProperties::pci_bus_id)
        .def_prop_ro(
            "uuid",
            [](const DeviceProperties& p) { return nb::bytes(p.uuid.data(), p.uuid.size()); })
        .def_ro("total_memory", &DeviceProperties::total_memory)
        .def_prop_ro(
            "compute_capability",
            [](const DeviceProperties& p) { return std::tuple(p.compute_major, p.compute_minor); })
        .def_ro("warp_size", &DeviceProperties::warp_size)
        .def_ro("max_threads_per_block", &DeviceProperties::max_threads_per_block)
        .def_prop_ro("max_block", [](const DeviceProperties& p) { return dim_tuple(p.max_block); })
        .def_prop_ro("max_grid", [](const DeviceProperties& p) { return dim_tuple(p.max_grid); })
        .def_ro("shared_per_block", &DeviceProperties::shared_per_block)
        .def_ro("shared_per_block_optin", &DeviceProperties::shared_per_block_optin)
        .def_ro("constant_memory", &DeviceProperties::constant_memory)
        .def_ro("multiprocessor_count", &DeviceProperties::multiprocessor_count)
        .def_ro("attributes", &DeviceProperties::attributes);
}

void bind_reports(nb::module_& m) {
    using core::CheckReport;
    nb::class_<CheckReport>(m, "CheckReport", "One finding of the checks, merged over threads.")
        .def_ro("kind", &CheckReport::kind)
        .def_ro("kernel", &CheckReport::kernel)
        .def_ro("file", &CheckReport::file)
        .def_ro("line", &CheckReport::line)
        .def_prop_ro("block", [](const CheckReport& r) { return dim_tuple(r.block); })
        .def_prop_ro("thread", [](const CheckReport& r) { return dim_tuple(r.thread); })
        .def_ro("text", &CheckReport::text)
        .def_ro("count", &CheckReport::count)
        .def("__str__", [](const CheckReport& r) { return r.text; })
        .def("__repr__", [](const CheckReport& r) {
            return fmt::format("<CheckReport: {} in {} at {}:{}>", r.kind, r.kernel, r.file,
                               r.line);
        });
}

nb::dict cache_statistics(const ContextHandle& self) {
    core::CompileCacheStatistics s = self.ptr->compile_cache().statistics();
    nb::dict result;
    result["memory_hits"] = s.memory_hits;
    result["disk_hits"] = s.disk_hits;
    result["compiled"] = s.compiled;
    result["disk_writes"] = s.disk_writes;
    result["disk_rejects"] = s.disk_rejects;
    result["compile_ns"] = s.compile_ns;
    return result;
}

std::vector<core::CheckReport> take_reports(const core::ContextPtr& context) {
    nb::gil_scoped_release unlocked;
    if (context) return context->device().take_check_reports();
    std::vector<core::CheckReport> all;
    for (const core::ContextPtr& live : core::live_contexts()) {
        std::vector<core::CheckReport> some = live->device().take_check_reports();
        std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
}

void bind_context(nb::module_& m) {
    nb::class_<ContextHandle>(m, "Context",
                              "A device with its pool, streams and caches. There is one per "
                              "device; equal objects mean the same device.")
        .def_prop_ro("index", [](const ContextHandle& c) { return c.ptr->index(); })
        .def_prop_ro(
            "properties",
            [](const ContextHandle& c) -> const core::DeviceProperties& {
                return c.ptr->properties();
            },
            nb::rv_policy::reference_internal)
        .def_prop_ro("pool",
                     [](const ContextHandle& c) {
                         return MemoryPoolHandle{c.ptr->pool().shared_from_this()};
                     })
        .def_prop_ro("host_pool", [](const ContextHandle& c) { return HostPoolHandle{c.ptr}; })
        .def_prop_ro("default_stream",
                     [](const ContextHandle& c) { return c.ptr->default_stream(); })
        .def("synchronize",
             [](const ContextHandle& c) {
                 nb::gil_scoped_release unlocked;
                 c.ptr->device().synchronize();
             })
        .def("memory_info",
             [](const ContextHandle& c) {
                 nb::gil_scoped_release unlocked;
                 core::MemoryInfo info = c.ptr->device().memory_info();
                 return std::tuple(info.free_bytes, info.total_bytes);
             })
        .def("cache_statistics", cache_statistics)
        .def("clear_memory_cache",
             [](const ContextHandle& c) { c.ptr->compile_cache().clear_memory(); })
        .def("describe",
             [](const ContextHandle& c) {
                 nb::gil_scoped_release unlocked;
                 return c.ptr->device().describe();
             })
        .def("take_check_reports", [](const ContextHandle& c) { return take_reports(c.ptr); })
        .def(
            "__eq__",
            [](const ContextHandle& a, nb::handle other) {
                const ContextHandle* b = nullptr;
                return nb::try_cast(other, b) && b && a.ptr == b->ptr;
            },
            nb::is_operator())
        .def("__hash__",
             [](const ContextHandle& c) { return reinterpret_cast<intptr_t>(c.ptr.get()) >> 4; })
        .def("__repr__", [](const ContextHandle& c) {
            return fmt::format("<Context {}: {} {}>", c.ptr->index(),
                               core::device_type_name(c.ptr->properties().type),
                               c.ptr->properties().name);
        });
}

void bind_registry(nb::module_& m) {
    m.def("device_count", [] {
        nb::gil_scoped_release unlocked;
        return core::device_count();
    });
    m.def(
        "context_of",
        [](int index) {
            nb::gil_scoped_release unlocked;
            return core::context_of(index);
        },
        "index"_a);
    m.def("live_contexts", [] {
        nb::list result;
        for (const core::ContextPtr& context : core::live_contexts()) result.append(context);
        return result;
    });
    m.def("current_context", [] {
        nb::gil_scoped_release unlocked;
        return core::current_context();
    });
    m.def("current_device_index", &core::current_device_index);
    m.def(
        "set_current_device",
        [](int index) {
            nb::gil_scoped_release unlocked;
            core::set_current_device(index);
        },
        "index"_a);
    m.def("device_types", [] {
        nb::list result;
        for (const core::DeviceTypeState& state : core::describe_device_types())
            result.append(
                nb::make_tuple(core::device_type_name(state.type), state.count, state.why_not));
        return result;
    });
    m.def(
        "no_device",
        []() -> nb::object {
            std::optional<core::NoDevice> none;
            {
                nb::gil_scoped_release unlocked;
                none = core::no_device();
            }
            if (!none) return nb::none();
            return nb::make_tuple(none->runtime_code, none->message);
        },
        nb::sig("def no_device() -> tuple[int, str] | None"),
        "None if there is a device; else the number of ``cudaError_t`` that says why there is "
        "none, 35 (no driver, or too old) or 100, and the reasons in words.");
    m.def("cache_directory", &core::cache_directory);
    m.def("cache_state", &core::cache_state);
    m.def("cache_limit", &core::DiskCache::limit_bytes,
          "Bytes that each kind of compiled thing may take of the disk: TRILANE_CACHE_MIB, 2 GiB.");
    m.def("library_versions", [] {
        nb::dict result;
        result["trilane"] = TRILANE_VERSION;
        result["c++ compiler"] = __VERSION__;
        return result;
    });
    m.def("take_check_reports", take_reports, "context"_a.none() = nb::none());
}

}  // namespace

void bind_device(nb::module_& m) {
    bind_properties(m);
    bind_reports(m);
    bind_context(m);
    bind_registry(m);
}

}  // namespace trilane::bindings
