// Resolves and runs ufunc calls.
#include "array/ufunc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::ErrorKind;
using core::throw_error;

namespace {

// The types that the search for a loop starts from: weak scalars take theirs from the strong ones.
void search_types(const UfuncCall& call, DType* types) {
    const Ufunc& ufunc = *call.ufunc;
    bool any_strong = false, any_weak = false;
    DType strong = DType::Bool;
    for (int k = 0; k < ufunc.nin; ++k) {
        const UfuncInput& input = call.inputs[k];
        if (!input.array && input.scalar.type != ScalarType::Strong) {
            any_weak = true;
            continue;
        }
        types[k] = input.array ? input.array->dtype() : input.scalar.dtype;
        if (types[k] == DType::Void)
            throw_error(ErrorKind::TypeMismatch, "{}: structured dtypes have no arithmetic",
                        ufunc.name);
        strong = any_strong ? promote_types(strong, types[k]) : types[k];
        any_strong = true;
    }
    if (!any_weak) return;
    ScalarType widest = ScalarType::Strong;
    for (int k = 0; k < ufunc.nin; ++k)
        if (!call.inputs[k].array) widest = std::max(widest, call.inputs[k].scalar.type);
    for (int k = 0; k < ufunc.nin; ++k) {
        const UfuncInput& input = call.inputs[k];
        if (input.array || input.scalar.type == ScalarType::Strong) continue;
        types[k] = any_strong ? weak_dtype(input.scalar.type, strong) : default_dtype(widest);
    }
}

bool fits(const Scalar& s, DType dtype) {
    if (!is_integer(dtype) || s.type != ScalarType::WeakInt) return true;
    if (s.huge) return false;
    unsigned bits = static_cast<unsigned>(core::size_of(dtype)) * 8;
    bool is_signed = core::kind_of(dtype) == core::DTypeKind::Int;
    if (s.is_large) return dtype == DType::UInt64;
    if (is_signed)
        return bits == 64 ||
               (s.integer >= -(int64_t{1} << (bits - 1)) && s.integer < (int64_t{1} << (bits - 1)));
    return s.integer >= 0 && (bits == 64 || s.integer < (int64_t{1} << bits));
}

// Comparisons with Python integers that the other side's type cannot hold are still by value.
void widen_comparison(const UfuncCall& call, DType* types) {
    for (int k = 0; k < 2; ++k) {
        const UfuncInput& input = call.inputs[k];
        if (input.array || fits(input.scalar, types[k])) continue;
        if (input.scalar.huge)
            types[0] = types[1] = DType::Float64;
        else
            types[k] = input.scalar.is_large ? DType::UInt64 : DType::Int64;
        if (types[k] == DType::Int64 && core::kind_of(types[1 - k]) != core::DTypeKind::UInt)
            types[1 - k] = DType::Int64;
        else if (types[k] == DType::Int64 && types[1 - k] != DType::UInt64)
            types[1 - k] = DType::Int64;
        else if (types[k] == DType::UInt64)
            types[1 - k] =
                core::kind_of(types[1 - k]) == core::DTypeKind::Int ? DType::Int64 : DType::UInt64;
        return;
    }
}

[[noreturn]] void no_loop(const UfuncCall& call, const DType* types) {
    const Ufunc& ufunc = *call.ufunc;
    if (ufunc.name == "subtract")
        throw_error(ErrorKind::TypeMismatch,
                    "numpy boolean subtract, the `-` operator, is not supported, use the "
                    "bitwise_xor, the `^` operator, or the logical_xor function instead.");
    if (ufunc.name == "negative")
        throw_error(ErrorKind::TypeMismatch,
                    "The numpy boolean negative, the `-` operator, is not supported, use the `~` "
                    "operator or the logical_not function instead.");
    std::string text;
    for (int k = 0; k < ufunc.nin; ++k)
        text += fmt::format("{}{}", k ? ", " : "", core::numpy_name(types[k]));
    throw_error(ErrorKind::TypeMismatch,
                "ufunc '{}' not supported for the input types ({}), and the inputs could not be "
                "safely coerced to any supported types according to the casting rule ''safe''",
                ufunc.name, text);
}

void check_casts(const UfuncCall& call, const UfuncLoop& loop) {
    const Ufunc& ufunc = *call.ufunc;
    for (int k = 0; call.dtype && k < ufunc.nin; ++k) {
        const UfuncInput& input = call.inputs[k];
        if (!input.array && input.scalar.type != ScalarType::Strong) continue;
        DType from = input.array ? input.array->dtype() : input.scalar.dtype;
        if (!can_cast(from, loop.types[k], call.casting))
            throw_error(ErrorKind::TypeMismatch,
                        "Cannot cast ufunc '{}' input {} from dtype('{}') to dtype('{}') with "
                        "casting rule '{}'",
                        ufunc.name, k, core::numpy_name(from), core::numpy_name(loop.types[k]),
                        casting_name(call.casting));
    }
    for (int k = 0; k < ufunc.nout; ++k) {
        DType from = loop.types[ufunc.nin + k];
        if (call.outputs[k] && !can_cast(from, call.outputs[k]->dtype(), call.casting))
            throw_error(ErrorKind::TypeMismatch,
                        "Cannot cast ufunc '{}' output from dtype('{}') to dtype('{}') with "
                        "casting rule '{}'",
                        ufunc.name, core::numpy_name(from),
                        core::numpy_name(call.outputs[k]->dtype()), casting_name(call.casting));
    }
}

void describe_loop(const void* context, ElementwiseText& text) {
    const Ufunc* owner = nullptr;
    const UfuncLoop& loop = ufunc_loop_by_id(static_cast<const UfuncLoop*>(context)->id, &owner);
    text.entry = "trilane_" + owner->name;
    text.body = loop.body;
}

Shape loop_shape(const UfuncCall& call) {
    const Shape* shapes[kMaxUfuncOperands + 1];
    size_t count = 0;
    for (int k = 0; k < call.ufunc->nin; ++k)
        if (call.inputs[k].array) shapes[count++] = &call.inputs[k].array->shape();
    if (call.where) shapes[count++] = &call.where->shape();
    if (count == 1 || (count == 2 && *shapes[0] == *shapes[1])) return *shapes[0];
    return broadcast_shapes(shapes, count);
}

Array make_output(const UfuncCall& call, const Shape& shape, DType dtype) {
    int64_t step = static_cast<int64_t>(core::size_of(dtype));
    bool all_c = true;
    for (int k = 0; k < call.ufunc->nin; ++k)
        if (const Array* a = call.inputs[k].array) all_c &= a->c_contiguous() || a->ndim() == 0;
    if (call.order == 'C' || (all_c && call.order != 'F')) return Array::empty(shape, dtype, 'C');
    if (call.order == 'F') return Array::empty(shape, dtype, 'F');
    Shape full[kMaxUfuncOperands];
    const Shape* pointers[kMaxUfuncOperands];
    size_t count = 0;
    for (int k = 0; k < call.ufunc->nin; ++k)
        if (const Array* a = call.inputs[k].array) {
            full[count] = broadcast_strides(a->shape(), a->strides(), shape);
            pointers[count] = &full[count];
            ++count;
        }
    return Array::empty_strided(shape, keep_order_strides(shape, {pointers, count}, step), dtype,
                                static_cast<size_t>(step));
}

}  // namespace

