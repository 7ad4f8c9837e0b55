// cooperative_groups::reduce and its operators.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T = void> struct plus {
    TRILANE_D T operator()(T a, T b) const { return a + b; }
};
template <class T = void> struct less {
    TRILANE_D T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T = void> struct greater {
    TRILANE_D T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T = void> struct bit_and {
    TRILANE_D T operator()(T a, T b) const { return a & b; }
};
template <class T = void> struct bit_or {
    TRILANE_D T operator()(T a, T b) const { return a | b; }
};
template <class T = void> struct bit_xor {
    TRILANE_D T operator()(T a, T b) const { return a ^ b; }
};

// Every thread gets the result.
template <unsigned int N, class P, class T, class Op>
TRILANE_D T reduce(const thread_block_tile<N, P>& tile, T value, Op op) {
    return tile.combine(value, op);
}
// Other groups go through their members by rank.
template <class T, class Op> TRILANE_D T reduce(const coalesced_group& g, T value, Op op) {
    T result = g.shfl(value, 0);
    for (unsigned int rank = 1; rank < g.size(); ++rank) {
        T next = g.shfl(value, rank);
        result = op(result, next);
    }
    return result;
}

}  // namespace cooperative_groups
