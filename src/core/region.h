// Fills, and copies of rectangles, of memory that buffers own.
#pragma once

#include "core/buffer.h"

namespace trilane::core {

// `pattern` of 1, 2 or 4 bytes repeated `count` times in each of `height` rows `pitch` bytes apart
// (pitch is ignored for one row), from `offset` on. Stream-ordered. InvalidArgument if it does not
// fit into the buffer.
void fill(Buffer& dst, size_t offset, uint32_t pattern, int pattern_bytes, size_t count,
          size_t height, size_t pitch, const StreamPtr& stream);

// `params` holds addresses; a side that lies in a buffer is checked against its size and kept in
// order with its stream, a null side is taken as it is. Pitches of 0 mean tightly packed.
void copy_region(Copy3D params, Buffer* dst, Buffer* src, const StreamPtr& stream, bool wait);

// Bytes from the first to one past the last byte of a region.
size_t region_extent(size_t width_bytes, size_t height, size_t depth, size_t pitch,
                     size_t slice_pitch);

}  // namespace trilane::core
