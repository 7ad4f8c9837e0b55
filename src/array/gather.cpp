// Indexing with arrays: gathers and scatters as element-wise kernels over the result's shape.
#include <fmt/format.h>

#include <algorithm>

#include "array/indexing.h"
#include "array/manipulation.h"
#include "array/promotion.h"
#include "array/reduction.h"
#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::ErrorKind;
using core::throw_error;

namespace {

constexpr int kMaxIndexArrays = 8;
constexpr uint64_t kGatherId = (uint64_t{1} << 31) + 1024;
constexpr uint64_t kScatterId = kGatherId + 1024;

struct AxisIndex {
    Array positions;     // integers
    int64_t extent = 0;  // of the axis
    int64_t stride = 0;  // bytes
    int axis = 0;        // in the indexed array, for messages
};

// a[items] taken apart: elements at view + positions, in an array of `shape`.
struct Selection {
    Array view;  // strides 0 along the axes that the index arrays make
    Shape shape;
    std::vector<AxisIndex> indices;
    Shape index_shape;   // what the index arrays broadcast to
    int index_axis = 0;  // where it stands in `shape`
};

bool is_boolean(const IndexItem& item) {
    return item.kind == IndexKind::Array && item.array.dtype() == DType::Bool;
}

// Boolean arrays become positions, one array per axis; a 0-d boolean becomes a new axis of one or
// no element.
std::vector<IndexItem> without_booleans(const Array& a, std::span<const IndexItem> items,
                                        bool& has_array, int& used) {
    std::vector<IndexItem> result;
    used = 0;
    has_array = false;
    for (const IndexItem& item : items)
        used += item.kind == IndexKind::Integer || item.kind == IndexKind::Slice ||
                (item.kind == IndexKind::Array && !is_boolean(item)) ||
                (is_boolean(item) ? item.array.ndim() : 0);
    if (used > a.ndim())
        throw_error(ErrorKind::IndexError,
                    "too many indices for array: array is {}-dimensional, but {} were indexed",
                    a.ndim(), used);
    int axis = 0;
    for (const IndexItem& item : items) {
        has_array |= item.kind == IndexKind::Array;
        if (!is_boolean(item)) {
            result.push_back(item);
            if (item.kind == IndexKind::Ellipsis)
                axis += a.ndim() - used;
            else if (item.kind != IndexKind::NewAxis)
                ++axis;
            continue;
        }
        for (int d = 0; d < item.array.ndim(); ++d)
            if (item.array.shape()[d] != a.shape()[axis + d])
                throw_error(
                    ErrorKind::IndexError,
                    "boolean index did not match indexed array along axis {}; size of axis is "
                    "{} but size of corresponding boolean axis is {}",
                    axis + d, a.shape()[axis + d], item.array.shape()[d]);
        for (Array& positions : nonzero(item.array)) {
            IndexItem next;
            next.kind = IndexKind::Array;
            next.array = std::move(positions);
            next.adds_axis = item.array.ndim() == 0;
            result.push_back(next);
        }
        axis += item.array.ndim();
    }
    return result;
}

void require_positions(const IndexItem& item) {
    if (!is_integer(item.array.dtype()))
        throw_error(ErrorKind::IndexError,
                    "arrays used as indices must be of integer (or boolean) type");
}

// Whether all index arrays and integers stand side by side: then their axes stay in place.
bool side_by_side(const std::vector<IndexItem>& items) {
    int first = -1, last = -1;
    for (size_t i = 0; i < items.size(); ++i) {
        if (items[i].kind != IndexKind::Array && items[i].kind != IndexKind::Integer) continue;
        if (first < 0) first = static_cast<int>(i);
        last = static_cast<int>(i);
    }
    for (int i = first; i <= last; ++i)
        if (items[i].kind != IndexKind::Array && items[i].kind != IndexKind::Integer) return false;
    return true;
}

Selection select_elements(const Array& a, std::span<const IndexItem> raw_items) {
    bool has_array = false;
    int used = 0, ellipses = 0;
    for (const IndexItem& item : raw_items) ellipses += item.kind == IndexKind::Ellipsis;
    if (ellipses > 1)
        throw_error(ErrorKind::IndexError, "an index can only have a single ellipsis ('...')");
    std::vector<IndexItem> items = without_booleans(a, raw_items, has_array, used);
    Selection s;
    std::vector<const Shape*> shapes;
    for (const IndexItem& item : items)
        if (item.kind == IndexKind::Array) {
            require_positions(item);
            shapes.push_back(&item.array.shape());
        }
    if (shapes.size() > static_cast<size_t>(kMaxIndexArrays))
        throw_error(ErrorKind::NotSupported, "indexing with more than {} index arrays",
                    kMaxIndexArrays);
    try {
        s.index_shape = broadcast_shapes(shapes.data(), shapes.size());
    } catch (const core::Error&) {
        std::string text;
        for (const Shape* shape : shapes) text += to_string(*shape) + " ";
        throw_error(
            ErrorKind::IndexError,
            "shape mismatch: indexing arrays could not be broadcast together with shapes {}", text);
    }
    bool in_place = side_by_side(items);
    Shape shape, strides;
    int64_t offset = a.offset();
    int axis = 0;
    s.index_axis = in_place ? -1 : 0;
    for (const IndexItem& item : items) {
        bool advanced = item.kind == IndexKind::Array || item.kind == IndexKind::Integer;
        if (advanced && s.index_axis < 0) s.index_axis = static_cast<int>(shape.size());
        if (item.kind == IndexKind::Array && item.adds_axis) {
            s.indices.push_back({item.array, 1, 0, axis});
            continue;
        }
        if (item.kind == IndexKind::Array) {
            s.indices.push_back({item.array, a.shape()[axis], a.strides()[axis], axis});
            ++axis;
            continue;
        }
        // The basic ones, one at a time, on a view of the axes that they use.
        int count = item.kind == IndexKind::Ellipsis ? a.ndim() - used : 1;
        if (item.kind == IndexKind::NewAxis) count = 0;
        Shape part(a.shape().data() + axis, static_cast<size_t>(count));
        Shape part_strides(a.strides().data() + axis, static_cast<size_t>(count));
        Array piece = a.with_layout(offset, part, part_strides), view;
        if (item.kind == IndexKind::Integer && (item.start < -part[0] || item.start >= part[0]))
            throw_error(ErrorKind::IndexError, "index {} is out of bounds for axis {} with size {}",
                        item.start, axis, part[0]);
        basic_index(piece, {&item, 1}, view);
        offset = view.offset();
        for (int d = 0; d < view.ndim(); ++d) {
            shape.push_back(view.shape()[d]);
            strides.push_back(view.strides()[d]);
        }
        axis += count;
    }
    for (; axis < a.ndim(); ++axis) {
        shape.push_back(a.shape()[axis]);
        strides.push_back(a.strides()[axis]);
    }
    for (size_t d = 0; d < s.index_shape.size(); ++d) {
        shape.insert(static_cast<size_t>(s.index_axis) + d, s.index_shape[d]);
        strides.insert(static_cast<size_t>(s.index_axis) + d, 0);
    }
    s.shape = shape;
    s.view = a.with_layout(offset, shape, strides);
    return s;
}

// The index arrays seen in the shape of the result.
void spread_indices(Selection& s) {
    for (AxisIndex& index : s.indices) {
        Array wide = broadcast_to(index.positions, s.index_shape);
        Shape strides(s.shape.size(), 0);
        for (size_t d = 0; d < s.index_shape.size(); ++d)
            strides[static_cast<size_t>(s.index_axis) + d] = wide.strides()[d];
        index.positions = wide.with_layout(wide.offset(), s.shape, strides);
    }
}

struct IndexOperands {
    std::vector<LoopOperand> operands;
    std::vector<Scalar> scalars;
};

// Operand 0 is the array by address, then per index: positions, extent, stride.
IndexOperands index_operands(const Selection& s) {
    IndexOperands result;
    result.scalars.reserve(2 * s.indices.size());
    result.operands.push_back({&s.view, nullptr, s.view.dtype(), false});
    for (const AxisIndex& index : s.indices) {
        result.operands.push_back({&index.positions, nullptr, DType::Int64, false});
        for (int64_t value : {index.extent, index.stride}) {
            result.scalars.push_back(Scalar::of_int(value, DType::Int64));
            result.operands.push_back({nullptr, &result.scalars.back(), DType::Int64, false});
        }
    }
    return result;
}

std::string address_text(int count, IndexMode mode) {
    std::string text = "long long at = 0; ";
    for (int k = 0; k < count; ++k) {
        int p = 3 * k + 1;
        text += fmt::format("{{ long long x = in{}; ", p);
        if (mode == IndexMode::Raise) text += fmt::format("if (x < 0) x += in{}; ", p + 1);
        if (mode == IndexMode::Wrap)
            text += fmt::format("x %= in{0}; if (x < 0) x += in{0}; ", p + 1);
        if (mode == IndexMode::Clip)
            text += fmt::format("x = x < 0 ? 0 : (x >= in{0} ? in{0} - 1 : x); ", p + 1);
        text += fmt::format("at += x * in{}; }} ", p + 2);
    }
    return text;
}

struct GatherContext {
    int count;
    IndexMode mode;
};

void describe_gather(const void* context, ElementwiseText& text) {
    const GatherContext& c = *static_cast<const GatherContext*>(context);
    text.entry = "trilane_gather";
    text.operands[0].by_address = true;
    text.operands.back().computed = text.operands.back().stored;
    text.body = address_text(c.count, c.mode) +
                fmt::format("out0 = *(const {}*)((const char*)in0 + at)", text.operands[0].stored);
}

void describe_scatter(const void* context, ElementwiseText& text) {
    const GatherContext& c = *static_cast<const GatherContext*>(context);
    text.entry = "trilane_scatter";
    text.operands[0].by_address = text.operands[0].written = true;
    const KernelOperand& value = text.operands[static_cast<size_t>(3 * c.count + 1)];
    std::string target = fmt::format("({}*)((char*)in0 + at)", text.operands[0].stored);
    text.body = address_text(c.count, c.mode);
    text.body +=
        fmt::format("*{} = trilane::cast<{}>({})", target, text.operands[0].stored, value.name);
}

void check_selection(const Selection& s) {
    if (element_count(s.shape) == 0 && element_count(s.index_shape) == 0) return;
    for (const AxisIndex& index : s.indices)
        check_indices(index.positions, index.extent, index.axis);
}

Array gather(Selection& s, IndexMode mode) {
    spread_indices(s);
    Array result = Array::empty(s.shape, s.view.dtype());
    IndexOperands in = index_operands(s);
    in.operands.push_back({&result, nullptr, s.view.dtype(), true});
    GatherContext context{static_cast<int>(s.indices.size()), mode};
    LoopKernel kernel;
    kernel.id = kGatherId + s.indices.size() * 4 + static_cast<uint64_t>(mode);
    kernel.describe = describe_gather;
    kernel.context = &context;
    kernel.protect_inputs = false;
    kernel.by_address = true;
    run_elementwise(kernel, s.shape, in.operands);
    return result;
}

void scatter(Selection& s, const UfuncInput& value, IndexMode mode) {
    spread_indices(s);
    UfuncInput source = value;
    Array separate;
    if (value.array && may_share_memory(*value.array, s.view)) {
        separate = copy(*value.array, 'C');
        source.array = &separate;
    }
    for (AxisIndex& index : s.indices)
        if (may_share_memory(index.positions, s.view)) index.positions = copy(index.positions, 'C');
    IndexOperands in = index_operands(s);
    in.operands.push_back({source.array, &source.scalar, s.view.dtype(), false});
    GatherContext context{static_cast<int>(s.indices.size()), mode};
    LoopKernel kernel;
    kernel.id = kScatterId + s.indices.size() * 4 + static_cast<uint64_t>(mode);
    kernel.describe = describe_scatter;
    kernel.context = &context;
    kernel.protect_inputs = false;
    kernel.by_address = true;
    run_elementwise(kernel, s.shape, in.operands);
}

// Structured dtypes are indexed as bytes or unsigned integers.
std::vector<IndexItem> items_for_bits(std::span<const IndexItem> items, bool extra_axis) {
    std::vector<IndexItem> result(items.begin(), items.end());
    bool ellipsis = false;
    for (const IndexItem& item : items) ellipsis |= item.kind == IndexKind::Ellipsis;
    if (extra_axis && ellipsis) {
        IndexItem whole;
        whole.stop = INT64_MAX;
        result.push_back(whole);
    }
    return result;
}

Array read_structured(const Array& a, std::span<const IndexItem> items) {
    Array bits = as_bits(a);
    bool extra = bits.ndim() > a.ndim();
    Array result = contiguous(index_read(bits, items_for_bits(items, extra)));
    Shape shape = result.shape();
    if (extra) shape.pop_back();
    Array typed = result.with_dtype(DType::Void, a.itemsize(), a.tag());
    return typed.with_layout(result.offset(), shape,
                             c_strides(shape, static_cast<int64_t>(a.itemsize())));
}

// a[mask] = number, with a mask of the same shape: no positions are needed.
bool write_by_mask(const Array& a, std::span<const IndexItem> items, const UfuncInput& value) {
    if (items.size() != 1 || !is_boolean(items[0]) || !(items[0].array.shape() == a.shape()))
        return false;
    if (value.array && value.array->size() != 1) return false;
    UfuncInput source = value;
    Array single;
    if (value.array) {
        single = value.array->with_layout(value.array->offset(), {}, {});
        source.array = &single;
    }
    copy_where(a, source, items[0].array);
    return true;
}

}  // namespace

