// Products of large matrices by a BLAS library of the host, on the device that computes in the
// host's memory: what no generated kernel comes near.
#pragma once

#include <cstdint>

#include "array/array.h"
#include "core/stream.h"

namespace trilane::array {

// cblas_?gemm with 64-bit integers; nullptr: there is none.
struct HostBlas {
    void* single_real = nullptr;
    void* double_real = nullptr;
    void* single_complex = nullptr;
    void* double_complex = nullptr;
};

// For all products from now on; any thread. The functions are never unloaded.
void set_host_blas(const HostBlas& blas);

// c = a @ b in the order of the stream, as `multiply` of matmul.cpp has it, with the byte offsets
// of each matrix of the batch in `offsets` (of a, of b, and so on). False if the kernel is to do
// it: no library or another dtype, too small, a layout that BLAS does not know, memory that is not
// the host's, a captured stream, checks of accesses.
bool multiply_by_blas(const core::StreamPtr& stream, const Array& a, const Array& b, const Array& c,
                      const std::vector<int64_t>& offsets);

}  // namespace trilane::array