const UfuncLoop& resolve_loop(const UfuncCall& call) {
    const Ufunc& ufunc = *call.ufunc;
    DType types[kMaxUfuncOperands];
    search_types(call, types);
    const UfuncLoop* loop = nullptr;
    if (call.dtype && !ufunc.comparison) {
        loop = ufunc.find_loop_for_output(*call.dtype);
        if (!loop)
            throw_error(ErrorKind::TypeMismatch,
                        "No loop matching the specified signature and casting was found for ufunc "
                        "{}",
                        ufunc.name);
    } else {
        if (ufunc.comparison) widen_comparison(call, types);
        // A quotient is a float: Python integers need not fit the other side's integer type.
        if (&ufunc == &ufunc_of(Op::Divide))
            for (int k = 0; k < 2; ++k)
                if (!call.inputs[k].array && !fits(call.inputs[k].scalar, types[k]))
                    types[0] = types[1] = DType::Float64;
        loop = ufunc.find_loop(types);
        if (!loop) no_loop(call, types);
    }
    check_casts(call, *loop);
    return *loop;
}

UfuncResult call_ufunc(const UfuncCall& call) {
    const Ufunc& ufunc = *call.ufunc;
    const UfuncLoop& loop = resolve_loop(call);
    Shape shape = loop_shape(call);
    // Python integers are checked here even where no element would be computed.
    alignas(16) char ignored[16];
    for (int k = 0; k < ufunc.nin; ++k)
        if (!call.inputs[k].array && call.inputs[k].scalar.type == ScalarType::WeakInt)
            store_scalar(call.inputs[k].scalar, loop.types[k], ignored);
    UfuncResult result;
    LoopOperand operands[kMaxUfuncOperands + 1];
    int count = 0;
    for (int k = 0; k < ufunc.nin; ++k)
        operands[count++] = {call.inputs[k].array, &call.inputs[k].scalar, loop.types[k], false};
    if (call.where) operands[count++] = {call.where, nullptr, DType::Bool, false};
    for (int k = 0; k < ufunc.nout; ++k) {
        if (call.outputs[k]) {
            if (!(broadcast_shapes(shape, call.outputs[k]->shape()) == call.outputs[k]->shape()))
                throw_error(ErrorKind::InvalidArgument,
                            "non-broadcastable output operand with shape {} doesn't match the "
                            "broadcast shape {}",
                            to_string(call.outputs[k]->shape()), to_string(shape));
            shape = call.outputs[k]->shape();
        }
    }
    for (int k = 0; k < ufunc.nout; ++k) {
        result.outputs[k] = call.outputs[k] ? *call.outputs[k]
                                            : make_output(call, shape, loop.types[ufunc.nin + k]);
        operands[count++] = {&result.outputs[k], nullptr, loop.types[ufunc.nin + k], true};
    }
    LoopKernel kernel;
    kernel.id = loop.id;
    kernel.describe = describe_loop;
    kernel.context = &loop;
    kernel.masked = call.where != nullptr;
    run_elementwise(kernel, shape, {operands, static_cast<size_t>(count)});
    return result;
}

