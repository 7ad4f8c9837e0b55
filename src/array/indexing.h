// Indexing as NumPy has it: views for integers, slices, None and Ellipsis; gathers and scatters for
// arrays of integers and booleans.
#pragma once

#include <span>
#include <vector>

#include "array/array.h"
#include "array/ufunc.h"

namespace trilane::array {

enum class IndexKind : uint8_t { Integer, Slice, NewAxis, Ellipsis, Array };

struct IndexItem {
    IndexKind kind = IndexKind::Slice;
    int64_t start = 0, stop = 0, step = 1;  // of a slice, as PySlice_Unpack gives them; of an
                                            // integer: start
    Array array;                            // integer or bool
    bool adds_axis = false;                 // positions along a new axis of length one
};

// True and the view if `items` are all basic; IndexError with NumPy's words.
bool basic_index(const Array& a, std::span<const IndexItem> items, Array& view);
// a[items]: a view if all are basic, else a copy.
Array index_read(const Array& a, std::span<const IndexItem> items);
// a[items] = value. Of repeated positions any one value stays.
void index_write(const Array& a, std::span<const IndexItem> items, const UfuncInput& value);
// a[i] for one integer or one slice on the first axis: no lists are made.
Array index_integer(const Array& a, int64_t index);
Array index_slice(const Array& a, int64_t start, int64_t stop, int64_t step);

enum class IndexMode : uint8_t { Raise, Wrap, Clip };
IndexMode index_mode_from_name(std::string_view name);

// numpy.take; axis -1 counts on the flattened array when `flat`.
Array take(const Array& a, const Array& indices, int axis, bool flat, IndexMode mode);
// numpy.put on the flattened array: values are repeated as needed.
void put(const Array& a, const Array& indices, const Array& values, IndexMode mode);
Array take_along_axis(const Array& a, const Array& indices, int axis);
void put_along_axis(const Array& a, const Array& indices, const UfuncInput& values, int axis);

// Positions of the true elements of the flattened array, int64.
Array flat_nonzero(const Array& a);
// a[mask]: the elements, in C order, where the bool array of the same shape is true.
Array where_true(const Array& a, const Array& mask);
// One array per axis.
std::vector<Array> nonzero(const Array& a);

// IndexError if an index is outside [-extent, extent); reads one number back from the device.
void check_indices(const Array& indices, int64_t extent, int axis);

}  // namespace trilane::array