IndexMode index_mode_from_name(std::string_view name) {
    if (name == "raise") return IndexMode::Raise;
    if (name == "wrap") return IndexMode::Wrap;
    if (name == "clip") return IndexMode::Clip;
    throw_error(ErrorKind::InvalidArgument,
                "clipmode must be one of 'clip', 'raise', or 'wrap' (got '{}')", name);
}

void check_indices(const Array& indices, int64_t extent, int axis) {
    if (indices.size() == 0) return;
    std::vector<int> axes(indices.shape().size());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
    // Axes along which an index is only repeated hold nothing new.
    Shape shape = indices.shape(), strides = indices.strides();
    for (size_t i = 0; i < shape.size(); ++i)
        if (strides[i] == 0) shape[i] = 1;
    Array distinct = indices.with_layout(indices.offset(), shape, strides);
    ReduceCall call;
    call.a = &distinct;
    call.axes = axes;
    Array both = Array::empty({2}, indices.dtype());
    Array low = both.with_layout(0, {}, {});
    Array high = both.with_layout(static_cast<int64_t>(both.itemsize()), {}, {});
    call.name = "min";
    call.out = &low;
    reduce(call);
    call.name = "max";
    call.out = &high;
    reduce(call);
    char bytes[16];
    core::copy_to_host(bytes, *both.buffer(), 0, both.nbytes(), core::current_stream(), true);
    Scalar least = load_scalar(bytes, both.dtype());
    Scalar most = load_scalar(bytes + both.itemsize(), both.dtype());
    bool below = !least.is_large && least.integer < -extent;
    bool above = most.is_large || most.integer >= extent;
    if (below || above)
        throw_error(ErrorKind::IndexError, "index {} is out of bounds for axis {} with size {}",
                    below ? least.integer : most.integer, axis, extent);
}

