// Sorting: a stable merge sort of lines, NaN last, complex numbers by parts.
#pragma once

#include "array/array.h"

namespace trilane::array {

Array sort(const Array& a, int axis);     // C order
Array argsort(const Array& a, int axis);  // int64
// First position in the sorted 1-D array where v could be inserted, or the last one (right).
Array searchsorted(const Array& sorted, const Array& values, bool right);

}  // namespace trilane::array
