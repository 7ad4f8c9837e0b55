// CUDA arrays, texture objects, surface objects, and copies of boxes.
#include "bindings/texture.h"

#include <algorithm>

#include "bindings/copy_sides.h"
#include "core/error.h"
#include "core/region.h"

namespace trilane::bindings {
namespace {

using namespace nb::literals;

core::ChannelFormat format_of(const std::string& kind, int bits, int channels) {
    core::ChannelFormat format;
    if (kind == "int")
        format.kind = core::ChannelKind::Signed;
    else if (kind == "uint")
        format.kind = core::ChannelKind::Unsigned;
    else if (kind != "float")
        core::throw_error(core::ErrorKind::InvalidArgument,
                          "format: kind: got '{}', expected int, uint or float", kind);
    format.bits = static_cast<uint8_t>(std::clamp(bits, 0, 255));
    format.channels = static_cast<uint8_t>(std::clamp(channels, 0, 255));
    return format;
}

const char* kind_name(core::ChannelKind kind) {
    return kind == core::ChannelKind::Signed     ? "int"
           : kind == core::ChannelKind::Unsigned ? "uint"
                                                 : "float";
}

// --- arrays

void bind_array_class(nb::module_& m) {
    nb::class_<CudaArrayHandle>(m, "CudaArray",
                                "Elements laid out as the device likes, for textures and surfaces.")
        .def(
            "__init__",
            [](CudaArrayHandle* self, const std::string& kind, int bits, int channels, size_t width,
               size_t height, size_t depth, bool layered, bool cubemap, bool surface, bool gather,
               const core::ContextPtr& context) {
                core::ArrayParams params;
                params.format = format_of(kind, bits, channels);
                params.width = width;
                params.height = height;
                params.depth = depth;
                params.layered = layered;
                params.cubemap = cubemap;
                params.surface = surface;
                params.gather = gather;
                nb::gil_scoped_release unlocked;
                core::CudaArrayPtr array =
                    core::CudaArray::create(context_or_current(context), params);
                new (self) CudaArrayHandle{std::move(array)};
            },
            "kind"_a, "bits"_a, "channels"_a, "width"_a, "height"_a = 0, "depth"_a = 0,
            nb::kw_only(), "layered"_a = false, "cubemap"_a = false, "surface"_a = false,
            "gather"_a = false, "context"_a.none() = nb::none())
        .def_prop_ro("context", [](const CudaArrayHandle& a) { return a.ptr->context(); })
        .def_prop_ro("handle", [](const CudaArrayHandle& a) { return a.ptr->raw("CudaArray"); })
        .def_prop_ro("kind",
                     [](const CudaArrayHandle& a) {
                         return std::string(kind_name(a.ptr->params().format.kind));
                     })
        .def_prop_ro("bits", [](const CudaArrayHandle& a) { return a.ptr->params().format.bits; })
        .def_prop_ro("channels",
                     [](const CudaArrayHandle& a) { return a.ptr->params().format.channels; })
        .def_prop_ro("width", [](const CudaArrayHandle& a) { return a.ptr->params().width; })
        .def_prop_ro("height", [](const CudaArrayHandle& a) { return a.ptr->params().height; })
        .def_prop_ro("depth", [](const CudaArrayHandle& a) { return a.ptr->params().depth; })
        .def_prop_ro("nbytes", [](const CudaArrayHandle& a) { return a.ptr->params().nbytes(); })
        .def_prop_ro("freed", [](const CudaArrayHandle& a) { return a.ptr->freed(); })
        .def(
            "free",
            [](const CudaArrayHandle& a) {
                nb::gil_scoped_release unlocked;
                a.ptr->free_now();
            },
            "Textures and surfaces of it keep its memory.");
}

// --- textures and surfaces

struct Reading {
    nb::tuple address_mode;
    int filter;
    bool elements_as_they_are, normalized_coordinates, srgb;
    unsigned max_anisotropy;
    nb::tuple border;
};

int mode_of(int value, int most, const char* what) {
    if (value < 0 || value > most)
        core::throw_error(core::ErrorKind::InvalidArgument, "Texture: {}: got {}, expected 0 to {}",
                          what, value, most);
    return value;
}

core::TextureParams params_of(const Reading& reading) {
    core::TextureParams params;
    for (size_t axis = 0; axis < std::min<size_t>(nb::len(reading.address_mode), 3); ++axis)
        params.address_mode[axis] = static_cast<core::AddressMode>(
            mode_of(nb::cast<int>(reading.address_mode[axis]), 3, "address mode"));
    params.filter = static_cast<core::FilterMode>(mode_of(reading.filter, 1, "filter mode"));
    params.elements_as_they_are = reading.elements_as_they_are;
    params.normalized_coordinates = reading.normalized_coordinates;
    params.srgb = reading.srgb;
    params.max_anisotropy = reading.max_anisotropy;
    for (size_t i = 0; i < std::min<size_t>(nb::len(reading.border), 4); ++i)
        params.border[i] = nb::cast<float>(reading.border[i]);
    return params;
}

core::TexturePtr texture_of_memory(nb::handle memory, core::TextureParams params) {
    const bool linear = params.source == core::TextureParams::Source::Linear;
    const size_t row = params.width * params.format.element_bytes();
    const size_t extent =
        linear ? row : core::region_extent(row, params.height, 1, params.pitch_bytes, 0);
    size_t offset = 0;
    core::BufferPtr buffer = buffer_of(memory, extent, offset, "Texture", nullptr);
    // What holds memory of others is kept by the Python object above this one.
    nb::gil_scoped_release unlocked;
    return core::Texture::create(buffer, offset, params);
}

core::TexturePtr make_texture(nb::handle source, const std::string& kind, int bits, int channels,
                              size_t width, size_t height, size_t pitch_bytes,
                              const Reading& reading) {
    core::TextureParams params = params_of(reading);
    const CudaArrayHandle* array = nullptr;
    if (nb::try_cast(source, array) && array) {
        core::CudaArrayPtr held = array->ptr;
        nb::gil_scoped_release unlocked;
        return core::Texture::create(held, params);
    }
    params.format = format_of(kind, bits, channels);
    params.width = width;
    params.height = height == 0 ? 1 : height;
    params.pitch_bytes = pitch_bytes;
    params.source =
        height == 0 ? core::TextureParams::Source::Linear : core::TextureParams::Source::Pitch2D;
    return texture_of_memory(source, params);
}

void bind_object_classes(nb::module_& m) {
    nb::class_<TextureHandle>(m, "Texture",
                              "A texture object of an array, or of memory: `width` elements, or "
                              "`height` rows of them.")
        .def(
            "__init__",
            [](TextureHandle* self, nb::object source, const std::string& kind, int bits,
               int channels, size_t width, size_t height, size_t pitch_bytes,
               nb::tuple address_mode, int filter, bool elements_as_they_are,
               bool normalized_coordinates, bool srgb, unsigned max_anisotropy, nb::tuple border) {
                const Reading reading{
                    address_mode,   filter, elements_as_they_are, normalized_coordinates, srgb,
                    max_anisotropy, border};
                new (self) TextureHandle{make_texture(source, kind, bits, channels, width, height,
                                                      pitch_bytes, reading)};
            },
            "source"_a, nb::kw_only(), "kind"_a = "float", "bits"_a = 32, "channels"_a = 1,
            "width"_a = 0, "height"_a = 0, "pitch_bytes"_a = 0,
            "address_mode"_a = nb::make_tuple(1, 1, 1), "filter"_a = 0,
            "elements_as_they_are"_a = false, "normalized_coordinates"_a = false, "srgb"_a = false,
            "max_anisotropy"_a = 0, "border"_a = nb::make_tuple(0.0, 0.0, 0.0, 0.0))
        .def_prop_ro("context", [](const TextureHandle& t) { return t.ptr->context(); })
        .def_prop_ro(
            "handle", [](const TextureHandle& t) { return t.ptr->raw(); },
            "What a kernel takes as cudaTextureObject_t.");
    nb::class_<SurfaceHandle>(m, "Surface", "A surface object of an array.")
        .def(
            "__init__",
            [](SurfaceHandle* self, const CudaArrayHandle& array) {
                core::SurfacePtr surface;
                {
                    nb::gil_scoped_release unlocked;
                    surface = core::Surface::create(array.ptr);
                }
                new (self) SurfaceHandle{std::move(surface)};
            },
            "array"_a)
        .def_prop_ro("context", [](const SurfaceHandle& s) { return s.ptr->context(); })
        .def_prop_ro(
            "handle", [](const SurfaceHandle& s) { return s.ptr->raw(); },
            "What a kernel takes as cudaSurfaceObject_t.");
}

// --- copies of boxes

// One end as Python gives it: of memory `pitch`, `slice_pitch`, `offset`; of an array `at`.
struct GivenEnd {
    nb::handle object;
    bool host;
    size_t pitch, slice_pitch, offset;
    nb::tuple at;
};

struct End {
    core::CopyEnd copy;
    Side side;
};

End end_of(const GivenEnd& given, bool write, size_t width_bytes, size_t height, size_t depth,
           const core::ContextPtr& context) {
    End end;
    const CudaArrayHandle* array = nullptr;
    if (nb::try_cast(given.object, array) && array) {
        end.copy.array = array->ptr;
        size_t* const parts[] = {&end.copy.place.x_bytes, &end.copy.place.y, &end.copy.place.slice};
        for (size_t i = 0; i < std::min<size_t>(nb::len(given.at), 3); ++i)
            *parts[i] = nb::cast<size_t>(given.at[i]);
        return end;
    }
    const size_t pitch = given.pitch == 0 ? width_bytes : given.pitch;
    const size_t slice_pitch = given.slice_pitch == 0 ? pitch * height : given.slice_pitch;
    const size_t extent = core::region_extent(width_bytes, height, depth, pitch, slice_pitch);
    end.side = side_of(given.object, given.host, write, given.offset, extent, context);
    end.copy.buffer = end.side.buffer.get();
    end.copy.place.place = given.host ? core::BoxEnd::Place::Host : core::BoxEnd::Place::Device;
    end.copy.place.address = end.side.address;
    end.copy.place.pitch = pitch;
    end.copy.place.slice_pitch = slice_pitch;
    return end;
}

core::ContextPtr context_of(const End& end) {
    if (end.copy.array) return end.copy.array->context();
    return end.side.buffer ? end.side.buffer->context() : nullptr;
}

void copy_box(const GivenEnd& to, const GivenEnd& from, size_t width_bytes, size_t height,
              size_t depth, const core::StreamPtr& given, bool wait) {
    const core::ContextPtr hint = given ? given->context() : nullptr;
    End dst = end_of(to, true, width_bytes, height, depth, hint);
    End src = end_of(from, false, width_bytes, height, depth, hint);
    core::ContextPtr context = context_of(dst);
    if (!context) context = context_of(src);
    core::StreamPtr stream = context ? stream_or_current(given, context) : stream_or_current(given);
    {
        nb::gil_scoped_release unlocked;
        core::copy_box(dst.copy, src.copy, width_bytes, height, depth, stream, wait);
    }
    if (wait) return;
    if (dst.side.view) keep_until_done(stream, std::move(dst.side.view));
    if (src.side.view) keep_until_done(stream, std::move(src.side.view));
}

}  // namespace

void bind_texture(nb::module_& m) {
    bind_array_class(m);
    bind_object_classes(m);
    m.def(
        "copy_box",
        [](nb::object dst, nb::object src, size_t width_bytes, size_t height, size_t depth,
           bool dst_host, bool src_host, size_t dst_pitch, size_t src_pitch, size_t dst_slice_pitch,
           size_t src_slice_pitch, size_t dst_offset, size_t src_offset, nb::tuple dst_at,
           nb::tuple src_at, const core::StreamPtr& stream, bool wait) {
            copy_box({dst, dst_host, dst_pitch, dst_slice_pitch, dst_offset, dst_at},
                     {src, src_host, src_pitch, src_slice_pitch, src_offset, src_at}, width_bytes,
                     height, depth, stream, wait);
        },
        "dst"_a, "src"_a, "width_bytes"_a, "height"_a = 1, "depth"_a = 1, nb::kw_only(),
        "dst_host"_a = false, "src_host"_a = false, "dst_pitch"_a = 0, "src_pitch"_a = 0,
        "dst_slice_pitch"_a = 0, "src_slice_pitch"_a = 0, "dst_offset"_a = 0, "src_offset"_a = 0,
        "dst_at"_a = nb::make_tuple(0, 0, 0), "src_at"_a = nb::make_tuple(0, 0, 0),
        "stream"_a.none() = nb::none(), "wait"_a = true,
        "Copies a box to, from or between CudaArrays; `*_at` is (byte, row, slice) in one.");
}

}  // namespace trilane::bindings
