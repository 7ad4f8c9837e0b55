// cooperative_groups::memcpy_async: the group copies at once; wait is the group's barrier.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class To, class From>
TRILANE_D void memcpy_async(const Group& g, To* to, const From* from, size_t nbytes) {
    for (size_t i = g.thread_rank(); i < nbytes; i += g.size())
        ((unsigned char*)to)[i] = ((const unsigned char*)from)[i];
}
template <class Group> TRILANE_D void wait(const Group& g) { g.sync(); }
template <unsigned int stages, class Group> TRILANE_D void wait_prior(const Group& g) { g.sync(); }

}  // namespace cooperative_groups
