// CUDA arrays, texture objects and surface objects of the cpu device: an array is packed memory
// with its description in front; a handle is the address of a description.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "devices/cpu/device.h"
#include "devices/cpu/texture_layout.h"

namespace trilane::cpu {

using core::BoxEnd;
using core::ChannelFormat;
using core::ChannelKind;
using core::TextureParams;

namespace {

constexpr size_t kDataOffset = 256;  // of an array, behind its description
static_assert(sizeof(TextureLayout) <= kDataOffset);

TextureLayout* layout_at(uint64_t handle) { return reinterpret_cast<TextureLayout*>(handle); }

void set_format(TextureLayout& layout, const ChannelFormat& format) {
    layout.kind = format.kind == ChannelKind::Signed     ? 0
                  : format.kind == ChannelKind::Unsigned ? 1
                                                         : 2;
    layout.bits = format.bits;
    layout.channels = format.channels;
    layout.element_bytes = static_cast<int32_t>(format.element_bytes());
}

// What a kernel reads of memory that no array is.
TextureLayout layout_of_memory(const TextureParams& params) {
    TextureLayout layout;
    set_format(layout, params.format);
    layout.data = params.address;
    layout.width = static_cast<int32_t>(params.width);
    layout.height = static_cast<int32_t>(params.height);
    layout.row_pitch = params.source == TextureParams::Source::Pitch2D
                           ? params.pitch_bytes
                           : params.width * params.format.element_bytes();
    layout.slice_pitch = layout.row_pitch * params.height;
    return layout;
}

// The number that a channel of the format has for `value`, as it is read; ties go down.
float as_element(float value, const ChannelFormat& format) {
    if (format.kind == ChannelKind::Float) {
        if (format.bits == 32 || !std::isfinite(value) || value == 0.0f) return value;
        const float step = std::ldexp(1.0f, std::max(std::ilogb(value) - 10, -24));
        const float near = std::nearbyint(value / step) * step;
        return std::fabs(near) > 65504.0f ? std::copysign(INFINITY, near) : near;
    }
    const bool is_signed = format.kind == ChannelKind::Signed;
    const auto most = static_cast<float>((1 << (format.bits - (is_signed ? 1 : 0))) - 1);
    const float inside = std::fmin(std::fmax(value, is_signed ? -1.0f : 0.0f), 1.0f);
    return std::ceil(inside * most - 0.5f) / most;
}

// IEC 61966-2-1; a GPU gives eight significant bits.
float decoded_srgb(int code) {
    const double v = code / 255.0;
    const double linear = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    if (code == 0) return 0.0f;
    const double step = std::ldexp(1.0, std::ilogb(linear) - 7);
    return static_cast<float>(std::nearbyint(linear / step) * step);
}

int encoded_srgb(float linear) {
    const double v = std::fmin(std::fmax(linear, 0.0f), 1.0f);
    const double coded = v <= 0.0031308 ? v * 12.92 : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
    return static_cast<int>(std::nearbyint(coded * 255.0));
}

// Whether the channel holds codes of sRGB: the second of two does not.
bool is_coded(const TextureParams& params, size_t channel) {
    return params.srgb && (params.format.channels == 2 ? channel == 0 : channel < 3);
}

// The bits of the border's colour, which is kept as an element is.
uint32_t border_bits(const TextureParams& params, size_t channel, bool gives_floats) {
    if (channel >= params.format.channels) return 0;
    const float color = params.border[channel];
    uint32_t bits = 0;
    if (gives_floats) {
        const float kept = is_coded(params, channel) ? decoded_srgb(encoded_srgb(color))
                                                     : as_element(color, params.format);
        std::memcpy(&bits, &kept, sizeof bits);
        return bits;
    }
    std::memcpy(&bits, &color, sizeof bits);
    const int unused = 32 - params.format.bits;
    if (params.format.kind == ChannelKind::Signed)
        return static_cast<uint32_t>(static_cast<int32_t>(bits << unused) >> unused);
    return bits << unused >> unused;
}

void set_reading(TextureLayout& layout, const TextureParams& params) {
    layout.to_float = params.format.normalizable() && !params.elements_as_they_are;
    layout.normalized = params.normalized_coordinates;
    layout.linear = params.filter == core::FilterMode::Linear;
    for (size_t axis = 0; axis < 3; ++axis)
        layout.address[axis] = static_cast<uint32_t>(params.address_mode[axis]);
    const bool gives_floats = params.format.kind == ChannelKind::Float || layout.to_float != 0;
    for (size_t channel = 0; channel < 4; ++channel)
        layout.border[channel] = border_bits(params, channel, gives_floats);
}

void write_srgb_table(float* table) {
    for (int i = 0; i < 256; ++i) table[i] = decoded_srgb(i);
}

// First byte and distances of an end.
struct Place {
    char* first;
    size_t pitch, slice_pitch;
};

Place place_of(const BoxEnd& end) {
    if (end.place != BoxEnd::Place::Array)
        return {reinterpret_cast<char*>(end.address), end.pitch, end.slice_pitch};
    const TextureLayout& layout = *layout_at(end.array);
    return {reinterpret_cast<char*>(layout.data) + end.slice * layout.slice_pitch +
                end.y * layout.row_pitch + end.x_bytes,
            layout.row_pitch, layout.slice_pitch};
}

}  // namespace

core::DevicePtr CpuDevice::make_noted(size_t nbytes, const char* name) {
    const core::DevicePtr address = memory_.allocate(nbytes);
    note_allocation(address, nbytes, name);
    return address;
}

void CpuDevice::free_noted(core::DevicePtr address) noexcept {
    forget_allocation(address);
    memory_.free(address);
}

core::RawArray CpuDevice::create_array(const core::ArrayParams& params) {
    constexpr size_t kMost = 0x7fffffff;
    if (params.row_bytes() > kMost || params.rows() > kMost || params.slices() > kMost)
        core::throw_error(
            core::ErrorKind::InvalidArgument,
            "CudaArray: shape: got {} bytes x {} rows x {} slices, expected less than "
            "2^31 along each axis",
            params.row_bytes(), params.rows(), params.slices());
    const core::DevicePtr memory = make_noted(kDataOffset + params.nbytes(), "CUDA array");
    TextureLayout layout;
    set_format(layout, params.format);
    layout.data = memory + kDataOffset;
    layout.width = static_cast<int32_t>(params.width);
    layout.height = static_cast<int32_t>(params.rows());
    layout.depth = static_cast<int32_t>(params.slices());
    layout.row_pitch = params.row_bytes();
    layout.slice_pitch = layout.row_pitch * params.rows();
    std::memcpy(layout_at(memory), &layout, sizeof(layout));
    return memory;
}

void CpuDevice::destroy_array(core::RawArray array) noexcept { free_noted(array); }

void CpuDevice::copy_box(const core::BoxCopy& copy, core::RawStream stream, bool wait) {
    for (const BoxEnd* end : {&copy.dst, &copy.src})
        if (end->place != BoxEnd::Place::Array && end->address == 0)
            core::throw_error(core::ErrorKind::InvalidArgument, "copy: the {} address is null",
                              end == &copy.dst ? "destination's" : "source's");
    const auto work = [copy](uint64_t) {
        const Place to = place_of(copy.dst), from = place_of(copy.src);
        for (size_t z = 0; z < copy.depth; ++z)
            for (size_t y = 0; y < copy.height; ++y)
                std::memmove(to.first + z * to.slice_pitch + y * to.pitch,
                             from.first + z * from.slice_pitch + y * from.pitch, copy.width_bytes);
    };
    if (wait) captures_.refuse(stream, "copy");
    if (captures_.keep(stream, "copy", [&] { return GraphNode{work}; })) return;
    auto turn = streams_.enter(stream, "copy");
    work(0);
}

core::RawTexture CpuDevice::create_texture(const TextureParams& params) {
    TextureLayout layout = params.source == TextureParams::Source::Array ? *layout_at(params.array)
                                                                         : layout_of_memory(params);
    set_reading(layout, params);
    const size_t table_bytes = params.srgb ? 256 * sizeof(float) : 0;
    const core::DevicePtr memory = make_noted(kDataOffset + table_bytes, "texture object");
    if (params.srgb) {
        layout.decode = memory + kDataOffset;
        write_srgb_table(reinterpret_cast<float*>(layout.decode));
    }
    std::memcpy(layout_at(memory), &layout, sizeof(layout));
    return memory;
}

void CpuDevice::destroy_texture(core::RawTexture texture) noexcept { free_noted(texture); }

// The array's own description.
core::RawSurface CpuDevice::create_surface(core::RawArray array) { return array; }

void CpuDevice::destroy_surface(core::RawSurface) noexcept {}

}  // namespace trilane::cpu
