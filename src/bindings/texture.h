// CUDA arrays, texture objects and surface objects as bound types.
#pragma once

#include "bindings/bindings.h"
#include "core/texture.h"

namespace trilane::bindings {

using CudaArrayHandle = Handle<core::CudaArray>;
using TextureHandle = Handle<core::Texture>;
using SurfaceHandle = Handle<core::Surface>;

}  // namespace trilane::bindings

namespace nanobind::detail {
template <>
struct type_caster<trilane::core::CudaArrayPtr>
    : trilane::bindings::HandleCaster<trilane::core::CudaArray> {};
}  // namespace nanobind::detail
