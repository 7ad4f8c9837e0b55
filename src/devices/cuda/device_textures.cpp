// CUDA arrays, texture objects and surface objects.
#include <algorithm>

#include "core/error.h"
#include "devices/cuda/device.h"
#include "devices/cuda/device_state.h"

namespace trilane::cuda {

using core::BoxEnd;
using core::ChannelFormat;
using core::ChannelKind;
using core::TextureParams;

namespace {

ArrayHandle array_of(core::RawArray raw) { return reinterpret_cast<ArrayHandle>(raw); }

unsigned driver_format(const ChannelFormat& format) {
    if (format.kind == ChannelKind::Float) return format.bits == 16 ? kFormatHalf : kFormatFloat;
    const bool is_signed = format.kind == ChannelKind::Signed;
    if (format.bits == 8) return is_signed ? kFormatSigned8 : kFormatUnsigned8;
    if (format.bits == 16) return is_signed ? kFormatSigned16 : kFormatUnsigned16;
    return is_signed ? kFormatSigned32 : kFormatUnsigned32;
}

// Rows that a slice is high in memory: the driver counts the distance of slices in rows.
size_t slice_rows(const BoxEnd& end, const core::BoxCopy& copy) {
    return copy.depth > 1 ? end.slice_pitch / end.pitch : copy.height;
}

bool slices_are_rows(const BoxEnd& end, const core::BoxCopy& copy) {
    if (end.place == BoxEnd::Place::Array || copy.depth <= 1) return true;
    return end.pitch >= copy.width_bytes && end.slice_pitch % end.pitch == 0 &&
           end.slice_pitch / end.pitch >= copy.height;
}

void set_source(Memcpy3D& box, const BoxEnd& end, const core::BoxCopy& copy) {
    if (end.place == BoxEnd::Place::Array) {
        box.src_type = kMemoryArray;
        box.src_array = array_of(end.array);
        box.src_x = end.x_bytes;
        box.src_y = end.y;
        box.src_z = end.slice;
        return;
    }
    const bool host = end.place == BoxEnd::Place::Host;
    box.src_type = host ? kMemoryHost : kMemoryDevice;
    if (host)
        box.src_host = reinterpret_cast<const void*>(end.address);
    else
        box.src_device = end.address;
    box.src_pitch = std::max(end.pitch, copy.width_bytes);
    box.src_height = slice_rows(end, copy);
}

void set_destination(Memcpy3D& box, const BoxEnd& end, const core::BoxCopy& copy) {
    if (end.place == BoxEnd::Place::Array) {
        box.dst_type = kMemoryArray;
        box.dst_array = array_of(end.array);
        box.dst_x = end.x_bytes;
        box.dst_y = end.y;
        box.dst_z = end.slice;
        return;
    }
    const bool host = end.place == BoxEnd::Place::Host;
    box.dst_type = host ? kMemoryHost : kMemoryDevice;
    if (host)
        box.dst_host = reinterpret_cast<void*>(end.address);
    else
        box.dst_device = end.address;
    box.dst_pitch = std::max(end.pitch, copy.width_bytes);
    box.dst_height = slice_rows(end, copy);
}

Memcpy3D box_of(const core::BoxCopy& copy) {
    Memcpy3D box;
    set_source(box, copy.src, copy);
    set_destination(box, copy.dst, copy);
    box.width = copy.width_bytes;
    box.height = copy.height;
    box.depth = copy.depth;
    return box;
}

// One slice further.
void advance(BoxEnd& end) {
    if (end.place == BoxEnd::Place::Array)
        ++end.slice;
    else
        end.address += end.slice_pitch;
}

ResourceDescriptor resource_of(const TextureParams& params) {
    ResourceDescriptor resource;
    switch (params.source) {
        case TextureParams::Source::Array:
            resource.type = kResourceArray;
            resource.res.array.array = array_of(params.array);
            break;
        case TextureParams::Source::Linear:
            resource.type = kResourceLinear;
            resource.res.linear = {params.address, driver_format(params.format),
                                   params.format.channels,
                                   params.width * params.format.element_bytes()};
            break;
        case TextureParams::Source::Pitch2D:
            resource.type = kResourcePitch2D;
            resource.res.pitch2d = {params.address,         driver_format(params.format),
                                    params.format.channels, params.width,
                                    params.height,          params.pitch_bytes};
            break;
    }
    return resource;
}

TextureDescriptor descriptor_of(const TextureParams& params) {
    TextureDescriptor descriptor;
    for (size_t axis = 0; axis < 3; ++axis)
        descriptor.address_mode[axis] = static_cast<int>(params.address_mode[axis]);
    descriptor.filter = static_cast<int>(params.filter);
    if (params.elements_as_they_are) descriptor.flags |= kTextureReadAsInteger;
    if (params.normalized_coordinates) descriptor.flags |= kTextureNormalizedCoordinates;
    if (params.srgb) descriptor.flags |= kTextureSrgb;
    descriptor.max_anisotropy = params.max_anisotropy;
    std::copy(params.border.begin(), params.border.end(), descriptor.border);
    return descriptor;
}

}  // namespace

core::RawArray CudaDevice::create_array(const core::ArrayParams& params) {
    const Scope scope(*this, "create_array");
    const RelaxedCapture relaxed(driver_);
    ArrayDescriptor descriptor;
    descriptor.width = params.width;
    descriptor.height = params.height;
    descriptor.depth = params.depth;
    descriptor.format = driver_format(params.format);
    descriptor.channels = params.format.channels;
    if (params.layered) descriptor.flags |= kArrayLayered;
    if (params.cubemap) descriptor.flags |= kArrayCubemap;
    if (params.surface) descriptor.flags |= kArraySurface;
    if (params.gather) descriptor.flags |= kArrayGather;
    ArrayHandle array = nullptr;
    check(driver_.cuArray3DCreate(&array, &descriptor), "cuArray3DCreate");
    return reinterpret_cast<core::RawArray>(array);
}

// Whether the driver waits for kernels that use what is destroyed is not said, so it is done here.
// The core does not call this while a stream is captured; if another library captures one, nothing
// can be waited for.
void CudaDevice::wait_before_destroying() noexcept {
    const Result result = driver_.cuCtxSynchronize();
    if (result != result::kStreamCaptureUnsupported) faults_.report(result, "cuCtxSynchronize");
}

void CudaDevice::destroy_array(core::RawArray array) noexcept {
    Scope scope(*this);
    if (!try_enter(scope)) return;
    const RelaxedCapture relaxed(driver_);
    wait_before_destroying();
    faults_.report(driver_.cuArrayDestroy(array_of(array)), "cuArrayDestroy");
}

void CudaDevice::copy_box(const core::BoxCopy& copy, core::RawStream raw, bool wait) {
    if (copy.width_bytes == 0 || copy.height == 0 || copy.depth == 0) return;
    const Scope scope(*this, "copy");
    const StreamHandle stream = stream_of(raw);
    if (slices_are_rows(copy.src, copy) && slices_are_rows(copy.dst, copy)) {
        const Memcpy3D box = box_of(copy);
        check(driver_.cuMemcpy3DAsync(&box, stream), "cuMemcpy3DAsync");
    } else {
        core::BoxCopy slice = copy;
        slice.depth = 1;
        for (size_t i = 0; i < copy.depth; ++i) {
            const Memcpy3D box = box_of(slice);
            check(driver_.cuMemcpy3DAsync(&box, stream), "cuMemcpy3DAsync");
            advance(slice.src);
            advance(slice.dst);
        }
    }
    if (wait) check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

core::RawTexture CudaDevice::create_texture(const TextureParams& params) {
    const Scope scope(*this, "create_texture");
    const RelaxedCapture relaxed(driver_);
    const ResourceDescriptor resource = resource_of(params);
    const TextureDescriptor descriptor = descriptor_of(params);
    uint64_t texture = 0;
    check(driver_.cuTexObjectCreate(&texture, &resource, &descriptor, nullptr),
          "cuTexObjectCreate");
    return texture;
}

void CudaDevice::destroy_texture(core::RawTexture texture) noexcept {
    Scope scope(*this);
    if (!try_enter(scope)) return;
    const RelaxedCapture relaxed(driver_);
    wait_before_destroying();
    faults_.report(driver_.cuTexObjectDestroy(texture), "cuTexObjectDestroy");
}

core::RawSurface CudaDevice::create_surface(core::RawArray array) {
    const Scope scope(*this, "create_surface");
    const RelaxedCapture relaxed(driver_);
    ResourceDescriptor resource;
    resource.type = kResourceArray;
    resource.res.array.array = array_of(array);
    uint64_t surface = 0;
    check(driver_.cuSurfObjectCreate(&surface, &resource), "cuSurfObjectCreate");
    return surface;
}

void CudaDevice::destroy_surface(core::RawSurface surface) noexcept {
    Scope scope(*this);
    if (!try_enter(scope)) return;
    const RelaxedCapture relaxed(driver_);
    wait_before_destroying();
    faults_.report(driver_.cuSurfObjectDestroy(surface), "cuSurfObjectDestroy");
}

}  // namespace trilane::cuda
