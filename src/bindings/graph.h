// Graphs in Python: see graph.cpp.
#pragma once

#include "bindings/bindings.h"
#include "core/graph.h"

namespace trilane::bindings {

using GraphHandle = Handle<core::Graph>;
void bind_graph(nb::module_& m);
void bind_captures(nb::class_<StreamHandle>& stream);  // methods of it

}  // namespace trilane::bindings

namespace nanobind::detail {
template <>
struct type_caster<trilane::core::GraphPtr>
    : trilane::bindings::HandleCaster<trilane::core::Graph> {};
}  // namespace nanobind::detail
