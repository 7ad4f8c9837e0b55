// Captures of streams and graphs.
#include "bindings/graph.h"

#include "core/error.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;

core::CaptureMode mode_of(int mode) {
    if (mode < 0 || mode > static_cast<int>(core::CaptureMode::Relaxed))
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "begin_capture: mode: got {}, expected 0 (global), 1 (of this thread) or "
                          "2 (relaxed)",
                          mode);
    return static_cast<core::CaptureMode>(mode);
}

}  // namespace

void bind_captures(nb::class_<StreamHandle>& stream) {
    stream
        .def(
            "begin_capture",
            [](const StreamHandle& s, int mode) {
                const core::CaptureMode asked = mode_of(mode);
                nb::gil_scoped_release unlocked;
                s.ptr->begin_capture(asked);
            },
            "mode"_a = static_cast<int>(core::CaptureMode::Relaxed),
            "What is put on the stream from now on is kept for a graph instead of done.")
        .def(
            "end_capture",
            [](const StreamHandle& s) {
                nb::gil_scoped_release unlocked;
                return s.ptr->end_capture();
            },
            "The graph of what was put on the stream since begin_capture().")
        .def(
            "capturing",
            [](const StreamHandle& s) {
                nb::gil_scoped_release unlocked;
                return s.ptr->capturing();
            },
            "Whether it is captured; also if that capture is lost.");
}

void bind_graph(nb::module_& m) {
    nb::class_<GraphHandle>(m, "Graph",
                            "Captured work, done again at each launch. What it uses lives as long "
                            "as it.")
        .def(
            "launch",
            [](const GraphHandle& g, const core::StreamPtr& stream) {
                nb::gil_scoped_release unlocked;
                g.ptr->launch(stream_or_current(stream, g.ptr->context()));
            },
            "stream"_a.none() = nb::none())
        .def(
            "upload",
            [](const GraphHandle& g, const core::StreamPtr& stream) {
                nb::gil_scoped_release unlocked;
                g.ptr->upload(stream_or_current(stream, g.ptr->context()));
            },
            "stream"_a.none() = nb::none(), "What the first launch would do first.")
        .def_prop_ro("context", [](const GraphHandle& g) { return g.ptr->context(); })
        .def_prop_ro("handle", [](const GraphHandle& g) { return g.ptr->raw(); });
}

}  // namespace trilane::bindings
