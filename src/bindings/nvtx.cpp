// Ranges and marks for an outside profiler.
#include "core/nvtx.h"

#include <nanobind/stl/optional.h>

#include "bindings/arguments.h"
#include "bindings/bindings.h"

namespace trilane::bindings {

using namespace nb::literals;
namespace nvtx = core::nvtx;

// The lock is kept: what a profiler does with an event is shorter than giving it away.
void bind_nvtx(nb::module_& m) {
    m.def("nvtx_listening", &nvtx::listening,
          "Whether there is a profiler: a library that NVTX_INJECTION64_PATH names.");
    m.def("nvtx_mark", &nvtx::mark, "message"_a, "color"_a.none() = nb::none());
    m.def("nvtx_push", &nvtx::push_range, "message"_a, "color"_a.none() = nb::none(),
          "The depth in this thread; negative where nobody counts.");
    m.def("nvtx_pop", &nvtx::pop_range);
    m.def("nvtx_start", &nvtx::start_range, "message"_a, "color"_a.none() = nb::none(),
          "The range's number for `nvtx_end`.");
    m.def("nvtx_end", &nvtx::end_range, "range"_a);
}

}  // namespace trilane::bindings
