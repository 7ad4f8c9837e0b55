// Streams and events.
#include <nanobind/stl/optional.h>

#include <mutex>
#include <optional>

#include "bindings/bindings.h"
#include "bindings/graph.h"
#include "bindings/release_later.h"
#include "core/error.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;

// A Python callable that a stream will call on a thread of the device's choice.
class HostFunction {
  public:
    explicit HostFunction(nb::callable function) : function_(function.release().ptr()) {}
    // On the device's thread: what the function holds may have memory to give back.
    ~HostFunction() {
        release_later([function = function_] { Py_DECREF(function); });
    }
    HostFunction(const HostFunction&) = delete;
    HostFunction& operator=(const HostFunction&) = delete;

    void operator()() const noexcept {
        nb::detail::cleanup_guard guard{};
        if (!guard) return;
        PyObject* result = PyObject_CallFunctionObjArgs(function_, nullptr);
        if (result)
            Py_DECREF(result);
        else
            PyErr_WriteUnraisable(function_);
    }

  private:
    PyObject* function_;
};

void bind_stream_class(nb::module_& m) {
    nb::class_<StreamHandle> stream(m, "Stream", "An order of work on one device.");
    stream
        .def(
            "__init__",
            [](StreamHandle* self, const core::ContextPtr& context, bool non_blocking,
               int priority) {
                nb::gil_scoped_release unlocked;
                core::StreamPtr stream =
                    core::Stream::create(context_or_current(context), non_blocking, priority);
                new (self) StreamHandle{std::move(stream)};
            },
            "context"_a.none() = nb::none(), "non_blocking"_a = false, "priority"_a = 0)
        .def_static(
            "wrap",
            [](uint64_t handle, const core::ContextPtr& context) {
                return core::Stream::wrap(context_or_current(context), handle);
            },
            "handle"_a, "context"_a.none() = nb::none(),
            "A stream that another library owns; it is never destroyed here.")
        .def_prop_ro("context", [](const StreamHandle& s) { return s.ptr->context(); })
        .def_prop_ro("handle", [](const StreamHandle& s) { return s.ptr->raw(); })
        .def_prop_ro("id", [](const StreamHandle& s) { return s.ptr->id(); })
        .def_prop_ro("non_blocking", [](const StreamHandle& s) { return s.ptr->non_blocking(); })
        .def_prop_ro("priority", [](const StreamHandle& s) { return s.ptr->priority(); })
        .def("synchronize",
             [](const StreamHandle& s) {
                 nb::gil_scoped_release unlocked;
                 s.ptr->synchronize();
             })
        .def("done",
             [](const StreamHandle& s) {
                 nb::gil_scoped_release unlocked;
                 return s.ptr->done();
             })
        .def(
            "wait_for",
            [](const StreamHandle& s, const EventHandle& event) {
                nb::gil_scoped_release unlocked;
                s.ptr->wait_for(*event.ptr);
            },
            "event"_a)
        .def(
            "host_function",
            [](const StreamHandle& s, nb::callable function) {
                auto held = std::make_shared<HostFunction>(std::move(function));
                nb::gil_scoped_release unlocked;
                s.ptr->host_function([held] { (*held)(); });
                held.reset();
            },
            "function"_a, "Calls `function()` when the work before it is done.")
        .def(
            "__eq__",
            [](const StreamHandle& a, nb::handle other) {
                const StreamHandle* b = nullptr;
                return nb::try_cast(other, b) && b && a.ptr->id() == b->ptr->id();
            },
            nb::is_operator())
        .def("__hash__", [](const StreamHandle& s) { return s.ptr->id(); })
        .def("__repr__", [](const StreamHandle& s) {
            return fmt::format("<Stream {:#x} of device {}>", s.ptr->raw(),
                               s.ptr->context()->index());
        });
    bind_captures(stream);
}

void bind_event_class(nb::module_& m) {
    nb::class_<EventHandle>(m, "Event", "A point in the work of a stream.")
        .def(
            "__init__",
            [](EventHandle* self, const core::ContextPtr& context, bool timing, bool blocking,
               bool shared, const std::optional<nb::bytes>& handle) {
                const std::string bytes =
                    handle ? std::string(handle->c_str(), handle->size()) : std::string();
                nb::gil_scoped_release unlocked;
                const core::ContextPtr home = context_or_current(context);
                core::EventPtr event = handle   ? core::Event::open(home, bytes)
                                       : shared ? core::Event::create_shared(home, blocking)
                                                : core::Event::create(home, timing, blocking);
                new (self) EventHandle{std::move(event)};
            },
            "context"_a.none() = nb::none(), "timing"_a = true, "blocking"_a = false, nb::kw_only(),
            "shared"_a = false, "handle"_a.none() = nb::none(),
            "`shared`: other processes may open it; without timing. `handle`: what share() of "
            "such an\n"
            "event gave.")
        .def(
            "share",
            [](const EventHandle& e) {
                std::string handle;
                {
                    nb::gil_scoped_release unlocked;
                    handle = e.ptr->share();
                }
                return nb::bytes(handle.data(), handle.size());
            },
            "What another process opens the event by: 64 bytes.")
        .def_prop_ro("context", [](const EventHandle& e) { return e.ptr->context(); })
        .def_prop_ro("handle", [](const EventHandle& e) { return e.ptr->raw(); })
        .def(
            "record",
            [](const EventHandle& e, const core::StreamPtr& stream) {
                nb::gil_scoped_release unlocked;
                e.ptr->record(*stream_or_current(stream, e.ptr->context()));
            },
            "stream"_a.none() = nb::none())
        .def("done",
             [](const EventHandle& e) {
                 nb::gil_scoped_release unlocked;
                 return e.ptr->done();
             })
        .def("synchronize",
             [](const EventHandle& e) {
                 nb::gil_scoped_release unlocked;
                 e.ptr->synchronize();
             })
        .def(
            "elapsed_ms_since",
            [](const EventHandle& e, const EventHandle& start) {
                nb::gil_scoped_release unlocked;
                return e.ptr->elapsed_ms_since(*start.ptr);
            },
            "start"_a, "Milliseconds from `start` to this event.");
}

}  // namespace

void bind_stream(nb::module_& m) {
    bind_stream_class(m);
    bind_event_class(m);
    m.def(
        "current_stream",
        [](const core::ContextPtr& context) {
            nb::gil_scoped_release unlocked;
            return context ? core::current_stream(context) : core::current_stream();
        },
        "context"_a.none() = nb::none());
    m.def(
        "set_current_stream",
        [](const StreamHandle& stream) { core::set_current_stream(stream.ptr); }, "stream"_a);
}

}  // namespace trilane::bindings
