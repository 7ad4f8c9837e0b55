// CUDA arrays, textures and surfaces as a device is asked for them. The numbers of modes are the
// driver's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trilane::core {

using DevicePtr = uint64_t;   // as in device.h
using RawArray = uint64_t;    // opaque; never 0
using RawTexture = uint64_t;  // what kernels take as cudaTextureObject_t; never 0
using RawSurface = uint64_t;  // what kernels take as cudaSurfaceObject_t; never 0

enum class ChannelKind : uint8_t { Signed, Unsigned, Float };

// An element of an array or of textured memory: `channels` numbers of `bits` bits.
struct ChannelFormat {
    ChannelKind kind = ChannelKind::Float;
    uint8_t bits = 32;     // 8, 16 or 32 of integers, 16 or 32 of floats
    uint8_t channels = 1;  // 1, 2 or 4
    size_t element_bytes() const { return size_t{bits} / 8 * channels; }
    // Read as a number from 0 to 1 or from -1 to 1 unless a texture gives elements as they are.
    bool normalizable() const { return kind != ChannelKind::Float && bits < 32; }
    bool operator==(const ChannelFormat&) const = default;
};

// An array of one, two or three axes, or a stack of layers of one or two. Axes that it has not are
// 0; `depth` counts slices, layers or faces (six for each cube).
struct ArrayParams {
    ChannelFormat format;
    size_t width = 0, height = 0, depth = 0;  // elements
    bool layered = false, cubemap = false;
    bool surface = false;  // surfaces may be made of it
    bool gather = false;   // tex2Dgather may read it

    size_t row_bytes() const { return width * format.element_bytes(); }
    size_t rows() const { return height == 0 ? 1 : height; }           // of a slice
    size_t slices() const { return depth == 0 ? 1 : depth; }           // or layers
    size_t nbytes() const { return row_bytes() * rows() * slices(); }  // as packed memory
};

// One end of a copy of a box of bytes: where its first byte is.
struct BoxEnd {
    enum class Place : uint8_t { Host, Device, Array };
    Place place = Place::Device;
    DevicePtr address = 0;              // of Host and Device: of the first byte
    size_t pitch = 0, slice_pitch = 0;  // of Host and Device: bytes from row to row, slice to slice
    RawArray array = 0;                 // of Array, as are those below
    size_t x_bytes = 0, y = 0, slice = 0;
};

struct BoxCopy {
    BoxEnd dst, src;
    size_t width_bytes = 0, height = 1, depth = 1;
};

enum class AddressMode : uint8_t { Wrap, Clamp, Mirror, Border };
enum class FilterMode : uint8_t { Point, Linear };

// What a texture reads, and how. Linear memory is fetched by index alone: of what says how, only
// `elements_as_they_are` means something there.
struct TextureParams {
    enum class Source : uint8_t { Array, Linear, Pitch2D };
    Source source = Source::Array;
    RawArray array = 0;
    DevicePtr address = 0;                          // of Linear and Pitch2D, as are those below
    ChannelFormat format;                           // of Array too: its own
    size_t width = 0, height = 1, pitch_bytes = 0;  // elements; Linear has a width alone

    std::array<AddressMode, 3> address_mode{AddressMode::Clamp, AddressMode::Clamp,
                                            AddressMode::Clamp};
    FilterMode filter = FilterMode::Point;
    bool elements_as_they_are = false;  // integers of 8 and 16 bits are not normalised
    bool normalized_coordinates = false;
    bool srgb = false;  // of 8 bits: decoded
    unsigned max_anisotropy = 0;
    std::array<float, 4> border{};
};

}  // namespace trilane::core
