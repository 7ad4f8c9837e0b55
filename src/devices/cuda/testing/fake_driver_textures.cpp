// The fake driver's arrays, textures and surfaces, and copies of boxes. It refuses what the
// driver's documentation says the driver refuses.
#include "devices/cuda/testing/fake_driver_state.h"

namespace trilane::cuda::testing {
namespace {

// Bytes of an element; 0 if there is no such format.
size_t element_bytes(unsigned format, unsigned channels) {
    if (channels != 1 && channels != 2 && channels != 4) return 0;
    switch (format) {
        case kFormatUnsigned8:
        case kFormatSigned8:
            return channels;
        case kFormatUnsigned16:
        case kFormatSigned16:
        case kFormatHalf:
            return size_t{2} * channels;
        case kFormatUnsigned32:
        case kFormatSigned32:
        case kFormatFloat:
            return size_t{4} * channels;
        default:
            return 0;
    }
}

Array* known(ArrayHandle handle) {
    auto* array = reinterpret_cast<Array*>(handle);
    return arrays.contains(array) ? array : nullptr;
}

Result fake_array_create(ArrayHandle* handle, const ArrayDescriptor* shape) {
    ENTER();
    UNSAFE();
    const size_t element = element_bytes(shape->format, shape->channels);
    const bool layered = (shape->flags & kArrayLayered) != 0;
    if (element == 0 || shape->width == 0 || shape->flags > 15) return r::kInvalidValue;
    if (shape->depth != 0 && shape->height == 0 && !layered) return r::kInvalidValue;
    if ((shape->flags & kArrayCubemap) != 0 &&
        (shape->width != shape->height || shape->depth % 6 != 0))
        return r::kInvalidValue;
    auto made = std::make_unique<Array>();
    made->shape = *shape;
    made->element = element;
    const size_t nbytes = made->row() * made->rows() * made->slices();
    if (machine.used + nbytes > machine.capacity) return r::kOutOfMemory;
    made->data.assign(nbytes, static_cast<char>(0xa5));
    machine.used += nbytes;
    ++machine.arrays;
    *handle = reinterpret_cast<ArrayHandle>(made.get());
    arrays.insert(made.release());
    return r::kSuccess;
}
Result fake_array_destroy(ArrayHandle handle) {
    ENTER_DESTROY();
    UNSAFE();
    Array* array = known(handle);
    if (array == nullptr) return r::kInvalidHandle;
    machine.used -= array->data.size();
    --machine.arrays;
    arrays.erase(array);
    delete array;
    return answer;
}

// --- copies of boxes

// One end of a box: its first byte and the distances of rows and slices; null if it is not allowed.
struct End {
    char* first = nullptr;
    size_t pitch = 0, slice = 0;
};

End end_of(unsigned type, const void* host, DeviceAddress device, ArrayHandle handle, size_t x,
           size_t y, size_t z, size_t pitch, size_t height, const Memcpy3D& p) {
    if (type == kMemoryArray) {
        Array* array = known(handle);
        if (array == nullptr || x + p.width > array->row() || y + p.height > array->rows() ||
            z + p.depth > array->slices())
            return {};
        const size_t slice = array->row() * array->rows();
        return {array->data.data() + z * slice + y * array->row() + x, array->row(), slice};
    }
    if (pitch < p.width || height < p.height) return {};
    const size_t extent = ((p.depth - 1) * height + p.height - 1) * pitch + p.width;
    if (type == kMemoryDevice && !on_device(device, extent)) return {};
    auto* first = type == kMemoryHost ? static_cast<char*>(const_cast<void*>(host))
                                      : static_cast<char*>(at(device));
    return {first + (z * height + y) * pitch + x, pitch, height * pitch};
}

Result fake_copy_3d(const Memcpy3D* p, StreamHandle stream) {
    ENTER();
    if (p->width == 0 || p->height == 0 || p->depth == 0) return r::kInvalidValue;
    const End src = end_of(p->src_type, p->src_host, p->src_device, p->src_array, p->src_x,
                           p->src_y, p->src_z, p->src_pitch, p->src_height, *p);
    const End dst = end_of(p->dst_type, p->dst_host, p->dst_device, p->dst_array, p->dst_x,
                           p->dst_y, p->dst_z, p->dst_pitch, p->dst_height, *p);
    if (src.first == nullptr || dst.first == nullptr) return r::kInvalidValue;
    return submit(stream, [box = *p, src, dst] {
        for (size_t z = 0; z < box.depth; ++z)
            for (size_t y = 0; y < box.height; ++y)
                std::memmove(dst.first + z * dst.slice + y * dst.pitch,
                             src.first + z * src.slice + y * src.pitch, box.width);
    });
}

// --- textures and surfaces

Result check_resource(const ResourceDescriptor& resource) {
    const auto& linear = resource.res.linear;
    const auto& pitch2d = resource.res.pitch2d;
    if (resource.flags != 0) return r::kInvalidValue;
    switch (resource.type) {
        case kResourceArray:
            return known(resource.res.array.array) == nullptr ? r::kInvalidHandle : r::kSuccess;
        case kResourceLinear:
            return element_bytes(linear.format, linear.channels) != 0 &&
                           linear.address % 512 == 0 && on_device(linear.address, linear.nbytes)
                       ? r::kSuccess
                       : r::kInvalidValue;
        case kResourcePitch2D: {
            const size_t element = element_bytes(pitch2d.format, pitch2d.channels);
            const bool good = element != 0 && pitch2d.address % 512 == 0 &&
                              pitch2d.pitch % 32 == 0 && pitch2d.pitch >= pitch2d.width * element &&
                              pitch2d.height > 0 &&
                              on_device(pitch2d.address, (pitch2d.height - 1) * pitch2d.pitch +
                                                             pitch2d.width * element);
            return good ? r::kSuccess : r::kInvalidValue;
        }
        default:
            return r::kInvalidValue;
    }
}

Result fake_texture_create(uint64_t* texture, const ResourceDescriptor* resource,
                           const TextureDescriptor* descriptor, const void*) {
    ENTER();
    UNSAFE();
    if (const Result refused = check_resource(*resource); refused != r::kSuccess) return refused;
    for (const int mode : descriptor->address_mode)
        if (mode < 0 || mode > 3) return r::kInvalidValue;
    for (const int reserved : descriptor->reserved)
        if (reserved != 0) return r::kInvalidValue;
    if (descriptor->filter < 0 || descriptor->filter > 1) return r::kInvalidValue;
    *texture = next_texture++;
    textures.insert(*texture);
    ++machine.textures;
    return r::kSuccess;
}
Result fake_texture_destroy(uint64_t texture) {
    ENTER_DESTROY();
    UNSAFE();
    if (textures.erase(texture) == 0) return r::kInvalidValue;
    --machine.textures;
    return answer;
}
Result fake_surface_create(uint64_t* surface, const ResourceDescriptor* resource) {
    ENTER();
    UNSAFE();
    const Array* array =
        resource->type == kResourceArray ? known(resource->res.array.array) : nullptr;
    if (array == nullptr || (array->shape.flags & kArraySurface) == 0) return r::kInvalidValue;
    *surface = next_texture++;
    surfaces.insert(*surface);
    ++machine.surfaces;
    return r::kSuccess;
}
Result fake_surface_destroy(uint64_t surface) {
    ENTER_DESTROY();
    UNSAFE();
    if (surfaces.erase(surface) == 0) return r::kInvalidValue;
    --machine.surfaces;
    return answer;
}

}  // namespace

std::vector<Row> texture_rows() {
    return {
        {"cuMemcpy3DAsync", pointer(fake_copy_3d)},
        {"cuArray3DCreate", pointer(fake_array_create)},
        {"cuArrayDestroy", pointer(fake_array_destroy)},
        {"cuTexObjectCreate", pointer(fake_texture_create)},
        {"cuTexObjectDestroy", pointer(fake_texture_destroy)},
        {"cuSurfObjectCreate", pointer(fake_surface_create)},
        {"cuSurfObjectDestroy", pointer(fake_surface_destroy)},
    };
}

}  // namespace trilane::cuda::testing