Array index_read(const Array& a, std::span<const IndexItem> items) {
    Array view;
    if (basic_index(a, items, view)) return view;
    if (a.dtype() == DType::Void) return read_structured(a, items);
    // a[mask] of the whole array: no array of positions.
    if (items.size() == 1 && is_boolean(items[0]) && a.ndim() > 0 &&
        items[0].array.shape() == a.shape())
        return where_true(a, items[0].array);
    Selection s = select_elements(a, items);
    check_selection(s);
    return gather(s, IndexMode::Raise);
}

void index_write(const Array& a, std::span<const IndexItem> items, const UfuncInput& value) {
    Array view;
    bool basic = basic_index(a, items, view);
    if (basic) {
        if (value.array)
            copy_into(view,
                      value.array->ndim() > view.ndim() ? squeeze(*value.array) : *value.array);
        else
            copy_into(view, value.scalar);
        return;
    }
    if (a.dtype() == DType::Void) {
        if (!value.array || value.array->itemsize() != a.itemsize())
            throw_error(ErrorKind::NotSupported,
                        "assignment to elements of structured arrays by index arrays");
        Array bits = as_bits(a), source = as_bits(*value.array);
        UfuncInput in;
        in.array = &source;
        index_write(bits, items_for_bits(items, bits.ndim() > a.ndim()), in);
        return;
    }
    if (write_by_mask(a, items, value)) return;
    Selection s = select_elements(a, items);
    check_selection(s);
    UfuncInput source = value;
    Array trimmed;
    if (value.array && value.array->ndim() > static_cast<int>(s.shape.size())) {
        trimmed = squeeze(*value.array);
        source.array = &trimmed;
    }
    if (source.array) {
        Shape both = broadcast_shapes(source.array->shape(), s.shape);
        if (!(both == s.shape))
            throw_error(
                ErrorKind::InvalidArgument,
                "shape mismatch: value array of shape {} could not be broadcast to indexing "
                "result of shape {}",
                to_string(source.array->shape()), to_string(s.shape));
    }
    scatter(s, source, IndexMode::Raise);
}

