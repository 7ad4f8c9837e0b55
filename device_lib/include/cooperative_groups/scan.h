// cooperative_groups::inclusive_scan and exclusive_scan, over tiles and coalesced groups.
#pragma once

#include "../cooperative_groups.h"
#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
TRILANE_D T inclusive_scan(const Group& g, T value, Op op) {
    unsigned int rank = g.thread_rank(), size = g.size();
    for (unsigned int step = 1; step < size; step *= 2) {
        T before = g.shfl_up(value, step);
        if (rank >= step) value = op(before, value);
    }
    return value;
}
template <class Group, class T> TRILANE_D T inclusive_scan(const Group& g, T value) {
    return inclusive_scan(g, value, plus<T>());
}
// Rank 0 gets T().
template <class Group, class T, class Op>
TRILANE_D T exclusive_scan(const Group& g, T value, Op op) {
    T whole = inclusive_scan(g, value, op);
    T before = g.shfl_up(whole, 1);
    return g.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> TRILANE_D T exclusive_scan(const Group& g, T value) {
    return exclusive_scan(g, value, plus<T>());
}

}  // namespace cooperative_groups
