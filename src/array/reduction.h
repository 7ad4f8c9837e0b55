// Reductions: one generated kernel for every operation, axis and layout. Deterministic: how the
// elements are grouped depends on the shapes alone. Long reductions are cut into segments whose
// results a second kernel joins; within a segment blocks of 256 elements are summed in 16 parts,
// and 16 blocks at a time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/elementwise.h"

namespace trilane::array {

// What a reduction does, as text. Types are C types of the generated kernel.
struct ReductionText {
    std::string entry;
    std::string preamble;
    std::string accumulator;       // type that is carried
    size_t accumulator_bytes = 0;  // 0: not known here; the reduction is then not cut up
    std::string identity;          // expression
    std::string map;               // expression over in0, in1, ... and j (index along the axis)
    std::string combine;           // expression over a, b; b holds later elements than a
    std::string post;              // statements setting out0 from a (and count)
    bool using_ops = true;
    std::vector<std::string> input_names;  // in0, in1 ... where empty
    std::vector<std::string> input_types;  // computed types
    std::string output_name = "out0", output_type;
};

struct ReductionKernel {
    uint64_t id = 0;  // identity of the text: first word of the key
    void (*describe)(const void* context, ReductionText& text) = nullptr;
    const void* context = nullptr;
    size_t accumulator_bytes = 0;
    bool keep_order = false;  // j is used: it counts along the reduced axes in C order
};

// Inputs broadcast to `shape`; `axes` (sorted) are reduced; `out` has the remaining extents, in any
// layout. count is what `post` sees as number of elements.
void run_reduction(const ReductionKernel& kernel, const Shape& shape, const std::vector<int>& axes,
                   std::span<const LoopOperand> inputs, const Array& out);

struct ReduceCall {
    std::string_view name;
    const Array* a = nullptr;
    std::vector<int> axes;  // sorted
    std::optional<core::DType> dtype;
    const Array* out = nullptr;
    bool keepdims = false;
    std::optional<Scalar> initial;
    const Array* where = nullptr;
};

// name: sum prod max min argmax argmin all any mean count_nonzero nansum nanprod nanmax nanmin
// nanargmax nanargmin nanmean, bitwise_and/or/xor, logical_xor, hypot, logaddexp, and the ufunc
// names of the first ones (add multiply maximum minimum fmax fmin logical_and logical_or).
// NotSupported for another name; InvalidArgument for empty reductions without identity.
Array reduce(const ReduceCall& call);
bool has_reduction(std::string_view name);

// Variance over axes: mean first, then the squares of the differences from it, in two passes.
Array variance(const Array& a, const std::vector<int>& axes, std::optional<core::DType> dtype,
               const Array* out, double ddof, bool keepdims, bool skip_nan);

// The shape that is left; with keepdims, extents 1 in place.
Shape reduced_shape(const Shape& shape, const std::vector<int>& axes, bool keepdims);

}  // namespace trilane::array