Array take(const Array& a, const Array& indices, int axis, bool flat, IndexMode mode) {
    Array source = flat ? reshape(a, {a.size()}, 'C') : a;
    if (flat) axis = 0;
    if (source.ndim() == 0) source = reshape(source, {1}, 'C');
    axis = normalize_axis(axis, source.ndim());
    if (!is_integer(indices.dtype()) && indices.dtype() != DType::Bool)
        throw_error(
            ErrorKind::TypeMismatch,
            "Cannot cast array data from dtype('{}') to dtype('int64') according to the rule "
            "'safe'",
            core::numpy_name(indices.dtype()));
    if (source.dtype() == DType::Void) {
        std::vector<IndexItem> items(static_cast<size_t>(axis) + 1);
        for (IndexItem& item : items) item.stop = INT64_MAX;
        items.back().kind = IndexKind::Array;
        items.back().array = indices;
        return read_structured(source, items);
    }
    Selection s;
    s.index_shape = indices.shape();
    s.index_axis = axis;
    s.indices.push_back({indices, source.shape()[axis], source.strides()[axis], axis});
    Shape shape = source.shape(), strides = source.strides();
    shape.erase(axis);
    strides.erase(axis);
    for (size_t d = 0; d < s.index_shape.size(); ++d) {
        shape.insert(static_cast<size_t>(axis) + d, s.index_shape[d]);
        strides.insert(static_cast<size_t>(axis) + d, 0);
    }
    s.shape = shape;
    s.view = source.with_layout(source.offset(), shape, strides);
    if (source.shape()[axis] == 0 && element_count(s.shape) > 0)
        throw_error(ErrorKind::IndexError, "cannot do a non-empty take from an empty axes.");
    if (mode == IndexMode::Raise) check_indices(indices, source.shape()[axis], axis);
    return gather(s, mode);
}

