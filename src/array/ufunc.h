// Calling a ufunc: types are resolved as NumPy 2 does, shapes broadcast, outputs made, one kernel
// launched.
#pragma once

#include <optional>

#include "array/elementwise.h"
#include "array/ufunc_table.h"

namespace trilane::array {

struct UfuncInput {
    const Array* array = nullptr;  // null: the scalar
    Scalar scalar;
};

struct UfuncCall {
    const Ufunc* ufunc = nullptr;
    UfuncInput inputs[kMaxUfuncOperands];
    const Array* outputs[2] = {nullptr, nullptr};  // given ones
    const Array* where = nullptr;                  // bool, broadcasts
    std::optional<core::DType> dtype;              // of the loop's output
    Casting casting = Casting::SameKind;
    char order = 'K';
};

struct UfuncResult {
    Array outputs[2];
};

// Throws TypeMismatch (no loop, cast refused), InvalidArgument (shapes), std::overflow_error
// (Python integer out of range of the loop's type).
UfuncResult call_ufunc(const UfuncCall& call);
Array call_unary(const Ufunc& ufunc, const Array& a);
Array call_binary(const Ufunc& ufunc, const Array& a, const Array& b);

// numpy.round: integers for negative decimals only.
Array round_to(const Array& a, int decimals, const Array* out);

// The loop for these inputs; throws TypeMismatch with NumPy's words.
const UfuncLoop& resolve_loop(const UfuncCall& call);

// where(condition, x, y): result_type of x and y.
Array select(const Array& condition, const UfuncInput& x, const UfuncInput& y);
// out[i] = value where mask; any layouts.
void copy_where(const Array& dst, const UfuncInput& value, const Array& mask);

}  // namespace trilane::array
