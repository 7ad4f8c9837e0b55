// Runs an element-wise kernel over broadcast operands: chooses the specialised kernel, packs its
// arguments, launches it on the current stream. Copies are element-wise kernels too.
#pragma once

#include <optional>
#include <span>

#include "array/array.h"
#include "array/kernel_text.h"
#include "array/layout.h"
#include "array/scalar.h"

namespace trilane::array {

struct LoopOperand {
    const Array* array = nullptr;  // null: the scalar
    const Scalar* scalar = nullptr;
    core::DType computed = core::DType::Float64;  // type of the variable in the body
    bool output = false;
};

struct LoopKernel {
    uint64_t id = 0;  // identity of the body: first word of the key
    // Fills entry, preamble, body and, if they differ from the default, the operands' names and
    // types. Called only when the kernel is not there yet.
    void (*describe)(const void* context, ElementwiseText& text) = nullptr;
    const void* context = nullptr;
    bool keep_order = false;     // the body uses i
    bool masked = false;         // the last input is a bool that says which elements to do
    bool protect_inputs = true;  // inputs that an output overlaps are copied first
    bool by_address = false;     // the text asks for an operand's address
};

// Every array broadcasts to `shape`; outputs have it. Nothing is launched for no elements.
void run_elementwise(const LoopKernel& kernel, const Shape& shape,
                     std::span<const LoopOperand> operands);

// Whatever runs on the current stream: the context that `arrays` must share (InvalidArgument if one
// is elsewhere), and a note to memory that was made for another stream.
const core::ContextPtr& require_here(const core::StreamPtr& stream, const Array& array);

// dst[...] = src with NumPy's casting to dst's dtype; src broadcasts. Any strides, overlap allowed.
void copy_into(const Array& dst, const Array& src);
void copy_into(const Array& dst, const Scalar& src);
// New array. order: 'C', 'F', 'A', 'K'.
Array copy(const Array& a, char order = 'C');
Array astype(const Array& a, core::DType dtype, char order = 'K');
// `a` itself where it is C-contiguous, else a copy.
Array contiguous(const Array& a);
Array full(const Shape& shape, core::DType dtype, const Scalar& value, char order = 'C');

// The elements as unsigned integers or bytes (an extra axis), for work on structured dtypes.
Array as_bits(const Array& a);

// Whether kernels on `context` take the forms that are fast on a GPU: several elements per thread,
// teams of threads. So on a CUDA device; `force` (tests) decides for every device, also through
// TRILANE_GPU_FORMS=1 or 0. All forms give the same values, sums up to rounding.
bool gpu_forms(const core::Context& context);
void force_gpu_forms(std::optional<bool> force);

// Elements per block for a flat loop of n elements.
uint32_t flat_block(const core::Context& context, int64_t n);

}  // namespace trilane::array