void put(const Array& a, const Array& indices, const Array& values, IndexMode mode) {
    if (indices.size() == 0 || values.size() == 0) return;
    Array flat = reshape(a, {a.size()}, 'C');
    Array positions = reshape(indices, {indices.size()}, 'C');
    Array source = reshape(values, {values.size()}, 'C');
    if (source.size() != positions.size() && source.size() != 1) {
        Scalar zero = Scalar::weak_int(0), one = Scalar::weak_int(1);
        Array order = arange(zero, one, positions.size(), DType::Int64);
        source = take(source, order, 0, false, IndexMode::Wrap);
    }
    if (mode == IndexMode::Raise) check_indices(positions, a.size(), 0);
    Selection s;
    s.shape = s.index_shape = positions.shape();
    s.indices.push_back({positions, flat.size(), static_cast<int64_t>(flat.itemsize()), 0});
    s.view = flat.with_layout(flat.offset(), s.shape, {0});
    UfuncInput value;
    value.array = &source;
    scatter(s, value, mode);
    // Not contiguous: the flattened array is a copy.
    if (!may_share_memory(flat, a)) copy_into(a, reshape(flat, a.shape(), 'C'));
}

namespace {

Selection along_axis(const Array& a, const Array& indices, int axis) {
    if (indices.ndim() != a.ndim())
        throw_error(ErrorKind::InvalidArgument,
                    "`indices` and `arr` must have the same number of dimensions");
    if (!is_integer(indices.dtype()))
        throw_error(ErrorKind::IndexError, "`indices` must be an integer array");
    Selection s;
    Shape a_shape = a.shape(), i_shape = indices.shape();
    a_shape[axis] = 1;
    i_shape[axis] = 1;
    s.shape = broadcast_shapes(a_shape, i_shape);
    s.shape[axis] = indices.shape()[axis];
    Shape strides = a.strides();
    for (int d = 0; d < a.ndim(); ++d)
        if (d == axis || a.shape()[d] == 1) strides[d] = 0;
    s.view = a.with_layout(a.offset(), s.shape, strides);
    s.index_shape = s.shape;
    s.indices.push_back({indices, a.shape()[axis], a.strides()[axis], axis});
    check_indices(indices, a.shape()[axis], axis);
    return s;
}

}  // namespace

Array take_along_axis(const Array& a, const Array& indices, int axis) {
    Selection s = along_axis(a, indices, normalize_axis(axis, a.ndim()));
    return gather(s, IndexMode::Raise);
}

void put_along_axis(const Array& a, const Array& indices, const UfuncInput& values, int axis) {
    Selection s = along_axis(a, indices, normalize_axis(axis, a.ndim()));
    scatter(s, values, IndexMode::Raise);
}

}  // namespace trilane::array