Array call_unary(const Ufunc& ufunc, const Array& a) {
    UfuncCall call;
    call.ufunc = &ufunc;
    call.inputs[0].array = &a;
    return call_ufunc(call).outputs[0];
}

Array call_binary(const Ufunc& ufunc, const Array& a, const Array& b) {
    UfuncCall call;
    call.ufunc = &ufunc;
    call.inputs[0].array = &a;
    call.inputs[1].array = &b;
    return call_ufunc(call).outputs[0];
}

Array round_to(const Array& a, int decimals, const Array* out) {
    bool whole = is_integer(a.dtype()) || a.dtype() == DType::Bool;
    UfuncCall call;
    call.inputs[0].array = &a;
    call.outputs[0] = out;
    if (whole && decimals >= 0) {
        call.ufunc = &find_ufunc("real");
        return call_ufunc(call).outputs[0];
    }
    if (decimals == 0) {
        call.ufunc = &find_ufunc("rint");
        return call_ufunc(call).outputs[0];
    }
    // As NumPy: scale, round to even, scale back.
    double power = std::pow(10.0, std::abs(decimals));
    auto scale = [&](const Array& x, Op op, const Array* target) {
        UfuncCall step;
        step.ufunc = &ufunc_of(op);
        step.inputs[0].array = &x;
        step.inputs[1].scalar = Scalar::weak_float(power);
        step.outputs[0] = target;
        step.casting = Casting::Unsafe;
        return call_ufunc(step).outputs[0];
    };
    Array scaled = scale(a, decimals > 0 ? Op::Multiply : Op::Divide, nullptr);
    UfuncCall rint;
    rint.ufunc = &find_ufunc("rint");
    rint.inputs[0].array = &scaled;
    rint.outputs[0] = &scaled;
    call_ufunc(rint);
    if (!out && !whole) return scale(scaled, decimals > 0 ? Op::Divide : Op::Multiply, &scaled);
    Array target = out ? *out : Array::empty(a.shape(), a.dtype());
    return scale(scaled, decimals > 0 ? Op::Divide : Op::Multiply, &target);
}

// --- selection

namespace {

constexpr uint64_t kSelectId = (uint64_t{1} << 31) + 16;
constexpr uint64_t kCopyWhereId = kSelectId + 32;

DType input_type(const UfuncInput& x, const UfuncInput& y) {
    TypedInput typed[2];
    const UfuncInput* both[] = {&x, &y};
    for (int k = 0; k < 2; ++k) {
        if (both[k]->array)
            typed[k].dtype = both[k]->array->dtype();
        else
            typed[k] = {both[k]->scalar.dtype, both[k]->scalar.type};
    }
    return result_type(typed);
}

}  // namespace

Array select(const Array& condition, const UfuncInput& x, const UfuncInput& y) {
    DType dtype = input_type(x, y);
    const Shape* shapes[3] = {&condition.shape()};
    size_t count = 1;
    if (x.array) shapes[count++] = &x.array->shape();
    if (y.array) shapes[count++] = &y.array->shape();
    Shape shape = broadcast_shapes(shapes, count);
    Array result = Array::empty(shape, dtype);
    LoopOperand operands[] = {{&condition, nullptr, DType::Bool, false},
                              {x.array, &x.scalar, dtype, false},
                              {y.array, &y.scalar, dtype, false},
                              {&result, nullptr, dtype, true}};
    LoopKernel kernel;
    kernel.id = kSelectId + static_cast<uint64_t>(dtype);
    kernel.describe = [](const void*, ElementwiseText& text) {
        text.entry = "trilane_where";
        text.body = "out0 = in0 ? in1 : in2";
    };
    run_elementwise(kernel, shape, operands);
    return result;
}

void copy_where(const Array& dst, const UfuncInput& value, const Array& mask) {
    LoopOperand operands[] = {{value.array, &value.scalar, dst.dtype(), false},
                              {&mask, nullptr, DType::Bool, false},
                              {&dst, nullptr, dst.dtype(), true}};
    LoopKernel kernel;
    kernel.id = kCopyWhereId;
    kernel.masked = true;
    kernel.describe = [](const void*, ElementwiseText& text) {
        text.entry = "trilane_copy_where";
        text.body = "out0 = in0";
    };
    run_elementwise(kernel, dst.shape(), operands);
}

}  // namespace trilane::array
