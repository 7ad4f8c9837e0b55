// Copies that turn axes, on a GPU: through tiles in shared memory, so that both sides are read and
// written along their own memory.
#pragma once

#include "array/array.h"

namespace trilane::array {

// dst[...] = src, where the two run along different axes of the same shape, do not overlap, and the
// axes are long enough for tiles; false, and nothing done, where they are not.
bool copy_transposed(const Array& dst, const Array& src);

}  // namespace trilane::array
