// Orders and merges the axes of an element-wise loop.
#include "array/layout.h"

#include <cstdlib>

namespace trilane::array {

namespace {

// True if axis `inner` should lie outside axis `outer`: some operand has it so and none objects
// before (operands are asked in order).
bool should_swap(std::span<const Shape* const> strides, int outer, int inner) {
    bool swap = false, undecided = true;
    for (const Shape* operand : strides) {
        int64_t so = std::llabs((*operand)[outer]), si = std::llabs((*operand)[inner]);
        if (so == 0 || si == 0) continue;
        if (si <= so) return false;
        if (undecided) {
            swap = true;
            undecided = false;
        }
    }
    return swap;
}

// Insertion sort of the axes by memory order; stable, so ties stay in C order.
void axis_order(const Shape& shape, std::span<const Shape* const> strides, int* order) {
    int ndim = static_cast<int>(shape.size());
    for (int i = 0; i < ndim; ++i) order[i] = i;
    for (int i = 1; i < ndim; ++i) {
        for (int j = i; j > 0; --j) {
            if (!should_swap(strides, order[j - 1], order[j])) break;
            std::swap(order[j - 1], order[j]);
        }
    }
}

}  // namespace

void make_layout(const Shape& shape, std::span<const Shape* const> strides, bool keep_order,
                 LoopLayout& layout) {
    int ndim = static_cast<int>(shape.size());
    int order[kMaxDims];
    if (keep_order)
        for (int i = 0; i < ndim; ++i) order[i] = i;
    else
        axis_order(shape, strides, order);
    layout.shape.clear();
    layout.count = 1;
    for (size_t k = 0; k < strides.size(); ++k) layout.strides[k].clear();
    for (int i = 0; i < ndim; ++i) {
        int axis = order[i];
        int64_t extent = shape[axis];
        layout.count *= extent;
        if (extent == 1) continue;
        bool merge = !layout.shape.empty();
        for (size_t k = 0; k < strides.size() && merge; ++k)
            merge = layout.strides[k].back() == (*strides[k])[axis] * extent;
        if (merge) {
            layout.shape.back() *= extent;
            for (size_t k = 0; k < strides.size(); ++k)
                layout.strides[k].back() = (*strides[k])[axis];
        } else {
            layout.shape.push_back(extent);
            for (size_t k = 0; k < strides.size(); ++k)
                layout.strides[k].push_back((*strides[k])[axis]);
        }
    }
    layout.rank = static_cast<int>(layout.shape.size());
}

Shape keep_order_strides(const Shape& shape, std::span<const Shape* const> strides,
                         int64_t itemsize) {
    int order[kMaxDims];
    axis_order(shape, strides, order);
    Shape result(shape.size(), 0);
    int64_t step = itemsize;
    for (size_t i = shape.size(); i-- > 0;) {
        result[order[i]] = step;
        if (shape[order[i]] > 0) step *= shape[order[i]];
    }
    return result;
}

}  // namespace trilane::array
