// cuda::memcpy_async as the barrier and the pipeline have it: the bytes are there when it returns.
#pragma once

#include "../type_traits"
#include "detail_atomic.h"

namespace cuda {

// A number of bytes of which both addresses are multiples too.
template <size_t alignment> struct aligned_size_t {
    static constexpr size_t align = alignment;
    size_t value;
    TRILANE_HD explicit constexpr aligned_size_t(size_t bytes) : value(bytes) {}
    TRILANE_HD constexpr operator size_t() const { return value; }
};

enum class async_contract_fulfillment { none, async };

namespace details {

struct single_thread {
    static TRILANE_D size_t size() { return 1; }
    static TRILANE_D size_t thread_rank() { return 0; }
};

// The threads of the group share the words.
template <class Word, class Group>
TRILANE_D void copy_words(const Group& group, void* to, const void* from, size_t count) {
    for (size_t i = group.thread_rank(); i < count; i += group.size())
        ((Word*)to)[i] = ((const Word*)from)[i];
}
template <class Group>
TRILANE_D async_contract_fulfillment copy_bytes(const Group& group, void* to, const void* from,
                                                size_t bytes) {
    const size_t places = (size_t)to | (size_t)from | bytes;
    if (places % 16 == 0)
        copy_words<uint4>(group, to, from, bytes / 16);
    else if (places % 4 == 0)
        copy_words<unsigned int>(group, to, from, bytes / 4);
    else
        copy_words<unsigned char>(group, to, from, bytes);
    return async_contract_fulfillment::none;
}

}  // namespace details

}  // namespace cuda
