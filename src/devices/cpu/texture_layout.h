// What a texture or surface handle of the cpu device points to. Kernels read it: the same structure
// stands in device_lib/cpu/texture.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trilane::cpu {

struct TextureLayout {
    uint64_t data = 0;
    uint64_t row_pitch = 0, slice_pitch = 0;   // bytes
    uint64_t decode = 0;                       // 256 floats of sRGB, or 0
    int32_t width = 1, height = 1, depth = 1;  // elements
    int32_t element_bytes = 4;
    uint32_t kind = 2;  // 0 signed, 1 unsigned, 2 float
    uint32_t bits = 32, channels = 1;
    uint32_t to_float = 0;  // integers become 0..1 or -1..1
    uint32_t normalized = 0, linear = 0;
    uint32_t address[3] = {1, 1, 1};
    uint32_t border[4] = {};  // bits of what lies outside
    uint32_t reserved[3] = {};
};
static_assert(sizeof(TextureLayout) == 112 && offsetof(TextureLayout, width) == 32 &&
              offsetof(TextureLayout, border) == 84);

}  // namespace trilane::cpu
